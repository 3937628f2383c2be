"""A process that was forked while another thread fitted refuses to fit; one that was forked at rest does not."""

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.core, pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")]

PROGRAM = """
import os, threading, warnings
import numpy as np
from hiddenbits import IndependentColumns
from hiddenbits.engine import one_blas_thread

warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forking with threads
X = np.random.default_rng(0).integers(0, 2, (50, 6))


def child():
    process = os.fork()
    if process == 0:
        try:
            IndependentColumns().fit(X)
        except RuntimeError as error:
            print(error, flush=True)
            os._exit(3)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


fitting, forked = threading.Event(), threading.Event()


def fit():
    with one_blas_thread():  # what every fit holds while it works
        fitting.set()
        forked.wait()


print(child(), flush=True)
thread = threading.Thread(target=fit)
thread.start()
fitting.wait()
print(child(), flush=True)
forked.set()
thread.join()
print(child(), flush=True)
IndependentColumns().fit(X)
"""


@pytest.mark.slow
def test_a_fork_during_a_fit():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    at_rest, refusal, during, after = done.stdout.splitlines()
    assert (at_rest, during, after) == ("0", "3", "0")
    assert "forked while another thread was fitting" in refusal
    assert "spawn" in refusal

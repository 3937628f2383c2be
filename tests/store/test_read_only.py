"""Where nothing can be written: every function that writes says so in the same words, before any work is done.

Root may write whatever the permissions say, so the places are ones where nobody may: below a regular file, in /proc, in
a folder that is mounted read-only; and one without the permission to write, for a process without root's rights.
"""

from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits import datasets, evaluate, inference
from hiddenbits.exceptions import FileError
from hiddenbits.tables import write_results

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

X = np.random.default_rng(0).integers(0, 2, (40, 4))


def fitted(checkpoint=None):
    with hiddenbits.run_on(checkpoint=checkpoint):
        return hiddenbits.LatentClassAnalysis(2, n_init=1, max_iter=3, random_state=0).fit(X)


def checkpoint(folder):
    fitted(folder / "fit.hb")


def model_file(folder):
    fitted().save(folder / "model.hb")


def results(folder):
    pytest.importorskip("pyarrow")
    write_results(fitted(), "transform", X, folder / "codes.parquet")


def report(folder):
    pytest.importorskip("jinja2")
    hiddenbits.report(np.eye(3)).save(folder / "report.html")


def comparison(folder):
    evaluate.compare(X, ["IndependentColumns"], folder=folder / "cache", progress=False)


def bootstrap(folder):
    inference.bootstrap(fitted(), X, n_replicates=2, folder=folder / "cache")


def simulated(folder):
    pytest.importorskip("pyarrow")
    datasets.write_mixture(folder / "rows", 100, 3, 2, random_state=0)


WRITERS = [checkpoint, model_file, results, comparison, bootstrap, simulated]


def refused(act, folder):
    """The folder is refused in our words, which name the path and no temporary or lock file."""
    with pytest.raises(FileError, match=r"^cannot write '") as caught:
        act(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert not any(word in message for word in (".lock", ".tmp", ".unfinished", "Errno")), message
    return message


@pytest.mark.parametrize("act", [*WRITERS, report])
def test_below_a_file(act, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "is not a folder" in refused(act, tmp_path / "file")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="the system has no /proc")
@pytest.mark.parametrize("act", WRITERS)
def test_in_proc(act):
    refused(act, Path("/proc/self"))

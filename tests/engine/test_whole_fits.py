"""Many fits at once, in real processes: the same bits as one after the other, and what happens when something fails."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, NoisyOrNetwork, TopographicMap, diagnostics, evaluate, inference, open_table
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.engine import one_blas_thread
from hiddenbits.engine.executors import whole_fits
from hiddenbits.tables import map_fits
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
X = simulate_mixture(300, 6, 3, random_state=0).X
LONG = simulate_mixture(20_000, 20, 3, random_state=0).X  # its restarts run on a subsample
TABLE = open_table(X)


@pytest.fixture(autouse=True)
def at_any_length(monkeypatch):
    """Start processes for the shortest tasks, too."""
    monkeypatch.setattr(whole_fits, "START_SECONDS", 0.0)


@pytest.fixture(params=["forked", pytest.param("loky", marks=pytest.mark.slow)])
def processes(request, monkeypatch):
    """Both ways to start a process, where there are both; and a list with the number of processes of each pool."""
    if request.param == "forked" and not whole_fits.CAN_FORK:
        pytest.skip("processes are not forked here")
    monkeypatch.setattr(whole_fits, "CAN_FORK", request.param == "forked")
    pools, started = [], whole_fits._started

    def counted(call, tasks, n_jobs):
        pools.append(min(n_jobs, len(tasks)))
        return started(call, tasks, n_jobs)

    monkeypatch.setattr(whole_fits, "_started", counted)
    return pools


def fitted(K, **more):
    return LatentClassAnalysis(K, **{"prior_strength": 0.0, "n_init": 2, "random_state": 0, **more}).fit(X)


STARTS = {
    "short": lambda: LatentClassAnalysis(3, n_init=5, random_state=1).fit(X),
    "long": lambda: LatentClassAnalysis(3, n_init=3, random_state=1).fit(LONG),
    "random numbers": lambda: NoisyOrNetwork(2, n_init=3, max_iter=20, random_state=1).fit(X),
    "a plan": lambda: TopographicMap(2, n_points=16, n_features=4, n_init=3, max_iter=5, random_state=1).fit(X),
}


def processes_of(tasks):
    """Return the processes that ran the tasks, not counting the first, which runs here."""
    return set(list(map_fits(lambda task: os.getpid(), tasks, TABLE))[1:])


def test_tasks_run_in_processes(processes):
    assert processes_of(range(3)) == {os.getpid()}
    with hiddenbits.run_on(n_jobs=2):
        assert os.getpid() not in processes_of(range(30))
        assert list(map_fits(lambda task: task**2, range(9), TABLE)) == [task**2 for task in range(9)]


@pytest.mark.parametrize("kind", STARTS)
def test_starts(kind, processes):
    alone = STARTS[kind]()
    with hiddenbits.run_on(n_jobs=2):
        at_once = STARTS[kind]()
    assert processes == [2]
    assert same(at_once._params, alone._params)
    assert at_once.trace_.tolist() == alone.trace_.tolist()
    assert at_once.restarts_ == alone.restarts_


@pytest.mark.slow
@pytest.mark.parametrize("by", ["rows", "bic"])
def test_sizes(by, processes, tmp_path):
    def selected(folder=None):
        model = LatentClassAnalysis(random_state=0)
        return evaluate.select(model, X, [1, 2, 3], by=by, cv=3, folder=folder)

    def scores(selection):
        return [{key: value for key, value in line.items() if key != "seconds"} for line in selection.records()]

    alone = selected()
    with hiddenbits.run_on(n_jobs=2):
        at_once, saved = selected(), selected(tmp_path)
    assert scores(at_once) == scores(saved) == scores(alone)
    assert processes[:1] == [2]
    assert same(at_once.estimator._params, alone.estimator._params)
    assert scores(selected(tmp_path)) == scores(alone)  # read from the folder


def test_replicates_and_simulations(processes, tmp_path):
    two, three = fitted(2), fitted(3)

    def results(**more):
        return (
            inference.bootstrap(two, X, n_replicates=6, **more).replicates,
            diagnostics.bootstrap_lrt(two, three, X, n_replicates=5).replicates,
            diagnostics.residual_pairs(two, X, n_replicates=5)["p"],
        )

    alone = results()
    with hiddenbits.run_on(n_jobs=3):
        for one, other in zip(results(folder=tmp_path), alone, strict=True):
            np.testing.assert_array_equal(one, other)
    assert processes == [3, 3, 3]
    assert len(list(tmp_path.glob("*.json"))) == 6
    np.testing.assert_array_equal(results(folder=tmp_path)[0], alone[0])


def test_rows_and_warnings_arrive_here(processes):
    def task(number):
        warnings.warn(f"task {number}", UserWarning, stacklevel=1)
        return LatentClassAnalysis(2, n_init=1, max_iter=4, tol=0.0, random_state=number).fit(TABLE).score(TABLE)

    counts = {}
    for n_jobs in (1, 2):
        rows = []
        with hiddenbits.run_on(n_jobs=n_jobs, on_progress=rows.append), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = list(map_fits(task, range(4), TABLE))
        counts[n_jobs] = scores, sum(rows), [str(each.message) for each in caught if each.category is UserWarning]
    assert counts[1] == counts[2]


def test_an_error_of_a_task_ends_all(processes):
    def task(number):
        if number > 1:
            raise ValueError(f"task {number}")
        return number

    with hiddenbits.run_on(n_jobs=2):
        results = map_fits(task, range(50), TABLE)
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match="task 2"):
            next(results)


def test_a_process_that_is_killed(processes, caplog):
    """The other tasks run here: the same results."""
    here = os.getpid()

    def task(number):
        if number == 3 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return LatentClassAnalysis(2, n_init=1, random_state=number).fit(X).score(X)

    with hiddenbits.run_on(n_jobs=2):
        results = list(map_fits(task, range(6), TABLE))
    assert results == [task(number) for number in range(6)]
    assert "ended before its fit" in caplog.text


def test_one_after_the_other(monkeypatch, tmp_path):
    """On disk, among too many cells, with a checkpoint, in a short run, and while another thread fits."""
    here = {os.getpid()}
    with hiddenbits.run_on(n_jobs=2):
        on_disk = Table(NotResident(TABLE.source))
        assert set(map_fits(lambda task: os.getpid(), range(4), on_disk)) == here
        with one_blas_thread():
            assert processes_of(range(4)) == here
        with hiddenbits.run_on(checkpoint=tmp_path / "position"):
            assert processes_of(range(4)) == here
        with monkeypatch.context() as patch:
            patch.setattr(whole_fits, "MOST_CELLS", X.size - 1)
            assert processes_of(range(4)) == here
        monkeypatch.setattr(whole_fits, "START_SECONDS", 60.0)
        assert processes_of(range(4)) == here


INTERRUPTED = """
import os, signal, time
import numpy as np, hiddenbits
from hiddenbits.engine.executors import whole_fits
from hiddenbits.tables import map_fits

whole_fits.START_SECONDS = 0.0

def task(number):
    if number == 1:
        print(os.getpid(), flush=True)
    if number:
        time.sleep(60)

try:
    with hiddenbits.run_on(n_jobs=2):
        list(map_fits(task, range(4), hiddenbits.open_table(np.eye(4))))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
def test_an_interrupt_ends_the_processes():
    """Ctrl-C goes to all processes of a terminal: nothing is printed but what the program prints, nothing goes on."""
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    child = int(program.stdout.readline())
    os.killpg(program.pid, signal.SIGINT)
    begin = time.monotonic()
    output, errors = program.communicate(timeout=30)
    assert time.monotonic() - begin < 20
    assert (output, errors) == ("interrupted\n", "")
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_thread_that_fits_meanwhile():
    """Fits in threads of the user's own do not stop each other."""
    alone = inference.bootstrap(fitted(2), X, n_replicates=8).replicates
    found = []

    def work():
        with hiddenbits.run_on(n_jobs=2):
            found.append(inference.bootstrap(fitted(2), X, n_replicates=8).replicates)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for one in found:
        np.testing.assert_array_equal(one, alone)

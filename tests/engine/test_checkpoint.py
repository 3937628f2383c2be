"""Whose a checkpoint is: refused for the right reason, read whole, and held by one fit at a time."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits.engine.checkpoint import FORMAT
from hiddenbits.store import lock, read, write
from tests.store import golden

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


def fit(X, path, names=None, model=None):
    model = model or hiddenbits.LatentClassAnalysis(2, n_init=1, max_iter=3, random_state=0)
    with hiddenbits.run_on(checkpoint=path):
        return model.fit(hiddenbits.open_table(X, names=names))


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_changed_cell_is_other_data_and_not_another_shape(tmp_path, seed, distinct):
    """Rows that repeat are collapsed, so that a changed cell changes the number of rows that are walked."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (200, 12 if distinct else 3)).astype(float)
    X[:10] = 0.0
    fit(X, tmp_path / "fit.hb")
    other = X.copy()
    other[5, :3] = 1.0, 0.0, np.nan
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match=r"other data: .* a cell"):
        fit(other, tmp_path / "fit.hb")
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match=r"its shape is \[200, .*\], here it is \[199, "):
        fit(X[1:], tmp_path / "fit.hb")
    assert len(fit(X, tmp_path / "fit.hb").trace_)


def test_names_of_columns_must_agree(tmp_path):
    X, names = golden.bits(), golden.NAMES
    fit(X, tmp_path / "fit.hb", names)
    for other in (None, names[::-1], [*names[:-1], "another"]):
        with pytest.raises(hiddenbits.exceptions.CheckpointError, match="its column names"):
            fit(X, tmp_path / "fit.hb", other)
    fit(X, tmp_path / "fit.hb", names)


@pytest.mark.parametrize("number", [None, 0, FORMAT + 1, 10**30, "1", True, [1]])
def test_another_format_number_is_refused_before_anything_is_compared(tmp_path, number):
    stored = read(golden.FOLDER / "checkpoint.hb")
    meta = {"format": number, "later": stored.meta}
    write(tmp_path / "fit.hb", "checkpoint", {k: v for k, v in meta.items() if v is not None}, stored.arrays)
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="reads only"):
        golden.resumed(tmp_path / "fit.hb")


def test_a_checkpoint_is_read_whole_or_not_at_all(tmp_path):
    stored = read(golden.FOLDER / "checkpoint.hb")
    damaged = [({k: v for k, v in stored.meta.items() if k != gone}, stored.arrays) for gone in stored.meta]
    damaged += [(stored.meta, {k: v for k, v in stored.arrays.items() if k != gone}) for gone in stored.arrays]
    damaged += [({**stored.meta, "later": 1}, stored.arrays), (stored.meta, {**stored.arrays, "x": np.zeros(1)})]
    damaged += [({**stored.meta, "restart": value}, stored.arrays) for value in (-1, 10**30, True, "0", None, [0])]
    damaged += [({**stored.meta, "best": 5}, stored.arrays), ({**stored.meta, "running": []}, stored.arrays)]
    for meta, arrays in damaged:
        write(tmp_path / "fit.hb", "checkpoint", meta, arrays)
        with pytest.raises((hiddenbits.exceptions.FileError, hiddenbits.exceptions.CheckpointError)):
            golden.resumed(tmp_path / "fit.hb")


def test_a_second_fit_on_one_path_is_refused_until_the_first_has_ended(tmp_path, monkeypatch):
    path, begun, go = tmp_path / "fit.hb", threading.Event(), threading.Event()
    save = hiddenbits.engine.Checkpoint.save

    def slow(self, position, summary):
        save(self, position, summary)
        begun.set()
        assert go.wait(60)

    monkeypatch.setattr(hiddenbits.engine.Checkpoint, "save", slow)
    thread = threading.Thread(target=lambda: fit(golden.bits(), path))
    thread.start()
    try:
        assert begun.wait(60)
        with pytest.raises(hiddenbits.exceptions.CheckpointError, match="in use by another fit that is still running"):
            fit(golden.bits(), path)
    finally:
        go.set()
        thread.join()
    fit(golden.bits(), path)
    assert [found.name for found in tmp_path.iterdir()] == ["fit.hb"]


PROGRAM = """
import sys, time
import hiddenbits
from tests.engine.test_checkpoint import fit
from tests.store import golden
save = hiddenbits.engine.Checkpoint.save
def slow(self, position, summary):
    save(self, position, summary)
    if sys.argv[2] == "wait":
        print("holding", flush=True)
        time.sleep(120)
hiddenbits.engine.Checkpoint.save = slow
fit(golden.bits(), sys.argv[1])
"""


@pytest.mark.slow
def test_a_killed_process_leaves_no_lock_behind(tmp_path):
    path = tmp_path / "fit.hb"
    paths = os.pathsep.join(map(str, [Path(hiddenbits.__file__).parents[1], Path.cwd()]))
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(path), "wait"],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )
    try:
        assert child.stdout.readline() == b"holding\n"
        with pytest.raises(hiddenbits.exceptions.CheckpointError, match="in use by another fit"):
            fit(golden.bits(), path)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert (tmp_path / "fit.hb.lock").exists()  # a file, but no lock
    fit(golden.bits(), path)
    assert [found.name for found in tmp_path.iterdir()] == ["fit.hb"]


def test_a_lock_passes_from_hand_to_hand(tmp_path):
    """Each of several threads gets the lock in the end, and no two of them have it at once."""
    inside, most, done = [], [], []

    def work():
        while True:
            try:
                with lock.locked(tmp_path / "x.lock"):
                    inside.append(1)
                    most.append(len(inside))
                    time.sleep(0.001)
                    inside.pop()
                break
            except lock.LockedError:
                time.sleep(0.0005)
        done.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(done), max(most)) == (8, 1)
    assert not list(tmp_path.iterdir())


def test_a_file_system_without_locks_is_warned_about(tmp_path, monkeypatch):
    def none(file):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(lock, "_lock", none)
    with pytest.warns(
        hiddenbits.exceptions.UnlockedCheckpointWarning, match="without locks .*Function not implemented"
    ):
        fit(golden.bits(), tmp_path / "fit.hb")
    assert (tmp_path / "fit.hb").exists()

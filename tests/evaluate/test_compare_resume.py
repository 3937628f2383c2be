"""A comparison that is killed does no finished fit again and ends with the same table; other work is never mixed up."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, evaluate
from hiddenbits.datasets import simulate_mixture
from tests.evaluate.killed_compare import main

pytestmark = pytest.mark.core

TIMES = ("fit_seconds", "all_seconds", "peak_memory")


def finished(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.json")}


def table(folder):
    return [{k: v for k, v in e.items() if k not in TIMES} for e in json.loads((folder / "table.json").read_text())]


@pytest.mark.full  # tests/inference kills a bootstrap, which keeps its fits in the same way
def test_kill_9(tmp_path):
    """A real process and a real signal, when four fits are finished: a second run does the rest, and only that."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    main(str(whole))
    source = str(Path(hiddenbits.__file__).parents[1])
    path = os.pathsep.join([source, str(Path(__file__).parents[2])])
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.evaluate.killed_compare", str(broken)], env={**os.environ, "PYTHONPATH": path}
    )
    while child.poll() is None and len(finished(broken)) < 4:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    before = finished(broken)
    assert 4 <= len(before) < len(finished(whole))
    assert not (broken / "table.json").exists()
    main(str(broken))
    after = finished(broken)
    assert {name: after[name] for name in before} == before  # none was written again
    assert set(after) == set(finished(whole))
    assert table(broken) == table(whole)


@pytest.mark.slow
def test_nothing_is_fitted_again(tmp_path, monkeypatch):
    X = simulate_mixture(300, 6, 2, random_state=0).X
    sizes = {"LatentClassAnalysis": [1, 2]}
    first = evaluate.compare(X, ["IndependentColumns", *sizes], sizes=sizes, folder=tmp_path)
    chosen = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2], cv=2, folder=tmp_path)
    monkeypatch.setattr(IndependentColumns, "fit", None)
    fit = LatentClassAnalysis.fit
    monkeypatch.setattr(LatentClassAnalysis, "fit", None)
    again = evaluate.compare(X, ["IndependentColumns", *sizes], sizes=sizes, folder=tmp_path)
    assert again.records() == first.records()
    assert again.records("sizes") == first.records("sizes")
    np.testing.assert_array_equal(
        again.models["LatentClassAnalysis"].probabilities_, first.models["LatentClassAnalysis"].probabilities_
    )
    monkeypatch.setattr(LatentClassAnalysis, "fit", fit)
    assert (
        evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2], cv=2, folder=tmp_path).records()
        == chosen.records()
    )


def test_another_table_or_setting_is_another_fit(tmp_path):
    X = simulate_mixture(300, 6, 2, random_state=0).X
    other = X.copy()
    other[0, 0] ^= 1
    blank = np.where(np.arange(X.size).reshape(X.shape) == 0, np.nan, X)

    def count(table, **options):
        evaluate.compare(table, ["IndependentColumns"], folder=tmp_path, **{"measures": (), "cv": 0.25, **options})
        return len(list(tmp_path.glob("*.json")))

    assert count(X) == 1
    assert count(X) == 1
    assert count(other) == 2
    assert count(blank) == 3
    assert count(X, sample_weight=np.arange(1.0, 301.0)) == 4
    assert count(X, cv=0.3) == 5
    assert count(X, measures=["code_length"]) == 6  # what was measured, of the fit that is there
    model = IndependentColumns(prior_strength=2.0)
    evaluate.compare(X, [model], folder=tmp_path, measures=(), cv=0.25)
    assert len(list(tmp_path.glob("*.json"))) == 7
    assert not list(tmp_path.glob("*.tmp"))


def test_a_damaged_file_is_named(tmp_path):
    X = simulate_mixture(100, 4, 2, random_state=0).X
    evaluate.compare(X, ["IndependentColumns"], folder=tmp_path, cv=0.25, measures=())
    (file,) = tmp_path.glob("*.json")
    file.write_text(file.read_text()[:40])
    with pytest.raises(ValueError, match=rf"{file.name} cannot be read.*Delete it"):
        evaluate.compare(X, ["IndependentColumns"], folder=tmp_path, cv=0.25, measures=())

"""A bootstrap that is killed repeats no finished replicate and ends with the same numbers; runs are never mixed up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import LatentClassAnalysis, LogisticPCA, inference, open_table
from hiddenbits.datasets import simulate_mixture
from tests.inference.killed_bootstrap import N, main

pytestmark = pytest.mark.core


def finished(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}


def fitted(X, **settings):
    return LatentClassAnalysis(2, **{"prior_strength": 0, "n_init": 1, "random_state": 0, **settings}).fit(X)


@pytest.mark.slow
def test_kill_9(tmp_path):
    """A real process and a real signal, when four replicates are finished."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    main(str(whole))
    path = os.pathsep.join([str(Path(hiddenbits.__file__).parents[1]), str(Path(__file__).parents[2])])
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.inference.killed_bootstrap", str(broken)], env={**os.environ, "PYTHONPATH": path}
    )
    while child.poll() is None and len(finished(broken / "fits")) < 4:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    before = finished(broken / "fits")
    assert 4 <= len(before) < N
    main(str(broken))
    after = finished(broken / "fits")
    assert {name: after[name] for name in before} == before  # none was written again
    assert set(after) == set(finished(whole / "fits"))
    assert (np.load(broken / "replicates.npy") == np.load(whole / "replicates.npy")).all()


@pytest.mark.parametrize("family", ["classes", "map"])
def test_only_what_is_missing_is_fitted(tmp_path, monkeypatch, family):
    X = simulate_mixture(150, 5, 2, random_state=0).X.astype(float)
    X[0, 0] = np.nan
    model = fitted(X) if family == "classes" else LogisticPCA(2, random_state=0).fit(X)
    without = inference.bootstrap(model, X, n_replicates=5, tol=1e-6)
    fits = []
    refit = type(model)._refit
    monkeypatch.setattr(type(model), "_refit", lambda self, *a, **k: fits.append(1) or refit(self, *a, **k))
    inference.bootstrap(model, X, n_replicates=3, tol=1e-6, folder=tmp_path)
    assert len(fits) == 3
    five = inference.bootstrap(model, X, n_replicates=5, tol=1e-6, folder=tmp_path)
    assert len(fits) == 5
    assert (five.replicates == without.replicates).all()
    other = inference.bootstrap(model, X, n_replicates=5, tol=1e-6, folder=tmp_path, statistic=lambda m: m.score(X))
    assert len(fits) == 5  # of the saved fits: another statistic needs no new ones
    assert np.ptp(other.replicates) > 0


def test_replicates_that_did_not_converge_say_so_again(tmp_path):
    X = simulate_mixture(150, 5, 2, random_state=0).X
    model = fitted(X).set_params(max_iter=1)
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match="2 of 2 replicates"):
            inference.bootstrap(model, X, n_replicates=2, tol=1e-14, folder=tmp_path)


@pytest.mark.slow
def test_other_runs_are_not_mixed_up(tmp_path):
    X = simulate_mixture(120, 5, 2, random_state=0).X
    changed = X.copy()
    changed[0, 0] = 1 - changed[0, 0]
    model, labels = fitted(X), np.arange(120) // 4
    runs = [
        (model, X, {}),
        (model, X, {"random_state": 1}),
        (model, X, {"tol": 1e-7}),
        (model, X, {"clusters": labels}),
        (model, X, {"clusters": labels // 2}),
        (model, X, {"strata": labels}),
        (model, X, {"weight_type": "sampling"}),
        (model, open_table(X).with_weights(np.r_[2.0, np.ones(119)]), {}),
        (model, changed, {}),
        (fitted(changed), X, {}),
        (fitted(X, max_iter=900), X, {}),
    ]
    for number, (one, table, options) in enumerate(runs):
        inference.bootstrap(one, table, n_replicates=2, folder=tmp_path, **options)
        assert len(finished(tmp_path)) == 2 * (number + 1)

"""Standard errors and replicates are the same numbers on a cluster."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, diagnostics, inference

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    theta = np.array([[0.8, 0.7, 0.9, 0.2], [0.3, 0.2, 0.1, 0.7]])
    X = (rng.random((900, 4)) < theta[rng.integers(0, 2, 900)]).astype(np.uint8)
    return LatentClassAnalysis(2, prior_strength=0, tol=1e-9, n_init=1, random_state=0).fit(X), X


@pytest.mark.slow
def test_same_numbers(client, fitted, monkeypatch):
    model, X = fitted
    monkeypatch.setattr("hiddenbits.inference.information_matrix.PIECE_NUMBERS", 1)  # pieces of 256 rows
    labels = np.arange(900) // 5
    here = (
        inference.standard_errors(model, X, clusters=labels),
        inference.bootstrap(model, X, n_replicates=3, clusters=labels),
    )
    table = diagnostics.classification_table(model, X)
    with hiddenbits.run_on(client):
        there = (
            inference.standard_errors(model, X, clusters=labels),
            inference.bootstrap(model, X, n_replicates=3, clusters=labels),
        )
        assert (diagnostics.classification_table(model, X) == table).all()
    assert (there[0].covariance == here[0].covariance).all()
    assert (there[1].replicates == here[1].replicates).all()

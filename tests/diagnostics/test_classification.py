"""Entropy and tables of classes, against what the posteriors of single rows say."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, LogisticPCA, diagnostics


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    theta = np.array([[0.8, 0.7, 0.9, 0.2], [0.3, 0.2, 0.4, 0.7], [0.6, 0.1, 0.8, 0.9]])
    X = (rng.random((200, 4)) < theta[rng.integers(0, 3, 200)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    w = rng.integers(1, 4, 200).astype(float)
    return LatentClassAnalysis(3, random_state=0, n_init=1).fit(X, sample_weight=w), X, w


def test_tables_of_classes(fitted):
    model, X, w = fitted
    r = model.transform(X)
    expected = np.zeros((3, 3))
    for row, weight in zip(r, w, strict=True):
        expected[row.argmax()] += weight * row
    found = diagnostics.classification_table(model, X, w)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    for normalize, axis in (("assigned", 1), ("class", 0)):
        shares = diagnostics.classification_table(model, X, w, normalize=normalize)
        np.testing.assert_allclose(shares, expected / expected.sum(axis=axis, keepdims=True), rtol=1e-12)
    with pytest.raises(ValueError, match="assigned"):
        diagnostics.classification_table(model, X, normalize="true")
    with hiddenbits.run_on(n_jobs=2):
        assert (diagnostics.classification_table(model, X, w) == found).all()


def test_entropy(fitted):
    model, X, w = fitted
    r = model.transform(X)
    mean = -(w[:, None] * r * np.log(r)).sum() / w.sum()
    assert diagnostics.entropy(model, X, w) == pytest.approx(1 - mean / np.log(3), rel=1e-12)
    pi = model.weights_
    assert diagnostics.entropy(model, X, w, kind="r2") == pytest.approx(1 + mean / (pi @ np.log(pi)), rel=1e-12)
    with pytest.raises(ValueError, match="relative"):
        diagnostics.entropy(model, X, kind="other")
    with pytest.raises(TypeError, match="no classes"):
        diagnostics.entropy(LogisticPCA(1, random_state=0).fit(X), X)


def test_one_class_has_all_rows():
    X = np.repeat([[1, 1, 0], [0, 0, 1]], 20, axis=0)
    model = LatentClassAnalysis(1, random_state=0).fit(X)
    assert diagnostics.entropy(model, X) == 1.0
    assert diagnostics.classification_table(model, X, normalize="assigned").tolist() == [[1.0]]

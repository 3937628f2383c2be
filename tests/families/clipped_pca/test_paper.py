"""`ClippedPCA.paper`: the paper's first example in full, and what sets it apart from the corrected model."""

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import clone

import hiddenbits
from hiddenbits import ClippedPCA, tetrachoric
from tests.families.clipped_pca.clipped_data import bumps, probit_params, rows_from

pytestmark = pytest.mark.core


def table(seed=0):
    return rows_from(probit_params(12, 2, seed, high=0.9), 900, seed)


def test_the_ring_is_drawn_exactly():
    """Figure 3: two eigenvalues N/2, the rest 0, and only bumps are drawn."""
    ring = bumps(64)
    model = ClippedPCA.paper(2, biases=False, random_state=0).fit(ring)
    np.testing.assert_allclose(model.spectrum_[:2], 32.0, atol=1e-10)
    assert np.abs(model.spectrum_[2:]).max() < 1e-10
    drawn = {tuple(row) for row in model.sample(4000).tolist()}
    assert drawn == {tuple(row) for row in np.asarray(ring).tolist()}


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.DegeneratePairsWarning")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_loadings_are_the_raw_eigenvectors(seed):
    """Of C^XX as `tetrachoric` has it, up to a sign and the length of each column's w."""
    X = table(seed)
    model = ClippedPCA.paper(3).fit(X)
    values, vectors = np.linalg.eigh(tetrachoric(X).correlation)
    W = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])
    W *= np.sign((W * model.components_.T).sum(axis=0))
    np.testing.assert_allclose(model.components_.T, W / np.linalg.norm(W, axis=1)[:, None], atol=1e-8)
    assert np.abs(model.noise_variances_).max() < 1e-9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_means_are_exact_and_posteriors_refused(seed):
    """Four standard errors of 40,000 draws are .01."""
    X = table(seed)
    model = ClippedPCA.paper(2, random_state=seed).fit(X)
    np.testing.assert_allclose(ndtr(model.intercepts_), X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(model.sample(40_000).mean(axis=0), X.mean(axis=0), atol=0.01)
    with pytest.raises(ValueError, match="no posterior"):
        model.transform(X)


def test_constant_columns_and_files(tmp_path):
    X = np.column_stack([table(), np.zeros(900), np.ones(900)])
    model = clone(ClippedPCA.paper(2, random_state=0)).fit(X)
    assert not model.components_[:, -2:].any()
    model.save(tmp_path / "model.hb")
    there = hiddenbits.load(tmp_path / "model.hb")
    assert type(there) is ClippedPCA
    assert (there.max_communality, there.factor_steps) == (1.0, 0)
    assert np.array_equal(there.sample(50, random_state=1), model.sample(50, random_state=1))

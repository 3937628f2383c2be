"""How many causes: held-out rows find the number that made them."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from hiddenbits import NoisyOrNetwork

pytestmark = pytest.mark.core


def rows_of(causes, seed, n=500):
    """Causes on in three rows of ten, each with five of sixteen bits, neighbors with one of them in common."""
    rng = np.random.default_rng([seed, causes])
    strengths = np.zeros((causes, 16))
    for i in range(causes):
        strengths[i, (4 * i + np.arange(5)) % 16] = rng.uniform(0.6, 0.9, 5)
    off = 0.98 * np.exp((rng.random((n, causes)) < 0.3) @ np.log1p(-strengths))
    return (rng.random((n, 16)) > off).astype(float)


def fewest_within_noise(results):
    """The fewest causes that are behind the best by at most two standard errors of the difference, fold by fold.

    Causes too many go unused and cost next to nothing, so that chance decides among them; causes too few cost much.
    """
    folds = np.array([results[f"split{k}_test_score"] for k in range(5)])
    behind = folds[:, [int(folds.mean(axis=0).argmax())]] - folds
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(folds))
    return int(np.flatnonzero(behind.mean(axis=0) <= 2.0 * error)[0])


@pytest.mark.full
@pytest.mark.thin(3)
@pytest.mark.parametrize(("causes", "seed"), [(2, 0), (3, 1), (4, 2)])
def test_held_out_rows_choose_the_true_number(causes, seed):
    model = NoisyOrNetwork(method="exact", n_init=3, tol=3e-4, random_state=seed)
    search = GridSearchCV(model, {"n_components": range(1, 6)}, cv=5, refit=fewest_within_noise)
    search.fit(rows_of(causes, seed))
    assert search.best_params_ == {"n_components": causes}
    scores = search.cv_results_["mean_test_score"]
    assert scores[causes - 1] > scores[causes - 2] + 0.1  # one cause too few costs far more than chance
    assert scores[causes - 1] > scores.max() - 0.05

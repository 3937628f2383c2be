"""Mixtures of maps to test with: random ones, and rows drawn from them by plain NumPy."""

import numpy as np

from hiddenbits.families.logistic_pca.params import VARIATIONAL, LogisticParams
from hiddenbits.families.logistic_pca_mixture.params import MapsParams
from tests.oracle.maps_integration import Maps


def random_maps(rng, d, q, K=2, size=1.5, stage=VARIATIONAL):
    weights, centre = rng.dirichlet(np.full(K, 4.0)), np.zeros(d)
    each = [(size * rng.standard_normal((d, q)), rng.standard_normal(d)) for _ in range(K)]
    return MapsParams.of(weights, [LogisticParams.at(W, b, centre, stage) for W, b in each])


def oracle(params, step=0.06):
    return Maps(params.weights, [(one.loadings, one.intercepts) for one in params.maps], step)


def holed(rng, n, d):
    rows = rng.integers(0, 2, (n, d)).astype(float)
    rows[rng.random((n, d)) < 0.2] = np.nan
    rows[0] = np.nan  # a row that says nothing
    return rows


def drawn(params, n, rng):
    """Rows and their maps."""
    chosen = rng.choice(len(params.weights), n, p=params.weights)
    x = rng.standard_normal((n, params.n_components))
    A = np.einsum("nij,nj->ni", params.joints[chosen][:, :, :-1], x) + params.joints[chosen][:, :, -1]
    return (rng.random(A.shape) < 1 / (1 + np.exp(-A))).astype(np.uint8), chosen

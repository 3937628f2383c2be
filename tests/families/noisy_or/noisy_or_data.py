"""Random noisy-OR networks and rows for the tests."""

import numpy as np

from hiddenbits.families.noisy_or.params import NoisyOrParams
from tests.contracts.conftest import table_of


def network_params(seed, d=6, causes=(3,), leak=(0.01, 0.2)):
    """A network with strengths all over (0, 1)."""
    rng = np.random.default_rng([seed, 77])
    layers, below = [], d
    for K in causes:
        layers.append(np.vstack([rng.uniform(0.02, 0.97, (K, below)), rng.uniform(*leak, (1, below))]))
        below = K
    return NoisyOrParams.of(layers, rng.uniform(0.1, 0.7, below))


def block_of(rows, storage="dense", weights=None):
    """The rows (NaN: missing) as one block."""
    table = table_of(rows, storage, weights=weights)
    return table.grid(table.shape[0]).blocks[0]


def rows_with_blanks(seed, n, d, missing=0.2):
    rng = np.random.default_rng([seed, 78])
    rows = rng.integers(0, 2, (n, d)).astype(float)
    rows[rng.random((n, d)) < missing] = np.nan
    return rows


def split_states(params, h):
    """The states of each layer from those of all of them."""
    cuts = np.cumsum(params.n_causes)[:-1]
    return [np.ascontiguousarray(s, np.uint8) for s in np.split(np.atleast_2d(h), cuts, axis=1)]

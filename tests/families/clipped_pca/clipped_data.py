"""Probit factor models drawn at random, the paper's two examples, and rows of known models."""

import numpy as np

from hiddenbits import open_table
from hiddenbits.families.clipped_pca.params import ClippedParams


def probit_params(d, q, seed, low=0.2, high=0.9):
    """A model whose dimensions explain between `low` and `high` of each hidden variable."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((d, q))
    W *= np.sqrt(rng.uniform(low, high, d) / (W**2).sum(axis=1))[:, None]
    C = W @ W.T
    np.fill_diagonal(C, 1.0)
    flat = np.ones(d)
    return ClippedParams(W, rng.normal(0, 0.7, d), C, flat, flat, np.zeros(0))


def rows_from(params, n, seed):
    """Rows by the definition: signs of h + W y + noise."""
    rng = np.random.default_rng(seed)
    y = rng.standard_normal((n, params.n_components))
    noise = np.sqrt(1 - (params.loadings**2).sum(axis=1))
    return (y @ params.loadings.T + noise * rng.standard_normal((n, params.n_columns)) + params.biases > 0).astype(
        float
    )


def with_blanks(rows, share, seed):
    rows = rows.astype(float)
    rows[np.random.default_rng(seed).random(rows.shape) < share] = np.nan
    return rows


def bumps(n_columns=256):
    """The translation example: half of the columns are on, and the bump may stand anywhere."""
    first = np.arange(n_columns) < n_columns // 2
    return np.array([np.roll(first, k) for k in range(n_columns)], np.uint8)


def one_block(rows):
    return open_table(rows).grid(len(rows)).blocks[0]

"""`residual_pairs`: pairs of columns that a model does not explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits import Piece, Table, map_pieces
from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.expected_pairs import expected_pairs
from hiddenbits.diagnostics.tables import like, opened

LEAST_VARIANCE = 1e-12  # of a pair that the model takes for impossible or certain
PIECE_CELLS = 1 << 22


def residual_pairs(model: Any, X: object, *, n_pairs: int | None = None) -> Any:
    """Return how often the bits of each pair of columns are both 1, next to what a fitted model expects.

    Where the residual of a pair is far from 0, its columns depend on each other in a way that the model does not
    explain: the same question asked twice, two products that are sold together. The residual of columns j and k is

        (observed - n P_jk) / sqrt(n P_jk (1 - P_jk) (1 + n / m)),

    where n is the number of rows observed in both columns and P_jk the model's probability that both bits are 1: exact
    for classes, for up to 12 causes or influences and for up to three dimensions (there on a grid). Otherwise it comes
    from m draws from the model, whose error the last factor adds. If the model is true, residuals have mean 0 and
    standard deviation about 1, or less on the rows it was fitted to. Blanks are taken to be missing at random. Runs on
    the executor set by `run_on`.

    Parameters
    ----------
    model : fitted estimator
        Any family of models of bits.
    X : table of shape (rows, columns)
        As for its `fit`.
    n_pairs : int, optional
        Return only this many pairs. By default all.

    Returns
    -------
    pairs : frame or structured ndarray
        A frame of X's library if X is a frame, else an array with named fields. Columns "first", "second" (names of the
        two columns), "rows" (observed in both), "observed", "expected" (number of these rows in which both bits are 1)
        and "residual"; the largest residuals, of either sign, first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import BernoulliMixture, diagnostics
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(2000, 6, 2, seed=0).X
    >>> X[:, 5] = X[:, 4]                                    # two columns that say the same
    >>> model = BernoulliMixture(2, random_state=0).fit(X)
    >>> diagnostics.residual_pairs(model, X, n_pairs=1)[["first", "second"]].tolist()
    [('x4', 'x5')]
    """
    check_is_fitted(model)
    if n_pairs is not None and n_pairs < 1:
        raise ValueError(f"n_pairs={n_pairs}: give a number of pairs of at least 1, or None for all.")
    table = opened(model, X)
    if table.shape[1] != model.n_features_in_:
        raise ValueError(f"The model was fitted to {model.n_features_in_} columns, and X has {table.shape[1]}.")
    names = np.asarray(table.names or [f"x{j}" for j in range(table.shape[1])], object)
    both, ones = _totals(table)
    expected = expected_pairs(model, table.shape[1])
    first, second = np.triu_indices(table.shape[1], 1)
    n, share, observed = both[first, second], expected.both[first, second], ones[first, second]
    variance = n * np.maximum(share * (1.0 - share), LEAST_VARIANCE) * (1.0 + n / expected.draws)
    residual = np.zeros(len(n))
    np.divide(observed - n * share, np.sqrt(variance), out=residual, where=n > 0)
    order = np.argsort(-np.abs(residual), kind="stable")[:n_pairs]
    columns = {"first": names[first], "second": names[second], "rows": n, "observed": observed}
    columns |= {"expected": n * share, "residual": residual}
    return like(X, {key: values[order] for key, values in columns.items()})


def _totals(table: Table) -> tuple[Floats, Floats]:
    """Return the weight of the rows observed in both columns of each pair, and of those in which both are 1."""
    n_columns = table.shape[1]
    both, ones = np.zeros((2, n_columns, n_columns))
    for seen, together in map_pieces(_counts, table, max(1, PIECE_CELLS // n_columns)):
        both += seen
        ones += together
    return both, ones


def _counts(piece: Piece) -> tuple[Floats, Floats]:
    """Return the same of a piece."""
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    bits, seen = x.to_dense().astype(np.float64), observed.to_dense().astype(np.float64)
    bits *= seen
    weights = piece.weights[:, None]
    return seen.T @ (weights * seen), bits.T @ (weights * bits)

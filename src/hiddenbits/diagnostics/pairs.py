"""`residual_pairs`: pairs of columns that a model does not explain."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hiddenbits import Piece, Table, map_pieces, open_table
from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.expected_pairs import expected_pairs
from hiddenbits.diagnostics.simulation import drawn_tables, plain
from hiddenbits.diagnostics.tables import like, opened
from hiddenbits.shown import names_of

LEAST_VARIANCE = 1e-12  # of a pair that the model takes for impossible or certain
PIECE_CELLS = 1 << 22
STREAM = 0x9A12  # the address of the random numbers of simulated tables, next to others with the same seed
TOL = 1e-8  # of refits to simulated tables: they begin close to their end


def residual_pairs(
    model: Any, X: object, *, n_pairs: int | None = None, n: int | None = None, seed: int = 0, tol: float = TOL
) -> Any:
    """Return how often the bits of each pair of columns are both 1, next to what a fitted model expects.

    Where the residual of a pair is far from 0, its columns depend on each other in a way that the model does not
    explain: the same question asked twice, two products that are sold together. The residual of columns j and k is

        (observed - n P_jk) / sqrt(n P_jk (1 - P_jk) (1 + n / m)),

    where n is the number of rows observed in both columns and P_jk the model's probability that both bits are 1: exact
    for classes, for up to 12 causes or influences and for up to three dimensions (there on a grid). Otherwise it comes
    from m draws from the model, whose error the last factor adds. If the model is true, residuals have mean 0 and
    standard deviation about 1, or less on the rows it was fitted to. Blanks are taken to be missing at random. Runs on
    the executor set by `run_on`.

    With ``n=99`` there are p-values. The null distribution is simulated: n tables are drawn from the model, with the
    blanks of X, and the model is fitted to each, from its own parameters; so parameters that were estimated on the same
    rows are accounted for. Residuals are divided by their spread over all n + 1 tables. The p-value of a pair is the
    share of tables, the real one counted among them, in which its residual is at least as large; the corrected one is
    the share in which the largest residual of any pair is (Westfall and Young's single step): if the model is true, the
    chance that any pair has ``p_corrected`` of at most .05 is .05.

    Parameters
    ----------
    model : fitted estimator
        Any family of models of bits.
    X : table of shape (rows, columns)
        As for its `fit`.
    n_pairs : int, optional
        Return only this many pairs. By default all.
    n : int, optional
        Number of simulated tables for p-values, which are multiples of 1 / (n + 1): 99 or more to publish. Each costs a
        fit that begins close to its end. By default none, and no p-values.
    seed : int, default=0
        Of the simulation.
    tol : float, default=1e-8
        Tolerance of the fits to simulated tables. Fit the model to convergence, too.

    Returns
    -------
    pairs : frame or structured ndarray
        A frame of X's library if X is a frame, else an array with named fields. Columns "first", "second" (names of the
        two columns), "rows" (observed in both), "observed", "expected" (number of these rows in which both bits are 1)
        and "residual"; with `n`, also "p" and "p_corrected". The largest residuals, of either sign, come first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(2000, 6, 2, seed=0).X
    >>> X[:, 5] = X[:, 4]                                    # two columns that say the same
    >>> model = LatentClassAnalysis(2, random_state=0).fit(X)
    >>> diagnostics.residual_pairs(model, X, n_pairs=1)[["first", "second"]].tolist()
    [('x4', 'x5')]
    >>> diagnostics.residual_pairs(model, X, n=19, n_pairs=1)["p_corrected"]
    array([0.05])
    """
    check_is_fitted(model)
    if n_pairs is not None and n_pairs < 1:
        raise ValueError(f"n_pairs={n_pairs}: give a number of pairs of at least 1, or None for all.")
    if n is not None and n < 1:
        raise ValueError(f"n={n}: simulate at least one table for p-values, and 99 or more for those that you publish.")
    table = opened(model, X)
    if table.shape[1] != model.n_features_in_:
        raise ValueError(f"The model was fitted to {model.n_features_in_} columns, and X has {table.shape[1]}.")
    names = np.asarray(names_of(model, table), object)
    first, second = np.triu_indices(table.shape[1], 1)
    found = _residuals(model, table)
    columns = {"first": names[first], "second": names[second], **found._asdict()}
    if n is not None:
        columns["p"], columns["p_corrected"] = _p_values(model, table, found.residual, n, seed, tol)
    order = np.argsort(-np.abs(found.residual), kind="stable")[:n_pairs]
    return like(X, {key: values[order] for key, values in columns.items()})


class _Residuals(NamedTuple):
    """Of each pair: rows observed in both columns, those with two ones, how many are expected, and the residual."""

    rows: Floats
    observed: Floats
    expected: Floats
    residual: Floats


def _residuals(model: Any, table: Table) -> _Residuals:
    both, ones = _totals(table)
    expected = expected_pairs(model, table.shape[1])
    pairs = np.triu_indices(table.shape[1], 1)
    n, share, observed = both[pairs], expected.both[pairs], ones[pairs]
    variance = n * np.maximum(share * (1.0 - share), LEAST_VARIANCE) * (1.0 + n / expected.draws)
    residual = np.zeros(len(n))
    np.divide(observed - n * share, np.sqrt(variance), out=residual, where=n > 0)
    return _Residuals(n, observed, n * share, residual)


def _p_values(model: Any, table: Table, residual: Floats, n: int, seed: int, tol: float) -> tuple[Floats, Floats]:
    """Return the p-value of each pair, alone and corrected for the number of pairs."""
    all_tables = [residual]
    bare = plain(model)
    for rows in drawn_tables(model, table, n, seed, STREAM):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            refitted = bare.refit(rows, tol=tol)
        all_tables.append(_residuals(refitted, open_table(rows)).residual)
    # If the model is true, the n + 1 tables are exchangeable, as long as the real one is treated like all others.
    z = np.stack(all_tables)
    z -= z.mean(axis=0)
    spread = z.std(axis=0)
    size = np.abs(np.divide(z, spread, out=np.zeros_like(z), where=spread > 0.0))
    return (size >= size[0]).mean(axis=0), (size.max(axis=1)[:, None] >= size[0]).mean(axis=0)


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

"""`residual_pairs`: pairs of columns that a model does not explain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Rows
from hiddenbits.diagnostics.tables import cells, drawn_tables, like, opened, total
from hiddenbits.display import names_of
from hiddenbits.tables import Piece, Table

LEAST_VARIANCE = 1e-12  # of a pair that the model takes for impossible or certain
LEAST_EXPECTED = 1e-12  # rows in a cell
STREAM = 0x9A12  # the address of the random numbers of simulated tables, next to others with the same seed
TOL = 1e-8  # of refits to simulated tables: they begin close to their end


def residual_pairs(
    model: Any,
    X: object,
    sample_weight: ArrayLike | None = None,
    *,
    n_pairs: int | None = None,
    n_replicates: int | None = None,
    random_state: int = 0,
    tol: float = TOL,
) -> Any:
    """Return how often the values of each pair of columns occur together, next to what a fitted model expects.

    Where the residual of a pair is far from 0, its columns depend on each other in a way that the model does not
    explain: the same question asked twice, two products that are sold together. The residual of columns j and k is

        (observed - n P_jk) / sqrt(n P_jk (1 - P_jk) (1 + n / m)),

    where n is the number of rows observed in both columns and P_jk the model's probability that both bits are 1: exact
    for classes, for up to 12 causes or influences and for up to three dimensions (there on a grid). Otherwise it comes
    from m draws from the model, whose error the last factor adds. If the model is true, residuals have mean 0 and
    standard deviation about 1, or less on the rows it was fitted to. Missing cells are taken to be missing at random.
    Runs on the executor set by `run_on`.

    A pair with a nominal or ordinal column has a residual for each pair of levels, of which the largest is shown, and
    which levels they are. "x2" is Pearson's statistic of the whole table of the pair, 2 x 2 or levels by levels, the
    sum of (observed - n P)^2 / (n P (1 + n / m)), and "df" is (levels - 1) (levels - 1), as for two independent
    columns; x2 / df is the bivariate residual that programs for latent classes print. It is about 1, or less, where a
    model of maximum likelihood is true.

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
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows. For p-values rows must be repeated.
    n_pairs : int, optional
        Return only this many pairs. By default all.
    n_replicates : int, optional
        Number of simulated tables for p-values, which are multiples of 1 / (n + 1): 99 or more to publish. Each costs a
        fit that begins close to its end. By default none, and no p-values.
    random_state : int, default=0
        Of the simulation.
    tol : float, default=1e-8
        Tolerance of the fits to simulated tables. Fit the model to convergence, too.

    Returns
    -------
    pairs : frame or structured ndarray
        A frame of X's library if X is a frame, else an array with named fields. Columns "first", "second" (the two
        columns, or levels of theirs as "column=level"), "rows" (observed in both), "observed", "expected" (number of
        these rows in which both bits are 1, or both levels occur), "residual", "x2" and "df"; with `n_replicates`, also "p" and
        "p_corrected". The largest residuals, of either sign, come first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(2000, 6, 2, random_state=0).X
    >>> X[:, 5] = X[:, 4]                                    # two columns that say the same
    >>> model = LatentClassAnalysis(2, random_state=0).fit(X)
    >>> diagnostics.residual_pairs(model, X, n_pairs=1)[["first", "second"]].tolist()
    [('x4', 'x5')]
    >>> diagnostics.residual_pairs(model, X, n_replicates=19, n_pairs=1)["p_corrected"]
    array([0.05])
    """
    check_is_fitted(model)
    if n_pairs is not None and n_pairs < 1:
        raise ValueError(f"n_pairs={n_pairs}: give a number of pairs of at least 1, or None for all.")
    if n_replicates is not None and n_replicates < 1:
        raise ValueError(
            f"n={n_replicates}: simulate at least one table for p-values, and 99 or more for those that you publish."
        )
    table = opened(model, X, sample_weight)
    if table.n_columns != model.n_features_in_:
        raise ValueError(f"The model was fitted to {model.n_features_in_} columns, and X has {table.n_columns}.")
    names = np.asarray(names_of(model, table), object)
    found = _residuals(model, table)
    columns = found._asdict() | {"first": names[found.first], "second": names[found.second]}
    if n_replicates is not None:
        columns["p"], columns["p_corrected"] = _p_values(model, table, found, n_replicates, random_state, tol)
    order = np.argsort(-np.abs(found.residual), kind="stable")[:n_pairs]
    return like(X, {key: values[order] for key, values in columns.items()})


class _Residuals(NamedTuple):
    """Of each pair of columns the two bits with the largest residual, rows observed in both, and what was found."""

    first: Rows
    second: Rows
    rows: Floats
    observed: Floats
    expected: Floats
    residual: Floats
    x2: Floats
    df: Rows


def _residuals(model: Any, table: Table) -> _Residuals:
    starts, column = table.layout.starts, table.layout.columns
    n, with_first, observed = total(_counts, table)
    share, ones, draws = expected_pairs(model, table.shape[1])
    more = 1.0 + n / draws
    expected = n * share
    variance = np.maximum(share * (1.0 - share), LEAST_VARIANCE)
    residual = np.zeros(n.shape)
    np.divide(observed - expected, np.sqrt(n * variance * more), out=residual, where=n > 0)

    # Pearson's statistic: the cells of two bits that are 1; where a column is binary, also those in which it is 0.
    binary = ~table.layout.is_level
    first = n * ones[:, None]  # expected rows in which the bit of the line is 1
    x2 = _misfit(observed, expected, more)
    x2 += _misfit(with_first - observed, first - expected, more) * binary
    x2 += _misfit(with_first.T - observed, first.T - expected, more) * binary[:, None]
    neither = n - with_first - with_first.T + observed, n - first - first.T + expected
    x2 += _misfit(*neither, more) * np.outer(binary, binary)
    in_columns = np.add.reduceat(np.add.reduceat(x2, starts, axis=0), starts, axis=1)

    # Of each pair of columns the two bits that are furthest off, the pairs in their order.
    a, b = np.nonzero(column[:, None] < column)
    if not binary.all():
        furthest = np.argsort(-np.abs(residual[a, b]), kind="stable")
        each = furthest[np.unique((column[a] * len(starts) + column[b])[furthest], return_index=True)[1]]
        a, b = a[each], b[each]
    df = np.maximum(np.array(table.layout.sizes) - 1, 1)
    return _Residuals(
        a,
        b,
        n[a, b],
        observed[a, b],
        expected[a, b],
        residual[a, b],
        in_columns[column[a], column[b]],
        df[column[a]] * df[column[b]],
    )


def _misfit(observed: Floats, expected: Floats, more: Floats) -> Floats:
    """Return (observed - expected)^2 / expected of cells, less by the error of what is expected."""
    return np.asarray((observed - expected) ** 2 / (np.maximum(expected, LEAST_EXPECTED) * more))


def _statistic(found: _Residuals) -> Floats:
    """Return what p-values are of: the residual of two bits, and the cube root of the x2 of pairs with levels."""
    return np.where(found.df == 1, found.residual, np.cbrt(found.x2))


def _p_values(model: Any, table: Table, found: _Residuals, n: int, seed: int, tol: float) -> tuple[Floats, Floats]:
    """Return the p-value of each pair, alone and corrected for the number of pairs."""
    all_tables = [_statistic(found)]
    for drawn in drawn_tables(model, table, n, seed, STREAM):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            refitted = model._refit(drawn, tol=tol)
        all_tables.append(_statistic(_residuals(refitted, drawn)))
    # If the model is true, the n + 1 tables are exchangeable, as long as the real one is treated like all others.
    z = np.stack(all_tables)
    z -= z.mean(axis=0)
    spread = z.std(axis=0)
    size = np.divide(z, spread, out=np.zeros_like(z), where=spread > 0.0)
    size = np.where(found.df == 1, np.abs(size), size)  # a large x2 is misfit, a small one is none
    return (size >= size[0]).mean(axis=0), (size.max(axis=1)[:, None] >= size[0]).mean(axis=0)


def _counts(piece: Piece) -> Floats:
    """Return of each pair of bits the rows recorded in both, those with a 1 in the first, and those with two."""
    bits, seen = cells(piece)
    weighted = bits * piece.weights[:, None]
    both = weighted.T @ bits
    if seen.all():
        return np.stack(
            [np.full_like(both, piece.weights.sum()), np.broadcast_to(np.diag(both)[:, None], both.shape), both]
        )
    return np.stack([seen.T @ (seen * piece.weights[:, None]), weighted.T @ seen, both])


# What a model expects of pairs of columns: P(both bits are 1).
#
# In most families the bits are independent given the hidden state s, so that P_jk = Sum_s P(s) P(x_j = 1 | s) P(x_k =
# 1 | s), here a sum over all classes, over the on/off states of at most 12 units, or over a grid of at most three
# dimensions. Elsewhere the sum is over states or rows that are drawn from the model.

MOST_UNITS = 12
STEPS = {1: 0.1, 2: 0.2, 3: 0.4}  # of the grid, by dimensions
FURTHEST = 6.0  # standard deviations that the grid reaches
DRAWN_STATES, DRAWN_ROWS = 1 << 15, 1 << 16
CHUNK_CELLS = 1 << 22

States = tuple[Floats, Floats]  # P(s), and P(x_j = 1 | s); (states,) and (states, columns)


class ExpectedPairs(NamedTuple):
    """P(both bits are 1), (bits, bits), P(bit = 1), and how many draws they rest on: infinity where they are exact."""

    both: Floats
    ones: Floats
    draws: float


def expected_pairs(model: Any, n_columns: int) -> ExpectedPairs:
    """Return what a fitted model expects of every pair of columns; the diagonal is of no use."""
    states, draws = _states(model, max(1, CHUNK_CELLS // n_columns))
    both, ones, total = np.zeros((n_columns, n_columns)), np.zeros(n_columns), 0.0
    for weights, shares in states:
        both += (shares * weights[:, None]).T @ shares
        ones += weights @ shares
        total += float(weights.sum())
    return ExpectedPairs(both / total, ones / total, draws)


def _states(model: Any, height: int) -> tuple[Iterator[States], float]:
    """Return the states of a model with their unnormalized weights in chunks, and the number of draws."""
    name = type(model).__name__
    if name == "IndependentColumns":
        return iter([(np.ones(1), np.asarray(model.probabilities_)[None, :])]), np.inf
    if name == "LatentClassAnalysis":
        return iter([(np.asarray(model.weights_), np.asarray(model.probabilities_))]), np.inf
    if name in ("LogisticPCA", "ClippedPCA"):
        return _places(model, len(model.components_), height)
    if name == "NoisyOrNetwork" and len(model.layers_) == 1 and len(model.priors_) <= MOST_UNITS:
        return _switches(model, len(model.priors_), height), np.inf
    if name == "CombinationMachine" and len(model.thresholds_) <= MOST_UNITS:
        return _switches(model, len(model.thresholds_), height), np.inf
    return _rows(model, height), float(DRAWN_ROWS)


def _places(model: Any, n_dimensions: int, height: int) -> tuple[Iterator[States], float]:
    """Return places on the map: a grid, whose sum converges fast since the density is smooth, or draws."""
    if n_dimensions in STEPS:
        line = np.arange(-FURTHEST, FURTHEST + 1e-9, STEPS[n_dimensions])
        places = np.stack(np.meshgrid(*[line] * n_dimensions, indexing="ij"), axis=-1).reshape(-1, n_dimensions)
        weights, draws = np.exp(-0.5 * (places**2).sum(axis=1)), np.inf
    else:
        places = np.random.default_rng(0).standard_normal((DRAWN_STATES, n_dimensions))
        weights, draws = np.ones(DRAWN_STATES), float(DRAWN_STATES)
    chunks = (slice(first, first + height) for first in range(0, len(places), height))
    return ((weights[part], np.asarray(model.inverse_transform(places[part]))) for part in chunks), draws


def _switches(model: Any, n_units: int, height: int) -> Iterator[States]:
    """Yield all states of units that are on or off."""
    codes = ((np.arange(2**n_units)[:, None] >> np.arange(n_units)) & 1).astype(np.float64)
    for first in range(0, len(codes), height):
        some = codes[first : first + height]
        if hasattr(model, "priors_"):
            weights = np.where(some == 1.0, model.priors_, 1.0 - model.priors_).prod(axis=1)
        else:  # ln P(h) = th.h + Sum_j ln 2cosh(v_j + w_j.h) - ln Z
            field = model.bias_ + some @ model.weights_
            logs = some @ model.thresholds_ + np.logaddexp(field, -field).sum(axis=1)
            weights = np.exp(logs - model.log_partition_)
        yield weights, np.asarray(model.inverse_transform(some))


def _rows(model: Any, height: int) -> Iterator[States]:
    """Yield rows that are drawn from the model."""
    for number, first in enumerate(range(0, DRAWN_ROWS, height)):
        drawn = np.asarray(model.sample(min(height, DRAWN_ROWS - first), random_state=number), np.float64)
        yield np.ones(len(drawn)), drawn

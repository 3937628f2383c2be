"""`residual_pairs`: associations of pairs of columns that a model does not explain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Rows
from hiddenbits.diagnostics.maps import STEPS, grid_nodes
from hiddenbits.diagnostics.tables import cells, frame_like, of_bits, open_for, sum_over_rows, table_simulator
from hiddenbits.display import names_of
from hiddenbits.tables import Piece, Table, map_fits

MIN_VARIANCE = 1e-12  # variance of a pair that the model considers impossible or certain
MIN_EXPECTED = 1e-12  # expected rows in a cell
STREAM = 0x9A12  # keeps the random numbers of simulated tables apart from others with the same seed
REFIT_TOL = 1e-8  # of refits to simulated tables, which start close to their solution


def residual_pairs(
    model: Any,
    X: object,
    sample_weight: ArrayLike | None = None,
    *,
    n_pairs: int | None = None,
    n_replicates: int | None = None,
    random_state: int = 0,
    tol: float = REFIT_TOL,
) -> Any:
    """Return how often the values of each pair of columns occur together, and how often a fitted model expects it.

    If the residual of a pair is far from 0, its columns depend on each other in a way that the model does not explain:
    the same question asked twice, two products that are sold together. The residual of columns j and k is

        (observed - n P_jk) / sqrt(n P_jk (1 - P_jk) (1 + n / m)),

    where n is the number of rows observed in both columns and P_jk the model's probability that both are 1: exact for
    classes, for up to 12 causes or hidden units and for up to three dimensions (by quadrature). Otherwise it is the
    mean of m samples from the model, whose error is in the last factor. If the model is true, residuals have mean 0 and
    standard deviation about 1, or less on the rows it was fitted to. Missing values are assumed to be missing at
    random. Runs on the executor set by `run_on`.

    Columns of numbers are left out. A pair with a nominal or ordinal column has a residual for each pair of levels; the
    largest is returned, with its levels. "x2" is Pearson's statistic of the whole table of the pair, 2 x 2 or levels by
    levels, the sum of (observed - n P)^2 / (n P (1 + n / m)), and "df" is (levels - 1) (levels - 1), as for two
    independent columns; x2 / df is the bivariate residual of programs for latent class analysis. It is about 1, or
    less, if a model fitted by maximum likelihood is true.

    With ``n_replicates=99`` there are p-values. The null distribution is simulated: n tables are sampled from the
    model, with the missing cells of X, and the model is fitted to each, starting from its own parameters; so the
    p-values allow for the estimation of the parameters from the same rows. Residuals are divided by their standard
    deviation over all n + 1 tables. The p-value of a pair is the share of tables, including the real one, in which its
    residual is at least as large; the corrected p-value is the share in which the largest residual of any pair is
    (Westfall and Young's single step): if the model is true, the probability that any pair has ``p_corrected`` of at
    most .05 is .05.

    Parameters
    ----------
    model : fitted estimator
        Any model of binary data.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows. p-values need repeated rows instead of weights.
    n_pairs : int, optional
        Return only this many pairs; by default all.
    n_replicates : int, optional
        Number of simulated tables for p-values, which are multiples of 1 / (n + 1): 99 or more to publish. Each needs a
        fit that starts close to its solution. By default none, and no p-values.
    random_state : int, default=0
        Random seed of the simulation.
    tol : float, default=1e-8
        Tolerance of the fits to simulated tables. Fit the model itself to convergence, too.

    Returns
    -------
    pairs : frame or structured ndarray
        A data frame of X's library if X is a data frame, else an array with named fields. Columns "first", "second"
        (the two columns, or their levels as "column=level"), "rows" (observed in both), "observed", "expected" (number
        of these rows in which both are 1, or both levels occur), "residual", "x2" and "df"; with `n_replicates`, also
        "p" and "p_corrected". The largest residuals, of either sign, come first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(2000, 6, 2, random_state=0).X
    >>> X[:, 5] = X[:, 4]                                    # two equal columns
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
    table = open_for(model, X, sample_weight)
    if table.n_columns != model.n_features_in_:
        raise ValueError(f"The model was fitted to {model.n_features_in_} columns, and X has {table.n_columns}.")
    if len(table.layout.sizes) < 2 and table.n_numbers:
        raise ValueError(
            "residual_pairs needs two binary, nominal or ordinal columns; columns of numbers are left out."
        )
    names = np.asarray(names_of(model, table), object)
    pairs = _residuals(model, table)
    columns = pairs._asdict() | {"first": names[pairs.first], "second": names[pairs.second]}
    if n_replicates is not None:
        columns["p"], columns["p_corrected"] = _p_values(model, table, pairs, n_replicates, random_state, tol)
    order = np.argsort(-np.abs(pairs.residual), kind="stable")[:n_pairs]
    return frame_like(X, {key: values[order] for key, values in columns.items()})


class _PairResiduals(NamedTuple):
    """The two bits of each pair of columns with the largest residual, and the statistics of the pair."""

    first: Rows
    second: Rows
    rows: Floats
    observed: Floats
    expected: Floats
    residual: Floats
    x2: Floats
    df: Rows


def _residuals(model: Any, table: Table) -> _PairResiduals:
    starts, column = table.layout.starts, table.layout.columns
    n, with_first, observed = sum_over_rows(_counts, table)
    p_both, p_one, n_samples = expected_pairs(model, table.shape[1])
    inflation = 1.0 + n / n_samples  # by the Monte-Carlo error of the expected counts
    expected = n * p_both
    variance = np.maximum(p_both * (1.0 - p_both), MIN_VARIANCE)
    residual = np.zeros(n.shape)
    np.divide(observed - expected, np.sqrt(n * variance * inflation), out=residual, where=n > 0)

    # Pearson's statistic: the cells where both bits are 1; if a column is binary, also those where it is 0.
    binary = ~table.layout.is_level
    first = n * p_one[:, None]  # expected rows in which the first bit is 1
    x2 = _pearson_terms(observed, expected, inflation)
    x2 += _pearson_terms(with_first - observed, first - expected, inflation) * binary
    x2 += _pearson_terms(with_first.T - observed, first.T - expected, inflation) * binary[:, None]
    neither = n - with_first - with_first.T + observed, n - first - first.T + expected
    x2 += _pearson_terms(*neither, inflation) * np.outer(binary, binary)
    in_columns = np.add.reduceat(np.add.reduceat(x2, starts, axis=0), starts, axis=1)

    # The two bits of each pair of columns with the largest residual; the pairs stay in their order.
    a, b = np.nonzero(column[:, None] < column)
    if not binary.all():
        order = np.argsort(-np.abs(residual[a, b]), kind="stable")
        largest = order[np.unique((column[a] * len(starts) + column[b])[order], return_index=True)[1]]
        a, b = a[largest], b[largest]
    df = np.maximum(np.array(table.layout.sizes) - 1, 1)
    return _PairResiduals(
        a,
        b,
        n[a, b],
        observed[a, b],
        expected[a, b],
        residual[a, b],
        in_columns[column[a], column[b]],
        df[column[a]] * df[column[b]],
    )


def _pearson_terms(observed: Floats, expected: Floats, inflation: Floats) -> Floats:
    """Return (observed - expected)^2 / expected of cells, divided by the inflation of the variance."""
    return np.asarray((observed - expected) ** 2 / (np.maximum(expected, MIN_EXPECTED) * inflation))


def _test_statistic(pairs: _PairResiduals) -> Floats:
    """Return the statistics of the p-values: residuals of binary columns, cube roots of x2 of pairs with levels."""
    return np.where(pairs.df == 1, pairs.residual, np.cbrt(pairs.x2))


def _p_values(model: Any, table: Table, pairs: _PairResiduals, n: int, seed: int, tol: float) -> tuple[Floats, Floats]:
    """Return the p-value of each pair, uncorrected and corrected for the number of pairs."""
    simulated = table_simulator(model, table, seed, STREAM)

    def replicate(number: int) -> Floats:
        rows = simulated(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            refitted = model._refit(rows, tol=tol)
        return _test_statistic(_residuals(refitted, rows))

    statistics = [_test_statistic(pairs), *map_fits(replicate, range(n), table)]
    # If the model is true, the n + 1 tables are exchangeable, as long as the real one is treated like all others.
    z = np.stack(statistics)
    z -= z.mean(axis=0)
    sd = z.std(axis=0)
    z = np.divide(z, sd, out=np.zeros_like(z), where=sd > 0.0)
    size = np.where(pairs.df == 1, np.abs(z), z)  # only a large x2 is misfit
    return (size >= size[0]).mean(axis=0), (size.max(axis=1)[:, None] >= size[0]).mean(axis=0)


def _counts(piece: Piece) -> Floats:
    """Return for each pair of bits the rows observed in both, those with a 1 in the first, and those with two 1s."""
    bits, observed = cells(piece)
    weighted = bits * piece.weights[:, None]
    both = weighted.T @ bits
    if observed.all():
        return np.stack(
            [np.full_like(both, piece.weights.sum()), np.broadcast_to(np.diag(both)[:, None], both.shape), both]
        )
    return np.stack([observed.T @ (observed * piece.weights[:, None]), weighted.T @ observed, both])


# Expected pairs of columns: P(both bits are 1) of a model.
#
# In most families the bits are independent given the hidden state s, so that P_jk = Sum_s P(s) P(x_j = 1 | s) P(x_k =
# 1 | s), here a sum over all classes, over the on/off states of at most 12 units, or over a grid of at most three
# dimensions. Otherwise the sum is over states or rows that are sampled from the model.

MAX_UNITS = 12
SAMPLED_STATES, SAMPLED_ROWS = 1 << 15, 1 << 16
CHUNK_CELLS = 1 << 22

States = tuple[Floats, Floats]  # P(s), and P(x_j = 1 | s); (states,) and (states, columns)


class ExpectedPairs(NamedTuple):
    """P(both bits are 1), (bits, bits), P(bit = 1), and the number of samples, which is infinite if they are exact."""

    both: Floats
    ones: Floats
    n_samples: float


def expected_pairs(model: Any, n_columns: int) -> ExpectedPairs:
    """Return what a fitted model expects of every pair of columns; the diagonal has no meaning."""
    states, n_samples = _states(model, max(1, CHUNK_CELLS // n_columns))
    both, ones, total = np.zeros((n_columns, n_columns)), np.zeros(n_columns), 0.0
    for weights, shares in states:
        shares = shares[:, :n_columns]  # without columns of numbers
        both += (shares * weights[:, None]).T @ shares
        ones += weights @ shares
        total += float(weights.sum())
    return ExpectedPairs(both / total, ones / total, n_samples)


def _states(model: Any, height: int) -> tuple[Iterator[States], float]:
    """Return the states of a model with their unnormalized weights in chunks, and the number of samples."""
    name = type(model).__name__
    if name == "IndependentColumns":
        return iter([(np.ones(1), np.asarray(model.probabilities_)[None, :])]), np.inf
    if name == "LatentClassAnalysis":
        return iter([(np.asarray(model.weights_), np.asarray(model.probabilities_))]), np.inf
    if name == "ItemResponseModel" and len(model._params.points.T) == model._n_features_out:
        _, weights, shares = model._at_nodes()
        return iter([(weights, shares)]), np.inf
    if name in ("LogisticPCA", "ClippedPCA"):
        return _latent_positions(model, len(model.components_), height)
    if name == "NoisyOrNetwork" and len(model.layers_) == 1 and len(model.priors_) <= MAX_UNITS:
        return _unit_states(model, len(model.priors_), height), np.inf
    if name == "CombinationMachine" and len(model.thresholds_) <= MAX_UNITS:
        return _unit_states(model, len(model.thresholds_), height), np.inf
    return _sampled_rows(of_bits(model), height), float(SAMPLED_ROWS)


def _latent_positions(model: Any, n_dimensions: int, height: int) -> tuple[Iterator[States], float]:
    """Return positions in the latent space: on a grid, or sampled from the prior."""
    if n_dimensions in STEPS:
        positions = grid_nodes(n_dimensions)
        weights, n_samples = np.exp(-0.5 * (positions**2).sum(axis=1)), np.inf
    else:
        positions = np.random.default_rng(0).standard_normal((SAMPLED_STATES, n_dimensions))
        weights, n_samples = np.ones(SAMPLED_STATES), float(SAMPLED_STATES)
    chunks = (slice(first, first + height) for first in range(0, len(positions), height))
    return ((weights[part], np.asarray(model.inverse_transform(positions[part]))) for part in chunks), n_samples


def _unit_states(model: Any, n_units: int, height: int) -> Iterator[States]:
    """Yield all states of units that are on or off."""
    codes = ((np.arange(2**n_units)[:, None] >> np.arange(n_units)) & 1).astype(np.float64)
    for first in range(0, len(codes), height):
        states = codes[first : first + height]
        if hasattr(model, "priors_"):
            weights = np.where(states == 1.0, model.priors_, 1.0 - model.priors_).prod(axis=1)
        else:  # ln P(h) = th.h + Sum_j ln 2cosh(v_j + w_j.h) - ln Z
            field = model.bias_ + states @ model.weights_
            logs = states @ model.thresholds_ + np.logaddexp(field, -field).sum(axis=1)
            weights = np.exp(logs - model.log_partition_)
        yield weights, np.asarray(model.inverse_transform(states))


def _sampled_rows(model: Any, height: int) -> Iterator[States]:
    """Yield rows that are sampled from the model."""
    for number, first in enumerate(range(0, SAMPLED_ROWS, height)):
        rows = np.asarray(model.sample(min(height, SAMPLED_ROWS - first), random_state=number), np.float64)
        yield np.ones(len(rows)), rows

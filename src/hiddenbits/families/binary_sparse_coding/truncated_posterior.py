"""The truncated posterior of binary sparse coding, for a run of rows: equations 3 to 5 as matrix products.

|y - W s|^2 = y'y + Sum_i s_i (G_ii - 2 b_i) + 2 Sum_{i<j} s_i s_j G_ij with G = W'W and b = W'y, so that

    ln p(s, y) = Sum_h ln(1 - pi_h) - (D/2) ln 2 PI sigma^2 - y'y / 2 sigma^2 + Sum_i s_i f_i + Sum_{i<j} s_i s_j f_ij,
    f_i = logit pi_i + (b_i - G_ii / 2) / sigma^2,     f_ij = - G_ij / sigma^2.

A row with missing values has a G of its own, over its observed columns. This costs a product of the mask with W^2, and
D H'^2 for each such row.

At temperature T the weights of states are p(s, y)^(1/T): prior and likelihood are both tempered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.params import CodingParams

ROWS = 256  # processed at a time: the weights of their states fit in the cache of a core
INCOMPLETE_ROWS = 32  # the same, for rows with missing values, each of which needs H' fields of its own
GROUP = 8  # causes; to choose candidates among many causes, the best cause of each group is compared first
NEGLIGIBLE_LOG_WEIGHT = -60.0  # relative to the largest: smaller numbers would only slow down the arithmetic


class RowPosterior(NamedTuple):
    """The posterior of a run of rows.

    Attributes
    ----------
    means : ndarray of shape (rows, H)
        <s>.
    pairs : ndarray of shape (rows, H' (H' - 1) / 2)
        <s_i s_j> of the candidates.
    candidates : ndarray of shape (rows, H')
        Numbers of the candidate causes.
    scores : ndarray of shape (rows,)
        T ln Sum p(s, y)^(1/T): the truncated log-likelihood if T = 1.
    best : ndarray of shape (rows, H) or None
        The most probable state, if requested.
    """

    means: Any  # None, like `pairs`, if only scores were requested
    pairs: Any
    candidates: Rows
    scores: Floats
    best: AnyArray | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """Values that all rows of a pass share: parameters, temperature and states; products are in `dtype`."""

    params: CodingParams
    states: Truncation
    temperature: float
    dtype: type[np.floating[Any]]

    @cached_property
    def W(self) -> AnyArray:  # noqa: N802  (the paper's letter)
        """The fields."""
        return np.ascontiguousarray(self.params.fields, self.dtype)

    @cached_property
    def gram(self) -> AnyArray:
        """G = W'W."""
        return self.W.T @ self.W

    @cached_property
    def squared_fields(self) -> AnyArray:
        """W^2, element by element."""
        return self.W**2

    @cached_property
    def rows_of_fields(self) -> AnyArray:
        """W', so that a candidate's field is contiguous."""
        return np.ascontiguousarray(self.W.T)

    @cached_property
    def scale(self) -> float:
        """1 / (sigma^2 T)."""
        return float(1.0 / (self.params.noise**2 * self.temperature))

    @cached_property
    def log_odds(self) -> Floats:
        """The log-odds of pi, divided by T."""
        pi = self.params.activity
        return np.asarray((np.log(pi) - np.log1p(-pi)) / self.temperature)

    @cached_property
    def scaled_fields(self) -> AnyArray:
        """W / (sigma^2 T)."""
        return np.ascontiguousarray(self.scale * self.params.fields, self.dtype)

    @cached_property
    def single(self) -> AnyArray:
        """The part of f_h / T that does not depend on y: [logit pi_h - G_hh / 2 sigma^2] / T."""
        return (self.log_odds - 0.5 * self.scale * np.diagonal(self.gram)).astype(self.dtype)

    @cached_property
    def per_length(self) -> AnyArray:
        """1 / |W_h|, 0 for a field of zeros."""
        return _inverse_lengths(np.diagonal(self.gram)).astype(self.dtype)

    @cached_property
    def couplings(self) -> AnyArray:
        """f_ij / T of all pairs, flattened."""
        return np.ravel(self.dtype(-self.scale) * self.gram)

    @cached_property
    def table(self) -> AnyArray:
        """The table of the states, to compute moments from weights."""
        return np.ascontiguousarray(self.states.table, self.dtype)

    @cached_property
    def table_transposed(self) -> AnyArray:
        """The transposed table, to compute log weights."""
        return np.ascontiguousarray(self.states.table.T, self.dtype)

    def constants(self, n_observed: AnyArray | int, squares: Floats) -> Floats:
        """Return the constant of ln p(s, y), common to all states of a row."""
        variance = float(self.params.noise) ** 2
        prior = float(np.log1p(-self.params.activity).sum())
        return np.asarray(prior - 0.5 * n_observed * np.log(2.0 * np.pi * variance) - 0.5 * squares / variance)

    # ------------------------------------------------------------------------------------------------ rows

    def posterior(
        self, Y: AnyArray, observed: AnyArray | None, squares: Floats, *, out: AnyArray | None = None, **options: Any
    ) -> RowPosterior:
        """Return the posterior of a run of rows, as `runs_of` yields them; `out` is for complete rows."""
        if observed is None:
            return self.complete_rows(Y, squares, out=out, **options)
        return self.incomplete_rows(Y, observed, squares, **options)

    def complete_rows(
        self,
        Y: AnyArray,
        squares: Floats,
        *,
        best: bool = False,
        only_scores: bool = False,
        out: AnyArray | None = None,
    ) -> RowPosterior:
        """Return the posterior of complete rows; `squares` are their y'y.

        `best` adds the most probable state; `only_scores` omits means and pairs. The means are put into `out` if given.
        """
        n, H = len(Y), self.params.n_components
        f = np.matmul(Y, self.scaled_fields, out=scratch("f", (n, H), self.dtype) if out is None else out)
        chosen = self._candidates(f, self.per_length)
        f += self.single
        states = self._log_weights(f, self.couplings.take(self.pair_positions(chosen)), chosen)
        return self._resolved(f, states, chosen, self.constants(Y.shape[1], squares), best, only_scores)

    def incomplete_rows(
        self, Y: AnyArray, observed: AnyArray, squares: Floats, *, best: bool = False, only_scores: bool = False
    ) -> RowPosterior:
        """Return the posterior of rows with missing values, which are 0 in Y and in `observed`."""
        b, lengths = Y @ self.W, observed @ self.squared_fields
        chosen = self._candidates(b, _inverse_lengths(lengths))
        f = (b - 0.5 * lengths) * self.dtype(self.scale) + self.log_odds.astype(self.dtype)
        gram = self.observed_gram(observed, chosen)
        f_pairs = -self.dtype(self.scale) * gram[:, self.states.first, self.states.second]
        states = self._log_weights(f, f_pairs, chosen)
        return self._resolved(f, states, chosen, self.constants(observed.sum(axis=1), squares), best, only_scores)

    def observed_gram(self, observed: AnyArray, chosen: Rows) -> AnyArray:
        """Return G of the candidates of each row, over its observed columns."""
        fields = self.rows_of_fields[chosen]
        return (fields * observed[:, None, :]) @ fields.transpose(0, 2, 1)

    def pair_positions(self, chosen: Rows) -> Rows:
        """Return the position of each pair of candidates in a flattened matrix (H, H)."""
        positions = chosen[:, self.states.first]
        positions *= self.params.n_components
        positions += chosen[:, self.states.second]
        return positions

    def _candidates(self, b: AnyArray, per_length: AnyArray) -> Rows:
        """Return the H' causes with the largest W_h'y / |W_h| (equation 5)."""
        n, H = b.shape
        c = self.states.n_candidates
        if c >= H:
            return np.tile(np.arange(H), (n, 1))
        width = -(-H // GROUP)  # groups: cause h is in group h % width; the best c causes are in the c best groups
        if width <= 4 * c:
            return np.argpartition(b * per_length, H - c, axis=1)[:, H - c :]
        scores = scratch("select", (n, GROUP * width), self.dtype)
        np.multiply(b, per_length, out=scores[:, :H])
        scores[:, H:] = -np.inf
        best = np.argpartition(scores.reshape(n, GROUP, width).max(axis=1), width - c, axis=1)[:, width - c :]
        causes = (best[:, None, :] + (width * np.arange(GROUP))[:, None]).reshape(n, GROUP * c)
        best_c = np.argpartition(np.take_along_axis(scores, causes, axis=1), GROUP * c - c, axis=1)[:, GROUP * c - c :]
        return np.take_along_axis(causes, best_c, axis=1)

    def _log_weights(self, f: AnyArray, f_pairs: AnyArray, chosen: Rows) -> AnyArray:
        """Return the log weights of the candidates' states, from f of single causes and of the candidates' pairs."""
        features = np.concatenate([np.take_along_axis(f, chosen, axis=1), f_pairs], axis=1)
        out = scratch("states", (len(f), self.states.n_states), self.dtype)
        return np.matmul(features, self.table_transposed, out=out)

    def _resolved(
        self, f: AnyArray, states: AnyArray, chosen: Rows, constants: Floats, best: bool, only_scores: bool
    ) -> RowPosterior:
        """Return the posterior from the log weights of single causes, f, and of the candidates' states.

        Both arrays are overwritten.
        """
        n, c = chosen.shape
        np.put_along_axis(f, chosen, -np.inf, axis=1)  # single candidates are among the states
        top = np.maximum(states.max(axis=1), f.max(axis=1))[:, None]
        code = self._most_probable(states, f, chosen) if best else None
        total = np.zeros(n)
        for weights in (states, f):
            np.subtract(weights, top, out=weights)
            np.maximum(weights, NEGLIGIBLE_LOG_WEIGHT, out=weights)
            np.exp(weights, out=weights)
            total += weights.sum(axis=1)
        scores = self.temperature * (top[:, 0] + np.log(total)) + constants
        if only_scores:
            return RowPosterior(None, None, chosen, scores)
        inverse_total = (1.0 / total).astype(self.dtype)[:, None]
        moments = states @ self.table
        moments *= inverse_total
        f *= inverse_total
        np.put_along_axis(f, chosen, moments[:, :c], axis=1)
        return RowPosterior(f, moments[:, c:], chosen, scores, code)

    def _most_probable(self, states: AnyArray, f: AnyArray, chosen: Rows) -> Floats:
        """Return the most probable state of each row."""
        rows, best, outside = np.arange(len(f)), states.argmax(axis=1), f.argmax(axis=1)
        code = np.zeros(f.shape)
        np.put_along_axis(code, chosen, self.states.states[best], axis=1)
        single = f[rows, outside] > states[rows, best]
        code[single] = 0.0
        code[rows[single], outside[single]] = 1.0
        return code


def squares_of(Y: AnyArray) -> Floats:
    """Return y'y of each row, in float64."""
    return np.asarray(np.einsum("nd,nd->n", Y, Y), np.float64)


def _inverse_lengths(squares: AnyArray) -> AnyArray:
    return np.where(squares > 0.0, 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0)), 0.0).astype(squares.dtype)


# The hidden states of expectation truncation: few causes on, among a few candidates.
#
# Log weights are quadratic in s, so that they are a product with a fixed table. With c candidates, of which at most
# gamma are on,
#
#     Sum_i s_i f_i + Sum_{i<j} s_i s_j f_ij  =  [f_i, f_ij] . row(s),     row(s) = [s_i, s_i s_j],
#
# so that the log weights of all states are one matrix product, and <s_i> and <s_i s_j> another. The table does not
# depend on the data.

MOST_STATES = 1 << 17  # of a row: their weights take a megabyte


@dataclass(frozen=True, eq=False)
class Truncation:
    """The states of c candidates of which at most gamma are on.

    Attributes
    ----------
    table : ndarray of shape (states, c + c (c - 1) / 2)
        row(s) of each state; in the first state all are off.
    first, second : ndarray of shape (c (c - 1) / 2,)
        The candidates i < j of each pair.
    """

    n_candidates: int
    max_active: int
    table: Floats
    first: Rows
    second: Rows

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.table)

    @property
    def states(self) -> Floats:
        """Which candidates are on in each state, (states, c)."""
        return self.table[:, : self.n_candidates]


def count_states(n_candidates: int, max_active: int) -> int:
    """Return the number of states.

    Examples
    --------
    >>> count_states(10, 8) - 11 + 1 + 700      # with 700 causes: 690 states with one cause that is no candidate
    1703
    """
    return sum(comb(n_candidates, k) for k in range(max_active + 1))


@lru_cache(maxsize=16)
def truncation(n_candidates: int, max_active: int) -> Truncation:
    """Return the states of `n_candidates` causes of which at most `max_active` are on."""
    c = n_candidates
    if count_states(c, max_active) > MOST_STATES:
        raise ValueError(
            f"n_candidates={c} and max_active={max_active} give {count_states(c, max_active)} states per row; at most "
            f"{MOST_STATES} are allowed. Use a smaller n_candidates or max_active."
        )
    pairs = np.array(list(combinations(range(c), 2)), np.intp).reshape(-1, 2)
    column_of = {pair: c + k for k, pair in enumerate(combinations(range(c), 2))}
    table = np.zeros((count_states(c, max_active), c + len(pairs)))
    subsets = (subset for k in range(max_active + 1) for subset in combinations(range(c), k))
    for row, subset in zip(table, subsets, strict=True):
        row[list(subset)] = 1.0
        row[[column_of[pair] for pair in combinations(subset, 2)]] = 1.0
    table.flags.writeable = False
    return Truncation(c, max_active, table, pairs[:, 0].copy(), pairs[:, 1].copy())


def active_shares(probabilities: Floats, max_active: int) -> Floats:
    """Return P(|s| = k) for k = 0 to `max_active` under independent causes.

    With equal probabilities these are the binomial probabilities of equation 8.

    Examples
    --------
    >>> active_shares(np.array([0.5, 0.5]), 2)
    array([0.25, 0.5 , 0.25])
    """
    shares, k = np.eye(1, max_active + 1)[0], np.arange(max_active + 1)
    for p, count in zip(*np.unique(probabilities, return_counts=True), strict=True):  # equal probabilities together
        shares = np.convolve(shares, binom.pmf(k, count, p))[: max_active + 1]
    return np.asarray(shares)

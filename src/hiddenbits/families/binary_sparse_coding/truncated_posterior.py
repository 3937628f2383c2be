"""The truncated posterior of binary sparse coding, for a run of rows: equations 3 to 5 as matrix products.

|y - W s|^2 = y'y + Sum_i s_i (G_ii - 2 b_i) + 2 Sum_{i<j} s_i s_j G_ij with G = W'W and b = W'y, so that

    ln p(s, y) = Sum_h ln(1 - pi_h) - (D/2) ln 2 PI sigma^2 - y'y / 2 sigma^2 + Sum_i s_i f_i + Sum_{i<j} s_i s_j f_ij,
    f_i = logit pi_i + (b_i - G_ii / 2) / sigma^2,     f_ij = - G_ij / sigma^2.

Of a row with blanks only the observed numbers count: G is then that of the observed columns, for this row alone. That
costs a product of the mask with W^2, and D H'^2 for each such row.

With a temperature T the weights of the states are p(s, y)^(1/T): likelihood and prior.
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

ROWS = 256  # rows worked on at a time: the weights of their states stay in a core's cache
BLANK_ROWS = 32  # the same, for rows with blanks, each of which needs H' fields of its own
GROUP = 8  # causes whose best is looked at first, where a row's candidates are chosen among many
NEGLIGIBLE = -60.0  # log weights below the largest: smaller numbers only slow the arithmetic down


class RowPosterior(NamedTuple):
    """What is known of a run of rows.

    Attributes
    ----------
    means : ndarray of shape (rows, H)
        <s>.
    pairs : ndarray of shape (rows, H' (H' - 1) / 2)
        <s_i s_j> of the candidates.
    candidates : ndarray of shape (rows, H')
        Which causes these are.
    scores : ndarray of shape (rows,)
        T ln Sum p(s, y)^(1/T): the truncated log-likelihood where T is 1.
    best : ndarray of shape (rows, H) or None
        The most probable state, where it was asked for.
    """

    means: Any  # None where only scores were asked for, as are the pairs
    pairs: Any
    candidates: Rows
    scores: Floats
    best: AnyArray | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """What all rows of a pass share: parameters, temperature and states; products are in `dtype`."""

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
        """W^2, number by number."""
        return self.W**2

    @cached_property
    def rows_of_fields(self) -> AnyArray:
        """W', so that a candidate's field lies in one run of memory."""
        return np.ascontiguousarray(self.W.T)

    @cached_property
    def scale(self) -> float:
        """1 / (sigma^2 T)."""
        return float(1.0 / (self.params.noise**2 * self.temperature))

    @cached_property
    def log_odds(self) -> Floats:
        """The log-odds of pi, by T."""
        pi = self.params.activity
        return np.asarray((np.log(pi) - np.log1p(-pi)) / self.temperature)

    @cached_property
    def scaled_fields(self) -> AnyArray:
        """W / (sigma^2 T)."""
        return np.ascontiguousarray(self.scale * self.params.fields, self.dtype)

    @cached_property
    def alone(self) -> AnyArray:
        """f_h / T but for the part of y: logit pi_h - G_hh / 2 sigma^2."""
        return (self.log_odds - 0.5 * self.scale * np.diagonal(self.gram)).astype(self.dtype)

    @cached_property
    def per_length(self) -> AnyArray:
        """1 / |W_h|, 0 for a field of zeros."""
        return _inverse_lengths(np.diagonal(self.gram)).astype(self.dtype)

    @cached_property
    def couplings(self) -> AnyArray:
        """f_ij / T of all pairs, in one run."""
        return np.ravel(self.dtype(-self.scale) * self.gram)

    @cached_property
    def table(self) -> AnyArray:
        """The states' table, for products from the right."""
        return np.ascontiguousarray(self.states.table, self.dtype)

    @cached_property
    def table_across(self) -> AnyArray:
        """The same, for products that give log weights."""
        return np.ascontiguousarray(self.states.table.T, self.dtype)

    def constants(self, n_observed: AnyArray | int, squares: Floats) -> Floats:
        """Return what ln p(s, y) has next to f: that of all states of a row."""
        variance = float(self.params.noise) ** 2
        prior = float(np.log1p(-self.params.activity).sum())
        return np.asarray(prior - 0.5 * n_observed * np.log(2.0 * np.pi * variance) - 0.5 * squares / variance)

    # ------------------------------------------------------------------------------------------------ rows

    def look(
        self, Y: AnyArray, observed: AnyArray | None, squares: Floats, *, out: AnyArray | None = None, **asked: Any
    ) -> RowPosterior:
        """Return the posterior of a run of rows, as `runs_of` hands them out; `out` serves rows without blanks."""
        if observed is None:
            return self.whole(Y, squares, out=out, **asked)
        return self.with_blanks(Y, observed, squares, **asked)

    def whole(
        self,
        Y: AnyArray,
        squares: Floats,
        *,
        best: bool = False,
        only_scores: bool = False,
        out: AnyArray | None = None,
    ) -> RowPosterior:
        """Return the posterior of rows without blanks; `squares` are their y'y.

        With `best` the most probable state, too; with `only_scores` nothing but scores and candidates. The means are
        put into `out` where it is given.
        """
        n, H = len(Y), self.params.n_components
        f = np.matmul(Y, self.scaled_fields, out=scratch("f", (n, H), self.dtype) if out is None else out)
        chosen = self._candidates(f, self.per_length)
        f += self.alone
        states = self._quadratic(f, self.couplings.take(self.pair_places(chosen)), chosen)
        return self._resolved(f, states, chosen, self.constants(Y.shape[1], squares), best, only_scores)

    def with_blanks(
        self, Y: AnyArray, observed: AnyArray, squares: Floats, *, best: bool = False, only_scores: bool = False
    ) -> RowPosterior:
        """Return the posterior of rows with blanks, which are 0 in Y and in `observed`."""
        b, lengths = Y @ self.W, observed @ self.squared_fields
        chosen = self._candidates(b, _inverse_lengths(lengths))
        f = (b - 0.5 * lengths) * self.dtype(self.scale) + self.log_odds.astype(self.dtype)
        gram = self.observed_gram(observed, chosen)
        f_pairs = -self.dtype(self.scale) * gram[:, self.states.first, self.states.second]
        states = self._quadratic(f, f_pairs, chosen)
        return self._resolved(f, states, chosen, self.constants(observed.sum(axis=1), squares), best, only_scores)

    def observed_gram(self, observed: AnyArray, chosen: Rows) -> AnyArray:
        """Return G of the candidates of each row, over its observed columns."""
        fields = self.rows_of_fields[chosen]
        return (fields * observed[:, None, :]) @ fields.transpose(0, 2, 1)

    def pair_places(self, chosen: Rows) -> Rows:
        """Return where each pair of candidates is in a matrix (H, H) in one run."""
        places = chosen[:, self.states.first]
        places *= self.params.n_components
        places += chosen[:, self.states.second]
        return places

    def _candidates(self, b: AnyArray, per_length: AnyArray) -> Rows:
        """Return the H' causes with the largest W_h'y / |W_h| (equation 5)."""
        n, H = b.shape
        c = self.states.n_candidates
        if c >= H:
            return np.tile(np.arange(H), (n, 1))
        width = -(-H // GROUP)  # cause h is in group h % width; the best c causes are in the c best groups
        if width <= 4 * c:
            return np.argpartition(b * per_length, H - c, axis=1)[:, H - c :]
        select = scratch("select", (n, GROUP * width), self.dtype)
        np.multiply(b, per_length, out=select[:, :H])
        select[:, H:] = -np.inf
        best = np.argpartition(select.reshape(n, GROUP, width).max(axis=1), width - c, axis=1)[:, width - c :]
        causes = (best[:, None, :] + (width * np.arange(GROUP))[:, None]).reshape(n, GROUP * c)
        among = np.argpartition(np.take_along_axis(select, causes, axis=1), GROUP * c - c, axis=1)[:, GROUP * c - c :]
        return np.take_along_axis(causes, among, axis=1)

    def _quadratic(self, f: AnyArray, f_pairs: AnyArray, chosen: Rows) -> AnyArray:
        """Return the log weights of the candidates' states: f of every cause alone, and of the candidates' pairs."""
        features = np.concatenate([np.take_along_axis(f, chosen, axis=1), f_pairs], axis=1)
        out = scratch("states", (len(f), self.states.n_states), self.dtype)
        return np.matmul(features, self.table_across, out=out)

    def _resolved(
        self, f: AnyArray, states: AnyArray, chosen: Rows, constants: Floats, best: bool, only_scores: bool
    ) -> RowPosterior:
        """Return the posterior from the log weights of every cause alone, f, and of the candidates' states.

        Both are overwritten.
        """
        n, c = chosen.shape
        np.put_along_axis(f, chosen, -np.inf, axis=1)  # candidates that are on alone are among the states
        top = np.maximum(states.max(axis=1), f.max(axis=1))[:, None]
        code = self._best(states, f, chosen) if best else None
        total = np.zeros(n)
        for weights in (states, f):
            np.subtract(weights, top, out=weights)
            np.maximum(weights, NEGLIGIBLE, out=weights)
            np.exp(weights, out=weights)
            total += weights.sum(axis=1)
        scores = self.temperature * (top[:, 0] + np.log(total)) + constants
        if only_scores:
            return RowPosterior(None, None, chosen, scores)
        share = (1.0 / total).astype(self.dtype)[:, None]
        moments = states @ self.table
        moments *= share
        f *= share
        np.put_along_axis(f, chosen, moments[:, :c], axis=1)
        return RowPosterior(f, moments[:, c:], chosen, scores, code)

    def _best(self, states: AnyArray, f: AnyArray, chosen: Rows) -> Floats:
        """Return the most probable state of each row."""
        rows, best, outside = np.arange(len(f)), states.argmax(axis=1), f.argmax(axis=1)
        code = np.zeros(f.shape)
        np.put_along_axis(code, chosen, self.states.states[best], axis=1)
        alone = f[rows, outside] > states[rows, best]
        code[alone] = 0.0
        code[rows[alone], outside[alone]] = 1.0
        return code


def squares_of(Y: AnyArray) -> Floats:
    """Return y'y of each row, in float64."""
    return np.asarray(np.einsum("nd,nd->n", Y, Y), np.float64)


def _inverse_lengths(squares: AnyArray) -> AnyArray:
    return np.where(squares > 0.0, 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0)), 0.0).astype(squares.dtype)


# The hidden states that expectation truncation looks at: few causes on, among a few candidates.
#
# A log weight that is quadratic in s is a product with a fixed table. With c candidates, whose states have at most
# gamma of them on,
#
#     Sum_i s_i f_i + Sum_{i<j} s_i s_j f_ij  =  [f_i, f_ij] . row(s),     row(s) = [s_i, s_i s_j],
#
# so that the log weights of all states are one matrix product, and <s_i> and <s_i s_j> another with the same table:
# no state ever touches the data.

MOST_STATES = 1 << 17  # beyond, a row's weights alone would fill a megabyte


@dataclass(frozen=True, eq=False)
class Truncation:
    """The states of c candidates of which at most gamma are on.

    Attributes
    ----------
    table : ndarray of shape (states, c + c (c - 1) / 2)
        row(s) of each state; the first state has nothing on.
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
    """Return how many states there are.

    Examples
    --------
    >>> count_states(10, 8) - 11 + 1 + 700      # of 700 causes, with the 690 that are on alone outside the candidates
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
    place = {pair: c + k for k, pair in enumerate(combinations(range(c), 2))}
    table = np.zeros((count_states(c, max_active), c + len(pairs)))
    subsets = (on for k in range(max_active + 1) for on in combinations(range(c), k))
    for row, on in zip(table, subsets, strict=True):
        row[list(on)] = 1.0
        row[[place[pair] for pair in combinations(on, 2)]] = 1.0
    table.flags.writeable = False
    return Truncation(c, max_active, table, pairs[:, 0].copy(), pairs[:, 1].copy())


def active_shares(probabilities: Floats, max_active: int) -> Floats:
    """Return P(|s| = k) for k = 0 to `max_active` under independent causes.

    With equal probabilities it is the binomial of equation 8.

    Examples
    --------
    >>> active_shares(np.array([0.5, 0.5]), 2)
    array([0.25, 0.5 , 0.25])
    """
    shares, k = np.eye(1, max_active + 1)[0], np.arange(max_active + 1)
    for p, many in zip(*np.unique(probabilities, return_counts=True), strict=True):  # those that are equal at once
        shares = np.convolve(shares, binom.pmf(k, many, p))[: max_active + 1]
    return np.asarray(shares)

"""The truncated posterior where the strongest cause shows instead of the sum: maximal causes, for a run of rows.

    y_d = m_d(s) + sigma e_d,     m_d(s) = W_dh of the cause that is on with the largest W_dh (or |W_dh|), 0 if none is

Energies |y - m(s)|^2 are not quadratic in s, so that every state touches the data: a row costs states x D. m of a state
is that of its parent, the state without its last candidate, combined with the field of that candidate.

Which cause shows is smoothed for the update of the fields (Luecke & Sahani 2008):

    A_dh(s) = (s_h |W_dh|)^rho / Sum_h' (s_h' |W_dh'|)^rho,     <A_dh> = |W_dh|^rho Sum_{s: s_h = 1} q(s) / Sum_h' (...)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared

CELLS = 1 << 18  # numbers of all states of the rows worked on at a time: they stay in a core's cache
LEAST_POWER = {"f": 1e-30, "d": 1e-200}  # of the largest |W_dh|^rho of a column: a sum of such is never 0


class MaxPosterior(NamedTuple):
    """What is known of a run of rows: as `RowPosterior`, and what only these models need where it was asked for.

    Attributes
    ----------
    apart : ndarray of shape (rows,) or None
        <|y - m(s)|^2> over the observed numbers.
    shown : ndarray of shape (rows, H', D) or None
        Sum_{s: s_h = 1} q(s) / Sum_h' (s_h' |W_dh'|)^rho of the candidates: <A_dh> but for |W_dh|^rho.
    filled : ndarray of shape (rows, D) or None
        <m(s)>.
    """

    means: Any
    candidates: Rows
    scores: Floats
    best: AnyArray | None
    apart: Floats | None = None
    shown: AnyArray | None = None
    filled: AnyArray | None = None


@dataclass(frozen=True, eq=False)
class MaxPrepared(Prepared):
    """What all rows of a pass share; `signed` for the largest magnitude, `rho` for how sharply one cause shows."""

    signed: bool = False
    rho: float = 20.0

    adds: ClassVar[bool] = False

    @cached_property
    def powers(self) -> AnyArray:
        """|W_dh|^rho as parts of the largest in each column, (D, H)."""
        size = np.abs(self.params.fields)
        parts = size / np.maximum(size.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return np.asarray(np.maximum(parts**self.rho, LEAST_POWER[np.dtype(self.dtype).char]), self.dtype)

    @cached_property
    def rows_of_powers(self) -> AnyArray:
        """The same, with the numbers of a cause in one run of memory."""
        return np.ascontiguousarray(self.powers.T)

    @cached_property
    def tree(self) -> list[tuple[int, int, int]]:
        """(state, parent, last candidate) of every state but the first, parents before children."""
        on = [tuple(np.flatnonzero(state)) for state in self.states.states]
        place = {state: number for number, state in enumerate(on)}
        return [(place[state], place[state[:-1]], int(state[-1])) for state in on if state]

    def look(  # type: ignore[override]
        self, Y: AnyArray, observed: AnyArray | None, squares: Floats, **asked: Any
    ) -> MaxPosterior:
        """Return the posterior of a run of rows, a few at a time."""
        few = max(1, CELLS // (self.states.n_states * Y.shape[1]))
        runs = [slice(start, start + few) for start in range(0, len(Y), few)]
        found = [
            self._piece(Y[rows], None if observed is None else observed[rows], squares[rows], **asked) for rows in runs
        ]
        whole: list[Any] = [None if part[0] is None else np.concatenate(part) for part in zip(*found, strict=True)]
        return MaxPosterior(*whole)

    def _piece(
        self,
        Y: AnyArray,
        observed: AnyArray | None,
        squares: Floats,
        *,
        best: bool = False,
        only_scores: bool = False,
        shown: bool = False,
        filled: bool = False,
    ) -> MaxPosterior:
        """Return the posterior of a few rows; with `shown` what the update of the fields needs, with `filled` <m>."""
        (n, D), half = Y.shape, self.dtype(0.5 * self.scale)
        f = self._alone(Y, observed)
        chosen = self._candidates(f, np.ones(1, self.dtype))
        outside = (squares[:, None] - (f - self.log_odds) / half).astype(np.float64) if shown else None
        showing = self._showing(self.rows_of_fields[chosen.T])
        apart = np.subtract(showing, Y, out=scratch("apart", (len(showing), n * D), self.dtype).reshape(-1, n, D))
        if observed is not None:
            apart *= observed
        energies = np.einsum("snd,snd->ns", apart, apart)
        states = (squares[:, None] - energies) * half
        states += np.take(self.log_odds, chosen) @ self.states.states.T
        states = states.astype(self.dtype, copy=False)
        n_observed = D if observed is None else observed.sum(axis=1)
        found = self._resolved(f, states, chosen, self.constants(n_observed, squares), best, only_scores)
        if found.share is None:
            return MaxPosterior(None, chosen, found.scores, None)
        states *= found.share
        mean = self._mean(showing, states, found.means, chosen) if filled else None
        if outside is None:
            return MaxPosterior(found.means, chosen, found.scores, found.best, filled=mean)
        others = found.means.astype(np.float64)
        np.put_along_axis(others, chosen, 0.0, axis=1)
        left = np.sum(states * energies, axis=1, dtype=np.float64) + np.sum(others * outside, axis=1)
        return MaxPosterior(found.means, chosen, found.scores, found.best, left, self._shown(states, chosen), mean)

    def _alone(self, Y: AnyArray, observed: AnyArray | None) -> AnyArray:
        """Return the log weight of every cause alone, against that of none: the gain that makes it a candidate."""
        f = Y @ self.scaled_fields
        if observed is None:
            f += self.alone
        else:
            f += self.log_odds.astype(self.dtype) - self.dtype(0.5 * self.scale) * (observed @ self.squared_fields)
        return np.asarray(f)

    def _showing(self, fields: AnyArray) -> AnyArray:
        """Return m(s) of every state, (states, rows, D), from the candidates' fields, (H', rows, D)."""
        _, n, D = fields.shape
        out = scratch("showing", (self.states.n_states, n * D), self.dtype).reshape(-1, n, D)
        out[0] = 0.0
        if not self.signed:
            for state, parent, last in self.tree:
                np.maximum(out[parent], fields[last], out=out[state])
            return out
        size = np.abs(fields)
        for state, parent, last in self.tree:
            np.copyto(out[state], out[parent])
            np.copyto(out[state], fields[last], where=size[last] > np.abs(out[parent]))
        return out

    def _shown(self, q: AnyArray, chosen: Rows) -> AnyArray:
        """Return Sum_{s: s_h = 1} q(s) / Sum_h' (s_h' |W_dh'|)^rho, (rows, H', D)."""
        powers = self.rows_of_powers[chosen.T]
        c, n, D = powers.shape
        sums = scratch("sums", (self.states.n_states, n * D), self.dtype).reshape(-1, n, D)
        sums[0] = 0.0
        for state, parent, last in self.tree:
            np.add(sums[parent], powers[last], out=sums[state])
        sums[0] = 1.0  # no cause is on, and none shows: the table has no 1 there
        np.divide(q.T[:, :, None], sums, out=sums)
        across = self.table[:, :c].T @ sums.reshape(-1, n * D)
        return np.ascontiguousarray(across.reshape(c, n, D).transpose(1, 0, 2))

    def _mean(self, showing: AnyArray, q: AnyArray, means: AnyArray, chosen: Rows) -> AnyArray:
        """Return <m(s)>: the candidates' states, and the causes outside that are on alone."""
        others = np.array(means)
        np.put_along_axis(others, chosen, 0.0, axis=1)
        return np.asarray(np.einsum("ns,snd->nd", q, showing) + others @ self.W.T)

"""Binary sparse coding in which the strongest cause shows: maximal causes, and the largest magnitude.

    s_h = 1 with probability pi_h,     y_d = m_d(s) + sigma e_d,     e ~ N(0, I)
    m_d(s) = max_h s_h W_dh with W >= 0 ("max"; Luecke & Sahani 2008), or W_dh of the cause that is on with the largest
    |W_dh| ("max_magnitude"; Bornschein, Henniges & Luecke 2013)

Truncated states and equation 8 are those of `model.py`; candidates are the causes with the largest gain alone,
ln p(y, only h) - ln p(y, none). With <A_dh> the posterior weight with which cause h shows in column d
(`max_posterior.py`):

    W_dh = Sum_n <A_dh> y_nd / Sum_n <A_dh>,     sigma^2 = Sum_n <|y_n - m(s)|^2> / cells, with the old W

It is a fixed point, not EM: the free energy may fall. A number that was not observed is left out of all sums.
Letters are those of `model.py`; rho, the exponent of A, rises from 5 to 20 as the temperature falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import Sums
from hiddenbits.families.binary_sparse_coding.max_posterior import MaxPosterior, MaxPrepared
from hiddenbits.families.binary_sparse_coding.params import CodingParams
from hiddenbits.families.binary_sparse_coding.planned_coding import RIDGE, PlannedCoding, within
from hiddenbits.families.binary_sparse_coding.rows import CodingShared, runs_of
from hiddenbits.families.binary_sparse_coding.truncated_posterior import squares_of
from hiddenbits.families.binary_sparse_coding.truncated_states import Truncation
from hiddenbits.model_api import Footprint, Key, Promises

FLOOR = 0.01  # of the spread, the least W of "max": about .05 on the bars. W = 0 would never show again
SHARPNESS = (5.0, 20.0)  # rho at the first temperature, and at temperature 1


@dataclass(frozen=True, eq=False)
class MaxStats(Sums):
    """Sums over rows. All but the first two are over the rows within the cut.

    Attributes
    ----------
    bound, weight, used : ndarray, 0-d
        Truncated free energy, weight of the rows, and of those within the cut.
    cells, apart : ndarray, 0-d
        Weight of the observed numbers, and Sum <|y - m(s)|^2> over them.
    hidden : ndarray of shape (H,)
        Sum <s>.
    shown, shown_values : ndarray of shape (D, H)
        Sum <A> and Sum <A> y, over observed numbers.
    """

    bound: Floats
    weight: Floats
    used: Floats
    cells: Floats
    apart: Floats
    hidden: Floats
    shown: Floats
    shown_values: Floats


@dataclass(frozen=True)
class MaxCoding(PlannedCoding):
    """The model: of the causes that are on, the strongest shows. `signed` is for the largest magnitude."""

    signed: bool = False

    stats_type: ClassVar[Any] = MaxStats

    @property
    def promises(self) -> Promises:
        """What holds for every fit."""
        kept = super().promises
        return replace(kept, monotone=False, why={**kept.why, "monotone": "the update of the fields is a fixed point"})

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; the states of its rows do not count, for few rows are worked on at a time."""
        H, states = self.n_components, self._states(0.0)
        flops = 4.0 * n_columns * H + n_columns * states.n_states * (8.0 + 2.0 * states.n_candidates)
        return Footprint(100.0 + float(H), float(2 * n_columns * H), flops)

    def prepared(self, params: CodingParams, states: Truncation, temperature: float, dtype: Any) -> MaxPrepared:
        """Return what rows share at a temperature."""
        first, last = SHARPNESS
        rho = first + (last - first) * self.schedule.cooled(float(params.step))
        return MaxPrepared(params, states, temperature, dtype, self.signed, rho)

    def in_range(self, fields: Floats, spread: float) -> Floats:
        """Return fields as the model allows them: not below the floor, unless they are signed."""
        return fields if self.signed else np.maximum(fields, FLOOR * spread)

    def expect(
        self, params: CodingParams, shared: CodingShared, block: Block, carry: None, key: Key
    ) -> tuple[MaxStats, None]:
        """Return the statistics of a block."""
        now: Any = shared.now  # a MaxPrepared
        D, H = params.n_columns, params.n_components
        Y, scores, counted = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(block.n_rows), 0.0
        shown, values, hidden, cells, apart = np.zeros((H, D)), np.zeros((H, D)), np.zeros(H), 0.0, 0.0
        for rows, observed in runs_of(block, now.dtype):
            y = Y[rows]
            found = now.look(y, observed, squares_of(y), shown=True)
            scores[rows] = found.scores
            weights = block.weights[rows] * within(params.cut, found.scores)
            more, more_values = _shown(now, y, observed, found, weights)
            shown += more
            values += more_values
            hidden += weights @ found.means
            apart += float(weights @ found.apart)
            cells += float(D * weights.sum() if observed is None else weights @ observed.sum(axis=1))
            counted += float(weights.sum())
        stats = MaxStats(
            np.asarray(block.weights @ scores),
            np.asarray(block.weights.sum()),
            np.asarray(counted),
            np.asarray(cells),
            np.asarray(apart),
            hidden,
            np.ascontiguousarray(shown.T),
            np.ascontiguousarray(values.T),
        )
        return stats, None

    def objective(self, params: CodingParams, stats: MaxStats) -> float:
        """Return the free energy: that of the step's temperature, over all rows."""
        return float(stats.bound)

    def update(self, params: CodingParams, stats: MaxStats) -> CodingParams:
        """Return W, sigma and pi of the next step; where rows say nothing of a field, it stays as it is."""
        ridge = RIDGE * max(float(stats.hidden.mean()), 1e-300)
        W = (stats.shown_values + ridge * params.fields) / (stats.shown + ridge)
        if self.schedule.is_over(float(params.step)):
            W = 0.5 * (W + params.fields)
        return self.advanced(params, W, self.first_noise(params, stats), stats.hidden, float(stats.used))

    def first_noise(self, params: CodingParams, stats: MaxStats) -> float:
        """Return sigma with the fields that the statistics were made with."""
        return self.least_noise(params, float(stats.apart) / max(float(stats.cells), 1e-300))

    def pseudo_statistics(self, params: CodingParams, weight: float) -> MaxStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit.

        A cause shows in a column where it is on and no stronger one is.
        """
        pi, cells = params.activity, weight * params.n_columns
        order = np.argsort(-np.abs(params.fields), axis=1)
        off = np.cumprod(1.0 - pi[order], axis=1)
        shown = np.empty_like(params.fields)
        np.put_along_axis(shown, order, weight * pi[order] * np.hstack([np.ones((len(off), 1)), off[:, :-1]]), axis=1)
        apart = cells * float(params.noise) ** 2
        bound, all_rows, used, n_cells, left = (np.asarray(number) for number in (0.0, weight, weight, cells, apart))
        return MaxStats(bound, all_rows, used, n_cells, left, weight * pi, shown, shown * params.fields)

    def mismatch(self, params: CodingParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if not self.signed and (params.fields < 0.0).any():
            return "it has negative fields, where superposition='max' is declared"
        return super().mismatch(params)

    def stats_flaw(self, stats: MaxStats, params: CodingParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        D, H = params.fields.shape
        numbers = (stats.bound, stats.weight, stats.used, stats.cells, stats.apart)
        shapes = [stats.hidden.shape, stats.shown.shape, stats.shown_values.shape]
        if shapes != [(H,), (D, H), (D, H)] or any(number.shape != () for number in numbers):
            return "the statistics have the wrong shapes"
        if not 0.0 < stats.used <= stats.weight * (1.0 + 1e-9):
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        valid = all(
            (part >= -slack).all() and (part <= stats.used + slack).all() for part in (stats.hidden, stats.shown)
        )
        return None if valid else "causes are on in more rows than there are, or in fewer than none"

    # ------------------------------------------------------------------------------------------------ rows

    def reconstruct(self, params: CodingParams, codes: Floats) -> Floats:
        """Return E[y] given which causes are on: m(s), of fields times codes where these lie between 0 and 1."""
        out, few = np.empty((len(codes), params.n_columns)), 64
        for start in range(0, len(codes), few):
            fields = np.asarray(codes)[start : start + few, None, :] * params.fields
            strongest = (np.abs(fields) if self.signed else fields).argmax(axis=2)[:, :, None]
            out[start : start + few] = np.take_along_axis(fields, strongest, axis=2)[:, :, 0]
        return out

    def fill(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return E[y_j | observed numbers], for every cell: <m_j(s)>."""
        return self._each(shared, block, _filled, filled=True)

    def log_joint(self, params: CodingParams, y: Floats, s: Floats) -> float:
        """Return ln p(y, s) of one complete row: the definition."""
        pi, variance = params.activity, float(params.noise) ** 2
        apart = y - self.reconstruct(params, s[None, :])[0]
        prior = np.sum(s * np.log(pi) + (1.0 - s) * np.log1p(-pi))
        return float(prior - 0.5 * (len(y) * np.log(2.0 * np.pi * variance) + apart @ apart / variance))


def _filled(found: Any) -> Any:
    return found.filled


def _shown(
    now: MaxPrepared, Y: AnyArray, observed: AnyArray | None, found: MaxPosterior, weights: Floats
) -> tuple[Floats, Floats]:
    """Return Sum <A> and Sum <A> y of a run of rows, (H, D): the candidates' states, and causes outside alone."""
    n, c = found.candidates.shape
    H, D = now.params.n_components, now.params.n_columns
    A = np.asarray(found.shown) if observed is None else found.shown * observed[:, None, :]
    place = (np.repeat(weights, c), found.candidates.ravel(), np.arange(n * c + 1))
    spread_out = sparse.csr_array(place, shape=(n * c, H)).T.tocsr()
    powers = now.rows_of_powers.astype(np.float64)
    others = found.means * weights[:, None]
    np.put_along_axis(others, found.candidates, 0.0, axis=1)
    alone = others.sum(axis=0)[:, None] if observed is None else others.T @ observed
    shown = powers * (spread_out @ A.reshape(n * c, D)) + alone
    return shown, powers * (spread_out @ (A * Y[:, None, :]).reshape(n * c, D)) + others.T @ Y

"""Binary sparse coding: causes that are on or off and add up to a row of real numbers (Henniges et al. 2010).

    s_h = 1 with probability pi_h,     y = W s + sigma e,     e ~ N(0, I)                                        eq 1

The posterior is cut down to states with at most gamma of the row's H' best candidates on, and to all causes alone
(eqs 3 to 5; `truncated_posterior`).

    (6)  W (Sum <s s'>) = Sum <y s'>
    (7)  sigma^2 = [Sum y'y - 2 tr(W' Sum <y s'>) + tr(W'W Sum <s s'>)] / (|M| D), with the new W
    (8)  pi = (A pi / B) (1/|M|) Sum <|s|>,  A = P(|s| <= gamma), B = E[|s|; |s| <= gamma]

The sums are over M, the rows that states with few causes can explain: the N^cut = N A rows with the best scores. The
paper corrects pi for the states that are left out, which is why the objective may fall; with all states it is plain EM.

A number that was not observed is a hidden one: the sums take <y_j s'> = W_j <s s'> for it, so that EM stays exact and
the statistics small, where an update for the observed cells alone would need a matrix (H, H) for every column.

| letter | meaning | shape |
|---|---|---|
| y | a row: real numbers | (D,) |
| s | which causes are on | (H,) |
| W | what each cause adds to a row: the basis functions | (D, H) |
| pi | P(a cause is on) | (H,) |
| sigma | standard deviation of the noise | number |
| H', gamma | candidates of a row; most causes that are on among them | numbers |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.params import CodingParams, CodingStats
from hiddenbits.families.binary_sparse_coding.planned_coding import RIDGE, PlannedCoding, within
from hiddenbits.families.binary_sparse_coding.rows import CodingShared, kernels_for, runs_of, whole_rows
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared, RowPosterior, squares_of
from hiddenbits.model_api import Footprint, Key


@dataclass(frozen=True)
class SparseCoding(PlannedCoding):
    """The model: fields add up. Hyperparameters are those of `PlannedCoding`."""

    stats_type: ClassVar[Any] = CodingStats

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; the states of its rows do not count, for few rows are worked on at a time."""
        H, states = self.n_components, self._states(0.0)
        pairs = len(states.first)
        flops = 4.0 * n_columns * H + 4.0 * states.n_states * (states.n_candidates + pairs)
        return Footprint(100.0 + 2.0 * pairs, float(n_columns * H + H * H), flops)

    def expect(
        self, params: CodingParams, shared: CodingShared, block: Block, carry: None, key: Key
    ) -> tuple[CodingStats, None]:
        """Return the statistics of a block."""
        now, n, H = shared.now, block.n_rows, params.n_components
        if (kernels := kernels_for(now, block)) is not None:
            return whole_rows(kernels, params, now, block), None
        means = scratch("means", (n, H), now.dtype)
        pairs = scratch("pairs", (n, len(now.states.first)), now.dtype)
        places: Rows = np.empty(pairs.shape, np.intp)
        Y, squares, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(n), np.empty(n)
        counted, filled, filled_squares = np.empty(n), None, 0.0
        for rows, observed in runs_of(block, now.dtype):
            squares[rows] = squares_of(Y[rows])
            found = now.look(Y[rows], observed, squares[rows], out=means[rows] if isinstance(rows, slice) else None)
            if not isinstance(rows, slice):
                means[rows] = found.means
            scores[rows], pairs[rows] = found.scores, found.pairs
            places[rows] = now.pair_places(found.candidates)
            counted[rows] = block.weights[rows] * within(params.cut, found.scores)
            if observed is not None:
                more, more_squares = _filled(now, observed, found, counted[rows])
                filled = more if filled is None else filled + more
                filled_squares += more_squares
        if (counted != 1.0).any():
            means *= counted[:, None].astype(now.dtype)
            pairs *= counted[:, None].astype(now.dtype)
        joint = (Y.T @ means).astype(np.float64, copy=False)
        stats = CodingStats(
            np.asarray(block.weights @ scores),
            np.asarray(block.weights.sum()),
            np.asarray(counted.sum()),
            np.asarray(counted @ squares + filled_squares),
            means.sum(axis=0, dtype=np.float64),
            joint if filled is None else joint + filled,
            np.asarray(np.bincount(places.ravel(), pairs.ravel(), H * H), np.float64).reshape(H, H),
        )
        return stats, None

    def objective(self, params: CodingParams, stats: CodingStats) -> float:
        """Return the free energy: that of the step's temperature, over all rows."""
        return float(stats.bound)

    def update(self, params: CodingParams, stats: CodingStats) -> CodingParams:
        """Equations 6 to 8, and the noise that the schedule asks for."""
        H, used = params.n_components, float(stats.used)
        ridge = RIDGE * max(float(stats.hidden.mean()), 1e-300)
        second = stats.second
        second[np.diag_indices(H)] += ridge
        W = np.asarray(np.linalg.solve(second, (stats.joint + ridge * params.fields).T).T, np.float64)  # (6)
        # (7): by (6) the last trace is that of W' Sum <y s'>, but for the ridge
        left = float(stats.squares) - float(np.vdot(W, stats.joint)) + ridge * float(np.vdot(W, params.fields - W))
        noise = self._sigma(params, left, stats)
        return self.advanced(params, W, noise, stats.hidden, used)

    def first_noise(self, params: CodingParams, stats: CodingStats) -> float:
        """Return sigma with the fields of a start, equation 7."""
        W = params.fields
        left = float(stats.squares) - 2.0 * float(np.sum(W * stats.joint)) + float(np.sum((W.T @ W) * stats.second))
        return self._sigma(params, left, stats)

    def _sigma(self, params: CodingParams, left: float, stats: CodingStats) -> float:
        return self.least_noise(params, left / (float(stats.used) * params.n_columns))

    def pseudo_statistics(self, params: CodingParams, weight: float) -> CodingStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        pi, W = params.activity, params.fields
        pairs = np.triu(np.outer(pi, pi), 1)
        second = pairs + pairs.T + np.diag(pi)
        squares = float(np.sum((W.T @ W) * second)) + params.n_columns * float(params.noise) ** 2
        return CodingStats(
            np.zeros(()),
            np.asarray(weight),
            np.asarray(weight),
            np.asarray(weight * squares),
            weight * pi,
            weight * (W @ second),
            weight * pairs,
        )

    def stats_flaw(self, stats: CodingStats, params: CodingParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        D, H = params.fields.shape
        if stats.hidden.shape != (H,) or stats.joint.shape != (D, H) or stats.pairs.shape != (H, H):
            return "the statistics have the wrong shapes"
        if any(number.shape != () for number in (stats.bound, stats.weight, stats.used, stats.squares)):
            return "the statistics have the wrong shapes"
        if not 0.0 < stats.used <= stats.weight * (1.0 + 1e-9):
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        valid = (stats.hidden >= -slack).all() and (stats.hidden <= stats.used + slack).all()
        return None if valid else "causes are on in more rows than there are, or in fewer than none"


def _filled(now: Prepared, observed: Any, found: RowPosterior, counted: Floats) -> tuple[Floats, float]:
    """Return what missing numbers add to Sum <y s'> and Sum <y'y>: <y_j s'> = W_j <s s'>, <y_j^2> = sigma^2 + ..."""
    n, c = found.candidates.shape
    H, missing, states = now.params.n_components, 1.0 - observed, now.states
    weighted = found.means * counted[:, None]
    joint = now.params.fields * (missing.T @ weighted)  # <s_h s_h>
    together = np.zeros((n, c, c))  # <s_i s_j> of different candidates
    together[:, states.first, states.second] = found.pairs * counted[:, None]
    together += together.transpose(0, 2, 1)
    across = (together @ now.rows_of_fields[found.candidates]) * missing[:, None, :]
    chosen = sparse.csr_array((np.ones(n * c), found.candidates.ravel(), np.arange(n * c + 1)), shape=(n * c, H))
    joint += (chosen.T @ across.reshape(n * c, -1)).T
    squares = float(np.sum(weighted * (missing @ now.squared_fields)))
    squares += float(np.sum(together * now.observed_gram(missing, found.candidates)))
    return joint, squares + float(now.params.noise) ** 2 * float(counted @ missing.sum(axis=1))

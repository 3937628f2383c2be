"""Binary sparse coding: causes are on or off and add up to a row of real numbers (Henniges et al. 2010).

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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.binary_sparse_coding.params import CodingParams, CodingStats
from hiddenbits.families.binary_sparse_coding.rows import EVERY_ROW, Cut, runs_of, statistics_of
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    Prepared,
    RowPosterior,
    Truncation,
    active_shares,
    squares_of,
    truncation,
)
from hiddenbits.maths.state_sums import states_of
from hiddenbits.model_api import Declared, Footprint, Key, Promises

EXACT_CAUSES = 12  # up to 4,096 states a row: the verbs look at all of them
RIDGE = 1e-9  # of the mean of Sum <s>: where rows say nothing of a field, it stays as it is
LEAST_NOISE = 1e-6  # of the spread: a table without any noise would have sigma 0, and an infinite likelihood
LEAST_ACTIVE = 1e-5  # pi stays this far from 0 and 1


@dataclass(frozen=True)
class SparseCoding(Declared[CodingParams]):
    """The model of a pass; hyperparameters only.

    Parameters
    ----------
    n_components : int
        H.
    n_candidates, max_active : int
        H' and gamma.
    shared_activity : bool
        One pi for all causes.
    dtype : {"float64", "float32"}
        Of the products over rows; sums, and the updates, are in float64.
    temperature : float
        The weights of the states are taken to the power 1 / temperature.
    cut : tuple of two floats
        Which rows count.
    jitter : float
        Standard deviation of noise that is added to W.
    key : Key
        Where that noise comes from.
    """

    n_components: int = 10
    n_candidates: int = 8
    max_active: int = 5
    shared_activity: bool = True
    dtype: Literal["float64", "float32"] = "float64"
    temperature: float = 1.0
    cut: Cut = EVERY_ROW
    jitter: float = 0.0
    key: Key = field(default_factory=partial(Key, 0))

    params_type: ClassVar[Any] = CodingParams
    stats_type: ClassVar[Any] = CodingStats
    carry_type: ClassVar[Any] = None
    letters: ClassVar[Mapping[str, tuple[str, str]]] = {"H": ("n_components", "causes")}

    @property
    def promises(self) -> Promises:
        """What holds for every fit."""
        exact = self.n_components <= EXACT_CAUSES
        why = {
            "accelerates": "candidates change from pass to pass",
            "monotone": "states and rows are left out, and which ones changes from pass to pass",
            "likelihood": "states with many causes on are left out: a lower bound",
        }
        return Promises(likelihood="exact" if exact else "bound", monotone=False, accelerates=False, why=why)

    @property
    def states(self) -> Truncation:
        """The states that the posterior of a row is cut down to."""
        c = min(self.n_candidates, self.n_components)
        return truncation(c, min(self.max_active, c))

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; the states of its rows do not count, for few rows are worked on at a time."""
        H, states = self.n_components, self.states
        pairs = len(states.first)
        flops = 4.0 * n_columns * H + 4.0 * states.n_states * (states.n_candidates + pairs)
        return Footprint(100.0 + 2.0 * pairs, float(n_columns * H + H * H), flops)

    def prepare(self, params: CodingParams) -> Prepared:
        """Return what all rows of a pass share."""
        return Prepared(params, self.states, self.temperature, np.dtype(self.dtype).type)

    def expect(
        self, params: CodingParams, shared: Prepared, block: Block, carry: None, key: Key
    ) -> tuple[CodingStats, None]:
        """Return the statistics of a block."""
        return statistics_of(shared, self.cut, block), None

    def objective(self, params: CodingParams, stats: CodingStats) -> float:
        """Return the free energy: that of the pass's temperature, over all rows."""
        return float(stats.bound)

    def update(self, params: CodingParams, stats: CodingStats) -> CodingParams:
        """Equations 6 to 8; noise is added to the fields last."""
        H, used = params.n_components, float(stats.used)
        ridge = RIDGE * max(float(stats.hidden.mean()), 1e-300)
        second = stats.second
        second[np.diag_indices(H)] += ridge
        W = np.asarray(np.linalg.solve(second, (stats.joint + ridge * params.fields).T).T, np.float64)  # (6)
        # (7): by (6) the last trace is that of W' Sum <y s'>, but for the ridge
        left = float(stats.squares) - float(np.vdot(W, stats.joint)) + ridge * float(np.vdot(W, params.fields - W))
        noise = sigma(params, left, stats)
        shares = active_shares(params.activity, self.states.max_active)
        few, on = float(shares.sum()), float(shares @ np.arange(len(shares)))  # A and B
        correction = few * float(params.activity.sum()) / on if on > 0.0 else 1.0
        pi = correction * stats.hidden / used  # (8)
        pi = np.full(H, pi.mean()) if self.shared_activity else pi
        if self.jitter:
            W = W + self.jitter * self.key.rng().standard_normal(W.shape)
        pi = np.clip(pi, LEAST_ACTIVE, 1.0 - LEAST_ACTIVE)
        return replace(params, fields=np.ascontiguousarray(W), activity=pi, noise=noise)

    # ------------------------------------------------------------------------------------------------ online EM

    def online(self) -> SparseCoding:
        """Return the model of the last pass of a plan, with every row."""
        return SparseCoding(self.n_components, self.n_candidates, self.max_active, self.shared_activity, self.dtype)

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

    def mismatch(self, params: CodingParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        differ = self.shared_activity and np.ptp(params.activity) > 0.0
        unlike = "its causes differ in their activity, where one for all is declared" if differ else None
        return super().mismatch(params) or unlike

    # ------------------------------------------------------------------------------------------------ rows

    def _each(self, shared: Prepared, block: Block, take: Callable[[RowPosterior], Any], **asked: Any) -> Floats:
        """Return what `take` takes from the posterior of each row."""
        Y, out = np.asarray(block.x.operand(slot="x")), None
        for rows, observed in runs_of(block):
            values = take(shared.look(Y[rows], observed, squares_of(Y[rows]), **asked))
            if out is None:
                out = np.empty((block.n_rows, *values.shape[1:]))
            out[rows] = values
        return np.asarray(out)

    def log_likelihood(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return ln p(observed numbers) of each row, exact or a lower bound."""
        return self._each(shared, block, lambda row: row.scores, only_scores=True)

    def posterior(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return P(s_h = 1 | observed numbers) of each row."""
        return self._each(shared, block, lambda row: row.means)

    def posterior_mode(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return the most probable state of the causes."""
        return self._each(shared, block, lambda row: row.best, best=True)

    def reconstruct(self, params: CodingParams, codes: Floats) -> Floats:
        """Return E[y] given which causes are on: W s."""
        return np.asarray(codes @ params.fields.T)

    def fill(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return E[y_j | observed numbers], for every cell."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Refuse: a real number has a density given the others, not a probability."""
        raise ValueError(
            "cell_probabilities needs a table of bits, but this model has real numbers. Use complete on a copy in "
            "which these cells are blank."
        )

    def sample(self, params: CodingParams, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw n rows and which causes are on."""
        s = (rng.random((n, params.n_components)) < params.activity).astype(np.float64)
        noise = float(params.noise) * rng.standard_normal((n, params.n_columns))
        return self.reconstruct(params, s) + noise, s

    def hidden_states(self, params: CodingParams) -> Floats:
        """Return every state of the causes."""
        return states_of(params.n_components)

    def log_joint(self, params: CodingParams, y: Floats, s: Floats) -> float:
        """Return ln p(y, s) of one complete row: the definition, equation 1."""
        pi, variance = params.activity, float(params.noise) ** 2
        apart = y - params.fields @ s
        prior = np.sum(s * np.log(pi) + (1.0 - s) * np.log1p(-pi))
        return float(prior - 0.5 * (len(y) * np.log(2.0 * np.pi * variance) + apart @ apart / variance))


def sigma(params: CodingParams, left: float, stats: CodingStats) -> Floats:
    """Return sigma of what is left of the squares, not below what a table without noise would have."""
    variance = left / (float(stats.used) * params.n_columns)
    return np.asarray(np.sqrt(max(variance, (LEAST_NOISE * float(params.spread)) ** 2)))

"""Generative topographic mapping with more than two dimensions: stochastic steps with new points, fixed at the end.

Each step has a batch of rows and new scrambled Sobol points, so that W does not overfit the points. Its gradient is an
unbiased estimate of that of E ln (1/K) Sum_k P(x | z_k), a lower bound of ln P(x) that increases with K; the optimizer
is Adam (Kingma & Ba 2015). After each epoch the likelihood of the validation rows is computed, at points that do not
change. When it has not increased for some epochs, the fit returns to its best parameters and takes smaller steps; after
several such returns it ends. The objective is a mean over rows, so the ridge is divided by the table's number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.params import NodeCounts, NodeScores
from hiddenbits.families.topographic_map.model import Topographic, sobol_points
from hiddenbits.families.topographic_map.params import REALS, TopographicParams
from hiddenbits.model_api import Key, Passes, Promises, Run

STEP_POINTS = 1024  # points of a step
VALIDATION_POINTS = 4096  # points at which the likelihood of the validation rows is computed
PATIENCE_EPOCHS = 3  # after so many epochs without an increase, steps become smaller
RATE_DIVISOR, MAX_RATE_REDUCTIONS = 3.0, 4  # the fit ends with the fourth reduction of the learning rate
BETAS = (0.9, 0.999)  # Adam's decay rates
EPSILON = 1e-8  # keeps Adam from a division by 0
POINTS_KEY_BLOCK, VALIDATION_KEY_BLOCK = 3, 4  # numbers in the random keys of the points


@dataclass(frozen=True, eq=False)
class StepsMemory(Arrays):
    """State between steps: Adam's averages (`mean`, `square`), and the best W and b with their score.

    `waited` counts epochs since the best, `smaller` reductions of `rate`. `weight` is that of all rows. `frozen` are
    the points of the fitted model, `scored` those for the validation rows.
    """

    mean: Floats
    square: Floats
    steps: Floats
    rate: Floats
    best: Floats
    best_score: Floats
    waited: Floats
    smaller: Floats
    weight: Floats
    frozen: Floats
    scored: Floats


@dataclass(frozen=True)
class TopographicSteps(Topographic):
    """The model; hyperparameters only: those of `Topographic`, and

    Parameters
    ----------
    learning_rate : float
        Size of the first steps.
    batch_rows : int
        Rows of a step.
    validation_share : float
        Share of the rows that are validation rows.
    tol : float
        Smallest increase of the likelihood of the validation rows that counts, in nats per row.
    """  # noqa: D400

    learning_rate: float = 0.01
    batch_rows: int = 256
    validation_share: float = 0.1
    tol: float = 1e-5

    promises = Promises(
        monotone=False,
        deterministic=False,
        accelerates=False,
        why={
            "monotone": "steps are random",
            "deterministic": "each step has its own points, and validation rows are chosen at random",
            "accelerates": "steps are random",
        },
    )
    memory_type = StepsMemory

    def first_points(self, key: Key) -> Floats:
        """Return the points of the first step."""
        return self._step_points(key.derive(block=POINTS_KEY_BLOCK))

    def _step_points(self, key: Key) -> Floats:
        return self._points(STEP_POINTS, key).astype(np.float32)

    def _points(self, max_points: int, key: Key) -> Floats:
        return sobol_points(self.n_components, min(max_points, self.n_points), key.rng())

    def validation_rows(self, block: Block, key: Key) -> NDArray[np.bool_]:
        """Return which rows of a block are validation rows: the same in every epoch and restart."""
        rng = key.derive(restart=0, block=block.number).stream("split off").rng()
        return np.asarray(rng.random(block.n_rows) < self.validation_share)

    def expect(
        self, params: TopographicParams, shared: NodeScores, block: Block, carry: None, key: Key
    ) -> tuple[NodeCounts, None]:
        """Return the statistics of the training rows."""
        return super().expect(params, shared, _take_rows(block, ~self.validation_rows(block, key)), carry, key)

    def online(self) -> Topographic:
        """Return the model for online EM: its points are fixed, and all rows are training rows."""
        return Topographic(self.n_components, self.n_points, self.n_features, self.length_scale, self.ridge)

    def first_memory(self, params: TopographicParams, summary: ColumnSums, key: Key) -> StepsMemory:
        """Return the state before the first step."""
        zeros, zero = np.zeros_like(params.joint), np.zeros(())
        return StepsMemory(
            mean=zeros,
            square=zeros.copy(),
            steps=zero,
            rate=np.asarray(self.learning_rate),
            best=params.joint,
            best_score=np.asarray(-np.inf),
            waited=zero,
            smaller=zero,
            weight=np.asarray(float(summary.weight)),
            frozen=self._points(self.n_points, key.derive(block=POINTS_KEY_BLOCK)),
            scored=self._points(VALIDATION_POINTS, key.derive(block=VALIDATION_KEY_BLOCK)).astype(np.float32),
        )

    def step(
        self, params: TopographicParams, memory: StepsMemory, stats: NodeCounts, left: float, key: Key, run: Run
    ) -> tuple[TopographicParams, StepsMemory, float]:
        """Return parameters and state after a step of Adam, and the mean log-likelihood of the step's rows."""
        n, buffer = float(stats.weight), params.joint.copy()  # reused, because arrays are large
        buffer[:, -1] -= params.center
        buffer *= self.ridge / float(memory.weight)  # gradient of the ridge
        gradient = self.gradient(params, stats)
        gradient /= n
        gradient -= buffer
        steps = float(memory.steps) + 1.0
        mean, square = BETAS[0] * memory.mean, BETAS[1] * memory.square
        mean += np.multiply(gradient, 1.0 - BETAS[0], out=buffer)
        square += np.multiply(np.multiply(gradient, 1.0 - BETAS[1], out=buffer), gradient, out=buffer)
        rate = float(memory.rate) / (1.0 - BETAS[0] ** steps)
        scale = np.sqrt(np.divide(square, 1.0 - BETAS[1] ** steps, out=buffer), out=buffer)
        scale += EPSILON
        change = np.divide(np.multiply(mean, rate, out=gradient), scale, out=scale)
        params = replace(params, joint=REALS.back(params.joint + change), points=self._step_points(key))
        return params, replace(memory, mean=mean, square=square, steps=np.asarray(steps)), float(stats.bound) / n

    def after_epoch(
        self, params: TopographicParams, memory: StepsMemory, key: Key, passes: Passes
    ) -> tuple[TopographicParams, StepsMemory, float, bool]:
        """Return parameters, state, mean log-likelihood of the validation rows, and whether the fit has ended."""
        score_params = replace(params, points=memory.scored)
        total, weight = passes(partial(self._validation_score, score_params, self.prepare(score_params), key))
        if weight <= 0.0:
            raise ValueError(
                f"There is no validation row to decide when to stop: the table has too few rows for "
                f"validation_share={self.validation_share}. Increase it, or fit 2 dimensions, which need none."
            )
        score, waited, reductions = float(total / weight), float(memory.waited) + 1.0, float(memory.smaller)
        if score > float(memory.best_score) + self.tol:
            memory = replace(memory, best=params.joint, best_score=np.asarray(score), waited=np.zeros(()))
            return params, memory, score, False
        if waited >= PATIENCE_EPOCHS:
            params, waited, reductions = params.with_joint(memory.best), 0.0, reductions + 1.0
        memory = replace(
            memory,
            waited=np.asarray(waited),
            smaller=np.asarray(reductions),
            rate=np.asarray(self.learning_rate / RATE_DIVISOR**reductions),
        )
        return params, memory, score, reductions >= MAX_RATE_REDUCTIONS

    def _validation_score(self, params: TopographicParams, shared: NodeScores, key: Key, block: Block) -> Floats:
        """Return the weighted log-likelihood of the validation rows of a block, and their weight."""
        block = _take_rows(block, self.validation_rows(block, key))
        return np.array([block.weights @ self.log_likelihood(params, shared, block), block.weights.sum()])

    def settle(self, params: TopographicParams, memory: StepsMemory) -> TopographicParams:
        """Return the best parameters at the points of the fitted model."""
        return replace(params, joint=memory.best, points=memory.frozen)


def _take_rows(block: Block, mask: NDArray[np.bool_]) -> Block:
    """Return the rows of a block where the mask is true, as a block."""
    rows = np.flatnonzero(mask)
    return Block(block.x.take(rows), block.observed.take(rows), block.weights[rows], block.number, block.start)

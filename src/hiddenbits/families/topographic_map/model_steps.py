"""Curved maps of more than two dimensions: random steps with fresh points, which are frozen at the end.

A step looks at a group of rows with points of its own (scrambled Sobol), so that W does not cling to points. It is an
unbiased gradient of E ln (1/K) Sum_k P(x | z_k), a lower bound of ln P(x) that rises with K, and is taken by Adam
(Kingma & Ba 2015). Some rows are not learned from: after each epoch they are scored on points that stay the same. Where
the score has not risen for some epochs, the map goes back to its best and steps become smaller, until they are small
enough. The objective is a mean over rows, so that the ridge enters divided by the rows of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.params import NodeCounts, Scores
from hiddenbits.families.topographic_map.model import Topographic, sobol_points
from hiddenbits.families.topographic_map.params import REALS, TopographicParams
from hiddenbits.model_api import Key, Passes, Promises, Run

STEP_POINTS = 1024  # of a step
SCORE_POINTS = 4096  # of the score after an epoch
PATIENCE = 3  # epochs without a rise after which steps become smaller
SMALLER, TIMES = 3.0, 4  # by which factor, and how often before the fit is over
BETAS = (0.9, 0.999)  # Adam's: how slowly it forgets gradients and their squares
SMALL = 1e-8  # Adam's epsilon
POINTS, SCORED = 3, 4  # blocks of the keys of the frozen points, and of those of the score


@dataclass(frozen=True, eq=False)
class StepsMemory(Arrays):
    """What persists from step to step: Adam's averages, the best map so far, and how long it has been the best."""

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
    """The model; hyperparameters only. Those of `Topographic`, and

    Parameters
    ----------
    learning_rate : float
        Size of the first steps.
    batch_rows : int
        Rows of a step.
    validation_share : float
        Share of the rows that are split off.
    tol : float
        Smallest rise of their score that counts, in nats a row.
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
            "deterministic": "each step has points of its own, and rows are split off at random",
            "accelerates": "steps are random",
        },
    )
    memory_type = StepsMemory

    def first_points(self, key: Key) -> Floats:
        """Return fresh points."""
        return self._fresh(key.derive(block=POINTS))

    def _fresh(self, key: Key) -> Floats:
        return self._points(STEP_POINTS, key).astype(np.float32)

    def _points(self, most: int, key: Key) -> Floats:
        return sobol_points(self.n_components, min(most, self.n_points), key.rng())

    def split_off(self, block: Block, key: Key) -> NDArray[np.bool_]:
        """Return which rows of a block are not learned from: the same in every epoch and restart."""
        rng = key.derive(restart=0, block=block.number).stream("split off").rng()
        return np.asarray(rng.random(block.n_rows) < self.validation_share)

    def expect(
        self, params: TopographicParams, shared: Scores, block: Block, carry: None, key: Key
    ) -> tuple[NodeCounts, None]:
        """Return the statistics of the rows that are learned from."""
        return super().expect(params, shared, _some(block, ~self.split_off(block, key)), carry, key)

    def online(self) -> Topographic:
        """Return the form of the model that online EM needs: a fitted map, whose points stay, learns from all rows."""
        return Topographic(self.n_components, self.n_points, self.n_features, self.length_scale, self.ridge)

    def first_memory(self, params: TopographicParams, summary: ColumnSums, key: Key) -> StepsMemory:
        """Return no averages yet, and the points that stay the same."""
        still, none = np.zeros_like(params.joint), np.zeros(())
        return StepsMemory(
            mean=still,
            square=still.copy(),
            steps=none,
            rate=np.asarray(self.learning_rate),
            best=params.joint,
            best_score=np.asarray(-np.inf),
            waited=none,
            smaller=none,
            weight=np.asarray(float(summary.weight)),
            frozen=self._points(self.n_points, key.derive(block=POINTS)),
            scored=self._points(SCORE_POINTS, key.derive(block=SCORED)).astype(np.float32),
        )

    def step(
        self, params: TopographicParams, memory: StepsMemory, stats: NodeCounts, left: float, key: Key, run: Run
    ) -> tuple[TopographicParams, StepsMemory, float]:
        """Return map and memory after one step of Adam, and the mean log-likelihood of its rows at its points."""
        n, away = float(stats.weight), params.joint.copy()
        away[:, -1] -= params.center
        away *= self.ridge / float(memory.weight)
        gradient = self.gradient(params, stats)
        gradient /= n
        gradient -= away
        steps = float(memory.steps) + 1.0
        mean, square = BETAS[0] * memory.mean, BETAS[1] * memory.square
        mean += np.multiply(gradient, 1.0 - BETAS[0], out=away)
        square += np.multiply(np.multiply(gradient, 1.0 - BETAS[1], out=away), gradient, out=away)
        rate = float(memory.rate) / (1.0 - BETAS[0] ** steps)
        size = np.sqrt(np.divide(square, 1.0 - BETAS[1] ** steps, out=away), out=away)
        size += SMALL
        size = np.divide(np.multiply(mean, rate, out=gradient), size, out=size)
        moved = replace(params, joint=REALS.back(params.joint + size), points=self._fresh(key))
        return moved, replace(memory, mean=mean, square=square, steps=np.asarray(steps)), float(stats.bound) / n

    def after_epoch(
        self, params: TopographicParams, memory: StepsMemory, key: Key, passes: Passes
    ) -> tuple[TopographicParams, StepsMemory, float, bool]:
        """Return map, memory, the mean score of the rows that were split off, and whether the fit is over."""
        at = replace(params, points=memory.scored)
        total, weight = passes(partial(self._split_off_score, at, self.prepare(at), key))
        if weight <= 0.0:
            raise ValueError(
                f"No row was split off to decide when to stop: the table has too few rows for "
                f"validation_share={self.validation_share}. Raise it, or fit 2 dimensions, which need no such rows."
            )
        score, waited, smaller = float(total / weight), float(memory.waited) + 1.0, float(memory.smaller)
        if score > float(memory.best_score) + self.tol:
            memory = replace(memory, best=params.joint, best_score=np.asarray(score), waited=np.zeros(()))
            return params, memory, score, False
        if waited >= PATIENCE:
            params, waited, smaller = params.with_joint(memory.best), 0.0, smaller + 1.0
        memory = replace(
            memory,
            waited=np.asarray(waited),
            smaller=np.asarray(smaller),
            rate=np.asarray(self.learning_rate / SMALLER**smaller),
        )
        return params, memory, score, smaller >= TIMES

    def _split_off_score(self, params: TopographicParams, shared: Scores, key: Key, block: Block) -> Floats:
        """Return the weighted log-likelihood of the rows of a block that are split off, and their weight."""
        block = _some(block, self.split_off(block, key))
        return np.array([block.weights @ self.log_likelihood(params, shared, block), block.weights.sum()])

    def settle(self, params: TopographicParams, memory: StepsMemory) -> TopographicParams:
        """Return the best map at frozen points."""
        return replace(params, joint=memory.best, points=memory.frozen)


def _some(block: Block, rows: NDArray[np.bool_]) -> Block:
    """Return a block of some of its rows."""
    at = np.flatnonzero(rows)
    return Block(block.x.take(at), block.observed.take(at), block.weights[at], block.number, block.start)

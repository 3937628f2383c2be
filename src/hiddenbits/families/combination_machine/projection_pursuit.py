"""Projection pursuit: the units of a combination machine one after the other, without ln Z, so for any number of units.

Freund & Haussler (1994), section 3.5. One unit over a Gaussian of unit variance is a mixture of N(mu, I) and
N(mu + w, I), which EM fits in a few steps (eqs 3.14, 3.15). Then its structure is removed: h is sampled given the row,
and where it is 1, w is subtracted from the row. The next unit is fitted to these residual rows.

| letter | meaning | shape |
|---|---|---|
| x, o, mu | data as -1 and +1, or reals; observed; center of the rows (0 without a visible bias) | (rows, d), (d,) |
| W, p | units so far: weights; log-odds of being on | (d, k), (k,) |
| h | states of the units so far | (rows, k) |
| r | the residual row, o (x - mu - W h) | (rows, d) |
| w, s | the candidates for the next unit; P(h = 1 | r) under each | (d, candidates), (rows, candidates) |

    s = sigma( p + w.r - |o w|^2 / 2 ),     w = Sum s r / (Sum s o + ridge),  p = logit mean s,  th = p - |w|^2/2 - w.mu

Missing cells are excluded, which is correct: the missing coordinates of a Gaussian integrate out.

Residual rows are not stored: r.w = (x - mu).w - h.(W'w), and h is sampled again in every pass from the same random
numbers, which depend on the content of a row (`coins`). So the result is the same for equal rows combined by a weight,
in another order, in another storage, or on other executors; equal rows have equal h.

The units are those of the real-valued machine. For weights well below 1 they also fit binary data (section 2.6); for
larger weights they are a start for the optimizer. For binary data in {0, 1} x = 2t - o; for real data x = t. The
likelihood of the whole machine need not increase with every unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Arrays, Block
from hiddenbits.data.hashing import uniform_by_row_and_unit
from hiddenbits.data.operands import product_with_totals
from hiddenbits.data.rows_by_content import choose_rows, row_numbers
from hiddenbits.maths.missing_rows import rows_with_missing
from hiddenbits.maths.numerics import softplus_and_sigmoid
from hiddenbits.model_api import Key, Passes

CANDIDATE_WEIGHT = 0.3  # of a residual row: first weights of a candidate
LEAST_UNIT_SHARE = 1e-6  # least share of rows in which a unit is on, and in which it is off
DENSE_CELLS = 1 << 18  # cells of rows with missing values processed together


@dataclass(frozen=True, eq=False)
class PursuitUnits:
    """Units of the real-valued machine: weights (d, k), log-odds of being on (k,), and the center of the rows (d,)."""

    weights: Floats
    levels: Floats
    center: Floats

    @property
    def thresholds(self) -> Floats:
        """Return th, eq 3.15."""
        W = self.weights
        return np.asarray(self.levels - 0.5 * np.sum(W**2, axis=0) - self.center @ W)

    def with_unit(self, other: PursuitUnits, which: int) -> PursuitUnits:
        """Return these units and one of the others."""
        weights = np.column_stack([self.weights, other.weights[:, which]])
        return PursuitUnits(weights, np.append(self.levels, other.levels[which]), self.center)


@dataclass(frozen=True, eq=False)
class PursuitSums(Arrays):
    """Sum of weights, of ln(1 + exp a), of s, of r s and of o s."""

    weight: Floats
    bound: Floats
    hidden: Floats
    joint: Floats
    observed: Floats


def pursue(
    n_units: int,
    key: Key,
    passes: Passes,
    center: Floats,
    *,
    ridge: float = 0.0,
    n_starts: int = 4,
    n_steps: int = 20,
    reals: bool = False,
) -> PursuitUnits:
    """Fit units one after the other, in `n_units` x `n_steps` + 1 passes.

    Parameters
    ----------
    n_units : int
        Number of units.
    key : Key
        Key of the random numbers that choose the rows from which candidates start, and the states of the units.
    passes : callable
        The engine's sum over blocks.
    center : ndarray of shape (d,)
        mu, in -1 to +1; zeros for a machine without a visible bias.
    ridge : float
        Precision of the normal prior of the weights.
    n_starts : int
        Candidates for each unit, all in the same passes; the one with the best likelihood is kept.
    n_steps : int
        EM steps.
    reals : bool
        Whether the table has real numbers rather than binary data.

    Examples
    --------
    Two causes that switch on three columns each:

    >>> from hiddenbits.data import open_table
    >>> from hiddenbits.engine import Key
    >>> rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 3, axis=1)
    >>> block = open_table(rows).grid(4).blocks[0]
    >>> units = pursue(2, Key(0), lambda function: function(block), np.zeros(6))
    >>> units.weights.shape
    (6, 2)
    """
    rows = choose_rows(n_units * n_starts, key, passes)
    observed = ~np.isnan(rows) if reals else rows != 0.0
    seed = int(key.rng().integers(2**62, size=2)[1])  # the first of the two chose the rows
    units = PursuitUnits(np.zeros((len(center), 0)), np.zeros(0), center)
    for unit in range(n_units):
        # If the table has too few distinct rows, rows are used again.
        start_rows = np.arange(unit * n_starts, (unit + 1) * n_starts) % len(rows)
        candidates = _first_candidates(units, rows[start_rows], observed[start_rows])
        for _ in range(n_steps):
            data = _Pass(units, candidates, seed, *((1.0, 0.0) if reals else (2.0, 1.0)))
            sums: PursuitSums = passes(partial(_add_block, data))
            candidates, objective = _m_step(candidates, sums, ridge)
        units = units.with_unit(candidates, int(np.argmax(objective)))
    return units


def _first_candidates(units: PursuitUnits, rows: Floats, mask: NDArray[np.bool_]) -> PursuitUnits:
    """Return candidates that are on in half of the rows, each with weights proportional to a residual row."""
    _, r = _residuals(units, np.where(mask, rows - units.center, 0.0), mask, np.zeros((len(rows), len(units.levels))))
    return PursuitUnits(CANDIDATE_WEIGHT * r.T, np.zeros(len(rows)), units.center)


def _residuals(units: PursuitUnits, r: Floats, observed: AnyArray, random_logits: Floats) -> tuple[Floats, Floats]:
    """Return the states of units, 1 if their log-odds exceed the random number, and the residual rows."""
    h = np.zeros(random_logits.shape)
    for i, (w, p) in enumerate(zip(units.weights.T, units.levels, strict=True)):
        h[:, i] = random_logits[:, i] < p + r @ w - 0.5 * observed @ w**2
        r = r - observed * (h[:, i : i + 1] * w)
    return h, r


def _m_step(candidates: PursuitUnits, sums: PursuitSums, ridge: float) -> tuple[PursuitUnits, Floats]:
    """Return the candidates after an M-step (eqs 3.14, 3.15), and log-likelihood plus log prior of those before it."""
    weight = float(sums.weight)
    log_prior = -0.5 * ridge * np.sum(candidates.weights**2, axis=0)
    value = sums.bound + weight * np.log(expit(-candidates.levels)) + log_prior
    share = np.clip(sums.hidden / weight, LEAST_UNIT_SHARE, 1.0 - LEAST_UNIT_SHARE)
    counts = np.maximum(sums.observed, LEAST_UNIT_SHARE * weight) + ridge
    return PursuitUnits(np.asarray(sums.joint / counts), np.asarray(logit(share)), candidates.center), value


@dataclass(frozen=True, eq=False)
class _Pass:
    """Inputs of a pass: units so far, candidates for the next, seed of the states; x = bit_scale t - offset o."""

    units: PursuitUnits
    candidates: PursuitUnits
    seed: int
    bit_scale: float = 2.0
    offset: float = 1.0

    @cached_property
    def weights(self) -> Floats:
        """W and w, side by side."""
        return np.column_stack([self.units.weights, self.candidates.weights])

    @cached_property
    def levels(self) -> Floats:
        """Log-odds of units and candidates."""
        return np.append(self.units.levels, self.candidates.levels)

    @cached_property
    def observed_terms(self) -> Floats:
        """What an observed cell subtracts from log-odds: terms of the offset, of mu, and half the squared weight."""
        return np.asarray((self.offset + self.units.center[:, None]) * self.weights + 0.5 * self.weights**2)

    @cached_property
    def observed_totals(self) -> Floats:
        """Column sums of `observed_terms`."""
        return np.asarray(self.observed_terms.sum(axis=0)[None, :])

    @cached_property
    def gram(self) -> Floats:
        """W'[W, w]."""
        return np.asarray(self.units.weights.T @ self.weights)


def _add_block(data: _Pass, block: Block) -> PursuitSums:
    """Return the sums of a block: E-step of all candidates on the residual rows."""
    k, W = len(data.units.levels), data.units.weights
    t, o = block.operands()
    products = product_with_totals(o, data.observed_terms, data.observed_totals)
    a = data.levels + data.bit_scale * np.asarray(t @ data.weights) - products
    random_logits = coins(block, data.seed, k)
    h = np.zeros((block.n_rows, k))
    for i in range(k):
        h[:, i] = random_logits[:, i] < a[:, i]
        a[:, i + 1 :] -= h[:, i : i + 1] * data.gram[i, i + 1 :]
    incomplete = rows_with_missing(block)
    n_rows = max(1, DENSE_CELLS // block.n_columns)
    chunks = [incomplete[start : start + n_rows] for start in range(0, len(incomplete), n_rows)]
    for rows in chunks:
        h[rows], a[rows, k:] = _incomplete_rows(data, block, rows, random_logits[rows])
    softplus, s = softplus_and_sigmoid(a[:, k:])
    s *= block.weights[:, None]
    observed = np.asarray(o.T @ s)
    joint = data.bit_scale * np.asarray(t.T @ s) - (data.offset + data.units.center[:, None]) * observed
    for rows in chunks:
        joint -= (_observed(block, rows) * (h[rows] @ W.T)).T @ s[rows]
    h[incomplete] = 0.0
    joint -= W @ (h.T @ s)
    return PursuitSums(np.asarray(block.weights.sum()), block.weights @ softplus, s.sum(axis=0), joint, observed)


def _incomplete_rows(data: _Pass, block: Block, rows: Rows, random_logits: Floats) -> tuple[Floats, Floats]:
    """Return the states of units and the log-odds of candidates for rows with missing values, from residual rows."""
    observed = _observed(block, rows)
    x = data.bit_scale * block.x.take(rows).to_dense() - data.offset
    h, r = _residuals(data.units, observed * (x - data.units.center), observed, random_logits)
    w = data.candidates.weights
    return h, data.candidates.levels + r @ w - 0.5 * observed @ w**2


def _observed(block: Block, rows: Rows) -> Floats:
    return np.asarray(block.observed.take(rows).to_dense(), np.float64)


def coins(block: Block, seed: int, n: int) -> Floats:
    """Return n random log-odds for each row, from its content alone: a unit is on if its log-odds are larger."""
    return np.asarray(logit(uniform_by_row_and_unit(seed, row_numbers(seed, block).astype(np.uint64), n)))

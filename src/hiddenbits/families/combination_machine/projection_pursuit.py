"""Projection pursuit: the units of a combination machine one after the other, without ln Z, so for any number of units.

Freund & Haussler (1994), section 3.5. One unit over a Gaussian of unit variance is a mixture of two, N(mu, I) and
N(mu + w, I), and EM for it is short (eqs 3.14, 3.15). Then its structure is removed: h is drawn given the row, and
where it is 1 the row loses w. The next unit is found in the altered rows.

| letter | meaning | shape |
|---|---|---|
| x, o, mu | bits as -1 and +1, or reals; observed; center of the rows (0 without a visible bias) | (rows, d), (d,) |
| W, p | units found so far: weights; log-odds of being on | (d, k), (k,) |
| h | the removed bits | (rows, k) |
| r | the altered row, o (x - mu - W h) | (rows, d) |
| w, s | the tries for the next unit; P(h = 1 | r) under each | (d, tries), (rows, tries) |

    s = sigma( p + w.r - |o w|^2 / 2 ),     w = Sum s r / (Sum s o + ridge),  p = logit mean s,  th = p - |w|^2/2 - w.mu

Missing cells are left out, as they should be: the missing coordinates of a Gaussian integrate out.

No row is ever altered, and no memory of the rows is kept: r.w = (x - mu).w - h.(W'w), and h is drawn again in every
pass from the same numbers, which depend on the content of a row (`coins`). So the result is the same for equal rows
counted by a weight, in another order, in another storage, or on other executors; equal rows have equal h.

The units are those of the real-valued machine. For weights well below 1 they also fit bits (section 2.6); for larger
ones they are a start to climb from. Bits are x = 2t - o, t their ones; of a table of reals x = t. The likelihood of
the whole machine need not rise with every unit.
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

TOWARDS = 0.3  # first weights of a try, towards an altered row
RAREST = 1e-6  # a unit is on and off in at least this share of the rows
DENSE_CELLS = 1 << 18  # cells of rows with blanks that are worked on together


@dataclass(frozen=True, eq=False)
class Units:
    """Units of the real-valued machine: weights (d, k), log-odds of being on (k,), and the center of the rows (d,)."""

    weights: Floats
    levels: Floats
    center: Floats

    @property
    def thresholds(self) -> Floats:
        """Return th, eq 3.15."""
        W = self.weights
        return np.asarray(self.levels - 0.5 * np.sum(W**2, axis=0) - self.center @ W)

    def with_unit(self, other: Units, which: int) -> Units:
        """Return these units and one of the others."""
        weights = np.column_stack([self.weights, other.weights[:, which]])
        return Units(weights, np.append(self.levels, other.levels[which]), self.center)


@dataclass(frozen=True, eq=False)
class Sums(Arrays):
    """Sum of weights, of ln(1 + exp a), of s, of r s and of o s."""

    weight: Floats
    bound: Floats
    hidden: Floats
    joint: Floats
    seen: Floats


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
) -> Units:
    """Find units one after the other; `n_units` times `n_steps` passes, and one.

    Parameters
    ----------
    n_units : int
        How many.
    key : Key
        Its random numbers choose the rows that tries start from, and the removed bits.
    passes : callable
        The engine's sum over blocks.
    center : ndarray of shape (d,)
        mu, in -1 to +1; zeros for a machine without a visible bias.
    ridge : float
        Precision of the normal prior of the weights.
    n_starts : int
        Tries for each unit, all in the same passes; the one with the best likelihood is kept.
    n_steps : int
        EM steps.
    reals : bool
        Whether the table is one of real numbers rather than bits.

    Examples
    --------
    Two switches that set three bits each:

    >>> from hiddenbits.data import open_table
    >>> from hiddenbits.engine import Key
    >>> rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 3, axis=1)
    >>> block = open_table(rows).grid(4).blocks[0]
    >>> found = pursue(2, Key(0), lambda function: function(block), np.zeros(6))
    >>> found.weights.shape
    (6, 2)
    """
    rows = choose_rows(n_units * n_starts, key, passes)
    seen = ~np.isnan(rows) if reals else rows != 0.0
    seed = int(key.rng().integers(2**62, size=2)[1])  # the first one chose the rows
    found = Units(np.zeros((len(center), 0)), np.zeros(0), center)
    for unit in range(n_units):
        # Where the table has fewer different rows than that, rows serve again.
        mine = np.arange(unit * n_starts, (unit + 1) * n_starts) % len(rows)
        tries = _first_tries(found, rows[mine], seen[mine])
        for _ in range(n_steps):
            look = _Look(found, tries, seed, *((1.0, 0.0) if reals else (2.0, 1.0)))
            sums: Sums = passes(partial(_add_block, look))
            tries, height = _stepped(tries, sums, ridge)
        found = found.with_unit(tries, int(np.argmax(height)))
    return found


def _first_tries(found: Units, rows: Floats, seen: NDArray[np.bool_]) -> Units:
    """Return tries that are on in half of the rows, each towards a row from which the units so far are removed."""
    _, r = _removed(found, np.where(seen, rows - found.center, 0.0), seen, np.zeros((len(rows), len(found.levels))))
    return Units(TOWARDS * r.T, np.zeros(len(rows)), found.center)


def _removed(found: Units, r: Floats, seen: AnyArray, draws: Floats) -> tuple[Floats, Floats]:
    """Return the removed bits of rows, on where the score of a unit is above the draw, and the altered rows."""
    h = np.zeros(draws.shape)
    for i, (w, p) in enumerate(zip(found.weights.T, found.levels, strict=True)):
        h[:, i] = draws[:, i] < p + r @ w - 0.5 * seen @ w**2
        r = r - seen * (h[:, i : i + 1] * w)
    return h, r


def _stepped(tries: Units, sums: Sums, ridge: float) -> tuple[Units, Floats]:
    """M-step (eqs 3.14, 3.15); and the log-likelihood less the log prior of the tries that the sums are about."""
    weight = float(sums.weight)
    height = sums.bound + weight * np.log(expit(-tries.levels)) - 0.5 * ridge * np.sum(tries.weights**2, axis=0)
    share = np.clip(sums.hidden / weight, RAREST, 1.0 - RAREST)
    counts = np.maximum(sums.seen, RAREST * weight) + ridge
    return Units(np.asarray(sums.joint / counts), np.asarray(logit(share)), tries.center), height


@dataclass(frozen=True, eq=False)
class _Look:
    """What a pass looks at: units so far, tries for the next, the seed of the removed bits; x = twice t - once o."""

    found: Units
    tries: Units
    seed: int
    twice: float = 2.0
    once: float = 1.0

    @cached_property
    def weights(self) -> Floats:
        """W and w side by side."""
        return np.column_stack([self.found.weights, self.tries.weights])

    @cached_property
    def levels(self) -> Floats:
        """Log-odds of W and w."""
        return np.append(self.found.levels, self.tries.levels)

    @cached_property
    def of_observed(self) -> Floats:
        """What an observed cell takes from a score, whatever it holds: o, mu, and half the square of the weight."""
        return np.asarray((self.once + self.found.center[:, None]) * self.weights + 0.5 * self.weights**2)

    @cached_property
    def observed_totals(self) -> Floats:
        """Column sums of `of_observed`."""
        return np.asarray(self.of_observed.sum(axis=0)[None, :])

    @cached_property
    def gram(self) -> Floats:
        """W'[W, w]."""
        return np.asarray(self.found.weights.T @ self.weights)


def _add_block(look: _Look, block: Block) -> Sums:
    """Return the sums of a block: E-step of all tries on the altered rows."""
    k, W = len(look.found.levels), look.found.weights
    t, o = block.operands()
    products = product_with_totals(o, look.of_observed, look.observed_totals)
    a = look.levels + look.twice * np.asarray(t @ look.weights) - products
    draws = coins(block, look.seed, k)
    h = np.zeros((block.n_rows, k))
    for i in range(k):
        h[:, i] = draws[:, i] < a[:, i]
        a[:, i + 1 :] -= h[:, i : i + 1] * look.gram[i, i + 1 :]
    blank = rows_with_missing(block)
    step = max(1, DENSE_CELLS // block.n_columns)
    chunks = [blank[start : start + step] for start in range(0, len(blank), step)]
    for rows in chunks:
        h[rows], a[rows, k:] = _with_blanks(look, block, rows, draws[rows])
    above, s = softplus_and_sigmoid(a[:, k:])
    s *= block.weights[:, None]
    seen = np.asarray(o.T @ s)
    joint = look.twice * np.asarray(t.T @ s) - (look.once + look.found.center[:, None]) * seen
    for rows in chunks:
        joint -= (_observed(block, rows) * (h[rows] @ W.T)).T @ s[rows]
    h[blank] = 0.0
    joint -= W @ (h.T @ s)
    return Sums(np.asarray(block.weights.sum()), block.weights @ above, s.sum(axis=0), joint, seen)


def _with_blanks(look: _Look, block: Block, rows: Rows, draws: Floats) -> tuple[Floats, Floats]:
    """Return the removed bits of rows with blanks, and their scores under the tries: by altered copies of the rows."""
    seen = _observed(block, rows)
    x = look.twice * block.x.take(rows).to_dense() - look.once
    h, r = _removed(look.found, seen * (x - look.found.center), seen, draws)
    w = look.tries.weights
    return h, look.tries.levels + r @ w - 0.5 * seen @ w**2


def _observed(block: Block, rows: Rows) -> Floats:
    return np.asarray(block.observed.take(rows).to_dense(), np.float64)


def coins(block: Block, seed: int, n: int) -> Floats:
    """Return n random log-odds for each row, of its content alone: a unit is on where its score is above."""
    return np.asarray(logit(uniform_by_row_and_unit(seed, row_numbers(seed, block).astype(np.uint64), n)))

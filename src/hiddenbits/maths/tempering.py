"""Tempered combination machines, between a base and the machine, for chains and for annealing.

With x in {-1, +1}^d, h in {0, 1}^m and beta from 0 to 1, the tempered machine is a combination machine, too:

    ln p*_beta(x, h) = beta h.(th + W'x) + [(1 - beta) b0 + beta b].x
    ln p*_beta(x)    = [(1 - beta) b0 + beta b].x + Sum_i softplus(beta a_i),   a = th + W'x
    P(h_i = 1 | x) = sigma(beta a_i),   P(x_j = +1 | h) = sigma(2 c_j),   c = (1 - beta) b0 + beta (b + W h)

At beta = 1 it is the machine, at beta = 0 the base: independent columns with ln Z_0 = m ln 2 + Sum_j ln 2cosh b0_j.

| letter | meaning | shape |
|---|---|---|
| W, th | weights, thresholds | (d, m), (m,) |
| b, b0 | bias of the visible units; bias of the base | (d,) |
| x, h | visible and hidden units | (rows, d), (rows, m) |
| a | activations of the hidden units, th + W'x | (rows, m) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.operands import scratch

Numbers = AnyArray  # float32 or float64, like the machine
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]  # `map`, or the `map` of a thread pool
Precision = Literal["float32", "float64"]

BASE_SHRINKAGE = 0.02  # by this share probabilities of a base are shrunk to 1/2, so that it can sample every row


@dataclass(frozen=True, eq=False)
class Tempered:
    """A combination machine and its base, in the precision of the sampling.

    Parameters
    ----------
    weights : ndarray of shape (d, m)
    thresholds : ndarray of shape (m,)
    bias : ndarray of shape (d,)
    base : ndarray of shape (d,)
        Bias of the independent columns at beta = 0.

    Examples
    --------
    >>> import numpy as np
    >>> machine = Tempered.of(np.zeros((3, 2)), np.zeros(2), np.zeros(3))
    >>> round(float(machine.log_base_sum / np.log(2.0)), 6)
    5.0
    """

    weights: Numbers
    thresholds: Numbers
    bias: Numbers
    base: Numbers

    @classmethod
    def of(
        cls,
        weights: ArrayLike,
        thresholds: ArrayLike,
        bias: ArrayLike,
        base: ArrayLike | None = None,
        dtype: Precision = "float32",
    ) -> Tempered:
        """Return the machine with these arrays, rounded to `dtype`; the default base has probabilities of 1/2.

        float32 is twice as fast. Its probabilities are accurate to 1e-7.
        """
        W, th, b = (np.ascontiguousarray(array, dtype) for array in (weights, thresholds, bias))
        b0 = np.zeros_like(b) if base is None else np.ascontiguousarray(base, dtype)
        if not all(np.isfinite(array).all() for array in (W, th, b, b0)):
            raise ValueError("weights, thresholds, bias and base must be finite; limit them, for instance by a ridge")
        return cls(W, th, b, b0)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision."""
        return self.weights.dtype

    @property
    def n_columns(self) -> int:
        """Number of visible units, d."""
        return len(self.bias)

    @property
    def log_base_sum(self) -> float:
        """The base's ln Z_0 = m ln 2 + Sum_j ln 2cosh b0_j."""
        b0 = self.base.astype(np.float64)
        return len(self.thresholds) * float(np.log(2.0)) + float(np.logaddexp(b0, -b0).sum())

    def activations(self, x: Numbers, out: Numbers | None = None) -> Numbers:
        """Return a = th + W'x of each row."""
        a = np.matmul(x, self.weights, out=out)
        a += self.thresholds
        return a

    def base_rows(self, n: int, rng: np.random.Generator) -> Numbers:
        """Return n simulated rows of the base, in -1 and +1."""
        x = np.empty((n, self.n_columns), self.dtype)
        x[:] = self.base
        return _signs(_sample_bits(x, rng))

    def sweep(self, x: Numbers, a: Numbers, beta: float | Numbers, rng: np.random.Generator) -> None:
        """Sample h given x, then x given h, in place; a is not updated.

        `beta` is one number, or a column with one for each row. The sweep preserves p_beta(x) and is reversible.
        """
        h = scratch("chains h", a.shape, self.dtype)
        np.multiply(a, 0.5 * beta, out=h)
        _sample_bits(h, rng)
        np.matmul(h, self.weights.T, out=x)
        x += self.bias
        x *= beta
        x += (1.0 - beta) * self.base
        _signs(_sample_bits(x, rng))

    def log_ratio(self, x: Numbers, a: Numbers, low: float | Numbers, high: float | Numbers) -> Floats:
        """Return ln p*_high(x) - ln p*_low(x) of each row, for 0 <= low <= high.

        The difference of two softplus would lose all precision if low and high are close. With d = (high - low) a

            softplus(high a) - softplus(low a) = max(d, 0) + log1p(sigma(-low |a|) expm1(-|d|)),

        in which nothing cancels and nothing overflows.
        """
        magnitude = np.abs(a, out=scratch("chains size", a.shape, self.dtype))
        odds = np.multiply(magnitude, -low, out=scratch("chains odds", a.shape, self.dtype))
        np.exp(odds, out=odds)
        share = np.add(odds, 1.0, out=scratch("chains share", a.shape, self.dtype))
        np.divide(odds, share, out=share)
        step = high - low
        np.multiply(magnitude, -step, out=odds)
        np.expm1(odds, out=odds)
        odds *= share
        np.log1p(odds, out=odds)
        np.add(a, magnitude, out=magnitude)  # 2 max(a, 0)
        magnitude *= 0.5 * step
        odds += magnitude
        visible = (x @ (self.bias - self.base)).astype(np.float64)
        return np.asarray(odds.sum(axis=1).astype(np.float64) + np.ravel(step) * visible)

    def free_energy(self, x: Numbers, a: Numbers) -> Floats:
        """Return ln p*(x) = b.x + Sum_i softplus(a_i) of each row, at beta = 1."""
        return np.asarray((x @ self.bias + np.logaddexp(a.dtype.type(0), a).sum(axis=1)).astype(np.float64))


def base_bias(means: ArrayLike) -> Floats:
    """Return the bias b0 of independent columns with these means, b0 = logit(p) / 2.

    p is shrunk slightly to 1/2, so that constant columns have a finite bias and the base can sample every row.

    Examples
    --------
    >>> import numpy as np
    >>> b0 = base_bias([0.5, 1.0])
    >>> np.round(1 / (1 + np.exp(-2 * b0)), 6)
    array([0.5 , 0.99])
    """
    p = np.asarray(means, dtype=np.float64)
    p = (1.0 - BASE_SHRINKAGE) * p + 0.5 * BASE_SHRINKAGE
    return np.asarray(0.5 * (np.log(p) - np.log1p(-p)))


def bits_to_signs(bits: Bytes, dtype: Any) -> Numbers:
    """Return -1 for 0 and +1 for 1, as a new array."""
    return _signs(bits.astype(dtype))


def groups_of(n: int, size: int) -> list[slice]:
    """Divide n chains into groups of `size`. The number of threads is not used, so that it does not change samples."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def generators(rng: np.random.Generator, n: int) -> list[np.random.Generator]:
    """Return n generators with seeds from `rng`, for groups that may run in parallel."""
    return [np.random.default_rng(words) for words in rng.integers(0, 2**32, (n, 8), dtype=np.uint32)]


def _sample_bits(half_logits: Numbers, rng: np.random.Generator) -> Numbers:
    """Replace z/2 by 1 with probability sigma(z) = (1 + tanh(z/2)) / 2 and by 0 otherwise, in place.

    tanh is fast and cannot overflow.
    """
    u = scratch("chains u", (half_logits.shape[0], half_logits.shape[1]), half_logits.dtype)
    rng.random(dtype=half_logits.dtype, out=u)
    np.tanh(half_logits, out=half_logits)
    half_logits *= 0.5
    half_logits += 0.5
    return np.less(u, half_logits, out=half_logits)


def _signs(bits: Numbers) -> Numbers:
    """Replace 0 and 1 by -1 and +1, in place."""
    bits *= 2.0
    bits -= 1.0
    return bits

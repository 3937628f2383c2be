"""What logistic PCA of mixed tables learns, adds up and remembers.

A row is D numbers: bits (those of one column follow each other), reals, and for every nominal column as many numbers
as it has categories. The letters are those of `logistic_pca/params.py`, and

| letter | meaning | shape |
|---|---|---|
| z | real cells, (t - shift) / scale | (rows, n_real) |
| s^2 | noise variance of z | (n_real,) |
| eta, psi | activations of a nominal column, and where Bohning's bound touches | (K,) |
| units | bits, reals and nominal columns: what can be observed by itself | U = n_bits + n_real + n_nominal |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.declared import Params, Sums
from hiddenbits.maths.packed_symmetric import packed_size

LARGEST = 1e6  # loadings beyond this are no model of numbers in units of their own spread
LEAST_NOISE = 1e-12
FURTHEST = 1e100  # shift and scale are in the units of the table; squares of them are still numbers


@dataclass(frozen=True)
class Places:
    """Where the numbers of bits, reals and nominal columns are.

    Attributes
    ----------
    sticks : tuple of int
        Number of bits of each column that bits stand for.
    n_real : int
        Number of real columns.
    levels : tuple of int
        Number of categories of each nominal column.
    """

    sticks: tuple[int, ...]
    n_real: int
    levels: tuple[int, ...]

    @cached_property
    def n_bits(self) -> int:
        """Number of bits."""
        return sum(self.sticks)

    @cached_property
    def bits(self) -> slice:
        """Where the bits are, among numbers and among units."""
        return slice(0, self.n_bits)

    @cached_property
    def reals(self) -> slice:
        """Where the reals are, among numbers and among units."""
        return slice(self.n_bits, self.n_bits + self.n_real)

    @cached_property
    def nominal(self) -> slice:
        """Where the numbers of all nominal columns are."""
        return slice(self.n_bits + self.n_real, self.n_numbers)

    @cached_property
    def groups(self) -> tuple[slice, ...]:
        """Where the numbers of each nominal column are, counted from the first of them all."""
        ends = np.cumsum([0, *self.levels])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def stick_groups(self) -> tuple[slice, ...]:
        """Where the bits of each column are."""
        ends = np.cumsum([0, *self.sticks])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def n_numbers(self) -> int:
        """D."""
        return self.n_bits + self.n_real + sum(self.levels)

    @cached_property
    def n_units(self) -> int:
        """U."""
        return self.n_bits + self.n_real + len(self.levels)

    @cached_property
    def units(self) -> Rows:
        """The first number of each unit."""
        starts = [self.nominal.start + group.start for group in self.groups]
        return np.array([*range(self.n_bits + self.n_real), *starts], np.intp)

    @property
    def gaussian(self) -> bool:
        """Whether there is nothing but reals, so that every integral has a closed form."""
        return self.n_numbers == self.n_real


@dataclass(frozen=True, eq=False)
class MixedParams(Params):
    """W and b of every number, the centre of b's prior; noise, shift and scale of the reals."""

    loadings: Floats
    intercepts: Floats
    centre: Floats
    noise: Floats
    shift: Floats
    scale: Floats

    def with_joint(self, joint: Floats, noise: Floats) -> MixedParams:
        """Return the parameters with (W, b) = `joint` and other noise."""
        W = np.ascontiguousarray(joint[:, :-1])
        return replace(self, loadings=W, intercepts=joint[:, -1].copy(), noise=noise)

    @cached_property
    def joint(self) -> Floats:
        """Return w^, (D, q + 1)."""
        return np.column_stack([self.loadings, self.intercepts])

    @property
    def n_columns(self) -> int:
        """Number of numbers that stand for a row, D."""
        return len(self.intercepts)

    @property
    def n_components(self) -> int:
        """Number of dimensions, q."""
        return int(self.loadings.shape[1])

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if self.loadings.ndim != 2 or self.loadings.shape[1] == 0:
            return "loadings must have shape (D, q)"
        if self.intercepts.shape != self.loadings.shape[:1] or self.centre.shape != self.loadings.shape[:1]:
            return "intercepts and centre must have one number for each row of the loadings"
        if not all(np.all(np.abs(a) <= LARGEST) for a in (self.joint, self.centre)):
            return f"loadings and intercepts must lie within {LARGEST:g} of 0"
        if self.noise.ndim != 1 or not self.noise.shape == self.shift.shape == self.scale.shape:
            return "noise, shift and scale must have one number for each real column"
        if (self.noise < LEAST_NOISE).any() or (self.noise > LARGEST).any():
            return f"noise must lie between {LEAST_NOISE:g} and {LARGEST:g}"
        if not np.all((self.scale >= 1.0 / FURTHEST) & (self.scale <= FURTHEST) & (np.abs(self.shift) <= FURTHEST)):
            return f"scale must be positive, and scale and shift not beyond {FURTHEST:g}"
        return None


@dataclass(frozen=True, eq=False)
class MixedStats(Sums):
    """Sums over rows: the bound, and for each unit what its update needs.

    Attributes
    ----------
    bound, weight : 0-d arrays
        Weighted bound of the log-likelihood, and weight.
    moments : ndarray of shape (U, p)
        Sum kappa S for bits, Sum S over observed cells for reals and nominal columns.
    linear : ndarray of shape (D, q + 1)
        Sum r x^ for bits and nominal columns, Sum z x^ for reals.
    squares, seen : ndarray of shape (n_real,)
        Sum z^2, and the weight of observed cells.
    """

    bound: Floats
    weight: Floats
    moments: Floats
    linear: Floats
    squares: Floats
    seen: Floats


def turned(params: MixedParams) -> MixedParams:
    """Return the same model in canonical orientation: loadings orthogonal, ordered by size, largest entries positive.

    Loadings of reals count in units of their columns' spread.
    """
    U, S, _ = np.linalg.svd(params.loadings, full_matrices=False)
    W = np.zeros_like(params.loadings)
    W[:, : len(S)] = U * S
    largest = np.abs(W).argmax(axis=0)
    W *= np.where(W[largest, np.arange(W.shape[1])] < 0, -1.0, 1.0)
    return replace(params, loadings=W)


def mixed_stats_flaw(stats: MixedStats, params: MixedParams, places: Places) -> str | None:
    """Return what makes the statistics of online EM invalid for these parameters, or None."""
    q = params.n_components
    shapes = {
        "bound": (),
        "weight": (),
        "moments": (places.n_units, packed_size(q + 1)),
        "linear": (places.n_numbers, q + 1),
        "squares": (places.n_real,),
        "seen": (places.n_real,),
    }
    if any(getattr(stats, name).shape != shape for name, shape in shapes.items()):
        return "the statistics have the wrong shapes"
    if stats.weight <= 0:
        return "the statistics have no weight"
    return None

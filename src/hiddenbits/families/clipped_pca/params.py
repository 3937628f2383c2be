"""Parameters and counts of clipped PCA. Letters and shapes are in `model.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import SLACK as COUNT_SLACK
from hiddenbits.data.declared import Params, Range, WeightedSums
from hiddenbits.maths.gauss_hermite import Rule, resolving_grid
from hiddenbits.maths.numerics import within
from hiddenbits.maths.pair_counts import PairCounts

SLACK = 1e-9  # tolerance for rounding of sums of squares
MIN_NOISE = 1e-9  # with a smaller psi, most rows have probability 0 and no posterior
LARGEST_BIAS = 40.0  # beyond it Phi(h) is 0 or 1 in double precision
LARGEST_EIGENVALUE = 1e100


def _are_correlations(C: AnyArray) -> bool:
    return bool(np.abs(C).max() <= 1.0 + SLACK and (np.diagonal(C) == 1.0).all() and np.array_equal(C, C.T))


def _are_decreasing(values: AnyArray) -> bool:
    return bool((np.abs(values) <= LARGEST_EIGENVALUE).all() and (np.diff(values) <= 0.0).all())


COMMUNALITIES = Range(
    lambda W: bool(((W**2).sum(axis=1) <= 1.0 + SLACK).all()), "explain more than all of a column's variance"
)
CORRELATIONS = Range(_are_correlations, "is not a correlation matrix")
DECREASING = Range(_are_decreasing, "must be decreasing numbers")


@dataclass(frozen=True, eq=False)
class ClippedParams(Params):
    """The probit factor model, and the correlations from which it was computed.

    Attributes
    ----------
    loadings, biases : ndarray of shape (d, P), (d,)
        W and h.
    correlation : ndarray of shape (d, d)
        C^XX, estimated pair by pair.
    spectrum, bit_spectrum : ndarray of shape (k,)
        Eigenvalues of C^XX and of C^SS, over the k columns that vary, largest first.
    chance : ndarray of shape (k,) or (0,)
        The 95% quantiles of the eigenvalues of C^XX under independence, with parallel analysis.
    """

    loadings: Annotated[Floats, "d P", COMMUNALITIES]
    biases: Annotated[Floats, "d", within(LARGEST_BIAS)]
    correlation: Annotated[Floats, "d d", CORRELATIONS]
    spectrum: Annotated[Floats, "k?", DECREASING]
    bit_spectrum: Annotated[Floats, "k?", DECREASING]
    chance: Annotated[Floats, "k?", within(LARGEST_EIGENVALUE)]

    @property
    def n_components(self) -> int:
        """Number of dimensions, P."""
        return int(self.loadings.shape[1])

    @cached_property
    def noise(self) -> Floats:
        """Psi."""
        return np.asarray(np.maximum(1.0 - (self.loadings**2).sum(axis=1), 0.0))

    @cached_property
    def probit(self) -> tuple[Floats, Floats]:
        """Slopes and offsets a and b; raises an error if a column has no noise."""
        if self.noise.min(initial=1.0) < MIN_NOISE:
            raise ValueError(
                "Some columns of this model have no noise: the latent position determines them, so most rows have "
                "probability 0 and no posterior. Fit with max_communality below 1. sample, morph and "
                "inverse_transform also work with this model."
            )
        scale = 1.0 / np.sqrt(self.noise)
        return self.loadings * scale[:, None], self.biases * scale

    @cached_property
    def grid(self) -> Rule | None:
        """A grid on which integrals over y are exact; None if it needs too many nodes.

        |Phi(A + iB)| <= exp(B^2/2) Phi(A), so that the error of the trapezoidal rule along v is that of a Gaussian of
        precision 1 + Sum (a.v)^2, without poles.
        """
        a, _ = self.probit

        def growth(v: Floats, y: Floats) -> Floats:
            return 0.5 * y * y * (1.0 + float(((a @ v) ** 2).sum()))

        return resolving_grid(a, growth, np.zeros((1, self.n_components)))

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        lengths = len(self.spectrum) == len(self.bit_spectrum) <= len(self.biases)
        return super().flaw() or (None if lengths else "the spectra do not fit the columns")


@dataclass(frozen=True, eq=False)
class ClippedStats(PairCounts, WeightedSums):
    """The 2 x 2 tables of all pairs of columns, and the weight of the rows."""

    weight: Annotated[Floats, ""]

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        slack, both = COUNT_SLACK * float(self.weight), self.both
        ones, observed = np.broadcast_to(self.ones, both.shape), np.broadcast_to(self.seen, both.shape)
        if np.abs(both - both.T).max() > slack or np.abs(observed - observed.T).max() > slack:
            return "the counts of a pair depend on its order"
        if np.abs(np.diagonal(ones) - np.diagonal(both)).max() > slack:
            return "the count of 1s of a column differs from its count with itself"
        cells = (both, ones - both, observed - ones - ones.T + both, self.weight - observed)
        return "the statistics are not counts" if any(cell.min() < -slack for cell in cells) else None

"""What clipped PCA learns and adds up.

Letters and shapes are in `model.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params, Sums
from hiddenbits.maths.gauss_hermite import Rule, resolving_grid
from hiddenbits.maths.pair_counts import PairCounts

SLACK = 1e-9  # rounding of a square
LEAST_NOISE = 1e-9  # with less, a column is a step, and the posterior of most rows is empty
FURTHEST = 40.0  # beyond it Phi(h) is 0 or 1 in double precision


@dataclass(frozen=True, eq=False)
class ClippedParams(Params):
    """The probit factor model, and the correlations that it was made of.

    Attributes
    ----------
    loadings, biases : ndarray of shape (d, P), (d,)
        W and h.
    correlation : ndarray of shape (d, d)
        C^XX as it was estimated, pair by pair.
    spectrum, bit_spectrum : ndarray of shape (k,)
        Eigenvalues of C^XX and of C^SS, over the k columns that vary, largest first.
    chance : ndarray of shape (k,) or (0,)
        What the eigenvalues of C^XX would reach by chance, where the number of dimensions was found by comparison.
    """

    loadings: Floats
    biases: Floats
    correlation: Floats
    spectrum: Floats
    bit_spectrum: Floats
    chance: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.biases)

    @property
    def n_components(self) -> int:
        """Number of dimensions, P."""
        return int(self.loadings.shape[1])

    @cached_property
    def noise(self) -> Floats:
        """Return psi."""
        return np.asarray(np.maximum(1.0 - (self.loadings**2).sum(axis=1), 0.0))

    @cached_property
    def probit(self) -> tuple[Floats, Floats]:
        """Return a and b; refuse columns without noise."""
        if self.noise.min(initial=1.0) < LEAST_NOISE:
            raise ValueError(
                "Some columns of this model have no noise: the hidden point determines their bits, so most rows have "
                "probability 0 and no posterior. Fit with max_communality below 1. sample, morph and "
                "inverse_transform work with this model, too."
            )
        scale = 1.0 / np.sqrt(self.noise)
        return self.loadings * scale[:, None], self.biases * scale

    @cached_property
    def grid(self) -> Rule | None:
        """Return a grid fine enough for integrals over y to be exact; None where that takes too many nodes.

        |Phi(A + iB)| <= exp(B^2/2) Phi(A), so that along v the trapezoid sum errs as for a Gaussian of precision
        1 + Sum (a.v)^2: as for logistic loadings 2a (`gauss_hermite`), had they no singularities.
        """
        a, _ = self.probit
        return resolving_grid(2.0 * a, np.zeros((1, self.n_components)))

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if self.loadings.ndim != 2 or 0 in self.loadings.shape:
            return "loadings must have shape (d, P)"
        d = len(self.loadings)
        if self.biases.shape != (d,) or self.correlation.shape != (d, d):
            return "biases and correlation must fit the loadings"
        if np.abs(self.biases).max() > FURTHEST:
            return f"biases must lie within {FURTHEST:g} of 0"
        if ((self.loadings**2).sum(axis=1) > 1.0 + SLACK).any():
            return "the loadings of a column explain more than all of its variance"
        C = self.correlation
        if np.abs(C).max() > 1.0 + SLACK or not (np.diagonal(C) == 1.0).all() or not np.array_equal(C, C.T):
            return "correlation is not a correlation matrix"
        k = len(self.spectrum) if self.spectrum.ndim == 1 else -1
        if not 0 <= k <= d or self.bit_spectrum.shape != (k,) or self.chance.shape not in ((k,), (0,)):
            return "the spectra do not fit the columns"
        if any((np.abs(values) > 1e100).any() for values in (self.spectrum, self.bit_spectrum, self.chance)):
            return "the spectra have invalid numbers"
        if any((np.diff(values) > 0.0).any() for values in (self.spectrum, self.bit_spectrum)):
            return "the spectra are not in order"
        return None


@dataclass(frozen=True, eq=False)
class ClippedStats(PairCounts, Sums):
    """The 2 x 2 tables of all pairs of columns, and the weight of the rows."""

    weight: Floats


def stats_flaw(stats: ClippedStats, params: ClippedParams) -> str | None:
    """Return what makes statistics invalid for these parameters, or None."""
    d = params.n_columns
    shapes = stats.both.shape, stats.ones.shape, stats.seen.shape
    if shapes not in (((d, d), (d, 1), (1, 1)), ((d, d), (d, d), (d, d))):
        return "the statistics have the wrong shapes"
    if stats.weight.shape != () or stats.weight <= 0:
        return "the statistics have no weight"
    slack = 1e-6 * float(stats.weight)
    if np.abs(stats.both - stats.both.T).max() > slack or np.abs(stats.seen - stats.seen.T).max() > slack:
        return "the counts of a pair depend on its order"
    ones = np.broadcast_to(stats.ones, (d, d))
    if np.abs(np.diagonal(ones) - np.diagonal(stats.both)).max() > slack:
        return "a column is not 1 as often as it is 1 together with itself"
    cells = (stats.both, ones - stats.both, stats.seen - ones - ones.T + stats.both, stats.weight - stats.seen)
    return "the statistics are not counts" if any(cell.min() < -slack for cell in cells) else None

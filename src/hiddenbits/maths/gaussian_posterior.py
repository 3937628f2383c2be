"""Gaussian posteriors of many rows at once: means, packed covariances, moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.maths.packed_symmetric import identity, inner_places, pack_outer, row_dot


@dataclass(frozen=True, eq=False)
class Posterior(Arrays):
    """The Gaussian posterior of each row's x: its mean (rows, q) and packed covariance (rows, q(q + 1)/2)."""

    mean: Floats
    covariance: Floats

    def extended(self) -> Floats:
        """Return x^ = (mean, 1)."""
        return np.column_stack([self.mean, np.ones(len(self.mean))])

    def moments(self) -> Floats:
        """Return S = <x^ x^'>, packed."""
        S: Floats = pack_outer(self.extended())
        S[:, inner_places(self.mean.shape[1] + 1)] += self.covariance
        return S

    def divergence(self, log_det_precision: Floats) -> Floats:
        """Return KL(q || N(0, I)) = (1/2) [ tr C + mean.mean - q - ln |C| ] of each row."""
        q = self.mean.shape[1]
        trace = self.covariance @ identity(q)
        return np.asarray(0.5 * (trace + row_dot(self.mean, self.mean) - q + log_det_precision))

"""Lee and Sompolinsky's own way: the leading eigenvectors of C^XX as it was estimated, and bits without noise.

Pairs with an empty cell get pseudo-rows here, too: the paper does not say what it did with them. Negative eigenvalues
stay. A column is sgn(Delta + w.y) with Delta = |w| Phi^-1(P(bit = 1)) (eq 9), so that only the direction of w matters:
rows of W are scaled to length 1, whatever share of the variance the eigenvectors left out or invented.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiddenbits.families.clipped_pca.factors import capped, leading
from hiddenbits.families.clipped_pca.model import Clipped
from hiddenbits.families.clipped_pca.params import ClippedParams, ClippedStats

SILENT = 1e-9  # length of w below which the eigenvectors say nothing about a column


@dataclass(frozen=True)
class ClippedRaw(Clipped):
    """The model; hyperparameters only, those of `Clipped`."""

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the model that the counts make: eigenvectors of C^XX without a correction."""
        found = super().update(params, stats)
        varies = np.abs(found.correlation).sum(axis=1) > 1.0  # the others are correlated with nothing
        W = np.zeros_like(found.loadings)
        if varies.any():
            kept = leading(found.correlation[np.ix_(varies, varies)], W.shape[1])
            W[varies, : kept.shape[1]] = kept
        length = np.linalg.norm(W, axis=1, keepdims=True)
        unit = np.divide(W, length, out=np.zeros_like(W), where=length > SILENT)
        return replace(found, loadings=capped(unit, self.cap))

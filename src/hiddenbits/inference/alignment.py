"""One model in the orientation of another: the same order of classes, the same axes of a map."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from hiddenbits import ClippedPCA, LatentClassAnalysis, LogisticPCA, Piece, Table, TreeMixture, map_pieces
from hiddenbits.array_types import Floats

PIECE_CELLS = 1 << 22  # cells of posteriors that are worked on together
NEVER = 1 << 40  # passes before a fit looks for trees


def can_align(model: Any) -> bool:
    """Whether replicates of a model can be brought into its order and orientation."""
    return isinstance(model, (LatentClassAnalysis, TreeMixture, LogisticPCA, ClippedPCA))


def with_fixed_trees(model: TreeMixture) -> TreeMixture:
    """Return a fitted mixture of trees whose refits keep the trees; a class is then known by its tree."""
    made = copy(model)
    made.params_ = model.params_.at(replace(model.params_.time, wait=NEVER, late_looks=0))
    return made


def aligned(found: Any, target: Any, table: Table) -> Any:
    """Return a fitted model with its classes in the order, or its axes in the orientation, closest to another's.

    Classes by the Hungarian method on the rows that they share; axes by orthogonal Procrustes rotation of the loadings.
    A mixture of trees stays as it is.
    """
    if isinstance(found, TreeMixture):
        return found
    made = copy(found)
    if isinstance(found, LatentClassAnalysis):
        order = linear_sum_assignment(-_shared(found, target, table))[1]
        made.params_ = replace(
            found.params_,
            weights=found.params_.weights[order],
            probabilities=np.ascontiguousarray(found.params_.probabilities[:, order]),
        )
    else:
        U, _, V = np.linalg.svd(found.params_.loadings.T @ target.params_.loadings)
        made.params_ = replace(found.params_, loadings=found.params_.loadings @ (U @ V))
    return made


def _shared(found: Any, target: Any, table: Table) -> Floats:
    """Return how many rows, by their posteriors, are in each class of the one model and of the other, (K, K)."""

    def count(piece: Piece) -> Floats:
        other: Floats = target.posterior(piece.table) * piece.weights[:, None]
        return np.asarray(other.T @ found.posterior(piece.table))

    K = len(target.weights_)
    return np.asarray(sum(map_pieces(count, table, max(1, PIECE_CELLS // K)), np.zeros((K, K))))

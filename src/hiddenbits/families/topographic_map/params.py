"""The parameters of a curved map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params, Range
from hiddenbits.families.nodes.columns.layout import binary_columns
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.families.topographic_map.regression import Basis, smooth_basis
from hiddenbits.maths.numerics import LARGEST_LOGIT, sigmoid, softplus_and_sigmoid

FURTHEST = 1e3  # of a coefficient, which a ridge keeps far below
SIZE = 3.0  # of the cosines next to z


def _are_finite(a: AnyArray) -> bool:
    return bool(np.all(np.abs(a) <= FURTHEST))


FINITE = Range(_are_finite, "must be finite and not too large")
FLAG = Range(lambda a: bool(np.isin(a, (0.0, 1.0)).all()), "must be 0 or 1")


@dataclass(frozen=True, eq=False)
class TopographicParams(Params):
    """Points z_k, the features Phi, and W and b of each column.

    While random steps draw other points each time, `settled` is 0, and features are computed in float32.
    """

    points: Annotated[Floats, "K q", FINITE]
    frequencies: Annotated[Floats, "q M", FINITE]
    phases: Annotated[Floats, "M", FINITE]
    coefficients: Annotated[Floats, "d m", FINITE]
    intercepts: Annotated[Floats, "d", FINITE]
    centre: Annotated[Floats, "d", FINITE]
    settled: Annotated[Floats, "", FLAG]

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        q, M = self.frequencies.shape
        m = self.coefficients.shape[1]
        return None if m == q + M else f"coefficients must be of {q} + {M} features, not of {m}"

    def features_at(self, points: Floats) -> Floats:
        """Return Phi(z) = [z, 3 sqrt(2/M) cos(z Omega + phi)] at some points, (points, m)."""
        dtype = np.float64 if self.settled else np.float32
        q, M = self.frequencies.shape
        extended = np.concatenate([points, np.ones((len(points), 1))], axis=1, dtype=dtype, casting="same_kind")
        angles = extended @ np.concatenate([self.frequencies, self.phases[None, :]], dtype=dtype, casting="same_kind")
        features = np.empty((len(points), q + M), dtype)
        features[:, :q] = points
        waves = np.cos(angles, out=features[:, q:])
        waves *= dtype(SIZE * np.sqrt(2.0 / M))
        return features

    def activations_at(self, features: Floats) -> Floats:
        """Return eta = b + Phi W, (d, points), as far from 0 as logits of probabilities may be."""
        eta = np.asarray(self.coefficients.astype(features.dtype) @ features.T, np.float64)
        eta += self.intercepts[:, None]
        return np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT, out=eta)

    @cached_property
    def features(self) -> Floats:
        """Phi at the points."""
        return self.features_at(self.points)

    @cached_property
    def basis(self) -> Basis:
        """The directions in which curves differ at the points."""
        return smooth_basis(self.features)

    @cached_property
    def activations(self) -> Floats:
        """Return eta at the points."""
        return self.activations_at(self.features)

    @cached_property
    def log_off(self) -> Floats:
        """Return -ln(1 + exp eta) at the points, the logarithm of P(bit = 0)."""
        off, _ = softplus_and_sigmoid(self.activations)
        return np.negative(off, out=off)

    @cached_property
    def nodes(self) -> NodeParams:
        """The nodes that the map is: one at each point, all of the same weight."""
        K = len(self.points)
        layout = binary_columns(len(self.centre))
        return NodeParams.of(np.full(K, 1.0 / K), sigmoid(self.activations), sigmoid(self.centre), layout)

    @property
    def joint(self) -> Floats:
        """W and b side by side, (d, m + 1)."""
        return np.concatenate([self.coefficients, self.intercepts[:, None]], axis=1)

    def with_joint(self, joint: Floats) -> TopographicParams:
        """Return the same map with other W and b."""
        other = replace(self, coefficients=np.ascontiguousarray(joint[:, :-1]), intercepts=joint[:, -1].copy())
        for name in ("features", "basis"):  # of the same points
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def __getstate__(self) -> dict[str, AnyArray]:
        return self.to_arrays()  # what was computed from them is computed again

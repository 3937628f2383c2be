"""Least squares for shapes with a few linear weights: they are solved for, and only the rest is searched.

    loss(p) = |t - B(p) w(p)|^2 / 2,   w(p) = the best weights of the columns of B(p)

(Golub & Pereyra 1973). With Q an orthonormal basis of B's columns the residual is t - Q Q't. Its Jacobian is taken as
-(I - Q Q') dB w (Kaufman 1975), which has the right gradient: what it leaves out is at right angles to the residual.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

Floats = NDArray[np.float64]
REFINED = 3  # starts that are refined; on learned fields more of them find nothing better
DEPENDENT = 1e-4  # a combination of columns smaller than this share is left out: its weight would be arbitrary
TOLERANCE = 1e-7
MOST_STEPS = 100


class Shape(Protocol):
    """A family of images: what `best_fit` needs of it. n is the number of pixels, m of the parameters."""

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest values of the parameters, (m,) each."""

    @property
    def scale(self) -> Floats:
        """A step of each parameter that changes the image about as much as one of any other, (m,)."""

    def basis(self, p: Floats) -> Floats:
        """Return B(p), (n, columns)."""

    def slope(self, p: Floats, weights: Floats) -> Floats:
        """Return the derivative of B(p) w by p, (n, m)."""

    def starts(self, target: Floats) -> Floats:
        """Return places to begin, (groups, starts in a group, m); those of a group are likely to end alike."""


class Fit(NamedTuple):
    """Parameters, weights, and the sum of squares that is left."""

    params: Floats
    weights: Floats
    left: float


class _Look(NamedTuple):
    """What is seen at one place: an orthonormal basis of B's columns, the best weights, the residual."""

    q: Floats
    weights: Floats
    residual: Floats

    @property
    def left(self) -> float:
        return float(self.residual @ self.residual)


class _Problem:
    """One target. Residual and Jacobian are asked for at the same place, one after the other."""

    def __init__(self, shape: Shape, target: Floats) -> None:
        self.shape, self.target = shape, target
        self._last: tuple[Floats, _Look] | None = None

    def look(self, p: Floats) -> _Look:
        if self._last is not None and np.array_equal(p, self._last[0]):
            return self._last[1]
        # Not QR: a column of zeros (a sine at whole pixels) would give it a direction out of nowhere.
        left, sizes, right = np.linalg.svd(self.shape.basis(p), full_matrices=False)
        kept = sizes > DEPENDENT * sizes[0]
        q = left[:, kept]
        shares = q.T @ self.target
        found = _Look(q, right[kept].T @ (shares / sizes[kept]), self.target - q @ shares)
        self._last = (p.copy(), found)
        return found

    def residual(self, p: Floats) -> Floats:
        return self.look(p).residual

    def jacobian(self, p: Floats) -> Floats:
        look = self.look(p)
        slope = self.shape.slope(p, look.weights)
        return np.asarray(look.q @ (look.q.T @ slope) - slope)


def best_fit(shape: Shape, target: Floats) -> Fit:
    """Return the best fit found: from the best start of each group, the best of them refined."""
    problem, (low, high) = _Problem(shape, target), shape.bounds
    inside = 1e-6 * np.minimum(shape.scale, high - low)  # the search begins strictly within the bounds
    groups = np.clip(shape.starts(target), low + inside, high - inside)
    left = np.array([[problem.look(start).left for start in group] for group in groups])
    firsts = groups[np.arange(len(groups)), left.argmin(axis=1)]
    found: list[Fit] = []
    for start in firsts[np.argsort(left.min(axis=1), kind="stable")[:REFINED]]:
        end = least_squares(
            problem.residual,
            start,
            problem.jacobian,
            bounds=(low, high),
            x_scale=shape.scale,
            ftol=TOLERANCE,
            xtol=TOLERANCE,
            gtol=TOLERANCE,
            max_nfev=MOST_STEPS,
        )
        look = problem.look(end.x)
        found.append(Fit(end.x, look.weights, look.left))
    return min(found, key=lambda fit: fit.left)

"""The shapes that are fitted to fields: a Gabor function, and a circular center with a surround.

Places are in pixels: x to the right, y downwards, the middle of the first pixel at (0, 0).

| letter | meaning |
|---|---|
| x0, y0 | center |
| u, v | distances from the center along the wave, and across it |
| sx, sy | standard deviations of the envelope along u and v |
| f, k | frequency in cycles a pixel; k = 2 pi f |
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter, maximum_filter

from .separable import Floats

NARROWEST = 0.4  # standard deviation, in pixels: a single pixel
WIDEST = 2.0  # standard deviation, in sides of the patch: hardly any envelope
SLOWEST = 0.125  # waves in a patch: what is slower cannot be told from no wave
FASTEST = 0.5  # cycles a pixel: faster waves look like slower ones
PEAKS = 3  # of the spectrum, to begin with


class Pixels:
    """The grid of a patch, and where on it a field has its energy."""

    def __init__(self, height: int, width: int) -> None:
        self.height, self.width, self.side = height, width, max(height, width)
        self.y, self.x = np.divmod(np.arange(height * width, dtype=np.float64), width)

    def centers(self, target: Floats) -> list[tuple[float, float]]:
        """Return likely centers: the middle of the energy, and the place where it is greatest."""
        energy = target * target
        near = gaussian_filter(energy.reshape(self.height, self.width), 1.0, mode="constant")
        peak, total = int(near.argmax()), energy.sum()
        return [
            (float(energy @ self.x / total), float(energy @ self.y / total)),
            (float(self.x[peak]), float(self.y[peak])),
        ]

    def spread(self, target: Floats, x0: float, y0: float) -> float:
        """Return the root of the mean square distance of the energy from a place."""
        energy = target * target
        return float(np.sqrt(energy @ ((self.x - x0) ** 2 + (self.y - y0) ** 2) / energy.sum()))

    def box(self) -> tuple[list[float], list[float]]:
        """Return the corners within which centers lie: those of the patch."""
        return [-0.5, -0.5], [self.width - 0.5, self.height - 0.5]


class Gabor:
    """exp(-u^2 / 2 sx^2 - v^2 / 2 sy^2) (w1 cos ku + w2 sin(ku) / k); parameters x0, y0, ln sx, ln sy, angle, f.

    The sine is divided by k, so that slow waves go over into a slope, u times the envelope, with a weight that stays
    finite.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        low, high = pixels.box()
        narrow, wide = np.log(NARROWEST), np.log(WIDEST * pixels.side)
        self.slowest = SLOWEST / pixels.side
        self.bounds = (
            np.array([*low, narrow, narrow, -np.inf, self.slowest]),
            np.array([*high, wide, wide, np.inf, FASTEST]),
        )
        self.scale = np.array([1.0, 1.0, 0.3, 0.3, 0.3, 0.6 / pixels.side])

    def _waves(self, p: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return u, v, and the envelope times a cosine and times a sine."""
        c, s = np.cos(p[4]), np.sin(p[4])
        dx, dy = self.pixels.x - p[0], self.pixels.y - p[1]
        u, v = c * dx + s * dy, c * dy - s * dx
        envelope = np.exp(-0.5 * ((u * np.exp(-p[2])) ** 2 + (v * np.exp(-p[3])) ** 2))
        angle = 2.0 * np.pi * p[5] * u
        return u, v, envelope * np.cos(angle), envelope * np.sin(angle)

    def basis(self, p: Floats) -> Floats:
        """Return the two columns that the weights multiply."""
        _, _, cosine, sine = self._waves(p)
        return np.column_stack([cosine, sine / (2.0 * np.pi * p[5])])

    def slope(self, p: Floats, weights: Floats) -> Floats:
        """Return the derivatives of the weighted sum, (pixels, 6)."""
        u, v, cosine, sine = self._waves(p)
        k, (even, odd) = 2.0 * np.pi * p[5], weights
        whole = even * cosine + odd * sine / k
        x2, y2 = (u * np.exp(-p[2])) ** 2, (v * np.exp(-p[3])) ** 2
        by_u = odd * cosine - even * k * sine - whole * u * np.exp(-2.0 * p[2])
        by_v = -whole * v * np.exp(-2.0 * p[3])
        c, s = np.cos(p[4]), np.sin(p[4])
        by_f = 2.0 * np.pi * (odd * (u * cosine / k - sine / k**2) - even * u * sine)
        return np.column_stack(
            [s * by_v - c * by_u, -s * by_u - c * by_v, whole * x2, whole * y2, v * by_u - u * by_v, by_f]
        )

    def starts(self, target: Floats) -> Floats:
        """Return starts in groups of one wave and center: peaks of the spectrum, and slow waves in four directions."""
        waves = self._peaks(target)
        turns = np.arange(4) * np.pi / 4.0
        waves += [(angle, 4.0 * self.slowest) for angle in turns]
        groups = []
        for x0, y0 in self.pixels.centers(target):
            spread = max(NARROWEST, self.pixels.spread(target, x0, y0))
            sizes = [
                (np.log(part * spread) - tilt, np.log(part * spread) + tilt)
                for part in (0.5, 0.8)
                for tilt in (-0.4, 0.0, 0.4)
            ]
            groups += [[(x0, y0, *size, *wave) for size in sizes] for wave in waves]
        return np.array(groups)

    def _peaks(self, target: Floats) -> list[tuple[float, float]]:
        """Return angle and frequency of the highest peaks of the spectrum."""
        size = 4 * self.pixels.side  # zeros around the field: a finer spectrum
        power = np.abs(np.fft.fft2(target.reshape(self.pixels.height, self.pixels.width), (size, size))) ** 2
        along = np.fft.fftfreq(size)
        y, x = along[:, None], along[None, :]
        ahead = (y > 0) | (y == -0.5) | ((y == 0) & ((x >= 0) | (x == -0.5)))  # the other half says the same
        top = np.flatnonzero((power == maximum_filter(power, 5, mode="wrap")) & ahead)
        top = top[np.argsort(-power.ravel()[top], kind="stable")[:PEAKS]]
        rows, columns = np.divmod(top, size)
        return [
            (float(np.arctan2(b, a)), float(np.hypot(a, b))) for a, b in zip(along[columns], along[rows], strict=True)
        ]


class Blob:
    """exp(-r^2 / 2 s^2) - balance / ratio^2 exp(-r^2 / 2 (ratio s)^2); parameters x0, y0, ln s, ln ratio, balance.

    A circular center less a wider surround, whose volume is `balance` times the center's: from 0, a Gaussian, to 1, a
    balanced difference of Gaussians. So the center always is the largest part, and rings are no blobs.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        low, high = pixels.box()
        self.bounds = (
            np.array([*low, np.log(NARROWEST), np.log(1.2), 0.0]),
            np.array([*high, np.log(WIDEST * pixels.side), np.log(8.0), 1.0]),
        )
        self.scale = np.array([1.0, 1.0, 0.3, 0.3, 0.3])

    def _parts(self, p: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return dx, dy, (r / s)^2, the center, and a surround of the same volume."""
        dx, dy = self.pixels.x - p[0], self.pixels.y - p[1]
        near = (dx * dx + dy * dy) * np.exp(-2.0 * p[2])
        return dx, dy, near, np.exp(-0.5 * near), np.exp(-0.5 * near * np.exp(-2.0 * p[3]) - 2.0 * p[3])

    def basis(self, p: Floats) -> Floats:
        """Return the one column that the weight multiplies."""
        _, _, _, center, surround = self._parts(p)
        return np.column_stack([center - p[4] * surround])

    def slope(self, p: Floats, weights: Floats) -> Floats:
        """Return the derivatives of the weighted shape, (pixels, 5)."""
        dx, dy, near, center, surround = self._parts(p)
        shrink = np.exp(-2.0 * p[3])
        narrowing = center - p[4] * surround * shrink  # times near: the derivative by ln s
        by_ratio = -p[4] * surround * (near * shrink - 2.0)
        towards = narrowing * np.exp(-2.0 * p[2])
        slopes = np.column_stack([towards * dx, towards * dy, near * narrowing, by_ratio, -surround])
        return np.asarray(weights[0] * slopes)

    def starts(self, target: Floats) -> Floats:
        """Return starts in groups of one center: several widths, with and without a surround."""
        peak = int(np.abs(target).argmax())
        centers = [*self.pixels.centers(target), (float(self.pixels.x[peak]), float(self.pixels.y[peak]))]
        sizes = np.log([0.7, 1.2, 2.0, 0.25 * self.pixels.side, 0.5 * self.pixels.side])
        return np.array(
            [[(x, y, size, np.log(2.0), part) for size in sizes for part in (0.1, 0.8)] for x, y in centers]
        )

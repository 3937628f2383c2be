"""Two standard normal variables with correlation rho: orthant probabilities, and rho from a 2 x 2 table.

    Phi2(h, k; rho) = P(Z_1 <= h, Z_2 <= k)
                    = (Phi(h) + Phi(k))/2 - T(h, (k/h - rho)/r) - T(k, (h/k - rho)/r) - d          Owen 1956

with r = sqrt(1 - rho^2), and d = 1/2 where hk < 0, or hk = 0 and h + k < 0, else 0. In the angle t = arcsin(rho) its
slope is the exponential of the integral that Lee & Sompolinsky's eq. 10 is made of, which has no pole at |rho| = 1:

    dPhi2/dt = g(t) = exp{ -(h^2 + k^2 - 2 h k sin t) / (2 cos^2 t) } / 2 pi,
    (ln g)'  = [ h k (1 + sin^2 t) - (h^2 + k^2) sin t ] / cos^3 t.

Near |rho| = 1 these are small differences of large numbers. With s = sin t, r = cos t, e = 1 + |s|, and, for s >= 0,
u = h - k and z = 1, otherwise u = h + k and z = -1, so that 1 - |s| = r^2 / e, all of them are sums:

    (h^2 + k^2 - 2 h k s) / r^2 = u^2 / r^2 + 2 z h k / e,      (ln g)' = h k r / e^2 - s u^2 / r^3,
    (k/h - s) / r = z (r / e - u / (h r)),                      (h/k - s) / r = z r / e + u / (k r).

| letter | meaning | shape |
|---|---|---|
| p, q | P(first = 1), P(second = 1) of a pair | (pairs,) |
| c | P(both = 1) | (pairs,) |
| h, k | Phi^-1(p), Phi^-1(q) | (pairs,) |
| t | arcsin(rho) | (pairs,) |
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from hiddenbits.array_types import Floats

CLOSE = 1e-7  # Halley's steps shrink with the third power: after one of this share of r the next is rounding
NARROW = 1e-14  # a bracket of this width is all that double precision can tell
MOST_STEPS = 100


def orthant_probability(h: Floats, k: Floats, rho: Floats) -> Floats:
    """Return P(Z_1 <= h, Z_2 <= k) of two standard normal variables with correlation rho, |rho| < 1.

    Examples
    --------
    >>> round(float(orthant_probability(np.zeros(1), np.zeros(1), np.array([0.5]))[0]), 12)      # 1/4 + asin(.5)/2 pi
    0.333333333333
    """
    return _orthant(h, k, _Angle(h, k, rho, np.sqrt((1.0 - rho) * (1.0 + rho))))


class _Angle:
    """s, r, e, u and z of an angle, for given thresholds."""

    def __init__(self, h: Floats, k: Floats, s: Floats, r: Floats) -> None:
        self.s, self.r, self.e = s, r, 1.0 + np.abs(s)
        self.z = np.where(s >= 0.0, 1.0, -1.0)
        self.u = h - self.z * k
        self.product = h * k

    @property
    def exponent(self) -> Floats:
        """Return (h^2 + k^2 - 2 h k s) / (2 r^2)."""
        return np.asarray(0.5 * (self.u / self.r) ** 2 + self.z * self.product / self.e)

    @property
    def bend(self) -> Floats:
        """Return (ln g)'."""
        return np.asarray(self.product * self.r / self.e**2 - self.s * self.u**2 / self.r**3)

    def beyond(self, h: Floats, k: Floats) -> tuple[Floats, Floats]:
        """Return (k - s h) / r and (h - s k) / r."""
        return self.z * (h * self.r / self.e - self.u / self.r), self.z * k * self.r / self.e + self.u / self.r


def _orthant(h: Floats, k: Floats, at: _Angle) -> Floats:
    """Return Phi2(h, k; s)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        along_h = np.where(h == 0.0, np.copysign(np.inf, k), at.z * (at.r / at.e - at.u / (h * at.r)))
        along_k = np.where(k == 0.0, np.copysign(np.inf, h), at.z * at.r / at.e + at.u / (k * at.r))
    apart = (at.product < 0.0) | ((at.product == 0.0) & (h + k < 0.0))
    found = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, along_h) - owens_t(k, along_k) - 0.5 * apart
    centred = (h == 0.0) & (k == 0.0)
    return np.where(centred, 0.25 + np.arctan2(at.s, at.r) / (2.0 * np.pi), found)


def angle_of_table(p: Floats, q: Floats, c: Floats) -> Floats:
    """Return t = arcsin(rho) with Phi2(h, k; rho) = c, for margins p, q <= 1/2 and 0 < c < min(p, q).

    Halley's steps in t, F/g / (1 - F/g (ln g)'/2) with F = Phi2 - c, within a bracket that every step narrows; where a
    step would leave it, it is halved instead. With both margins at most 1/2 the cell c is the small one, and it keeps
    its relative accuracy; whoever has other margins turns a column round, and with it the sign of t.

    Examples
    --------
    >>> t = angle_of_table(np.array([0.3]), np.array([0.2]), np.array([0.1]))
    >>> round(float(np.sin(t)[0]), 12)
    0.375537029314
    """
    h, k, t = ndtri(p), ndtri(q), _first_angle(p, q, c)
    low, high = np.full(t.shape, -0.5 * np.pi), np.full(t.shape, 0.5 * np.pi)
    active = np.arange(t.size)
    for _ in range(MOST_STEPS):
        here, x, y = t[active], h[active], k[active]
        angle = _Angle(x, y, np.sin(here), np.cos(here))
        error = _orthant(x, y, angle) - c[active]
        low[active] = np.where(error <= 0.0, here, low[active])
        high[active] = np.where(error >= 0.0, here, high[active])
        below, above = low[active], high[active]
        with np.errstate(invalid="ignore", over="ignore"):
            newton = error * (2.0 * np.pi) * np.exp(angle.exponent)
            step = newton / np.clip(1.0 - 0.5 * newton * angle.bend, 0.4, 4.0)
            there = here - step
        inside = (there >= below) & (there <= above)  # False also where it is not a number
        t[active] = np.where(inside, there, 0.5 * (below + above))
        active = active[~((inside & (np.abs(step) < CLOSE * angle.r)) | (above - below < NARROW))]
        if active.size == 0:
            break
    return t


def _first_angle(p: Floats, q: Floats, c: Floats) -> Floats:
    """Return Bonett & Price's (2005) guess from the odds ratio w: rho = cos(pi / (1 + w^e)); within .05 or so."""
    odds = c * (1.0 - p - q + c) / ((p - c) * (q - c))
    exponent = 0.5 * (1.0 - np.abs(p - q) / 5.0 - (0.5 - np.minimum(p, q)) ** 2)
    return np.asarray(np.pi * (0.5 - 1.0 / (1.0 + odds**exponent)))


def unit_variance(p: Floats, q: Floats, c: Floats, t: Floats) -> Floats:
    """Return n Var(rho) of the estimate from a 2 x 2 table of n rows: its standard error is sqrt(this / n).

    The margins are estimated too, so that d rho = (dc - a dp - b dq) / phi2, where a = dPhi2/dp = P(Z_2 <= k | Z_1 = h)
    and b its twin: the variance of x y - a x - b y over a row, over phi2^2. It is the inverse of Fisher's information.
    """
    h, k = ndtri(p), ndtri(q)
    at = _Angle(h, k, np.sin(t), np.cos(t))
    density = np.exp(-at.exponent) / (2.0 * np.pi * at.r)
    a, b = (ndtr(limit) for limit in at.beyond(h, k))
    mean = c - a * p - b * q
    square = c * (1.0 - a - b) ** 2 + (p - c) * a * a + (q - c) * b * b
    return np.asarray(np.maximum(square - mean * mean, 0.0) / density**2)

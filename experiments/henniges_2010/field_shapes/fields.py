"""The shapes of learned fields: Gabor functions, circular blobs, and which fields are globular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from .separable import Fit, Floats, Shape, best_fit
from .shapes import Blob, Gabor, Pixels


@dataclass(frozen=True, eq=False)
class GaborFits:
    """What `fit_gabors` returns: the best Gabor function of each field, as arrays with a number for each.

        amplitude * exp(-u^2 / (2 along^2) - v^2 / (2 across^2)) * cos(2 pi frequency u + phase)

    u and v are the distances from the center along the wave and across it: with dx = x - column and dy = y - row,
    u = dx cos(orientation) + dy sin(orientation) and v = dy cos(orientation) - dx sin(orientation). A field that does
    not vary has NaN everywhere.

    Attributes
    ----------
    shape : (int, int)
        Height and width of a field.
    column, row : ndarray of shape (fields,)
        The center; the middle of the first pixel is (0, 0).
    along, across : ndarray of shape (fields,)
        Standard deviations of the envelope, in pixels: along the wave (Ringach's sigma_x) and across it (sigma_y).
    orientation : ndarray of shape (fields,)
        Direction of the wave, from 0 to pi: 0 runs from left to right (stripes stand upright), pi / 2 downwards.
    frequency : ndarray of shape (fields,)
        Cycles a pixel, at most 1/2. At its lower bound, an eighth of a wave in a patch, there is no wave to be seen: a
        blob (phase near 0 or pi) or a plain slope (near pi / 2 or -pi / 2).
    phase : ndarray of shape (fields,)
        From -pi to pi, at the center: 0 is even and bright in the middle, pi / 2 or -pi / 2 is odd.
    amplitude : ndarray of shape (fields,)
        Height of the envelope, not negative. Slow odd waves need a large one.
    r2 : ndarray of shape (fields,)
        Share of the field's variance that the function explains.

    Examples
    --------
    >>> import numpy as np
    >>> from field_shapes import fit_gabors
    >>> x = np.arange(12) - 5.5
    >>> stripes = np.exp(-(x[:, None] ** 2 + x**2) / 18) * np.cos(2 * np.pi * 0.15 * x)   # envelope of width 3
    >>> found = fit_gabors(stripes.reshape(1, -1), (12, 12))
    >>> found.n_x.round(2), found.n_y.round(2)
    (array([0.45]), array([0.45]))
    """

    shape: tuple[int, int]
    column: Floats
    row: Floats
    along: Floats
    across: Floats
    orientation: Floats
    frequency: Floats
    phase: Floats
    amplitude: Floats
    r2: Floats

    @property
    def n_x(self) -> Floats:
        """Waves in the envelope's width along the wave, along * frequency (Ringach 2002): more is more stripes."""
        return self.along * self.frequency

    @property
    def n_y(self) -> Floats:
        """The same across the wave, across * frequency: more is longer stripes."""
        return self.across * self.frequency

    def images(self) -> Floats:
        """Return the fitted functions, (fields, height * width)."""
        gabor, drawn = Gabor(Pixels(*self.shape)), np.full((len(self), self.shape[0] * self.shape[1]), np.nan)
        for number in np.flatnonzero(np.isfinite(self.r2)):
            p = np.array(
                [
                    self.column[number],
                    self.row[number],
                    np.log(self.along[number]),
                    np.log(self.across[number]),
                    self.orientation[number],
                    self.frequency[number],
                ]
            )
            size, phase = self.amplitude[number], self.phase[number]
            weights = size * np.array([np.cos(phase), -2.0 * np.pi * p[5] * np.sin(phase)])
            drawn[number] = gabor.basis(p) @ weights
        return drawn

    def __len__(self) -> int:
        return len(self.r2)


@dataclass(frozen=True, eq=False)
class BlobFits:
    """What `fit_blobs` returns: the best circular shape of each field, as arrays with a number for each.

        amplitude * (exp(-r^2 / (2 width^2)) - balance / ratio^2 * exp(-r^2 / (2 (ratio width)^2)))

    A Gaussian center less a wider Gaussian surround, r the distance from (column, row). A field that does not vary has
    NaN everywhere.

    Attributes
    ----------
    shape : (int, int)
        Height and width of a field.
    column, row : ndarray of shape (fields,)
        The center; the middle of the first pixel is (0, 0).
    width : ndarray of shape (fields,)
        Standard deviation of the center, in pixels.
    ratio : ndarray of shape (fields,)
        How many times wider the surround is.
    balance : ndarray of shape (fields,)
        Volume of the surround over that of the center, from 0 (no surround) to 1 (they cancel each other).
    amplitude : ndarray of shape (fields,)
        Height of the center, negative for dark ones.
    r2 : ndarray of shape (fields,)
        Share of the field's variance that the shape explains.

    Examples
    --------
    >>> import numpy as np
    >>> from field_shapes import fit_blobs
    >>> x = np.arange(12) - 5.0
    >>> blob = -3.0 * np.exp(-(x[:, None] ** 2 + x**2) / 8)
    >>> found = fit_blobs(blob.reshape(1, -1), (12, 12))
    >>> found.width.round(2), found.amplitude.round(2), found.r2.round(3)
    (array([2.]), array([-3.]), array([1.]))
    """

    shape: tuple[int, int]
    column: Floats
    row: Floats
    width: Floats
    ratio: Floats
    balance: Floats
    amplitude: Floats
    r2: Floats

    def __len__(self) -> int:
        return len(self.r2)


def fit_gabors(fields: ArrayLike, shape: tuple[int, int]) -> GaborFits:
    """Fit a Gabor function, a wave under a Gaussian, to each field by least squares.

    The starting points are peaks of the field's spectrum and slow waves in four directions, each with two centers and
    six envelopes. The best three are refined, and the best result is kept. Centers lie within the patch.

    Parameters
    ----------
    fields : array of shape (fields, height * width)
        Such as the `components_` of a model of image patches.
    shape : (int, int)
        Height and width of a field.

    Returns
    -------
    found : GaborFits
        Centers, widths, orientations, frequencies, phases, amplitudes and `r2`.

    Examples
    --------
    >>> import numpy as np
    >>> from field_shapes import fit_gabors
    >>> y, x = np.mgrid[:16, :16] - 7.0
    >>> u, v = (x + y) / np.sqrt(2), (y - x) / np.sqrt(2)                       # a wave towards the lower right
    >>> field = np.exp(-u**2 / 8 - v**2 / 18) * np.cos(2 * np.pi * 0.12 * u + 1.0)
    >>> found = fit_gabors(field.reshape(1, -1), (16, 16))
    >>> found.orientation.round(3), found.frequency.round(3), found.phase.round(3)
    (array([0.785]), array([0.12]), array([1.]))
    >>> found.along.round(3), found.across.round(3), found.r2.round(3)
    (array([2.]), array([3.]), array([1.]))
    """
    rows, pixels = np.asarray(fields, np.float64), Pixels(*shape)
    fits, r2 = _fitted(Gabor(pixels), rows)
    column, row, along, across, angle, frequency = np.array([fit.params for fit in fits]).reshape(-1, 6).T
    even, odd = np.array([fit.weights for fit in fits]).reshape(-1, 2).T
    odd = -odd / (2.0 * np.pi * frequency)
    amplitude, phase = np.hypot(even, odd), np.arctan2(odd, even)
    angle = np.mod(angle, 2.0 * np.pi)
    back = angle >= np.pi  # the same wave, seen from its other end
    return GaborFits(
        shape=(pixels.height, pixels.width),
        column=column,
        row=row,
        along=np.exp(along),
        across=np.exp(across),
        orientation=np.where(back, angle - np.pi, angle),
        frequency=frequency,
        phase=np.where(back, -phase, phase),
        amplitude=amplitude,
        r2=r2,
    )


def fit_blobs(fields: ArrayLike, shape: tuple[int, int]) -> BlobFits:
    """Fit a circular blob, a Gaussian with or without a surround, to each field by least squares.

    Parameters
    ----------
    fields : array of shape (fields, height * width)
        Such as the `components_` of a model of image patches.
    shape : (int, int)
        Height and width of a field.

    Returns
    -------
    found : BlobFits
        Centers, widths, surrounds, amplitudes and `r2`.

    Examples
    --------
    >>> import numpy as np
    >>> from field_shapes import fit_blobs
    >>> y, x = np.mgrid[:14, :14]
    >>> r2 = (x - 4.0) ** 2 + (y - 8.0) ** 2
    >>> field = np.exp(-r2 / 4.5) - np.exp(-r2 / 18) / 4                        # a surround twice as wide, balanced
    >>> found = fit_blobs(field.reshape(1, -1), (14, 14))
    >>> [float(value[0].round(3)) for value in (found.column, found.row, found.width, found.ratio, found.balance)]
    [4.0, 8.0, 1.5, 2.0, 1.0]
    """
    rows, pixels = np.asarray(fields, np.float64), Pixels(*shape)
    fits, r2 = _fitted(Blob(pixels), rows)
    column, row, width, ratio, balance = np.array([fit.params for fit in fits]).reshape(-1, 5).T
    amplitude = np.array([fit.weights[0] for fit in fits])
    return BlobFits((pixels.height, pixels.width), column, row, np.exp(width), np.exp(ratio), balance, amplitude, r2)


def globular(gabors: GaborFits, blobs: BlobFits, *, share: float = 0.85, r2: float = 0.8) -> NDArray[np.bool_]:
    """Return which fields are globular: well fitted, and nearly as well by a circular as by an oriented shape.

    A field is globular if the better of its two fits explains at least `r2` of its variance, and its blob at least
    `share` of what the better fit explains: its orientation hardly matters. A Gaussian is globular up to 2.2 times as
    long as wide; an edge, a bar or stripes are not. To rank fields, sort by ``blobs.r2 / gabors.r2``.

    Ringach (2002) describes fields by `n_x` and `n_y`; blobs lie near the origin of that plane. But small values alone
    are not enough: edges (odd waves) and bars lie there as well, because slow waves fit them best, and a center with a
    round surround lies far from it. This definition, which is ours, tests directly for the lack of orientation.

    Parameters
    ----------
    gabors : GaborFits
        From `fit_gabors`.
    blobs : BlobFits
        From `fit_blobs`, of the same fields.
    share : float, default=0.85
        What the blob must explain, as a share of what the better fit does.
    r2 : float, default=0.8
        What the better fit must explain of the field. Fields below it are neither globular nor Gabor-like.

    Returns
    -------
    globular : ndarray of bool, of shape (fields,)

    References
    ----------
    D. L. Ringach (2002), Spatial structure and symmetry of simple-cell receptive fields in macaque primary visual
    cortex, J. Neurophysiology 88, 455-463.

    Examples
    --------
    >>> import numpy as np
    >>> from field_shapes import fit_blobs, fit_gabors, globular
    >>> x = np.arange(12) - 5.5
    >>> blob = np.exp(-(x[:, None] ** 2 + x**2) / 8)
    >>> fields = np.stack([blob, blob * np.cos(1.2 * x), blob * x]).reshape(3, -1)       # a blob, stripes, an edge
    >>> globular(fit_gabors(fields, (12, 12)), fit_blobs(fields, (12, 12)))
    array([ True, False, False])
    """
    best = np.fmax(gabors.r2, blobs.r2)
    return np.asarray((best >= r2) & (blobs.r2 >= share * best))  # false where both are NaN


def _fitted(shape: Shape, rows: Floats) -> tuple[list[Fit], Floats]:
    """Return the best fit of each row, and the share of its variance that it explains."""
    with threadpool_limits(1, "blas"):  # the matrices are small: more threads only wait for each other
        fits = [_one(shape, row) for row in rows]
    spread = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    left = np.array([fit.left for fit in fits])
    return fits, 1.0 - np.divide(left, spread, out=np.full(len(rows), np.nan), where=np.isfinite(left))


def _one(shape: Shape, row: Floats) -> Fit:
    """Return the best fit of one row; one of NaN where the row does not vary, but for rounding."""
    largest = float(np.abs(row).max())
    if np.ptp(row) <= 1e-12 * largest:
        return Fit(np.full(len(shape.scale), np.nan), np.full(2, np.nan), np.nan)
    fit = best_fit(shape, row / largest)  # of one scale, so that one tolerance serves all
    return Fit(fit.params, fit.weights * largest, fit.left * largest**2)

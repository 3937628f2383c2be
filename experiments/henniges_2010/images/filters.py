"""Filters of whole images: clamp the brightest pixels, centre minus surround."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils._param_validation import Interval, StrOptions

from .checks import Image, ImageTransformer, checked_images

Mode = Literal["reflect", "mirror", "nearest", "wrap"]


class ImageFilter(ImageTransformer, ABC):
    """Maps each image to another of the same size."""

    def transform(self, X: object) -> Any:
        """Filter each image.

        Parameters
        ----------
        X : list of 2-D arrays, or 3-D array
            Grey images, of any sizes.

        Returns
        -------
        images : list of 2-D arrays, or 3-D array
            As X; float32 where the image is, otherwise float64.
        """
        self._validate_params()
        filtered = [self._filtered(image) for image in checked_images(X)]
        return np.stack(filtered) if isinstance(X, np.ndarray) and X.ndim == 3 else filtered

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing, since images are not tables; it lets `set_output` of a pipeline reach the later steps.

        Parameters
        ----------
        transform : str, optional
            Not used.

        Returns
        -------
        self : transformer
        """
        return self

    @abstractmethod
    def _filtered(self, image: Image) -> Image:
        """Return the filtered image, in new memory."""


class BrightnessClamp(ImageFilter):
    """Clamp the brightest pixels of each image to the largest value of the others.

    This removes reflections of light, whose few pixels would otherwise dominate the contrast of the image.

    Parameters
    ----------
    share : float, default=0.02
        Share of the pixels to clamp in each image. Their number is rounded to the nearest integer; at least one pixel
        is not clamped.

    References
    ----------
    Henniges et al. (2010), Binary sparse coding, section 3, note 1: the brightest 2%.

    Examples
    --------
    >>> import numpy as np
    >>> from images import BrightnessClamp
    >>> image = np.array([[1, 2, 3, 4, 90], [5, 6, 7, 8, 200]])
    >>> BrightnessClamp(share=0.2).fit_transform([image])[0]
    array([[1., 2., 3., 4., 8.],
           [5., 6., 7., 8., 8.]])
    """

    _parameter_constraints: dict[str, list[object]] = {"share": [Interval(Real, 0, 1, closed="left")]}  # noqa: RUF012

    def __init__(self, share: float = 0.02) -> None:
        self.share = share

    def _filtered(self, image: Image) -> Image:
        place = max(0, image.size - 1 - round(self.share * image.size))  # of the largest of the others, when sorted
        clamped: Image = np.minimum(image, np.partition(image, place, axis=None)[place])
        return clamped


class DifferenceOfGaussians(ImageFilter):
    """Subtract a wide Gaussian blur of the image from a narrow one: centre minus surround.

    The weights of each blur sum to 1, so a uniform image becomes 0 everywhere. What remains is contrast at intermediate
    scales.

    Parameters
    ----------
    sigma : float, default=1.0
        Standard deviation of the centre, in pixels.
    ratio : float, default=3.0
        How many times wider the surround is.
    mode : {"reflect", "mirror", "nearest", "wrap"}, default="reflect"
        What lies beyond the edges, by scipy's names: the image mirrored at the edge, or at the middle of the last
        pixel; the last pixel again and again; the opposite side.

    Notes
    -----
    The weights are those of ``scipy.ndimage.gaussian_filter``: exp(-d^2 / 2 sigma^2) at whole pixels d up to 4 standard
    deviations, divided by their sum. Within 4 * ratio * sigma pixels of an edge a result depends on `mode`.

    Examples
    --------
    >>> import numpy as np
    >>> from images import DifferenceOfGaussians
    >>> even, edge = np.full((30, 40), 7.0), np.repeat([[0.0, 1.0]], 30, axis=0).repeat(20, axis=1)
    >>> even, edge = DifferenceOfGaussians().fit_transform([even, edge])
    >>> bool(np.abs(even).max() < 1e-12)
    True
    >>> edge[15, 17:23].round(2)                         # darker before the edge, brighter after it
    array([-0.2 , -0.25, -0.13,  0.13,  0.25,  0.2 ])
    """

    _parameter_constraints: dict[str, list[object]] = {  # noqa: RUF012
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "ratio": [Interval(Real, 1, None, closed="neither")],
        "mode": [StrOptions(set(get_args(Mode)))],
    }

    def __init__(self, sigma: float = 1.0, ratio: float = 3.0, *, mode: Mode = "reflect") -> None:
        self.sigma = sigma
        self.ratio = ratio
        self.mode = mode

    def _filtered(self, image: Image) -> Image:
        centre = np.asarray(gaussian_filter(image, self.sigma, mode=self.mode))
        return np.asarray(centre - gaussian_filter(image, self.ratio * self.sigma, mode=self.mode))

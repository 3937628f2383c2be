"""Patches drawn at random from images of any sizes: the rows of a table."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import AnyArray, Randomness

from .checks import ImageTransformer, checked_images


class PatchSampler(ImageTransformer):
    """Draw patches from images, uniformly over all positions of all images.

    Every position where a patch lies entirely within an image is equally likely, so larger images give more patches.
    Draws are independent: a position may be drawn twice. scikit-learn's ``PatchExtractor`` needs images of equal size,
    and draws the same number from each.

    Parameters
    ----------
    n_patches : int, default=10000
        Number of patches to draw.
    patch_size : int or (int, int), default=12
        Height and width of a patch, or the side of a square one.
    random_state : int, RandomState or None, default=None
        With an integer, every call draws the same places from images of the same sizes.
    dtype : {"float64", "float32"} or numpy type, default="float64"
        Of the patches.

    Notes
    -----
    Images smaller than a patch give none. In a pipeline the number of rows changes here: later steps see patches, not
    images, and `transform` of the pipeline draws patches from the images it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from images import BrightnessClamp, DifferenceOfGaussians, PatchSampler
    >>> rng = np.random.default_rng(0)
    >>> images = [rng.random((40, 60)), rng.random((80, 50))]
    >>> steps = make_pipeline(BrightnessClamp(), DifferenceOfGaussians(), PatchSampler(500, (8, 10), random_state=0))
    >>> steps.fit_transform(images).shape
    (500, 80)
    """

    _parameter_constraints: dict[str, object] = {  # noqa: RUF012
        "n_patches": [Interval(Integral, 1, None, closed="left")],
        "patch_size": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "random_state": ["random_state"],
        "dtype": "no_validation",
    }

    def __init__(
        self,
        n_patches: int = 10_000,
        patch_size: int | tuple[int, int] = 12,
        *,
        random_state: Randomness = None,
        dtype: Any = "float64",
    ) -> None:
        self.n_patches = n_patches
        self.patch_size = patch_size
        self.random_state = random_state
        self.dtype = dtype

    def transform(self, X: object) -> AnyArray:
        """Draw patches.

        Parameters
        ----------
        X : list of 2-D arrays, or 3-D array
            Grey images, of any sizes.

        Returns
        -------
        patches : ndarray of shape (n_patches, height * width)
            The pixels of a patch, row by row; patches in the order in which they were drawn.
        """
        self._validate_params()
        (height, width), dtype, images = self._sides(), self._float_type(), checked_images(X)
        places = [max(0, a - height + 1) * max(0, b - width + 1) for a, b in (image.shape for image in images)]
        ends = np.cumsum(places, dtype=np.int64)
        if not ends[-1]:
            largest = max(images, key=lambda image: image.size).shape
            raise ValueError(
                f"A patch of {height} x {width} pixels does not fit into any of the {len(images)} images; the largest "
                f"has {largest[0]} x {largest[1]}. Choose a smaller patch_size."
            )
        drawn = check_random_state(self.random_state).randint(ends[-1], size=self.n_patches, dtype=np.int64)
        source = np.searchsorted(ends, drawn, side="right")
        patches = np.empty((self.n_patches, height, width), dtype)
        for number in np.unique(source):
            mine, windows = source == number, sliding_window_view(images[number], (height, width))
            row, column = np.divmod(drawn[mine] - (ends[number] - places[number]), windows.shape[1])
            patches[mine] = windows[row, column]
        return patches.reshape(self.n_patches, height * width)

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:
        """Return a name for each pixel of a patch: ``pixel_row_column``, counted from 0.

        Parameters
        ----------
        input_features : None
            Not used: images have no columns with names.

        Returns
        -------
        names : ndarray of str, of shape (height * width,)
        """
        height, width = self._sides()
        return np.array([f"pixel_{row}_{column}" for row in range(height) for column in range(width)], dtype=object)

    def _sides(self) -> tuple[int, int]:
        size = np.asarray(self.patch_size)
        if size.dtype.kind not in "iu" or size.shape not in ((), (2,)) or (size < 1).any():
            raise ValueError(
                f"patch_size={self.patch_size!r}: give height and width of a patch, or the side of a square one."
            )
        height, width = np.broadcast_to(size, 2).tolist()
        return height, width

    def _float_type(self) -> np.dtype[Any]:
        try:
            dtype: np.dtype[Any] = np.dtype(self.dtype)
        except TypeError:  # not a type at all
            dtype = np.dtype(object)
        if dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype={self.dtype!r}: patches are float64 or float32.")
        return dtype

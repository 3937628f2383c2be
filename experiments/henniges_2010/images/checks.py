"""Checks of images (a list of 2-D arrays of any sizes, or a 3-D array), and the base of image transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from hiddenbits.array_types import AnyArray

Image = AnyArray  # float64 or float32, 2-D


def checked_images(X: Any) -> list[Image]:
    """Return the images as 2-D arrays of floats; raise if one is invalid.

    float32 stays, all other numbers become float64; an image that is such an array already is not copied.
    """
    if isinstance(X, np.ndarray) and X.dtype != object:
        if X.ndim == 2:
            raise ValueError(f"X is one image of {X.shape[0]} x {X.shape[1]} pixels. Pass it in a list: [image].")
        if X.ndim != 3:
            raise ValueError(f"Images are a list of 2-D arrays, or a 3-D array of grey images; got shape {X.shape}.")
        if X.shape[2] in (3, 4):
            raise ValueError(
                f"X has shape {X.shape}, which looks like one colour image. Convert it to grey, for example "
                "[X.mean(axis=2)]. If these are narrow grey images, pass list(X)."
            )
    elif not isinstance(X, (Sequence, np.ndarray)) or isinstance(X, (str, bytes)):
        raise ValueError(f"Images are a list of 2-D arrays, or a 3-D array; got {type(X).__name__}.")
    if not len(X):
        raise ValueError("There are no images: the list is empty.")
    return [_image(one, number) for number, one in enumerate(X)]


def _image(one: Any, number: int) -> Image:
    image = np.asarray(one)
    if image.dtype.kind not in "biuf":
        raise ValueError(f"Image {number} has dtype {image.dtype}: give numbers.")
    if image.ndim != 2 or not image.size:
        colours = " If its last axis is colour, convert it to grey: image.mean(axis=2)." if image.ndim == 3 else ""
        raise ValueError(
            f"Image {number} has shape {image.shape}, but an image must be a 2-D array of pixels.{colours}"
        )
    if np.ma.is_masked(one):
        raise ValueError(f"Image {number} has masked pixels. Fill them first, or cut them off.")
    image = image if image.dtype == np.float32 else image.astype(np.float64, copy=False)
    wrong = ~np.isfinite(image)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"Image {number} has {int(wrong.sum())} pixels that are NaN or infinite, the first in row {row}, "
            f"column {column}. Fill them first, or cut them off."
        )
    return image


class ImageTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of images that learns nothing: `fit` only checks."""

    def fit(self, X: object, y: object = None) -> Self:
        """Check the images and the settings; there is nothing to learn.

        Parameters
        ----------
        X : list of 2-D arrays, or 3-D array
            Grey images, of any sizes.
        y : None
            Not used.

        Returns
        -------
        self : transformer
        """
        self._validate_params()
        checked_images(X)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.no_validation = True
        return tags

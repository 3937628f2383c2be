"""Rows of images: loadings of each dimension, and sequences such as morphs from one row to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import SMALL, as_plain, axes_or_new, shortened, trim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.1  # between images, relative to the width of an image


def strips(frames: Any, shape: tuple[int, int], *, ax: Axes | None = None) -> Axes:
    """Draw sequences of images, one below the other, such as morphs, cross-fades, or rows whose columns are pixels.

    Parameters
    ----------
    frames : array of shape (images, pixels), or dict
        One sequence, or a dict of named sequences; 0 is white and 1 black.
    shape : (int, int)
        Height and width of an image.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hiddenbits import ClippedPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)                 # 16 pixels: images of 4 x 4
    >>> morph = ClippedPCA(2).fit(rows).morph(rows[0], rows[-1], steps=5)
    >>> fade = np.linspace(rows[0], rows[-1], 5)
    >>> ax = plots.strips({"morph": morph, "cross-fade": fade}, (4, 4))
    >>> len(ax.images)
    10
    """
    sequences = (
        {str(name): _pixels(images, shape) for name, images in frames.items()} if isinstance(frames, Mapping) else None
    )
    rows = [_pixels(frames, shape)] if sequences is None else list(sequences.values())
    if not rows:
        raise ValueError("There is nothing to draw: the dict is empty.")
    height = shape[0] / shape[1]
    across = max(len(row) for row in rows)
    own, ax = ax is None, axes_or_new(ax, (0.9 * across, 0.9 * height * len(rows) + 0.2))
    for number, row in enumerate(rows):
        bottom = -number * (height + GAP)
        for column, image in enumerate(row):
            _draw(ax, image, column * (1.0 + GAP), bottom, height, (0.0, 1.0), "gray_r")
        if sequences is not None:
            text = ax.text(-GAP, bottom + height / 2, shortened(list(sequences)[number]), ha="right", va="center")
            as_plain(text).set_fontsize(9)
    return _set_limits(ax, across, len(rows), height, GAP, own=own)


def components(
    model: BaseEstimator,
    shape: tuple[int, int],
    *,
    scale: Literal["shared", "own"] = "shared",
    across: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the components of a model as images, numbered from 1: red is positive, blue negative, white 0.

    A dimension makes red pixels more likely to be 1, and blue pixels less likely.

    Parameters
    ----------
    model : fitted model, or array of shape (images, pixels)
        A model with `components_` whose columns are the pixels of an image, row by row; or an array of such rows.
    shape : (int, int)
        Height and width of an image.
    scale : {"shared", "own"}, default="shared"
        "shared": one scale for all, so weaker components are paler. "own": each image is scaled by its own largest
        absolute value, so that the shape of a weak one is visible.
    across : int, optional
        Images per row; by default about as many as there are rows.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import ClippedPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)                 # 16 pixels: images of 4 x 4
    >>> model = ClippedPCA(3).fit(rows)
    >>> len(plots.components(model, (4, 4)).images)
    3
    >>> ax = plots.components(model.components_[:2], (4, 4), scale="own")
    """
    if scale not in ("shared", "own"):
        raise ValueError(f"scale={scale!r} is not one of 'shared', 'own'.")
    if hasattr(model, "fit") and not hasattr(model, "components_"):
        rows = "probabilities_" if hasattr(model, "probabilities_") else "weights_"
        raise ValueError(
            f"{type(model).__name__} has no components_. Give the rows to draw, such as model.{rows}. For "
            "probabilities, from white to black, use `strips`."
        )
    images = _pixels(getattr(model, "components_", model), shape)
    across = int(np.ceil(np.sqrt(len(images)))) if across is None else int(across)
    if across < 1:
        raise ValueError(f"across={across}: give at least 1 image per row.")
    largest = np.abs(images).max(axis=(1, 2) if scale == "own" else None, keepdims=True).ravel()
    largest, height = np.broadcast_to(np.where(largest > 0.0, largest, 1.0), len(images)), shape[0] / shape[1]
    down, along = np.divmod(np.arange(len(images)), across)
    own, ax = ax is None, axes_or_new(ax, (1.1 * across, 1.25 * height * (down[-1] + 1)))
    row_gap = 2.0 * GAP
    for number, image in enumerate(images):
        left, bottom = along[number] * (1.0 + GAP), -down[number] * (height + row_gap)
        _draw(ax, image, left, bottom, height, (-largest[number], largest[number]), "RdBu_r")
        ax.text(left, bottom + height + 0.01, f"{number + 1}", ha="left", va="bottom", fontsize=SMALL)
    return _set_limits(ax, min(across, len(images)), int(down[-1]) + 1, height, row_gap, own=own)


def _pixels(values: Any, shape: tuple[int, int]) -> Floats:
    """Return rows of pixels as images, (images, height, width)."""
    rows, (height, width) = np.asarray(values, np.float64), (int(side) for side in shape)
    if rows.ndim != 2 or not len(rows) or rows.shape[1] != height * width:
        raise ValueError(
            f"shape={shape!r} has {height * width} pixels per image, but the images have shape {rows.shape}."
        )
    return rows.reshape(-1, height, width)


def _draw(
    ax: Axes, image: Floats, left: float, bottom: float, height: float, limits: tuple[float, float], colors: str
) -> None:
    extent = (left, left + 1.0, bottom, bottom + height)
    low, high = limits
    ax.imshow(image, cmap=colors, vmin=low, vmax=high, extent=extent, interpolation="nearest", aspect="auto")


def _set_limits(ax: Axes, across: int, down: int, height: float, row_gap: float, *, own: bool) -> Axes:
    """Set the limits around the images, and hide the axes."""
    ax.set_xlim(-0.05, across * (1.0 + GAP) - GAP + 0.05)
    ax.set_ylim(-(down - 1) * (height + row_gap) - 0.05, height + row_gap)
    ax.set_aspect("equal", adjustable="box")
    ax.set_axis_off()
    if own:
        trim(ax)
    return ax

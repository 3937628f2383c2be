"""Images of P(1 | x) at positions x of the latent space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import axes_or_new, trim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def images(
    model: BaseEstimator, shape: tuple[int, int], *, grid: Any = 5, span: float = 2.0, ax: Axes | None = None
) -> Axes:
    """Draw P(1 | x) as gray images, on a grid in the latent space or at given positions; black is 1.

    Parameters
    ----------
    model : fitted LogisticPCA or ClippedPCA
        A model whose columns are the pixels of an image, row by row.
    shape : (int, int)
        Height and width of an image; their product is the number of columns.
    grid : int or array of shape (positions, n_components), default=5
        Number of images along each axis, each drawn at its latent position (for a model of two dimensions); or the
        latent positions of single images, drawn line by line and numbered from 1.
    span : float, default=2.0
        The grid reaches from -span to span, in standard deviations of the prior.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import LogisticPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)             # 16 bits: images of 4 x 4
    >>> model = LogisticPCA(2, random_state=0).fit(rows)
    >>> ax = plots.images(model, (4, 4), grid=3)
    >>> len(ax.images)
    9
    """
    height, width = (int(side) for side in shape)
    d, q = len(model.intercepts_), len(model.components_)
    if height * width != d:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, but the model has {d} columns.")
    lattice, own = np.ndim(grid) == 0, ax is None
    if lattice and (q != 2 or int(grid) < 1):
        raise ValueError(
            f"grid={grid!r} needs a positive number and a model of two dimensions; this model has {q}. "
            "Otherwise give positions, as an array of shape (positions, n_components)."
        )
    if lattice:
        positions, corners, side = _lattice(int(grid), span, height / width)
        ax = axes_or_new(ax, (5.0, 5.0))
    else:
        positions = np.atleast_2d(np.asarray(grid, np.float64))
        if positions.ndim != 2 or positions.shape[1] != q or not len(positions):
            raise ValueError(f"Positions must have shape (positions, {q}) for this model, got {positions.shape}.")
        side = np.array([1.0, height / width])
        across = len(positions) if len(positions) <= 3 else int(np.ceil(np.sqrt(len(positions))))
        down, along = np.divmod(np.arange(len(positions)), across)
        corners = np.column_stack([1.1 * along, -(1.1 * side[1] + 0.15) * down])
        ax = axes_or_new(ax, (1.7 * across, 1.8 * (down[-1] + 1) * height / width))
    p = model.inverse_transform(positions).reshape(-1, height, width)
    for number, (image, (left, bottom)) in enumerate(zip(p, corners, strict=True), start=1):
        extent = (left, left + side[0], bottom, bottom + side[1])
        ax.imshow(image, cmap="gray_r", vmin=0.0, vmax=1.0, extent=extent, interpolation="nearest", aspect="auto")
        if not lattice:
            ax.text(left + side[0] / 2, bottom + side[1] + 0.02, f"{number}", ha="center", va="bottom", fontsize=9)
    low, high = corners.min(axis=0), corners.max(axis=0) + side
    margin = 0.02 * (high - low).max()
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + (margin if lattice else 0.15))
    ax.set_aspect("equal", adjustable="box")
    if lattice:
        ax.set_xlabel("dimension 1")
        ax.set_ylabel("dimension 2")
    else:
        ax.set_axis_off()
    if own:
        trim(ax)
    return ax


def _lattice(number: int, span: float, aspect: float) -> tuple[Floats, Floats, Floats]:
    """Return the positions of a regular lattice, the lower left corners of their images, and the size of an image.

    Images are as large as possible without touching their neighbors, and centered at their positions.
    """
    steps = np.linspace(-span, span, number) if number > 1 else np.zeros(1)
    positions = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    largest = 0.94 * (steps[1] - steps[0] if number > 1 else 2.0 * span)
    side = largest * np.array([1.0, aspect]) / max(1.0, aspect)
    return positions, positions - side / 2.0, side

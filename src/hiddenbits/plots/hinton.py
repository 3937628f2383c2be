"""Hinton diagrams: weights as squares, white if positive, black if negative, with area proportional to magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import SMALL, as_plain, axes_or_new, note, shortened, trim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BACKGROUND = "#a0a0a0"  # a gray on which both black and white are visible
LARGEST_SIDE = 0.92  # of a square, in cells: neighbors do not touch
GAP = 1.0  # cells between panels
HEAD_HEIGHT = 1.7  # cells above a panel, for its threshold and its number


class HintonData(NamedTuple):
    """Weights of the units, one row each, their names, their thresholds, and the names of the columns."""

    weights: Floats
    units: list[str]
    thresholds: Floats | None
    columns: Sequence[object] | None


def hinton(
    model: BaseEstimator,
    shape: tuple[int, int] | None = None,
    *,
    units: Sequence[int] | None = None,
    names: Sequence[object] | None = None,
    thresholds: bool = True,
    largest: float | None = None,
    across: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights of hidden units as squares on gray: white is positive, black negative, the area the magnitude.

    Parameters
    ----------
    model : fitted CombinationMachine, or array, or pair of arrays
        A model with weights and thresholds; or weights of shape (units, columns); or weights and thresholds. Biases
        of the columns that are not 0 are drawn after the units.
    shape : (int, int), optional
        Height and width of an image, if the columns are its pixels, row by row: each unit is a panel. Without a
        shape, there is one panel of units by columns.
    units : sequence of int, optional
        Units to draw, counted from 0, in this order; by default all, and the bias.
    names : sequence of shape (columns,), optional
        Names of the columns, for a plot without `shape`; by default the model's.
    thresholds : bool, default=True
        Draw thresholds too, as a square above the panel or as a separate column. They have their own scale, on which
        the largest fills its cell.
    largest : float, optional
        The weight that fills its cell, to use the same scale in several plots; by default the largest weight.
    across : int, optional
        Panels per line; by default about twice the number of lines.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                            # draw without a screen
    >>> from hiddenbits import plots
    >>> from hiddenbits.datasets import true_influences
    >>> ax = plots.hinton(true_influences("A"), (8, 8))
    >>> [text.get_text() for text in ax.texts][:3]
    ['1', '2', '3']
    """
    data = _hinton_data(model, units, names, thresholds=thresholds)
    most = float(np.abs(data.weights).max(initial=0.0)) if largest is None else float(largest)
    if not (np.isfinite(most) and most >= 0.0):
        raise ValueError(f"The largest weight must be finite and not negative, got {most}.")
    own = ax is None
    ax = _one_panel(data, most, ax) if shape is None else _panels(data, most, shape, across, ax)
    beyond = int((np.abs(data.weights) > most).sum())
    note(ax, [f"{beyond} weights beyond {most:g} are clipped"] if beyond else [])
    if own:
        trim(ax)
    return ax


def _hinton_data(
    model: BaseEstimator, units: Sequence[int] | None, names: Sequence[object] | None, *, thresholds: bool
) -> HintonData:
    """Return the weights and names to draw; raise if the arguments are invalid."""
    bias, heights = None, None
    if hasattr(model, "weights_") and hasattr(model, "thresholds_"):
        weights, heights, bias = model.weights_, model.thresholds_, getattr(model, "bias_", None)
        names = getattr(model, "feature_names_in_", None) if names is None else names
    elif isinstance(model, tuple) and len(model) == 2:
        weights, heights = model
    elif isinstance(model, (np.ndarray, list)):
        weights = model
    else:
        raise ValueError(
            f"A Hinton diagram needs a fitted CombinationMachine or an array of weights, not {type(model).__name__}."
        )
    weights = np.array(weights, np.float64)
    if weights.ndim != 2 or not weights.size:
        raise ValueError(f"Weights have shape (units, columns), got {weights.shape}.")
    m, d = weights.shape
    if heights is not None and np.shape(heights) != (m,):
        raise ValueError(f"{m} units need {m} thresholds, got an array of shape {np.shape(heights)}.")
    if names is not None and len(names) != d:
        raise ValueError(f"{len(names)} names were given for {d} columns.")
    chosen = list(range(m)) if units is None else [int(unit) for unit in units]
    if not chosen or not all(0 <= unit < m for unit in chosen):
        raise ValueError(f"units={units!r}: give some of the units 0 to {m - 1}.")
    labels = [str(unit + 1) for unit in chosen]
    drawn_thresholds = None if heights is None or not thresholds else np.asarray(heights, np.float64)[chosen]
    weights = weights[chosen]
    if bias is not None and units is None and np.any(bias):
        weights, labels = np.vstack([weights, bias]), [*labels, "bias"]
    return HintonData(weights, labels, drawn_thresholds, names)


def _squares(ax: Axes, x: Floats, y: Floats, values: Floats, largest: float, cell: float = 1.0) -> None:
    """Draw squares around these centers; that of the value `largest` nearly fills a cell."""
    from matplotlib.collections import PolyCollection

    share = np.minimum(np.abs(values) / largest, 1.0) if largest > 0.0 else np.zeros_like(values)
    visible = share > 0.0
    half = 0.5 * LARGEST_SIDE * cell * np.sqrt(share[visible])
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    xy = np.column_stack([x, y])[visible]
    colors = np.where(values[visible] > 0.0, "white", "black")
    ax.add_collection(
        PolyCollection(xy[:, None, :] + half[:, None, None] * corners, facecolors=colors.tolist(), edgecolors="none"),
        autolim=False,
    )


def _background(ax: Axes, left: float, bottom: float, width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((left, bottom), width, height, facecolor=BACKGROUND, edgecolor="none", zorder=0.5))


def _panels(data: HintonData, most: float, shape: tuple[int, int], across: int | None, ax: Axes | None) -> Axes:
    """Draw each unit as an image."""
    height, width = (int(side) for side in shape)
    m, d = data.weights.shape
    if height * width != d:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, but the weights have {d} columns.")
    across = min(m, int(np.ceil(np.sqrt(2.0 * m)))) if across is None else int(across)
    if across < 1:
        raise ValueError(f"across={across}: give at least 1 panel per line.")
    down, along = np.divmod(np.arange(m), across)
    head = HEAD_HEIGHT * max(1.0, height / 12.0)
    lefts = np.asarray((width + GAP) * along, np.float64)
    tops = np.asarray(-(height + head + GAP) * down, np.float64)
    n_lines, n_panels = int(down[-1]) + 1, min(m, across)
    total_width = (width + GAP) * n_panels
    total_height = (height + head + GAP) * n_lines
    size = min(9.0, 1.0 * n_panels + 0.5)
    ax = axes_or_new(ax, (size, size * total_height / total_width))
    r, c = np.divmod(np.arange(d, dtype=np.float64), width)
    for number, (left, top, weights) in enumerate(zip(lefts, tops, data.weights, strict=True)):
        _background(ax, left, top - height, width, height)
        _squares(ax, left + c + 0.5, top - r - 0.5, weights, most)
        text = ax.text(left, top + 0.25 * head, data.units[number], ha="left", va="bottom", fontsize=SMALL)
        text.set_in_layout(False)
    if data.thresholds is not None:
        n = len(data.thresholds)
        x, y, side = lefts[:n] + width / 2.0, tops[:n] + 0.55 * head, 0.75 * head
        for column, line in zip(x, y, strict=True):
            _background(ax, column - side / 2.0, line - side / 2.0, side, side)
        most = float(np.abs(data.thresholds).max())
        _squares(ax, x, y, data.thresholds, most, 0.85 * side)  # within its background: white is invisible on paper
    ax.set_xlim(-GAP / 2.0, total_width - GAP / 2.0)
    ax.set_ylim(tops.min() - height - GAP / 2.0, head)
    ax.set_aspect("equal", adjustable="box")
    ax.set_axis_off()
    return ax


def _one_panel(data: HintonData, most: float, ax: Axes | None) -> Axes:
    """Draw units by columns."""
    m, d = data.weights.shape
    first = 0.0 if data.thresholds is None else 1.0 + GAP / 2.0  # left of the first column, after the thresholds
    every = 1 if data.columns is not None else max(1, -(-d // 16))
    labels = [str(j + 1) for j in range(d)] if data.columns is None else [shortened(name) for name in data.columns]
    ticks, labels = [first + j + 0.5 for j in range(0, d, every)], labels[::every]
    c, r = np.meshgrid(np.arange(d, dtype=np.float64), np.arange(m, dtype=np.float64))
    if data.thresholds is not None:
        ticks, labels = [0.5, *ticks], ["threshold", *labels]
    label_height = 0.07 * max(len(label) for label in labels) + 0.3  # about, in inches
    ax = axes_or_new(ax, (float(np.clip(0.22 * (d + first) + 0.8, 2.0, 11.0)), 0.22 * m + label_height))
    _background(ax, first, -m, d, m)
    _squares(ax, first + c.ravel() + 0.5, -r.ravel() - 0.5, data.weights.ravel(), most)
    if data.thresholds is not None:
        n = len(data.thresholds)
        _background(ax, 0.0, -n, 1.0, n)
        _squares(ax, np.full(n, 0.5), -r[:n, 0] - 0.5, data.thresholds, float(np.abs(data.thresholds).max()))
    ax.set_xticks(ticks, labels, fontsize=SMALL)
    for text in ax.get_xticklabels():
        as_plain(text).set_rotation(90 if data.columns is not None or text.get_text() == "threshold" else 0)
    if data.columns is None:
        ax.set_xlabel("column")
    ax.set_yticks(-np.arange(m) - 0.5, data.units, fontsize=SMALL)
    ax.set_ylabel("unit")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlim(-0.1, first + d + 0.1)
    ax.set_ylim(-m - 0.1, 0.1)
    ax.set_aspect("equal", adjustable="box")
    return ax

"""Wright map: the latent positions of rows and the difficulties of items on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.item_curves import items_of
from hiddenbits.plots.profiles import row_weights
from hiddenbits.plots.style import COLORS, GRAY, INK, SMALL, as_plain, note, pyplot, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 40
FARTHEST = 6.0  # difficulty that is drawn, in standard deviations of the positions
HORIZONTAL_NAMES = 40  # characters of all names that are written horizontally


def wright_map(model: BaseEstimator, X: object, *, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw how able the rows and how difficult the items of a latent trait model are, on one axis (Wright map).

    Left: a histogram of the latent positions of the rows. Right: the items, the easiest first, each with its
    difficulty. A row at the difficulty of a binary item has P(1) = 1/2 (without guessing). An ordinal item has a
    difficulty for each level but the lowest, with the level's name: there P = 1/2 for that level or higher ones, and
    with partial credit and nominal items that level is as probable as the one below. Rows above all items, or items
    above all rows, show that a test is too easy or too hard.

    Parameters
    ----------
    model : fitted ItemResponseModel, LogisticPCA or ClippedPCA of one dimension
        The model. Columns of numbers are left out.
    X : table of shape (rows, columns)
        Rows; the weights of a `Table` count as numbers of rows.
    axes : pair of matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    rows, items : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hiddenbits import ItemResponseModel, plots
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1)) + rng.logistic(size=(400, 4)) > np.linspace(2, -2, 4)
    >>> rows, items = plots.wright_map(ItemResponseModel().fit(X), X)
    >>> [label.get_text() for label in items.get_xticklabels()]
    ['x3', 'x2', 'x1', 'x0']
    """
    items = sorted(items_of(model, "Wright maps"), key=lambda item: float(np.nan_to_num(item.thresholds.mean())))
    positions = np.asarray(model.transform(X), np.float64)[:, 0]
    own, width = axes is None, min(max(0.3 * len(items), 3.0), 12.0)
    if axes is None:
        shape: dict[str, Any] = {"figsize": (width + 3.0, 5.0), "width_ratios": [2.0, width]}
        axes = pyplot().subplots(1, 2, layout="constrained", **shape)[1]
    left, right = axes
    inside = [item.thresholds[np.abs(item.thresholds) <= FARTHEST] for item in items]
    ends = np.concatenate([positions, *inside])
    low, high = ends.min() - 0.3, ends.max() + 0.3
    bins = np.linspace(low, high, BINS).tolist()
    left.hist(positions, bins=bins, weights=row_weights(X, len(positions)), orientation="horizontal", color=GRAY)
    left.invert_xaxis()
    left.set_xlabel("rows")
    left.set_ylabel("latent position (standard deviations)")
    for number, (item, drawn) in enumerate(zip(items, inside, strict=True)):
        right.plot(np.full(len(drawn), number), drawn, color=COLORS[0], marker="o", ms=5, lw=1.0, zorder=3)
        for level, y in zip(item.levels[1:], item.thresholds, strict=False):
            if abs(y) <= FARTHEST:
                text = right.annotate(shortened(level), (number, y), (5, 0), textcoords="offset points", va="center")
                as_plain(text).set(fontsize=SMALL, color=INK)
    names = [shortened(item.name) for item in items]
    upright = sum(map(len, names)) > HORIZONTAL_NAMES
    right.set_xticks(range(len(items)), names, rotation=90 if upright else 0, fontsize=8)
    for label in right.get_xticklabels():
        as_plain(label)
    right.set_xlim(-0.6, len(items) - 0.2)
    right.set_xlabel("items, the easiest first")
    right.set_ylabel("difficulty")
    right.yaxis.set_label_position("right")
    right.grid(axis="y", color=GRAY, alpha=0.25, lw=0.6)
    right.tick_params(axis="y", labelleft=False, length=0)
    outside = sum(len(item.thresholds) for item in items) - sum(map(len, inside))
    note(right, [f"{outside} difficulties lie outside"] if outside else [])
    for ax, hidden in ((left, ["top", "left"]), (right, ["top", "right", "left"])):
        ax.set_ylim(low, high)
        ax.spines[hidden].set_visible(False)
    if own:
        settle(left)
    return left, right

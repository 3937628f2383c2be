"""Histograms of rows projected on the weights of each hidden unit, which are bimodal for a real unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits import open_table
from hiddenbits.array_types import Floats
from hiddenbits.plots.style import COLORS, GRAY, INK, axes_or_new
from hiddenbits.tables import Piece, Table, map_pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIECE_CELLS = 1 << 22  # cells projected at a time
TALLEST = 0.85  # height of the largest bar, as a share of the height of a histogram


def projections(
    model: BaseEstimator, X: object, *, units: Sequence[int] | None = None, bins: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw, for each hidden unit, a histogram of the rows projected on its weights, and its threshold.

    The projection of a row is w.x / |w|, with binary columns as -1 and +1 and missing values as 0. Beyond the
    threshold, -th / |w|, the unit is more likely on than off: these bars are colored. The histograms are stacked, each
    with its own scale.

    Parameters
    ----------
    model : fitted CombinationMachine, or pair of arrays
        A model with weights and thresholds; or weights of shape (units, columns) and thresholds of shape (units,).
    X : table of shape (rows, columns)
        The rows; the weights of a `Table` count as numbers of rows.
    units : sequence of int, optional
        Units to draw, counted from 0, from the top; by default all.
    bins : int, default=40
        Number of bins of each histogram; all cover the same range.
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
    >>> from hiddenbits.datasets import simulate_influences
    >>> simulated = simulate_influences("A", n_rows=500, random_state=0)
    >>> ax = plots.projections((simulated.weights, simulated.thresholds), simulated.train)
    >>> len(ax.get_yticks())
    10
    """
    weights, thresholds, labels = _units(model, units)
    if bins < 2:
        raise ValueError(f"bins={bins}: a histogram needs at least two.")
    coordinates, counts = _projected(model, X, weights)
    cutoffs = -thresholds / np.linalg.norm(weights, axis=1)
    low, high = float(coordinates.min()), float(coordinates.max())
    width = (high - low) / bins if high > low else 1.0
    m = len(weights)
    ax = axes_or_new(ax, (5.5, float(np.clip(0.55 * m + 0.8, 2.0, 11.0))))
    for number, (cutoff, projection) in enumerate(zip(cutoffs, coordinates.T, strict=True)):
        base = float(m - 1 - number)
        # The threshold is an edge between bars, so that the colored bars are exactly those beyond it.
        first = np.floor((low - cutoff) / width)
        edges = cutoff + width * np.arange(first, np.ceil((high - cutoff) / width) + 1.5)
        heights = np.histogram(projection, edges, weights=counts)[0]
        heights *= TALLEST / heights.max()
        on = edges[:-1] >= cutoff - 1e-9 * width
        for part, color in ((~on, GRAY), (on, COLORS[0])):
            ax.stairs(np.where(part, heights, 0.0) + base, edges, baseline=base, fill=True, color=color, alpha=0.8)
        ax.axhline(base, color=INK, lw=0.6)
        if low - width <= cutoff <= high + width:
            ax.plot([cutoff, cutoff], [base, base + 0.95], color=INK, lw=1.2)
    ax.set_xlim(low - width, high + width)
    ax.set_ylim(-0.05, m)
    ax.set_yticks(np.arange(m)[::-1] + 0.4, labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("unit")
    ax.set_xlabel("projection on the unit's weights")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _units(model: BaseEstimator, units: Sequence[int] | None) -> tuple[Floats, Floats, list[str]]:
    """Return the weights and thresholds of the chosen units, and their numbers, counted from 1."""
    if hasattr(model, "weights_") and hasattr(model, "thresholds_"):
        arrays = model.weights_, model.thresholds_
    elif isinstance(model, tuple) and len(model) == 2:
        arrays = model
    else:
        raise ValueError(
            f"Projections need a fitted CombinationMachine, or weights and thresholds, not {type(model).__name__}."
        )
    weights, thresholds = (np.asarray(array, np.float64) for array in arrays)
    if weights.ndim != 2 or thresholds.shape != weights.shape[:1]:
        raise ValueError(
            "Weights and thresholds have shapes (units, columns) and (units,), "
            f"got {weights.shape} and {thresholds.shape}."
        )
    m = len(weights)
    chosen = list(range(m)) if units is None else [int(unit) for unit in units]
    if not chosen or not all(0 <= unit < m for unit in chosen):
        raise ValueError(f"units={units!r}: give some of the units 0 to {m - 1}.")
    idle = [unit + 1 for unit in chosen if not weights[unit].any()]
    if idle:
        raise ValueError(f"Unit {idle[0]} has only weights of 0, so the projection is not defined.")
    return weights[chosen], thresholds[chosen], [str(unit + 1) for unit in chosen]


def _projected(model: BaseEstimator, X: object, weights: Floats) -> tuple[Floats, Floats]:
    """Return the projection of each row on the weights of each unit, and the weight of each row."""
    coded = model if hasattr(model, "coding_") else None
    table = X if isinstance(X, Table) else open_table(X, threshold=getattr(model, "threshold", None), recode=coded)
    if table.shape[1] != weights.shape[1]:
        raise ValueError(f"X has {table.shape[1]} columns, but the weights have {weights.shape[1]}.")
    directions = (weights / np.linalg.norm(weights, axis=1, keepdims=True)).T

    def project(piece: Piece) -> tuple[Floats, Floats]:
        return np.nan_to_num(2.0 * piece.table.to_float() - 1.0) @ directions, piece.weights

    pieces = list(map_pieces(project, table, max(1, PIECE_CELLS // table.row_size)))
    if not pieces:
        raise ValueError("X has no rows to draw.")
    coordinates, counts = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return coordinates, counts

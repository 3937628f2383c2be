"""Profiles of classes: P(1) of every column, or the share of each level, in each class, in one plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats, Rows
from hiddenbits.plots.style import (
    GRAY,
    INK,
    as_plain,
    axes_or_new,
    fills_figure,
    glyph,
    legend,
    note,
    settle,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINES_WITHOUT_TOP_LABELS = 30  # a plot with more lines has axis labels at the top, too


def profiles(
    model: BaseEstimator,
    X: object = None,
    *,
    errors: Any = None,
    most: int = 30,
    legends: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the profiles of classes: how often each column is 1, or each level occurs, in each class.

    Each binary column has a line from its lowest to its highest class. The columns are sorted by the difference of the
    largest class from all rows, so the most characteristic columns of this class are at the top and at the bottom. If
    columns have levels, each level has a line, below the name of the column, and columns whose classes differ most are
    at the top. The levels of an ordinal column are connected by a curve for each class. Columns of numbers are left
    out.

    Parameters
    ----------
    model : fitted LatentClassAnalysis or TreeMixture
        Any model with `weights_` and `probabilities_`, with a row for each class.
    X : table of shape (rows, columns), optional
        Rows whose mean is drawn as a gray tick in each column; by default the mean that the model expects.
    errors : Uncertainty, optional
        From `inference.standard_errors` or `inference.bootstrap`: confidence intervals, drawn as thin bars.
    most : int, default=30
        Maximum number of columns: those whose classes differ most. A note reports how many are omitted.
    legends : bool, default=True
        Whether to draw a legend; see `map` for its position.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                 # draw without a screen
    >>> from hiddenbits import LatentClassAnalysis, plots
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(500, 8, 2, random_state=0).X
    >>> ax = plots.profiles(LatentClassAnalysis(2, random_state=0).fit(X), X)
    >>> ax.get_xlabel()
    'share of 1s'
    """
    weights, shares = getattr(model, "weights_", None), getattr(model, "probabilities_", None)
    if weights is None or shares is None or np.shape(shares)[0] != len(weights):
        raise ValueError(f"A profile plot needs a fitted model of classes; {type(model).__name__} has none.")
    if most < 1:
        raise ValueError(f"most={most}: draw at least one column.")
    means = np.asarray(weights @ shares) if X is None else column_means(model, X)
    columns = _columns(model)
    if not columns:
        raise ValueError("A profile plot needs binary, nominal or ordinal columns; all columns of the fit are numbers.")
    spread = [np.ptp(shares[:, column.own_bits], axis=0).max() for column in columns]
    chosen = [columns[j] for j in np.argsort(-np.array(spread), kind="stable")[:most]]
    by_level = any(len(column.bits) > 1 for column in columns)
    if not by_level:
        above = shares[int(np.argmax(weights))] - means
        chosen.sort(key=lambda column: -above[column.bits[0]])
    labels = [label for column in chosen for label in column.labels]
    own, ax = ax is None, axes_or_new(ax, (7.0, 1.0 + (0.19 if by_level else 0.22) * len(labels)))
    y = np.arange(len(labels), dtype=np.float64)
    lines = np.split(y, np.cumsum([len(column.labels) for column in chosen])[:-1])  # of each column
    bits = np.concatenate([column.bits for column in chosen])
    y_bits, order = y[bits >= 0], bits[bits >= 0]
    drawn: list[Any] = [
        ax.scatter(means[order], y_bits, marker="|", s=60, color=INK, linewidths=1.2, zorder=2, label="_all rows")
    ]
    for number, (column, y_column) in enumerate(zip(chosen, lines, strict=True)):
        if by_level and number % 2 == 0:
            ax.axhspan(y_column[0] - 0.5, y_column[-1] + 0.5, color=GRAY, alpha=0.1, lw=0, zorder=0)
        if not column.ordinal:
            of_classes = shares[:, column.own_bits]
            ends = of_classes.min(axis=0), of_classes.max(axis=0)
            ax.hlines(y_column[column.bits >= 0], *ends, color=GRAY, lw=1.0, alpha=0.6, zorder=1)
    for k in reversed(range(len(weights))):  # the first class on top
        color, marker = glyph(k)
        offset = 0.0 if errors is None else 0.5 * (k - (len(weights) - 1) / 2) / len(weights)
        for column, y_column in zip(chosen, lines, strict=True):
            if column.ordinal:
                curve = shares[k, column.own_bits], y_column[1:] + offset
                ax.plot(*curve, color=color, lw=1.0, alpha=0.5, zorder=1.5, label="_joined")
        if errors is not None:
            low, high = (np.asarray(end)[k, order] for end in errors.interval["probabilities"])
            ax.hlines(y_bits + offset, low, high, color=color, lw=1.2, zorder=2.5, label="_interval")
        dots = ax.scatter(shares[k, order], y_bits + offset, s=26, color=color, marker=marker, zorder=3, label="_class")
        drawn.insert(0, dots)
    ax.set_yticks(y, [shortened(label) for label in labels], fontsize=8)
    for text, bit in zip(ax.get_yticklabels(), bits, strict=True):
        as_plain(text).set_fontweight("bold" if bit < 0 else "normal")
    ax.set_ylim(len(labels) - 0.3, -0.7)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of answers within each class" if by_level else "share of 1s")
    ax.grid(axis="x", color=GRAY, alpha=0.25, lw=0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labeltop=len(labels) > MAX_LINES_WITHOUT_TOP_LABELS)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if legends:
        names = [f"class {k + 1} ({share:.0%} of rows)" for k, share in enumerate(weights)]
        legend(ax, drawn, [*names, "all rows"], outside=fills_figure(ax))
    n_omitted = len(columns) - len(chosen)
    note(ax, [f"{n_omitted:,} more columns, whose classes differ less"] if n_omitted else [])
    if own:
        settle(ax)
    return ax


class _ProfileColumn(NamedTuple):
    """The labels of the lines of a column, and their bits; -1 for a line with the name of a column with levels."""

    labels: list[str]
    bits: Rows
    ordinal: bool = False

    @property
    def own_bits(self) -> Rows:
        return self.bits[self.bits >= 0]


def _columns(model: Any) -> list[_ProfileColumn]:
    """Return the columns of a fit; without levels, every bit is a column."""
    coding = getattr(model, "coding_", None)
    if coding is None or not coding.has_levels:
        return [_ProfileColumn([str(name)], np.array([j])) for j, name in enumerate(column_names(model))]
    columns = []
    for column, bit_range in zip(coding.columns, coding.bits_of(), strict=True):
        if not column.labels:  # a column of numbers
            continue
        (name, level), bits = coding.levels[bit_range.start], np.arange(bit_range.start, bit_range.stop)
        if len(bits) == 1:
            columns.append(_ProfileColumn([f"{name} = {level}"], bits))
        else:
            columns.append(_ProfileColumn([name, *column.levels], np.append(-1, bits), column.how == "ordinal"))
    return columns


def column_names(model: BaseEstimator) -> Any:
    """Return the names of the columns of a fit."""
    names = getattr(model, "feature_names_in_", None)
    return np.array([f"x{j}" for j in range(model.n_features_in_)] if names is None else list(names), dtype=object)


def row_weights(X: object, n: int) -> Floats:
    """Return the weights of the rows of a table; 1 if it has none."""
    weights = getattr(X, "weights", None)
    return np.ones(n) if weights is None else np.asarray(weights, np.float64)


def column_means(model: BaseEstimator, X: object) -> Floats:
    """Return the share of 1s of each column of a table, read as the fit read it."""
    from hiddenbits import evaluate, open_table

    table = open_table(X, recode=model) if getattr(model, "coding_", None) is not None else open_table(X)
    if table.n_columns != model.n_features_in_:
        raise ValueError(
            f"The table has {table.n_columns} columns, but the model was fitted to {model.n_features_in_}."
        )
    return np.nan_to_num(evaluate.describe(table).means, nan=0.5)

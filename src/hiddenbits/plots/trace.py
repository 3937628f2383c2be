"""Convergence of fits: the objective by iteration or time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import COLORS, axes_or_new, fills_figure, legend, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("solid", "dashed", "dotted", "dashdot")


def trace(
    fits: Any, *, xlabel: str | None = None, ylabel: str | None = None, legends: bool = True, ax: Axes | None = None
) -> Axes:
    """Draw the objective of one or several fits by iteration, or other values by time.

    Parameters
    ----------
    fits : fitted estimator, list of them, or dict
        For an estimator its `trace_` is drawn, in nats per row, by iteration; several in a list are numbered from 1.
        A dict maps the name of each curve to an estimator, an array (drawn by 1, 2, ...) or a pair of arrays such
        as (seconds, errors).
    xlabel, ylabel : str, optional
        Labels of the axes; by default "iteration" and "objective, nats per row" if all curves are estimators.
    legends : bool, default=True
        Whether to draw a legend with the names of a dict; see `map` for its position.
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
    >>> rows, _ = simulate_prototypes(random_state=0)
    >>> model = LogisticPCA(2, random_state=0).fit(rows)
    >>> ax = plots.trace(model)
    >>> len(ax.lines[0].get_ydata()) == model.n_iter_
    True
    """
    if isinstance(fits, (list, tuple)) and any(hasattr(fit, "fit") for fit in fits):
        fits = {f"{number}: {type(fit).__name__}": fit for number, fit in enumerate(fits, 1)}
    curves = {str(name): _curve(fit) for name, fit in fits.items()} if isinstance(fits, Mapping) else None
    if curves is not None and not curves:
        raise ValueError("Nothing to draw: the dict is empty.")
    only_models = hasattr(fits, "trace_") or (curves is not None and all(hasattr(f, "trace_") for f in fits.values()))
    own, ax = ax is None, axes_or_new(ax)
    drawn = []
    for number, (x, y) in enumerate((curves or {"": _curve(fits)}).values()):
        color, style = COLORS[number % len(COLORS)], STYLES[number % len(STYLES)]  # 28 different curves
        marker = "o" if len(x) == 1 else ""  # a single iteration has no line
        drawn += ax.plot(x, y, color=color, ls=style, marker=marker, lw=1.5, label=f"_curve {number}")
    if curves is not None and legends:
        legend(ax, drawn, list(curves), outside=fills_figure(ax), handlelength=3.0)
    ax.set_xlabel(xlabel or ("iteration" if only_models else ""))
    ax.set_ylabel(ylabel or ("objective, nats per row" if only_models else ""))
    ax.margins(x=0.02)
    if own:
        settle(ax)
    return ax


def _curve(fit: Any) -> tuple[Floats, Floats]:
    """Return x and y of the curve of one fit."""
    if hasattr(fit, "trace_"):
        y = np.asarray(fit.trace_, np.float64) / fit._fit_weight
        if not len(y):
            raise ValueError("This model has no trace: it was fitted by partial_fit or loaded from a file.")
        return np.arange(1.0, len(y) + 1.0), y
    if isinstance(fit, tuple) and len(fit) == 2:
        x, y = (np.asarray(part, np.float64) for part in fit)
        if x.ndim != 1 or x.shape != y.shape:
            raise ValueError(f"A curve needs two arrays of the same length, got shapes {x.shape} and {y.shape}.")
        return x, y
    if hasattr(fit, "fit"):
        raise ValueError(f"{type(fit).__name__} has no trace_: fit it first.")
    y = np.asarray(fit, np.float64)
    if y.ndim != 1:
        raise ValueError(f"A curve is a fitted estimator, an array or a pair of arrays, got shape {y.shape}.")
    return np.arange(1.0, len(y) + 1.0), y

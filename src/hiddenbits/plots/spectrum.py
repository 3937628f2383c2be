"""Scree plot: eigenvalues of binary columns and of their latent variables, for the number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.style import COLORS, INK, axes_or_new, fills_figure, legend, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_EIGENVALUE = 1e-9  # relative to the largest: smaller ones are rounding errors and not drawn


def spectrum(model: BaseEstimator, *, legends: bool = True, ax: Axes | None = None) -> Axes:
    """Draw a scree plot: eigenvalues of the columns' covariances and of the correlations of their latent variables.

    These are figures 3 and 4 of Lee and Sompolinsky (1998). If there are few latent dimensions, the eigenvalues of the
    latent variables decrease faster. Correlations estimated pair by pair may have negative eigenvalues; these are drawn
    as hollow markers at their absolute value. With ``ClippedPCA("parallel")`` a line shows the eigenvalues by chance.

    Parameters
    ----------
    model : fitted ClippedPCA
        Any model with `spectrum_` and `bit_spectrum_`.
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
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import ClippedPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)
    >>> ax = plots.spectrum(ClippedPCA(2).fit(rows))
    >>> ax.get_xlabel(), ax.get_yscale()
    ('rank', 'log')
    """
    chance = getattr(model, "chance_spectrum_", None)
    own, ax = ax is None, axes_or_new(ax, (7.5, 4.2))
    drawn, names = [], []
    curves = [("columns", model.bit_spectrum_, "s"), ("latent variables", model.spectrum_, "o")]
    for (name, values, marker), color in zip(curves, COLORS, strict=False):
        is_drawn = np.abs(values) > LEAST_EIGENVALUE * np.abs(values).max(initial=0.0)
        rank = np.arange(1.0, len(values) + 1.0)
        for suffix, has_sign in (("", values > 0.0), (", negative", values < 0.0)):
            chosen = is_drawn & has_sign
            if chosen.any():
                face = "none" if suffix else color
                drawn += ax.plot(rank[chosen], np.abs(values[chosen]), marker, ms=3.5, color=color, mfc=face, mew=0.8)
                names.append(name + suffix)
    if chance is not None:
        above = chance > LEAST_EIGENVALUE
        drawn += ax.plot(np.arange(1.0, len(chance) + 1.0)[above], chance[above], color=INK, lw=1.0, ls="dashed")
        names.append("latent variables by chance")
    ax.set_yscale("log")
    ax.set_xlabel("rank")
    ax.set_ylabel("eigenvalue")
    if legends and drawn:
        legend(ax, drawn, names, outside=fills_figure(ax))
    if own:
        settle(ax)
    return ax

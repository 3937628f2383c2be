"""Eigenvalue spectra of the bits and of their hidden variables: how many dimensions a table has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.style import COLORS, INK, axes_or_new, has_the_page, legend, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTHING = 1e-9  # smaller eigenvalues, relative to the largest, are rounding and not drawn


def spectrum(model: BaseEstimator, *, legends: bool = True, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of the bits' covariances and of the hidden variables' correlations, largest first.

    Figures 3 and 4 of Lee and Sompolinsky (1998). If there are few dimensions behind the bits, the eigenvalues of the
    hidden variables fall off sooner. Correlations estimated pair by pair may have negative eigenvalues; these are drawn
    as hollow marks at their absolute value. With ``ClippedPCA("parallel")`` a line shows the level of chance.

    Parameters
    ----------
    model : fitted ClippedPCA
        Anything with `spectrum_` and `bit_spectrum_`.
    legends : bool, default=True
        Whether to draw a legend; see `map` for where it stands.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

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
    curves = [("bits", model.bit_spectrum_, "s"), ("hidden variables", model.spectrum_, "o")]
    for (name, values, marker), color in zip(curves, COLORS, strict=False):
        something = np.abs(values) > NOTHING * np.abs(values).max(initial=0.0)
        rank = np.arange(1.0, len(values) + 1.0)
        for kind, here in (("", values > 0.0), (", negative", values < 0.0)):
            chosen = something & here
            if chosen.any():
                face = color if not kind else "none"
                drawn += ax.plot(rank[chosen], np.abs(values[chosen]), marker, ms=3.5, color=color, mfc=face, mew=0.8)
                names.append(name + kind)
    if chance is not None:
        above = chance > NOTHING
        drawn += ax.plot(np.arange(1.0, len(chance) + 1.0)[above], chance[above], color=INK, lw=1.0, ls="dashed")
        names.append("hidden variables by chance")
    ax.set_yscale("log")
    ax.set_xlabel("rank")
    ax.set_ylabel("eigenvalue")
    if legends and drawn:
        legend(ax, drawn, names, beside=has_the_page(ax))
    if own:
        settle(ax)
    return ax

"""Plot of a comparison: how far each family is behind the highest, with the standard error of the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenbits.plots.style import COLORS, GREY, INK, SMALL, as_plain, axes_or_new, note, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLLOW = {"exact": False, "bound": True, "estimate": True}


def compare(comparison: Any, *, n_errors: float = 2.0, ax: Axes | None = None) -> Axes:
    """Draw how far each family is behind the highest, in nats per row, with error bars.

    The highest is at the top. Bars are standard errors of the paired difference, `n_errors` to each side. If a bar
    reaches the line at 0, the family cannot be distinguished from the highest, and its mark is gray. The chosen family,
    the simplest of these, is a diamond. Hollow marks are likelihoods that are not exact.

    Parameters
    ----------
    comparison : Comparison
        From `hiddenbits.evaluate.compare`.
    n_errors : float, default=2.0
        Length of a bar to each side, in standard errors.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import evaluate, plots
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(600, 8, 2, random_state=0).X
    >>> found = evaluate.compare(X, ["IndependentColumns", "LatentClassAnalysis"], sizes={"LatentClassAnalysis": [2]})
    >>> [label.get_text() for label in plots.compare(found).get_yticklabels()]
    ['LatentClassAnalysis (2)', 'IndependentColumns']
    """
    entries = comparison.entries
    own, ax = ax is None, axes_or_new(ax, (6.5, 1.2 + 0.45 * len(entries)))
    even = set(comparison.ties(n_errors))
    for place, entry in enumerate(entries):
        best, tied = entry.model == comparison.best, entry.model in even
        color = COLORS[0] if best else GREY if tied else COLORS[1]
        face = "none" if HOLLOW[entry.kind] else color
        bar = n_errors * entry.difference_error if place else None
        ax.errorbar(
            entry.difference, place, xerr=bar, fmt="D" if best else "o", color=color, mfc=face, ms=6, capsize=3, lw=1.2
        )
        words = f"{entry.log_likelihood:.3f} ± {entry.log_likelihood_error:.3f}"
        where = (1.0, place)
        ax.annotate(
            words, where, (4, 0), ax.get_yaxis_transform(), "offset points", va="center", fontsize=SMALL, color=INK
        )
    ax.axvline(0.0, color=INK, lw=0.8, zorder=0)
    names = [f"{shortened(e.model)} ({e.size})" if e.size else shortened(e.model) for e in entries]
    ax.set_yticks(np.arange(len(entries)), names)
    for label in ax.get_yticklabels():
        as_plain(label)
    ax.set_ylim(len(entries) - 0.5, -0.5)
    ax.set_xlabel("log-likelihood minus that of the highest, nats per test row")
    said = [f"{comparison.n_test} test rows", f"bars: {n_errors:g} standard errors"]
    note(ax, [*said, "hollow: not exact"] if any(HOLLOW[e.kind] for e in entries) else said)
    if own:
        settle(ax)
    return ax

"""Plot of a comparison: the difference of each family from the highest, with its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenbits.plots.style import COLORS, GRAY, INK, SMALL, as_plain, axes_or_new, note, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IS_HOLLOW = {"exact": False, "bound": True, "estimate": True}


def compare(comparison: Any, *, n_errors: float = 2.0, ax: Axes | None = None) -> Axes:
    """Draw the difference of each family from the highest, in nats per row, with error bars.

    The highest family is at the top. Bars are standard errors of the paired difference, `n_errors` to each side. If a
    bar reaches the line at 0, the family cannot be distinguished from the highest, and its marker is gray. The chosen
    family, the simplest of these, is a diamond. Hollow markers are likelihoods that are not exact.

    Parameters
    ----------
    comparison : Comparison
        From `hiddenbits.evaluate.compare`.
    n_errors : float, default=2.0
        Length of a bar to each side, in standard errors.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

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
    >>> names = ["IndependentColumns", "LatentClassAnalysis"]
    >>> comparison = evaluate.compare(X, names, sizes={"LatentClassAnalysis": [2]})
    >>> [label.get_text() for label in plots.compare(comparison).get_yticklabels()]
    ['LatentClassAnalysis (2)', 'IndependentColumns']
    """
    entries = comparison.entries
    own, ax = ax is None, axes_or_new(ax, (6.5, 1.2 + 0.45 * len(entries)))
    ties = set(comparison.ties(n_errors))
    for y, entry in enumerate(entries):
        best, tied = entry.model == comparison.best, entry.model in ties
        color = COLORS[0] if best else GRAY if tied else COLORS[1]
        face = "none" if IS_HOLLOW[entry.kind] else color
        bar = n_errors * entry.difference_error if y else None
        ax.errorbar(
            entry.difference, y, xerr=bar, fmt="D" if best else "o", color=color, mfc=face, ms=6, capsize=3, lw=1.2
        )
        text = f"{entry.log_likelihood:.3f} ± {entry.log_likelihood_error:.3f}"
        ax.annotate(
            text, (1.0, y), (4, 0), ax.get_yaxis_transform(), "offset points", va="center", fontsize=SMALL, color=INK
        )
    ax.axvline(0.0, color=INK, lw=0.8, zorder=0)
    names = [f"{shortened(e.model)} ({e.size})" if e.size else shortened(e.model) for e in entries]
    ax.set_yticks(np.arange(len(entries)), names)
    for label in ax.get_yticklabels():
        as_plain(label)
    ax.set_ylim(len(entries) - 0.5, -0.5)
    ax.set_xlabel("log-likelihood minus that of the highest, nats per test row")
    notes = [f"{comparison.n_test} test rows", f"bars: {n_errors:g} standard errors"]
    note(ax, [*notes, "hollow: not exact"] if any(IS_HOLLOW[e.kind] for e in entries) else notes)
    if own:
        settle(ax)
    return ax

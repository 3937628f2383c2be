"""Arrows of a map: in which direction, and how fast, a bit becomes more probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.labels import AROUND, Room
from hiddenbits.plots.lines import BACKGROUND
from hiddenbits.plots.style import COLOURS, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = 8  # arrows that can be read at a glance
APART = np.radians(12.0)  # arrows that point the same way would lie on each other
SHORTEST = 0.3  # arrows shorter than this are not drawn: the map says little of their columns
LONGEST = 0.75  # of the way from 0 to the frame
COLOUR = COLOURS[1]
PALE = 0.35  # opacity of the rows behind arrows
ALONG = (0.85, 0.7, 0.55, 0.4)  # where on its arrow a name may stand that has no room at the tip


def correlations(model: BaseEstimator, pair: list[int]) -> Floats:
    """Return the correlation of what is behind each column with two dimensions, (columns, 2).

    A bit is 1 where b + w.x + noise is above 0, with logistic noise of variance pi^2 / 3 or the model's own; so
    loadings of any size become lengths from 0 to 1.
    """
    W = np.asarray(model.components_, np.float64).T
    noise, own = np.full(len(W), np.pi**2 / 3.0), getattr(model, "noise_variances_", None)
    if own is not None:
        noise = np.asarray(own, np.float64)
    return np.asarray(W[:, pair] / np.sqrt(noise + (W**2).sum(axis=1))[:, None])


def chosen_arrows(W: Floats, most: int) -> list[int]:
    """Return the columns with the longest arrows, of those that point nearly the same way the longest alone."""
    chosen: list[int] = []
    angles = np.arctan2(W[:, 1], W[:, 0])
    for j in np.argsort(-np.hypot(*W.T), kind="stable"):
        turned = np.abs((angles[chosen] - angles[j] + np.pi) % (2.0 * np.pi) - np.pi)
        if len(chosen) < most and np.hypot(*W[j]) > SHORTEST and (turned >= APART).all():
            chosen.append(int(j))
    return chosen


def draw_arrows(ax: Axes, W: Floats, most: int) -> tuple[list[int], Floats]:
    """Draw the arrows of some columns from the middle of the map, and return the columns and the tips.

    All have the same unit, so that the longest reaches far into the plot. What is drawn already becomes paler.
    """
    for rows in ax.collections:
        rows.set_alpha(PALE)
    chosen = chosen_arrows(W, most)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    reach = np.where(W[chosen] > 0.0, high, -low)
    with np.errstate(divide="ignore"):
        room = np.abs(reach / W[chosen]).min(axis=1, initial=np.inf)
    tips = W[chosen] * (LONGEST * max(room.min(initial=np.inf), 0.0) if chosen else 0.0)
    for tip in tips:
        ax.annotate(
            "",
            xy=tuple(tip),
            xytext=(0.0, 0.0),
            arrowprops={"arrowstyle": "-|>", "color": COLOUR, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
            zorder=3.5,
        )
    return chosen, tips


def along_arrows(tips: Floats) -> Floats:
    """Return points on the arrows, which names are to keep clear of."""
    return np.concatenate([np.zeros((0, 2)), *(tip * np.linspace(0.0, 1.0, 12)[:, None] for tip in tips)])


def name_arrows(ax: Axes, chosen: list[int], tips: Floats, names: Sequence[object], room: Room) -> int:
    """Write each name at the tip of its arrow, outwards first, or next to the arrow; return how many had no room."""
    left_out, start = 0, ax.transData.transform((0.0, 0.0))
    for column, tip in zip(chosen, tips, strict=True):
        end = ax.transData.transform(tip)
        outwards = (end - start) / np.hypot(*(end - start))
        across = np.array([-outwards[1], outwards[0]])
        across *= 1.0 if across[1] > 0.0 else -1.0  # above the arrow first
        forwards = [side for side in AROUND if np.dot(side, outwards) > 0.3]
        candidates = [(end, side) for side in (outwards, *sorted(forwards, key=lambda side: -np.dot(side, outwards)))]
        candidates += [(start + share * (end - start), side) for share in ALONG for side in (across, -across)]
        style: dict[str, Any] = {
            "fontsize": SMALL + 1,
            "color": COLOUR,
            "zorder": 4,
            "bbox": {**BACKGROUND, "alpha": 0.8},
        }
        left_out += not room.write(names[column], candidates, **style)
    return left_out

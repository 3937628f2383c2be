"""Fields drawn large enough to judge: those of the three superpositions, and those of the paper's size."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import save
from matplotlib.patches import Rectangle
from superposed import WAYS, fields, place
from walls import GREYS, tiled

SHOWN, ACROSS = 80, 8  # fields of each fit, chosen at random
FULL_ACROSS = 14  # fields of the paper's size in a line
ROUND = 16  # the most globular ones
RED = "#D55E00"


def wall(ax: Any, rows: np.ndarray, across: int, title: str, framed: Sequence[int] = ()) -> None:
    """Draw fields, each on its own scale; those of the numbers in `framed` with a red frame."""
    side = round(rows.shape[1] ** 0.5)
    ax.imshow(tiled(rows, (side, side), across), cmap=GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
    ax.set_title(title, fontsize=10, loc="left")
    ax.axis("off")
    for number in framed:
        y, x = (number // across) * (side + 1) - 0.5, (number % across) * (side + 1) - 0.5
        ax.add_patch(Rectangle((x, y), side, side, fill=False, edgecolor=RED, linewidth=3.0))


def superposed(folder: Path, scratch: Path, found: Any) -> None:
    """A picture for each superposition: random fields for each number of causes; and one of the most globular."""
    if isinstance(found, str) or not all(place(scratch, fit["way"], fit["causes"]).is_file() for fit in found["fits"]):
        return  # without the models the pictures there are stay
    fits = found["fits"]
    causes = sorted({fit["causes"] for fit in fits})
    figure, strips = plt.subplots(len(fits), 1, figsize=(11.0, 0.95 * len(fits)), layout="constrained", squeeze=False)
    at = iter(strips[:, 0])
    for way in WAYS:
        mine, axes = plt.subplots(1, len(causes), figsize=(4.2 * len(causes), 5.6), layout="constrained", squeeze=False)
        for ax, n in zip(axes[0], causes, strict=True):
            rows = fields(scratch, way, n)
            some = np.random.default_rng(0).permutation(n)[:SHOWN]
            wall(ax, rows[some], ACROSS, f"{way}, H = {n}")
            fit = next(fit for fit in fits if fit["way"] == way and fit["causes"] == n)
            wall(next(at), rows[np.argsort(-np.array(fit["roundness"]))[:ROUND]], ROUND, f"{way}, H = {n}")
        save(mine, folder, f"superposed_{way}")
    save(figure, folder, "superposed_globular")


def full_size(folder: Path, rows: np.ndarray) -> None:
    """Figure 2A: the fields of the paper's size that are shown, large enough to be read back pixel by pixel."""
    down = -(-len(rows) // FULL_ACROSS)
    figure, ax = plt.subplots(figsize=(11.4, 11.4 * down / FULL_ACROSS + 0.3), layout="constrained")
    wall(ax, rows, FULL_ACROSS, f"{len(rows)} fields of the paper's size")
    save(figure, folder, "full_size_fields")


def full_size_globular(folder: Path, rows: np.ndarray, roundness: list[float], counted: list[int]) -> None:
    """Figure 2B: those that a circle describes best; a frame marks the fields that are counted as globular."""
    order = np.argsort(-np.array(roundness))[:20]
    figure, ax = plt.subplots(figsize=(11.4, 2.7), layout="constrained")
    framed = np.flatnonzero(np.isin(order, counted)).tolist()
    wall(ax, rows[order], 10, f"the most globular of these {len(rows)}; framed: counted as globular", framed)
    save(figure, folder, "full_size_globular")

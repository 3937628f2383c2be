"""Fields drawn large enough to judge: those of the paper's size."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import save
from matplotlib.patches import Rectangle
from walls import GREYS, tiled

FULL_ACROSS = 14  # fields of the paper's size in a line
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

"""Fields drawn large enough to judge: those of the three superpositions, and those of the paper's size."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import save
from superposed import WAYS, fields
from walls import GREYS, tiled

SHOWN, ACROSS = 80, 8  # fields of each fit, chosen at random
ROUND = 16  # the most globular ones


def wall(ax: Any, rows: np.ndarray, across: int, title: str) -> None:
    side = round(rows.shape[1] ** 0.5)
    ax.imshow(tiled(rows, (side, side), across), cmap=GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
    ax.set_title(title, fontsize=10, loc="left")
    ax.axis("off")


def superposed(folder: Path, scratch: Path, found: Any) -> None:
    """A picture for each superposition: random fields for each number of causes; and one of the most globular."""
    if isinstance(found, str):
        return
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


def full_size(folder: Path, rows: np.ndarray, roundness: list[float]) -> None:
    """The fields of the paper's size: all that are kept, and the most globular of them, as in Figure 2B."""
    across = 14
    down = -(-len(rows) // across)
    figure, ax = plt.subplots(figsize=(11.4, 11.4 * down / across + 0.3), layout="constrained")
    wall(ax, rows, across, f"{len(rows)} fields of the paper's size, chosen at random")
    save(figure, folder, "full_size_large")
    order = np.argsort(-np.array(roundness))[:20]
    figure, ax = plt.subplots(figsize=(11.4, 2.7), layout="constrained")
    wall(ax, rows[order], 10, f"the most globular of these {len(rows)}")
    save(figure, folder, "full_size_globular")

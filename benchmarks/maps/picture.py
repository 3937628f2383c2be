"""Draw docs/pictures/maps.png: a small map for each table and program, rows coloured by their class."""

from typing import Any

from benchmarks.maps.page import ORDER
from benchmarks.page_parts import DOCS
from matplotlib import colormaps
from matplotlib.figure import Figure

PICTURE = DOCS / "pictures" / "maps.png"


def draw(maps: dict[str, tuple[Any, dict[str, Any]]]) -> None:
    """Draw the maps: classes, and positions by program, of each table."""
    figure = Figure(figsize=(2.0 * len(ORDER), 2.0 * len(maps)), layout="constrained")
    grid = figure.subplots(len(maps), len(ORDER), squeeze=False)
    for ax, method in zip(grid[0], ORDER, strict=True):
        ax.set_title(method, fontsize=10)
    for line, (name, (classes, places)) in zip(grid, maps.items(), strict=True):
        line[0].set_ylabel(name)
        for ax, method in zip(line, ORDER, strict=True):
            ax.set(xticks=[], yticks=[])
            if method in places:
                x, y = places[method].T
                ax.scatter(x, y, s=max(1.5, 1000 / len(x)), c=colormaps["tab10"](classes % 10), linewidths=0)
    figure.savefig(PICTURE, dpi=110)

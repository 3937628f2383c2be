"""Labels inside a plot, placed where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import as_plain, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 1.5  # points between a name and what it names
# Directions to try around a point: right first, as one reads.
AROUND = [(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, -1), (-1, 0)]


class Room:
    """Keeps track of the occupied areas inside the axes, in pixels; a name is written where it overlaps nothing.

    Names never overlap each other or their own glyph, and avoid other glyphs if possible. Create it only after limits
    and legends are set: they move the pixels.
    """

    def __init__(self, ax: Axes, glyphs: Floats, radii: Floats) -> None:
        figure = settle(ax)
        self._ax, self._frame = ax, ax.get_window_extent()
        self._pixels = figure.dpi / 72.0
        centres = ax.transData.transform(glyphs) if len(glyphs) else np.zeros((0, 2))
        self._centres, self._reach = centres, radii * self._pixels
        reach = self._reach[:, None]
        self._glyphs = np.column_stack([centres - reach, centres + reach])
        self._names = np.zeros((0, 4))

    def write(self, name: object, candidates: list[tuple[Floats, Any]], *, gap: float = GAP, **style: Any) -> bool:
        """Write a name at the first free candidate: (a position in pixels, the side of it on which to write)."""
        text = as_plain(self._ax.text(0.0, 0.0, shortened(name), ha="center", va="center", clip_on=True, **style))
        text.set_in_layout(False)  # names must not change the layout
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2.0 + 0.5 * self._pixels
        boxes = []
        for place, direction in candidates:
            unit = np.asarray(direction, np.float64) / np.hypot(*direction)
            away = self._own_glyph(place) + gap * self._pixels + (np.abs(unit) * half).sum()
            centre = place + unit * away
            box = np.concatenate([centre - half, centre + half])
            if self._inside(box) and not _overlaps(box, self._names):
                boxes.append(box)
        clear = [box for box in boxes if not _overlaps(box, self._glyphs)]
        if not boxes:
            text.remove()
            return False
        box = (clear or boxes)[0]
        self._names = np.vstack([self._names, box])
        x, y = self._ax.transData.inverted().transform((box[:2] + box[2:]) / 2.0)
        text.set_position((float(x), float(y)))
        return True

    def _own_glyph(self, place: Floats) -> float:
        """Return the radius of the largest glyph that is drawn at a place; 0 where there is none."""
        here = (np.abs(self._centres - place) < 0.5).all(axis=1)
        return float(self._reach[here].max(initial=0.0))

    def _inside(self, box: Floats) -> bool:
        frame = self._frame
        return bool(box[0] >= frame.x0 and box[1] >= frame.y0 and box[2] <= frame.x1 and box[3] <= frame.y1)


def around(place: Floats) -> list[tuple[Floats, Any]]:
    """Return the candidates around a point in pixels."""
    return [(place, direction) for direction in AROUND]


def _overlaps(box: Floats, others: Floats) -> bool:
    apart = (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
    return bool((~apart).any())

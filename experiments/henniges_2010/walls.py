"""Walls of small images: put together for a picture, and read back from one."""

import matplotlib.pyplot as plt
import numpy as np

GREYS = plt.get_cmap("gray").with_extremes(bad="#9fc5e8")  # gaps are neither black nor white


def tiled(rows: np.ndarray, shape: tuple[int, int], across: int, gap: int = 1) -> np.ndarray:
    """Put images side by side, each on its own scale from -1 to 1; the gaps are NaN."""
    height, width = shape
    down = -(-len(rows) // across)
    wall = np.full((down * (height + gap) - gap, across * (width + gap) - gap), np.nan)
    for number, row in enumerate(rows):
        y, x = (number // across) * (height + gap), (number % across) * (width + gap)
        wall[y : y + height, x : x + width] = row.reshape(shape) / (np.abs(row).max() or 1.0)
    return wall


def read(picture: np.ndarray, side: int, n: int, across: int) -> np.ndarray:
    """Return the fields of a picture made of `tiled`, from -1 to 1. Gaps are blue, fields grey, the rim white."""
    colour = np.ptp(picture[..., :3], axis=2) > 0.01
    down = -(-n // across)
    columns, scale = cells(colour.mean(axis=0), across, side)
    rows, _ = cells(colour[:, columns].mean(axis=1), down, side, scale)
    gaps = [np.arange(count * (side + 1) - 1) % (side + 1) == side for count in (down, across)]
    blue = colour[np.ix_(rows, columns)]
    empty = np.arange(down * across).reshape(down, across) >= n  # of the last line
    expected = gaps[0][:, None] | gaps[1] | np.kron(empty, np.ones((side + 1, side + 1), bool))[:-1, :-1]
    if not np.array_equal(blue, expected):
        raise ValueError(f"This is no picture of {n} fields of {side} x {side}, {across} in a line.")
    wall = 2.0 * picture[..., 0][np.ix_(rows, columns)] - 1.0
    corners = [((k // across) * (side + 1), (k % across) * (side + 1)) for k in range(n)]
    return np.array([wall[y : y + side, x : x + side].ravel() for y, x in corners], np.float64)


def cells(blue: np.ndarray, count: int, side: int, scale: float | None = None) -> tuple[np.ndarray, float]:
    """Return where on the screen the middle of each pixel of the fields is along one axis, and how large a pixel is.

    `blue` is the blue share of each line of the screen: the lines that are nearly all of it are the gaps.
    """
    lines = np.flatnonzero(blue > 0.9 * blue.max())
    runs = np.split(lines, np.flatnonzero(np.diff(lines) > 1) + 1)
    middles = np.array([(run[0] + run[-1] + 1) / 2.0 for run in runs])
    at = np.arange(1, count) * (side + 1) - 0.5  # of the gaps, in pixels of the fields
    if len(middles) != len(at):
        raise ValueError(f"The picture has {len(middles)} gaps, not {len(at)}.")
    if scale is None:
        scale = float(np.polyfit(at, middles, 1)[0])
    begin = float(np.mean(middles - scale * at))
    return np.floor(begin + scale * (np.arange(count * (side + 1) - 1) + 0.5)).astype(int), scale

"""The fields of the paper's size, read back from the picture of them that is in the repository, and their shapes.

The fit of the paper's size takes half an hour, and its model is too large to be kept. Its picture shows 200 of the 700
fields, chosen at random, pixel by pixel. Each is on its own scale, which no share depends on, in 256 levels of grey.
"""

from pathlib import Path
from typing import Any

import natural
import numpy as np
import wall_pictures
from common import NO_DATA, have_data
from field_shapes import GaborFits, fit_blobs, fit_gabors, globular
from matplotlib.image import imread
from pictures import SHOWN
from wall_pictures import FULL_ACROSS
from walls import read

SEEDS: dict[str, int] = {}


def kept(figures: Path, whole: dict[str, Any] | str) -> np.ndarray | None:
    """Return the fields of the picture; None where there is none. `whole` is what the fit of the paper's size found."""
    picture = figures / "full_size_fields.png"
    if isinstance(whole, str) or not picture.is_file():
        return None
    return read(imread(picture), whole["side"], min(SHOWN, whole["causes"]), FULL_ACROSS)


def measure(figures: Path, whole: dict[str, Any] | str) -> dict[str, Any] | str:
    """Shares of shapes among the fields of the picture; the most globular are drawn."""
    fields = kept(figures, whole)
    if fields is None or isinstance(whole, str):
        return NO_DATA if not have_data("the fields that are drawn") else "not drawn"
    shape = (whole["side"], whole["side"])
    gabors, blobs = fit_gabors(fields, shape), fit_blobs(fields, shape)
    found, round_ones = natural.told(fields, gabors, blobs), np.flatnonzero(globular(gabors, blobs)).tolist()
    wall_pictures.full_size_globular(figures, fields, found["roundness"], round_ones)
    return {"shown": len(fields), "causes": whole["causes"], **found, "globular": round_ones, "waves": waves(gabors)}


def waves(gabors: GaborFits) -> dict[str, Any]:
    """How much the Gabor-like fields differ: shares of four orientations, frequencies, even and odd phases."""
    like = gabors.r2 > natural.GABOR
    quarter = np.round(gabors.orientation[like] / (np.pi / 4)).astype(int) % 4  # 0, 45, 90 and 135 degrees
    even = np.abs(np.cos(gabors.phase[like])) > np.sqrt(0.5)
    return {
        "fields": int(like.sum()),
        "orientations": (np.bincount(quarter, minlength=4) / max(like.sum(), 1)).tolist(),
        "frequencies": np.quantile(gabors.frequency[like], [0.1, 0.5, 0.9]).tolist() if like.any() else [],
        "even": float(even.mean()) if like.any() else float("nan"),
    }

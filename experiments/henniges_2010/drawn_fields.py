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
from matplotlib.image import imread
from pictures import ACROSS, SHOWN
from walls import read

SEEDS: dict[str, int] = {}


def kept(figures: Path, whole: dict[str, Any] | str) -> np.ndarray | None:
    """Return the fields of the picture; None where there is none. `whole` is what the fit of the paper's size found."""
    picture = figures / "full_size_fields.png"
    if isinstance(whole, str) or not picture.is_file():
        return None
    return read(imread(picture), whole["side"], min(SHOWN, whole["causes"]), ACROSS)


def measure(figures: Path, whole: dict[str, Any] | str) -> dict[str, Any] | str:
    """Shares of shapes among the fields of the picture; they are drawn again, large enough to judge."""
    fields = kept(figures, whole)
    if fields is None or isinstance(whole, str):
        return NO_DATA if not have_data() else "not drawn"
    found = natural.described(fields, whole["side"])
    wall_pictures.full_size(figures, fields, found["roundness"])
    return {"shown": len(fields), "causes": whole["causes"], **found}

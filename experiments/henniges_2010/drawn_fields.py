"""The fields of the paper's size, read back from the picture of them that is in the repository, and their shapes.

The fit of the paper's size takes half an hour, and its model is too large to be kept. Its picture shows 200 of the 700
fields, chosen at random, pixel by pixel. Each is on its own scale, which no share depends on, in 256 levels of grey.
"""

from pathlib import Path
from typing import Any

import natural
from common import NO_DATA, have_data
from matplotlib.image import imread
from pictures import ACROSS, SHOWN
from walls import read

SEEDS: dict[str, int] = {}


def measure(figures: Path, whole: dict[str, Any] | str) -> dict[str, Any] | str:
    """Shares of shapes among the fields of the picture; `whole` is what the fit of the paper's size found."""
    picture = figures / "full_size_fields.png"
    if isinstance(whole, str) or not picture.is_file():
        return NO_DATA if not have_data() else "not drawn"
    fields = read(imread(picture), whole["side"], min(SHOWN, whole["causes"]), ACROSS)
    found = natural.described(fields, whole["side"])
    return {"shown": len(fields), "causes": whole["causes"], **{k: v for k, v in found.items() if k != "roundness"}}

"""What the rows with a start at pi H = 3 and 1 are compared with: the same 2,000 images a set, started at 5."""

from functools import partial
from typing import Any

from bars import SEEDS, Setting, each_seed, one, summed
from cells import Cells

__all__ = ["SEEDS", "measure"]
SETTING, QUICK = Setting(2000, 200, True), 3


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """How many sets are recovered, and which are not: sets have the same seeds as in `bars`."""
    fits = each_seed(cells, "start pi H = 5", partial(one, SETTING), SETTING.sets if full else QUICK)
    return summed(SETTING.rows, fits)

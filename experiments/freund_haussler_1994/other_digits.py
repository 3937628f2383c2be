"""The third table of the paper on other digits: those of scikit-learn, 8 x 8 pixels, which need no data of ours."""

from typing import Any

from common import Run
from digits import SEEDS, measured, model_of

import data

__all__ = ["SEEDS", "measure"]


def one(name: str, seed: int) -> dict[str, Any]:
    rows = data.small_digits(seed)
    model = model_of(name, seed).fit(rows.train)
    return {part: data.measures(model, X, likelihood=False) for part, X in (("train", rows.train), ("test", rows.test))}


def measure(run: Run) -> dict[str, Any]:
    """Every program of Table 3; the quick run leaves out the slower ones."""
    return {"ink": data.SMALL_INK, "rows": data.ROWS, "table": measured(run, one)}

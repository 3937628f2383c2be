"""The third table of the paper on other digits: those of scikit-learn, 8 x 8 pixels, which need no data of ours."""

from typing import Any

from cells import Cells
from digits import PROGRAMS, SEEDS, model_of

import data

__all__ = ["SEEDS", "measure"]


def one(name: str, seed: int) -> dict[str, Any]:
    rows = data.small_digits(seed)
    model = model_of(name, seed).fit(rows.train)
    return {part: data.measures(model, X, likelihood=False) for part, X in (("train", rows.train), ("test", rows.test))}


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Every program of Table 3; the quick run leaves out the slower ones."""
    seeds = SEEDS["rows"] if full else SEEDS["rows"][:1]
    programs = PROGRAMS if full else PROGRAMS[:3]
    table = {
        name: [cells.get(f"{name}, rows {seed}", lambda n=name, s=seed: one(n, s)) for seed in seeds]  # type: ignore[misc]
        for name in programs
    }
    return {"ink": data.SMALL_INK, "rows": data.ROWS, "table": table}

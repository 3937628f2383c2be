"""How many units growth chooses by BIC, where the truth has ten; and what that choice is worth on new rows."""

from typing import Any

from cells import Cells
from synthetic import rows

import data
from hiddenbits import CombinationMachine

SEEDS = {"rows": [1000, 1001, 1002, 1003, 1004], "starts": 0}
KINDS = {"with a bias": True, "without bias": False}


def one(table: str, seed: int, *, bias: bool) -> dict[str, Any]:
    drawn = rows(table, seed)
    model = CombinationMachine("bic", bias=bias, random_state=SEEDS["starts"]).fit(drawn.train)
    truth = data.told(drawn.weights, drawn.thresholds)
    found, best = (data.measures(m, drawn.test)["log-loss"] for m in (model, truth))
    return {
        "rows": seed,
        "units": len(model.weights_),
        "bic": model.growth_.tolist(),
        "excess": found - best,
        "stop": model.stop_reason_,
    }


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Table and kind of machine -> list of cells."""
    found: dict[str, Any] = {}
    for table in ("A", "B") if full else ("A",):
        for kind, bias in KINDS.items() if full else [("with a bias", True)]:
            found[f"{table}, {kind}"] = [
                cells.get(f"{table}, {kind}, rows {seed}", lambda t=table, s=seed, b=bias: one(t, s, bias=b))  # type: ignore[misc]
                for seed in (SEEDS["rows"] if full else SEEDS["rows"][:1])
            ]
    return found

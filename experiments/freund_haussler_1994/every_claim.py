"""Every claim of the paper: how it was tested, its figure next to ours, and the verdict."""

from typing import Any

import claims_of_learning
import claims_of_model
import claims_of_tables
from common import UNKNOWN, claims_table


def every_claim(found: dict[str, Any], best: str) -> str:
    """The table, from the figures of all steps."""
    rows = claims_of_model.in_any_run(found)
    table = found["digits"]["table"]
    if isinstance(table, str) or "epochs" not in found["of_learning"]:
        return claims_table([*rows, ["sections 3 and 4", "", "", "not part of this run", UNKNOWN]])
    product, mixture, pursuit, _, chains = table.values()
    rows += claims_of_model.in_full_runs(found, mixture, pursuit, chains, product)
    rows += claims_of_learning.rows(found)
    rows += claims_of_tables.rows(found, best, mixture, pursuit, chains, product)
    return claims_table(rows)

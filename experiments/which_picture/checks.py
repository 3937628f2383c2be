"""What must hold; a miss makes the run fail."""

from typing import Any

import choosing
from common import Check, below

MINUTES = 10
ALLOWED = {"noise": 2, "3 classes": 0, "5 classes": 1}


def of(found: dict[str, Any], *, full: bool) -> dict[str, Check]:
    """Return the checks on what the steps found: at most one case in ten may be wrong."""
    families, sizes, news = found["families"], found["sizes"], found["news"]
    wrong = sum(not case["right"] for case in families)
    checks = {
        f"compare: of {len(families)} tables, those whose family is not within one standard error of first": below(
            wrong, len(families) // 10
        )
    }
    for kind in ("classes", "dimensions"):
        cases = [case for case in sizes if case["hidden"] == kind]
        missed = sum(case["size"] != case["truth"] for case in cases)
        checks[f"select: of {len(cases)} tables, those whose number of {kind} is missed"] = below(
            missed, len(cases) // 10
        )
    few = {} if isinstance(found["choosing"], str) else choosing.counts(found["choosing"])
    for truth, (right, _, number) in few.items():
        checks[f"compare: of {number} tables of {truth}, those that are called otherwise"] = below(
            number - right, ALLOWED[truth] if full else 0
        )
    if not isinstance(answers := found["answers"], str):
        apart = sum(not case["one answer"] for case in answers)
        checks[f"report, command line, compare and select: of {len(answers)} tables, those with two answers"] = below(
            apart, 0
        )
    if not isinstance(news, str):
        name = "news100" if full else "a small table"
        checks[f"{name}: seconds of a default compare, two threads"] = below(news["seconds"], 60 * MINUTES)
        checks[f"{name}: finished fits done again after a kill -9"] = below(news["done again"], 0)
        checks[f"{name}: tables that differ after a kill -9"] = below(int(not news["same table"]), 0)
        late = int(not 0 < news["finished before the kill"] < news["fits"])
        checks[f"{name}: kills that came before the first fit or after the last"] = below(late, 0)
    return {name: {**check, "open": False} for name, check in checks.items()}

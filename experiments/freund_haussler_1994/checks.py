"""The figures that a right implementation shows, with their tolerances; a miss makes the run fail."""

from typing import Any

import numpy as np
from common import below, near
from digits import MIXTURE, PROGRAMS
from synthetic import GREEDY, TRUTH

import data
from hiddenbits import datasets

OPEN: set[str] = set()  # known to be missed, and looked into: README.md says why
SIZES = {"A": (295.6, 136.908604), "B": (322.3085, 83.650665)}
MOST_EXCESS = {"A": 0.005, "B": 0.010}
DIGITS = {MIXTURE: (0.17, 0.53), PROGRAMS[2]: (0.16, 0.50), PROGRAMS[3]: (0.16, 0.50), PROGRAMS[4]: (0.115, 0.35)}


def measure(found: dict[str, Any], *, full: bool) -> dict[str, dict[str, Any]]:  # noqa: ARG001 - as strict either way
    checks = targets() | programs(found["synthetic"])
    return checks | (handwriting(found["digits"]["table"]) if "digits" in found else {})


def targets() -> dict[str, dict[str, Any]]:
    """The targets are what they should be, and the library's exact likelihood on them."""
    found = {}
    for target, (total, log_z) in SIZES.items():
        weights, thresholds = datasets.true_influences(target)
        found[f"{target}: sum of absolute weights"] = near(np.abs(weights).sum(), total, 1e-4)
        found[f"{target}: ln Z"] = near(data.told(weights, thresholds).log_partition_, log_z, 1e-5)
    drawn = datasets.simulate_influences("A", random_state=1000)
    truth = data.told(drawn.weights, drawn.thresholds)
    for part, goal in (("train", 0.399995), ("test", 0.401602)):
        found[f"A, rows 1000: true log-loss, {part}"] = near(
            data.measures(truth, getattr(drawn, part))["log-loss"], goal, 1e-6
        )
    return found


def programs(tables: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Greedy growth comes close to the true machine on every dataset."""
    found = {}
    for table, most in MOST_EXCESS.items():
        if table not in tables:
            continue
        true = {cell["rows"]: cell["test"]["log-loss"] for cell in tables[table][TRUTH]}
        for cell in tables[table][GREEDY]:
            excess = cell["test"]["log-loss"] - true[cell["rows"]]
            found[f"{table}, rows {cell['rows']}, {GREEDY}: excess over the true log-loss"] = below(excess, most)
    return found


def handwriting(table: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Means over the datasets, on the test rows."""

    def mean(name: str, measure: str) -> float:
        return float(np.mean([cell["test"][measure] for cell in table[name]]))

    found = {
        "digits, product: single-bit error": near(mean(PROGRAMS[0], "bit"), 0.298, 0.01),
        "digits, product: reconstruction": near(mean(PROGRAMS[0], "reconstruction"), 0.785, 0.01),
    }
    for name, (bit, reconstruction) in DIGITS.items():
        if name in table:
            found[f"digits, {name}: single-bit error"] = below(mean(name, "bit"), bit)
            found[f"digits, {name}: reconstruction"] = below(mean(name, "reconstruction"), reconstruction)
    return found

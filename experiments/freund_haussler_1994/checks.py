"""The figures that a right implementation shows, with their tolerances; a miss makes the run fail."""

from typing import Any

import numpy as np
from claims import CLOSENESS
from common import below, near
from digits import MIXTURE, PROGRAMS
from synthetic import GREEDY, TRUTH

import data
from hiddenbits import datasets

OPEN: set[str] = set()  # known to be missed, and looked into: README.md says why
SIZES = {"A": (295.6, 136.908604), "B": (322.3085, 83.650665)}
MOST_EXCESS = {"A": 0.005, "B": 0.010}
DIGITS = {MIXTURE: (0.17, 0.53), PROGRAMS[2]: (0.16, 0.50), PROGRAMS[3]: (0.16, 0.50), PROGRAMS[4]: (0.115, 0.35)}


def measure(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    checks = {**targets(), **programs(found["synthetic"]), **sizes(found["sizes"]), **claims(found["claims"])}
    checks |= {**largest_terms(found["terms"]), **numbers(found["refitted"]["bic"])}
    if not isinstance(found["digits"]["table"], str):
        checks |= handwriting(found["digits"]["table"])
    for name, check in checks.items():
        check["open"] = name in OPEN
    return checks


def targets() -> dict[str, dict[str, Any]]:
    """The targets are what they should be, and the library's exact likelihood on them."""
    found = {}
    for target, (total, log_z) in SIZES.items():
        weights, thresholds = datasets.influences_truth(target)
        found[f"{target}: sum of absolute weights"] = near(np.abs(weights).sum(), total, 1e-4)
        found[f"{target}: ln Z"] = near(data.told(weights, thresholds).log_partition_, log_z, 1e-5)
    drawn = datasets.simulate_influences("A", seed=1000)
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


def sizes(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """On A BIC chooses as many units as there are, within one; one of the ten is a bias. Of B the page tells."""
    goals = {"A, with a bias": 9, "A, without bias": 10}
    return {
        f"{name}: units that BIC chooses, on average": near(np.mean([c["units"] for c in found[name]]), goal, 1.0)
        for name, goal in goals.items()
        if name in found
    }


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


def claims(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The construction of section 2.5 comes as close as wished: its distance is of the order of epsilon."""
    closest = f"{CLOSENESS[-1]:g}"
    distance = found["universality"][closest]["total_variation"]
    return {f"universality: distance at epsilon {closest}": below(distance, 10 * CLOSENESS[-1])}


def largest_terms(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The gradient from at most 4,096 terms has nearly the direction of the exact one."""
    checks = {}
    for name, machine in found["machines"].items():
        ways = machine["ways"]
        if "all terms" in ways:
            way = "4,096 largest terms" if "4,096 largest terms" in ways else "256 largest terms"
            checks[f"{name}: cosine of the gradient from the {way}"] = near(ways[way]["cosine"], 1.0, 0.001)
    return checks


def numbers(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Pursuit with refitting and removal of units comes within one of the true number, on eight of ten data sets."""
    return {
        f"{name}: data sets where pursuit, refitted, is not within one of the true number": below(
            sum(abs(cell["units"] - cell["truth"]) > 1 for cell in cells), 0.2 * len(cells)
        )
        for name, cells in found.items()
    }

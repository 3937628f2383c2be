"""The figures that must be reached, from what was measured; a miss makes the run fail."""

from typing import Any

from common import below, near
from completion import DEFAULT, OURS

COVERAGE, TOLERANCE = 0.9, 0.02
LARGEST_ECE, MOST_ERRORS = 0.03, 3.0
RIVALS = ("column means", "BernoulliMixture", "logistic regressions")
BEATEN = "log-loss less that of {}, plus two standard errors"
FURTHEST = "furthest bin, in standard errors"
OPEN = {  # known to be missed, and looked into: README.md says why
    *(f"{name}: {BEATEN.format('logistic regressions')}" for name in ("house84", "psych_ability", "senate109")),
    f"senate109: {FURTHEST}",
    f"senate109, default ridge: {FURTHEST}",
}


def measure(coverage: dict[str, Any], completion: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All checks. A rival is beaten when the difference of log-losses lies two standard errors from 0."""
    found = {}
    for setting, methods in coverage["settings"].items():
        for source in ("given", "fitted"):
            value = methods[f"polished, {source}"]["coverage"]
            found[f"coverage, {setting}, parameters {source}"] = near(value, COVERAGE, TOLERANCE)
    for name, table in completion["tables"].items():
        if isinstance(table, str):
            continue
        ours = table["methods"][OURS]
        for rival in RIVALS:
            theirs = table["methods"][rival]
            short = 2.0 * theirs["paired_error"] - theirs["more"]
            found[f"{name}: {BEATEN.format(rival)}"] = below(short, 0.0)
        found[f"{name}: expected calibration error"] = below(ours["ece"], LARGEST_ECE)
        found[f"{name}: {FURTHEST}"] = below(ours["worst_bin"], MOST_ERRORS)
        default = table["methods"][DEFAULT]
        found[f"{name}, default ridge: expected calibration error"] = below(default["ece"], LARGEST_ECE)
        found[f"{name}, default ridge: {FURTHEST}"] = below(default["worst_bin"], MOST_ERRORS)
    for name, check in found.items():
        check["open"] = name in OPEN
    return found

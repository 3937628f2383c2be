"""The figures that a right implementation shows; a miss makes the run fail."""

from typing import Any

from common import Check, below


def of(found: dict[str, Any]) -> dict[str, Check]:
    """Return the checks on what the steps found. A run with fewer seeds may fail on as large a share, rounded down."""
    lines, shifter, survey = found["lines"]["ours"], found["shifter"]["ours"], found["survey"]
    checks = {
        "lines: runs that miss a line or a set": below(lines["runs"] - lines["both"], 2 * lines["runs"] // 40),
        "shifter: runs that miss a cause or the direction": below(
            shifter["runs"] - shifter["success"], shifter["runs"] // 12
        ),
    }
    levels = found["levels"]["top .6, library"]
    missing = sum(run["found"] != list(found["levels"]["sizes"]) for run in levels)
    checks["three levels, top strengths .6 only: runs that miss a unit"] = below(missing, len(levels) // 4)
    if not isinstance(survey, str):
        ours, mixture = survey["NoisyOrNetwork(6)"], survey["BernoulliMixture(6)"]
        name = "nltcs, 6 causes: negative log-likelihood a training row, against that of a mixture of 6 classes"
        checks[name] = below(-ours["train"], -mixture["train"])
        checks["nltcs, 6 causes: seconds (the limit is ours)"] = below(ours["seconds"], 15.0)
    return {name: {**check, "open": False} for name, check in checks.items()}

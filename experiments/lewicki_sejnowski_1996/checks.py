"""The figures that a right implementation shows; a miss makes the run fail."""

from typing import Any

from common import Check, below

OPEN: set[str] = set()  # known to be missed, and looked into


def measure(found: dict[str, Any], *, full: bool) -> dict[str, Check]:  # noqa: ARG001 - as strict either way
    """Return the checks on what the steps found. A run with fewer seeds may fail on as large a share, rounded down."""
    lines, shifter = found["lines"]["ours"], found["shifter"]["ours"]
    checks = {
        "lines: runs that miss a line or a set": below(lines["runs"] - lines["both"], 2 * lines["runs"] // 40),
        "shifter: runs that miss a cause or the direction": below(
            shifter["runs"] - shifter["success"], shifter["runs"] // 12
        ),
    }
    if "survey" in found:  # the data were at hand
        ours, mixture = found["survey"]["NoisyOrNetwork(6)"], found["survey"]["LatentClassAnalysis(6)"]
        name = "nltcs, 6 causes: negative log-likelihood a training row, against that of a mixture of 6 classes"
        checks[name] = below(-ours["train"], -mixture["train"])
        checks["nltcs, 6 causes: seconds (the limit is ours)"] = below(ours["seconds"], 15.0)
    return checks

"""Section 3: sums over states with at most k active units, and where they fail; that of the digits is in digits.py."""

from typing import Any

import numpy as np
from cells import Cells

import data
from hiddenbits import datasets
from maths import log_sums


def of_machine(model: Any, X: np.ndarray, log_z: float | None) -> dict[str, Any]:
    """What is missing from ln Z with at most k active units, and how many are active in rows."""
    upto = np.logaddexp.accumulate(log_sums(model.weights_, model.thresholds_, model.bias_))
    return {
        "units": len(model.thresholds_),
        "active": float(model.transform(X).sum(axis=1).mean()),
        "log_partition": log_z,
        "missing": None if log_z is None else [log_z - float(total) for total in upto],
    }


def of_target(target: str) -> dict[str, Any]:
    drawn = datasets.simulate_influences(target, seed=1000)
    model = data.told(drawn.weights, drawn.thresholds)
    return of_machine(model, drawn.train, model.log_partition_)


def measure(cells: Cells) -> dict[str, Any]:
    return {f"target {t}": cells.get(f"truncation {t}", lambda t=t: of_target(t)) for t in "AB"}  # type: ignore[misc]

"""The paper's third table: 45 units or classes for 500 images of handwritten digits, and its curves of errors."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from common import Run, have_data

import data
from hiddenbits import CombinationMachine, IndependentColumns, LatentClassAnalysis
from hiddenbits.options import Pursuit

SEEDS = {"rows": [0, 1, 2], "starts": "the seed of the rows"}
UNITS = 45
CLIMB: dict[str, Any] = {"n_chains": 200, "n_temperatures": 60_000}
DECAY = 0.005  # of the weights, a step of size 1: a ridge of as much a row
MIXTURE = "mixture, split 1, 2, 4, ... 32, 45"
PROGRAMS = (
    "product distribution",
    MIXTURE,
    "projection pursuit, 4 EM steps a unit",
    "projection pursuit, 20 EM steps a unit",
    "projection pursuit, then persistent chains",
)
CURVE = (1, 2, 4, 8, 16, 32, 45)  # units at which the curves are measured


def model_of(name: str, seed: int, size: int = UNITS) -> Any:
    if name == PROGRAMS[0]:
        return IndependentColumns()
    if name == MIXTURE:
        # One pseudo-row with the shares of the table in every class and column.
        return LatentClassAnalysis(size, prior_strength=1.0, n_init=1, max_iter=100, random_state=seed)
    if name == PROGRAMS[4]:
        return CombinationMachine(
            size, method="chains", start="pursuit", max_iter=300, ridge=DECAY * data.ROWS, random_state=seed
        )
    start = Pursuit(n_steps=4 if "4 EM" in name else 20)
    alone: dict[str, Any] = {"method": "chains", "max_iter": 0, "ridge": 0.0, "bias": False}
    return CombinationMachine(size, start=start, **alone, random_state=seed)


def one(name: str, seed: int, size: int = UNITS) -> dict[str, Any]:
    rows = data.digits(seed)
    model = model_of(name, seed, size).fit(rows.train)
    exact = name in (PROGRAMS[0], MIXTURE)  # the likelihood of 45 units is an estimate, and only chains give one
    found: dict[str, Any] = {
        part: data.measures(model, X, likelihood=exact) for part, X in (("train", rows.train), ("test", rows.test))
    }
    if name == PROGRAMS[4] and size == UNITS:
        found |= estimated(model, rows.test)
    return found


def estimated(model: CombinationMachine, X: np.ndarray) -> dict[str, Any]:
    """The likelihood of rows where annealed importance sampling gives one that can be trusted, or why it does not."""
    found = model.estimate_partition(**CLIMB)
    if not found.trustworthy:
        return {"log_partition": None, "why": found.why}
    loss = float(-model.score_samples(X).mean() / (X.shape[1] * np.log(2.0)))
    return {"log_partition": found.log_z, "log_partition_error": found.standard_error, "log-loss": loss}


def measured(run: Run, make: Callable[[str, int], dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Every program on every data set; the quick run leaves out the slower ones."""
    seeds, programs = (SEEDS["rows"], PROGRAMS) if run.full else (SEEDS["rows"][:1], PROGRAMS[:3])
    return {name: [data.timed(partial(make, name, seed)) for seed in seeds] for name in programs}


def measure(run: Run) -> dict[str, Any] | None:
    """Table 3, and in a full run the curves of errors by number of units or classes."""
    if not have_data("digits, Table 3"):
        return None
    found: dict[str, Any] = {"table": measured(run, one)}
    if run.full:
        found["curves"] = {
            name: {str(size): data.timed(partial(one, name, 0, size)) for size in CURVE}
            for name in (MIXTURE, PROGRAMS[3])
        }
    return found

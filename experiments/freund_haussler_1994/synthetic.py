"""The paper's first two tables: programs that learn ten units from 4,000 rows of known machines.

Targets A and B are ours (`datasets.simulate_influences`): the paper shows its own only as a picture.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from common import Run

import data
from hiddenbits import CombinationMachine, datasets

SEEDS = {"rows": [1000, 1001, 1002, 1003, 1004], "starts": [0, 1, 2]}
UNITS = 10
TRUTH = "true model"
GREEDY = "greedy exact"
PURSUIT = "projection pursuit"

Recipe = Callable[[int], CombinationMachine]


def paper(start: Literal["noise", "pursuit"], epochs: int) -> Recipe:
    """The paper's programs; no epochs are the start alone."""
    return lambda seed: CombinationMachine.paper(UNITS, start=start, max_iter=epochs, random_state=seed)


def ours(**options: Any) -> Recipe:
    return lambda seed: CombinationMachine(UNITS, **options, random_state=seed)


# The paper's programs, then what this library offers beside them.
RECIPES: dict[str, Recipe] = {
    "gradient ascent for 1000 epochs": paper("noise", 1000),
    PURSUIT: paper("pursuit", 0),
    f"{PURSUIT}, then gradient for 100 epochs": paper("pursuit", 100),
    f"{PURSUIT}, then gradient for 1000 epochs": paper("pursuit", 1000),
    "L-BFGS": ours(start="noise", bias=False),
    f"{PURSUIT}, then L-BFGS": ours(start="pursuit", bias=False),
    GREEDY: ours(),
    f"{GREEDY}, without bias": ours(bias=False),
}
SMALL_RECIPES: dict[str, Recipe] = {
    "gradient ascent for 400 epochs": paper("noise", 400),
    PURSUIT: paper("pursuit", 0),
    f"{PURSUIT}, then gradient for 400 epochs": paper("pursuit", 400),
    GREEDY: ours(),
}
SHRINK = 7.0


def rows(table: str, seed: int) -> datasets.SimulatedInfluences:
    target, *divided = table.split("/")
    return datasets.simulate_influences(target, shrink=SHRINK if divided else 1.0, random_state=seed)


def fitted(recipe: Recipe, X: np.ndarray, start: int) -> CombinationMachine:
    return recipe(start).fit(X)


def one(table: str, recipe: Recipe | None, seed: int, start: int) -> dict[str, Any]:
    drawn = rows(table, seed)
    model = data.told(drawn.weights, drawn.thresholds) if recipe is None else fitted(recipe, drawn.train, start)
    errors = {"train": data.measures(model, drawn.train), "test": data.measures(model, drawn.test)}
    return {**errors, "passes": model.n_iter_, "stop": model.stop_reason_}


def plan(*, full: bool) -> list[tuple[str, str, Recipe | None, int, int]]:
    """All cells: table, program, recipe, rows, start."""
    found: list[tuple[str, str, Recipe | None, int, int]] = []
    for table in ("A", "B", "A/7"):
        recipes = SMALL_RECIPES if "/" in table else RECIPES
        if not full:
            recipes = {name: recipes[name] for name in recipes if name in (PURSUIT, GREEDY)}
        for name, recipe in {TRUTH: None, **recipes}.items():
            several = table == "A" and name != TRUTH and not name.startswith(GREEDY)
            starts = SEEDS["starts"] if several else [0]
            for seed in SEEDS["rows"] if full else SEEDS["rows"][:1]:
                found += [(table, name, recipe, seed, start) for start in (starts if full else [0])]
    return found if full else [cell for cell in found if cell[0] == "A"]


def measure(run: Run) -> dict[str, Any]:
    """Every table: program -> list of cells."""
    found: dict[str, Any] = {}
    for table, name, recipe, seed, start in plan(full=run.full):
        cell = data.timed(partial(one, table, recipe, seed, start))
        found.setdefault(table, {}).setdefault(name, []).append({"rows": seed, "start": start, **cell})
    return found

"""Guessing 20% hidden cells: `LogisticPCA` against column means, `BernoulliMixture` and chained logistic regressions.

Every method chooses its own size and smoothing, by the same rule: on the cells that it can see, of which it hides 20%
once more (`evaluate.hidden_cells`). All pairs of a size and a smoothing are tried.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from common import NO_DATA, have_data
from imputer import impute
from reliability import Guesses, joined, summary
from simulate import draw, told

from hiddenbits import BernoulliMixture, IndependentBits, LogisticPCA, Table, datasets, evaluate, hide_cells, open_table

SEEDS = {"hidden cells": list(range(10)), "hidden once more": "1000 + seed", "starts": 0, "simulated table": 100}
SHARE = 0.2
DIMENSIONS, RIDGES = (1, 2, 4, 8), (0.1, 0.3, 1.0, 3.0)
CLASSES, STRENGTHS = (2, 4, 8, 16), (0.3, 1.0, 3.0, 10.0)
PENALTIES = (0.03, 0.1, 0.3, 1.0)  # C of scikit-learn
ROUNDS = 3
OURS, DEFAULT = "LogisticPCA", "LogisticPCA, default ridge"
TRUTH = "the truth"
Loss = Callable[[int, float], float]
Pair = tuple[int, float]


def tables(*, full: bool) -> dict[str, Table | str]:
    found: dict[str, Table | str] = {"simulated": open_table(simulated().X)}
    real: dict[str, Callable[[], Table]] = {
        "house84": lambda: open_table(datasets.data_folder() / "votes" / "house84.csv"),
        "psych_ability": lambda: datasets.load_survey("psych_ability"),
        "senate109": lambda: open_table(datasets.load_senate109().X),
    }
    for name in real if full else ["house84"]:
        found[name] = real[name]() if have_data(f"completion of {name}") else NO_DATA
    return found


def simulated() -> Any:
    return draw(600, 20, 2, seed=SEEDS["simulated table"])


def search(loss: Loss, sizes: tuple[int, ...], smoothings: tuple[float, ...], default: float) -> tuple[int, Pair]:
    """Return the best size at the default smoothing, and the best pair of a size and a smoothing."""
    losses = {(size, smoothing): loss(size, smoothing) for size in sizes for smoothing in smoothings}
    return min(sizes, key=lambda size: losses[size, default]), min(losses, key=losses.__getitem__)


def logistic(q: int, ridge: float, **options: Any) -> LogisticPCA:
    return LogisticPCA(q, ridge=ridge, random_state=SEEDS["starts"], **options)


def mixture(k: int, strength: float) -> BernoulliMixture:
    return BernoulliMixture(k, prior_strength=strength, random_state=SEEDS["starts"])


def log_loss(truth: np.ndarray, p: np.ndarray, asked: np.ndarray) -> float:
    return float(Guesses(truth[asked], p[asked], asked.nonzero()[0]).losses.mean())


def completions(visible: Table, seed: int, *, full: bool) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return what each method makes of the missing cells of `visible`, and what it chose."""
    once_more = {"share": SHARE, "seed": 1000 + seed}
    sizes, classes = (DIMENSIONS, CLASSES) if full else ((1, 2), (2, 4))
    # The search stops a little earlier than the fit.
    first, (q, ridge) = search(
        lambda q, ridge: evaluate.hidden_cells(logistic(q, ridge, tol=1e-3), visible, **once_more).value,
        sizes,
        RIDGES if full else RIDGES[:3:2],
        LogisticPCA().ridge,
    )
    _, (k, strength) = search(
        lambda k, strength: evaluate.hidden_cells(mixture(k, strength), visible, **once_more).value,
        classes,
        STRENGTHS,
        BernoulliMixture().prior_strength,
    )
    cells, fewer = visible.to_float(), hide_cells(visible, SHARE, seed=1000 + seed).to_float()
    asked = np.isnan(fewer) & ~np.isnan(cells)
    C = min(PENALTIES, key=lambda C: log_loss(cells, impute(fewer, C, 1), asked))
    found = {
        "column means": IndependentBits().fit(visible).complete(visible),
        "BernoulliMixture": mixture(k, strength).fit(visible).complete(visible),
        "logistic regressions": impute(cells, C, ROUNDS),
        "logistic regressions, C = 1": impute(cells, 1.0, ROUNDS),
        DEFAULT: logistic(first, LogisticPCA().ridge).fit(visible).complete(visible),
        OURS: logistic(q, ridge).fit(visible).complete(visible),
    }
    chosen = {
        "BernoulliMixture": f"{k} classes, strength {strength:g}",
        "logistic regressions": f"C = {C:g}",
        DEFAULT: f"{first} dimensions",
        OURS: f"{q} dimensions, ridge {ridge:g}",
    }
    return found, chosen


def one_table(name: str, table: Table, seeds: list[int], *, full: bool) -> dict[str, Any]:
    truth = table.to_float()
    guesses: dict[str, list[Guesses]] = {}
    choices: dict[str, Counter[str]] = {}
    for seed in seeds:
        visible = hide_cells(table, SHARE, seed=seed)
        asked = np.isnan(visible.to_float()) & ~np.isnan(truth)
        found, chosen = completions(visible, seed, full=full)
        if name == "simulated":
            found[TRUTH] = told(simulated()).complete(visible)
        for method, p in found.items():
            guesses.setdefault(method, []).append(Guesses(truth[asked], p[asked], asked.nonzero()[0]))
        for method, words in chosen.items():
            choices.setdefault(method, Counter())[words] += 1
    best = joined(guesses[OURS])
    return {
        "shape": list(table.shape),
        "blank_cells": float(np.isnan(truth).mean()),
        "n_seeds": len(seeds),
        "chosen": {method: dict(counts.most_common()) for method, counts in choices.items()},
        "methods": {method: summary(joined(parts), best) for method, parts in guesses.items()},
    }


def ridges(table: Table, seeds: list[int]) -> dict[str, Any]:
    """What the ridge does: log-loss and calibration of three dimensions, over a few seeds."""
    truth, found = table.to_float(), {}
    for ridge in (0.03, *RIDGES):
        parts = []
        for seed in seeds:
            visible = hide_cells(table, SHARE, seed=seed)
            asked = np.isnan(visible.to_float()) & ~np.isnan(truth)
            p = logistic(3, ridge).fit(visible).complete(visible)
            parts.append(Guesses(truth[asked], p[asked], asked.nonzero()[0]))
        both = joined(parts)
        figures = summary(both, both)
        found[f"{ridge:g}"] = {key: figures[key] for key in ("loss", "ece", "worst_bin")}
    return found


def measure(*, full: bool) -> dict[str, Any]:
    seeds = SEEDS["hidden cells"] if full else SEEDS["hidden cells"][:3]
    found: dict[str, Any] = {"share": SHARE, "tables": {}, "ridges": {}}
    for name, table in tables(full=full).items():
        if isinstance(table, str):
            found["tables"][name] = table
            continue
        found["tables"][name] = one_table(name, table, seeds, full=full)
        if full and name != "simulated":
            found["ridges"][name] = ridges(table, seeds[:3])
        print(f"  {name}: done", flush=True)
    return found

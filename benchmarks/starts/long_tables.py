"""Default fits to long tables, which begin on a subsample, next to fits that use all rows throughout.

    python -m benchmarks.starts.long_tables --quick              one seed, 36,000 rows, two families; nothing is written
    python -m benchmarks.starts.long_tables --full               five seeds, 60,000 rows; half an hour
    python -m benchmarks.starts.long_tables --full --second      three seeds, 200,000 rows, next to fits that have one
                                                                 subsample and go on to all rows; a quarter of an hour

Tables of 50 columns, from ten classes, from ten classes with rare ones in 15 columns, and from a map of two dimensions; each
family has the table that is nearer to its own kind. Figures are medians over seeds: processor seconds of both and their ratio (one thread, in turn), and how much
higher the fit that begins on few rows ends, in nats a row: by the objective, and by 5,000 new rows.
"""

import time
import warnings
from contextlib import nullcontext
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.record import asking, record

import hiddenbits as hb
from hiddenbits.engine.loops import subsample_start
from hiddenbits.families._base import sizes

COLUMNS, CLASSES, NEW = 50, 10, 5_000
FAMILIES: dict[str, tuple[str, Any]] = {
    "LatentClassAnalysis(10)": ("classes", hb.LatentClassAnalysis(10)),
    "TreeMixture(5)": ("classes", hb.TreeMixture(5)),
    "HiddenTree": ("classes", hb.HiddenTree()),
    "CombinationMachine(6)": ("classes", hb.CombinationMachine(6)),
    "TopographicMap(2)": ("classes", hb.TopographicMap(2)),
    "LogisticPCA(2)": ("map", hb.LogisticPCA(2)),
    "LatentClassAnalysis(10), rare ones": ("rare", hb.LatentClassAnalysis(10)),
    "TreeMixture(5), rare ones": ("rare", hb.TreeMixture(5)),
    "HiddenTree, rare ones": ("rare", hb.HiddenTree()),
}
RARE = 15  # columns of a table with rare ones that keep 1 of 100 to 1 of 10,000 of them


def rows_from(kind: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to fit, and new ones."""
    rng = np.random.default_rng([seed, kind == "map"])
    if kind == "map":
        W, b = rng.standard_normal((COLUMNS, 2)), rng.standard_normal(COLUMNS)
        p = 1.0 / (1.0 + np.exp(-(rng.standard_normal((n + NEW, 2)) @ W.T + b)))
    else:
        profiles = rng.beta(0.8, 1.2, (CLASSES, COLUMNS))
        p = profiles[rng.choice(CLASSES, n + NEW, p=rng.dirichlet(np.full(CLASSES, 3.0)))]
    X = (rng.random((n + NEW, COLUMNS)) < p).astype(np.uint8)
    if kind == "rare":
        X[:, :RARE] &= rng.random((n + NEW, RARE)) < 10.0 ** rng.uniform(-4.0, -2.0, RARE)
    return X[:n], X[n:]


def fitted(model: Any, X: np.ndarray, other_way: Any) -> tuple[Any, float]:
    """Return a fit and its processor seconds."""
    with other_way:
        begun = time.process_time()
        model.fit(X)
        return model, time.process_time() - begun


def one(name: str, n: int, seed: int, *, second: bool) -> dict[str, float]:
    """Fit as by default and in the way to compare with: with one subsample alone, or with none."""
    kind, model = FAMILIES[name]
    X, new = rows_from(kind, n, seed)
    other_way = patch.object(*((subsample_start, "LARGER") if second else (sizes, "MIN_SUBSAMPLE")), n)
    (few, few_s), (other, other_s) = (fitted(with_seed(model, seed), X, way) for way in (nullcontext(), other_way))
    return {
        "seconds": few_s,
        "seconds_other_way": other_s,
        "times_faster": other_s / few_s,
        "objective_higher_by": (few.trace_[-1] - other.trace_[-1]) / n,
        "new_rows_higher_by": few.score(new) - other.score(new),
    }


def with_seed(model: Any, seed: int) -> Any:
    return type(model)(**{**model.get_params(deep=False), "random_state": seed})


def main() -> None:
    parser = asking(__doc__ or "")
    parser.add_argument("--second", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["LatentClassAnalysis(10)", "LogisticPCA(2)"] if asked.quick else list(FAMILIES)
    rows, n_seeds = (36_000, 1) if asked.quick else (200_000, 3) if asked.second else (60_000, 5)
    found = {}
    for name in names:
        seeds = [one(name, rows, seed, second=asked.second) for seed in range(n_seeds)]
        found[name] = {key: round(median(s[key] for s in seeds), 4) for key in seeds[0]}
        found[name]["each_seed_higher_by"] = [round(s["objective_higher_by"], 4) for s in seeds]
        print(name, found[name], flush=True)
    if not asked.quick:
        name = "starts/second_subsample" if asked.second else "starts/long_tables"
        record(name, found, rows=rows, columns=COLUMNS, seeds=n_seeds)


if __name__ == "__main__":
    main()

"""Default fits to long tables, which begin on a subsample, next to fits that use all rows throughout.

    python -m benchmarks.starts.long_tables --quick      one seed, 36,000 rows, two families; nothing is written
    python -m benchmarks.starts.long_tables --full       five seeds, 60,000 rows; half an hour

60,000 x 50 bits, from ten classes, from ten classes with rare ones in 15 columns, and from a map of two dimensions; each
family has the table that is nearer to its own kind. Figures are medians over seeds: processor seconds of both and their ratio (one thread, in turn), and how much
higher the fit that begins on few rows ends, in nats a row: by the objective, and by 5,000 new rows.
"""

import time
import warnings
from statistics import median
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record

import hiddenbits as hb
from hiddenbits.families._base import start_rows

ROWS, COLUMNS, CLASSES, NEW, SEEDS = 60_000, 50, 10, 5_000, 5
FAMILIES: dict[str, tuple[str, Any]] = {
    "BernoulliMixture(10)": ("classes", hb.BernoulliMixture(10)),
    "TreeMixture(5)": ("classes", hb.TreeMixture(5)),
    "HiddenTree": ("classes", hb.HiddenTree()),
    "CombinationMachine(6)": ("classes", hb.CombinationMachine(6)),
    "TopographicMap(2)": ("classes", hb.TopographicMap(2)),
    "LogisticPCA(2)": ("map", hb.LogisticPCA(2)),
    "LogisticPCAMixture(2, n_maps=2)": ("classes", hb.LogisticPCAMixture(2, n_maps=2)),
    "BernoulliMixture(10), rare ones": ("rare", hb.BernoulliMixture(10)),
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


def fitted(model: Any, X: np.ndarray, *, all_rows: bool) -> tuple[Any, float]:
    """Return a fit and its processor seconds."""
    usual = start_rows.FEWEST
    start_rows.FEWEST = len(X) if all_rows else usual
    try:
        begun = time.process_time()
        model.fit(X)
        return model, time.process_time() - begun
    finally:
        start_rows.FEWEST = usual


def one(name: str, n: int, seed: int) -> dict[str, float]:
    kind, model = FAMILIES[name]
    X, new = rows_from(kind, n, seed)
    fits = {}
    for all_rows in (False, True):
        fits[all_rows] = fitted(with_seed(model, seed), X, all_rows=all_rows)
    (few, few_s), (every, every_s) = fits[False], fits[True]
    return {
        "seconds": few_s,
        "seconds_all_rows": every_s,
        "times_faster": every_s / few_s,
        "objective_higher_by": (few.trace_[-1] - every.trace_[-1]) / n,
        "new_rows_higher_by": few.score(new) - every.score(new),
    }


def with_seed(model: Any, seed: int) -> Any:
    return type(model)(**{**model.get_params(), "random_state": seed})


def main() -> None:
    quick = asked_quick(__doc__ or "")
    warnings.simplefilter("ignore")
    names = ["BernoulliMixture(10)", "LogisticPCA(2)"] if quick else list(FAMILIES)
    found = {}
    for name in names:
        seeds = [one(name, 36_000 if quick else ROWS, seed) for seed in range(1 if quick else SEEDS)]
        found[name] = {key: round(median(s[key] for s in seeds), 4) for key in seeds[0]}
        found[name]["each_seed_higher_by"] = [round(s["objective_higher_by"], 4) for s in seeds]
        print(name, found[name], flush=True)
    if not quick:
        record("starts/long_tables", found, rows=ROWS, columns=COLUMNS, seeds=SEEDS)


if __name__ == "__main__":
    main()

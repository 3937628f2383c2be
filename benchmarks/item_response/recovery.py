"""How often intervals contain the truth, of parameters and of positions, and whether noise variances are right on average.

    python -m benchmarks.item_response.recovery --quick    (4 tables a design; nothing is written)
    python -m benchmarks.item_response.recovery --full     (200 tables a design, two processes; a quarter of an hour)

1,000 rows; 10 and 30 columns: 2PL; graded items of 5 levels; mixed: half binary, the rest graded, the last one continuous with noise
variance .36. Items are drawn once a design, rows for each table. Intervals of 95% of slopes, intercepts and noise variances (these as
logarithms), by the sandwich and by the observed information; the share that contains the truth, over all parameters of all tables.
Goal: .93 to .97. Positions: posterior mean and 1.645 standard deviations around it, goal .88 to .92. Noise variance: mean over tables,
goal: within .03.
"""

import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.item_response.simulated import Items, items
from benchmarks.record import asked_quick, record
from threadpoolctl import threadpool_limits

from hiddenbits import ItemResponseModel, inference

FIRST_SEED, TABLES, ROWS, TOL, NOISE, PROCESSES = 1_000, 200, 1_000, 1e-9, 0.36, 2
ERRORS = {"sandwich": True, "information": False}
GOALS = {f"all parameters, {errors}": (0.93, 0.97) for errors in ERRORS}
GOALS |= {"positions": (0.88, 0.92), "noise variance": (NOISE - 0.03, NOISE + 0.03)}
DESIGNS = {
    f"{kind}, {columns} columns": items(columns, *sizes)
    for columns in (10, 30)
    for kind, sizes in {
        "2PL": (columns, 0),
        "graded": (0, columns),
        "mixed": (columns // 2, columns - columns // 2 - 1, (NOISE,)),
    }.items()
}


def truth_in_units(truth: Items, X: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the true parameters; those of continuous columns in the units of the fit, the mean and sd of the table."""
    slopes, intercepts = truth.answers
    out = {"slopes": slopes, "intercepts": intercepts}
    if truth.noise:
        x = X.to_numpy(float)[:, -len(truth.noise) :]
        center, scale = x.mean(axis=0), x.std(axis=0)
        loadings = truth.slopes[-len(truth.noise) :, 0]
        out["noise"] = np.array(truth.noise) / scale**2
        out |= {"number_slopes": (loadings / scale)[:, None], "number_intercepts": -center / scale}
    return out


def of_table(name: str, seed: int) -> dict[str, Any]:
    """Return hits of each kind of interval, by parameter, and the noise variance in units of the truth."""
    truth, rng = DESIGNS[name], np.random.default_rng([len(name), len(DESIGNS[name].names), seed])
    X, z = truth.table(rng, ROWS)
    true = truth_in_units(truth, X)
    model = ItemResponseModel(column_types=truth.types, tol=TOL, max_iter=5_000, random_state=0).fit(X)
    found: dict[str, Any] = {}
    for errors, robust in ERRORS.items():
        intervals = inference.standard_errors(model, X, robust=robust).interval
        for what, values in true.items():
            low, high = intervals[what]
            hits = (low <= values) & (values <= high)
            found[f"{what}, {errors}"] = hits[truth.first_answers] if what == "slopes" else hits
    scores = model.latent_scores(X)
    found["positions"] = np.abs(scores["dimension_1"] - z[:, 0]).to_numpy() <= 1.645 * scores["se_1"].to_numpy()
    if truth.noise:
        found["noise variance"] = NOISE * model.noise_variances_ / true["noise"]
    return found


def of_design(name: str, seeds: Iterable[int]) -> dict[str, Any]:
    with ProcessPoolExecutor(PROCESSES, initializer=one_thread) as pool:
        tables = list(pool.map(partial(of_table, name), seeds, chunksize=2))
    joined = {key: np.concatenate([table[key].ravel() for table in tables]) for key in tables[0]}
    for errors in ERRORS:
        joined[f"all parameters, {errors}"] = np.concatenate([joined[key] for key in joined if key.endswith(errors)])
    return {key: round(float(values.mean()), 4) for key, values in joined.items()}


def one_thread() -> None:
    warnings.simplefilter("ignore")
    threadpool_limits(1)


def main() -> None:
    quick = asked_quick(str(__doc__))
    figures, begun = {}, time.perf_counter()
    for name in DESIGNS:
        figures[name] = of_design(name, range(FIRST_SEED, FIRST_SEED + (4 if quick else TABLES)))
        print(name, figures[name], flush=True)
    seconds = round(time.perf_counter() - begun)
    print(f"{seconds} seconds")
    if not quick:
        record("item_response/recovery", figures, seeds=FIRST_SEED, aloud=False, tables=TABLES, rows=ROWS, tolerance=TOL, goals=GOALS)  # fmt: skip


if __name__ == "__main__":
    main()

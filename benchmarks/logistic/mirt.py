"""Item response models against mirt's `fit_mirt` (Python): maximum likelihood in one and two dimensions.

    python -m benchmarks.logistic.mirt --full                  (eight lines; ten minutes)
    python -m benchmarks.logistic.mirt --full --only SAT12     (the lines of one table; the others are kept)
    python -m benchmarks.logistic.mirt --quick                 (SAT12 in one dimension, one turn)

`fit_mirt` is what mirt's own pages call; peers.py measures another estimator of mirt's, which `fit_mirt` does not offer. Each
program has an environment and a process of its own, one thread, and by turns the same number of fits; seconds are of processor
time, medians over fits after a first call, which is kept as well. mirt's defaults compute standard errors; it is timed without
them, too. Ours is timed by default (a prior, a variational stage and a polish), as maximum likelihood (`method="quadrature",
ridge=0`, what mirt maximises), and with the standard errors of that.

mirt integrates over 21 Gauss-Hermite nodes a dimension and reports the likelihood on them. Here one function judges all
answers on a fine grid: the likelihood of the rows that were fitted, and of held-out rows. 2PL tables are drawn from known items.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.environments import peer_python, peer_versions
from benchmarks.logistic.tables import SEED, tables
from benchmarks.record import asking, record, result
from scipy.special import logsumexp

FITS = Path(__file__).parents[1] / "peers" / "fits"
VERSION = "1.2.0"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
HELD_OUT = 3_000  # rows of a table that is drawn
NODES, WIDTH = {1: 241, 2: 121}, 8.0  # of the judge's grid in each dimension, from -WIDTH to WIDTH
PLAN = {  # table: dimensions, turns of two processes, fits of each kind in a process
    "2PL, 1,000 x 20": (1, 3, 5),
    "2PL, 5,000 x 50": (1, 3, 3),
    "2PL, 20,000 x 100": (1, 3, 1),
    "SAT12": (1, 3, 3),
    "USPS twos": (1, 3, 1),
    "nltcs": (1, 3, 3),
    "SAT12, 2 dimensions": (2, 3, 1),
    "nltcs, 2 dimensions": (2, 1, 1),
}
Fit = dict[str, Any]


def drawn(rows: int, columns: int) -> tuple[Any, Any]:
    """Rows to fit and rows held out, of a two-parameter model with slopes above 0."""
    rng = np.random.default_rng([SEED, rows, columns])
    slopes, difficulties = rng.lognormal(0.0, 0.3, columns), rng.normal(size=columns)
    ability = rng.normal(size=(rows + HELD_OUT, 1))
    bits = rng.random((rows + HELD_OUT, columns)) < 1.0 / (1.0 + np.exp(-slopes * (ability - difficulties)))
    return bits[:rows].astype(np.uint8), bits[rows:].astype(np.uint8)


def table(name: str) -> tuple[Any, Any]:
    if name.startswith("2PL"):
        rows, columns = name.removeprefix("2PL, ").replace(",", "").split(" x ")
        return drawn(int(rows), int(columns))
    return tables()[name.partition(",")[0]]


def log_likelihoods(X: Any, loadings: Any, intercepts: Any) -> Any:
    """Return ln P of each row, with x ~ N(0, I) integrated out on a fine grid."""
    q = loadings.shape[1]
    nodes = np.linspace(-WIDTH, WIDTH, NODES[q])
    places = np.stack(np.meshgrid(*[nodes] * q, indexing="ij"), axis=-1).reshape(-1, q)
    weights = -0.5 * (places**2).sum(axis=1)
    weights -= logsumexp(weights)
    activations = places @ loadings.T + intercepts
    constants = weights - np.logaddexp(0.0, activations).sum(axis=1)
    blocks = [X[start : start + 500].astype(np.float64) for start in range(0, len(X), 500)]
    return np.concatenate([logsumexp(block @ activations.T + constants, axis=1) for block in blocks])


def run(call: list[Any], X: Any, dimensions: int, fits: int) -> Fit:
    """One process of a program, and what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        work, path = Path(folder) / "work.npz", Path(folder) / "path.npz"
        np.savez(work, X=X, dimensions=dimensions, turns=fits)
        subprocess.run([*call, work, path], check=True, env={**os.environ, **ONE_THREAD})
        with np.load(path) as arrays:
            return {key: arrays[key] for key in arrays.files}


def middle(fits: list[Fit], *keys: str) -> float:
    """The median of the sums of what is named, over all fits of all turns."""
    return float(f"{statistics.median(np.ravel([sum(fit[key] for key in keys) for fit in fits])):.4g}")


def judged(train: Any, test: Any, loadings: Any, intercepts: Any) -> dict[str, float]:
    return {
        "log_likelihood": round(float(log_likelihoods(train, loadings, intercepts).sum()), 2),
        "held_out": round(float(log_likelihoods(test, loadings, intercepts).mean()), 5),
    }


def compare(name: str, turns: int | None = None) -> dict[str, Any]:
    dimensions, usual, fits = PLAN[name]
    train, test = table(name)
    mirt, ours = [], []
    for _ in range(turns or usual):
        mirt.append(run([peer_python("mirt", VERSION), FITS / "fit_mirt_fit.py"], train, dimensions, fits))
        ours.append(run([sys.executable, FITS / "hiddenbits_2pl_fit.py"], train, dimensions, fits))
    its, our = mirt[-1], ours[-1]
    return {
        "table": name,
        "rows": len(train),
        "columns": train.shape[1],
        "test_rows": len(test),
        "dimensions": dimensions,
        "turns": len(mirt),
        "fits_in_a_turn": fits,
        "mirt": {
            "seconds_of_the_first_call": middle(mirt, "first"),
            "seconds_by_default": middle(mirt, "with_errors"),
            "seconds_without_errors": middle(mirt, "without_errors"),
            "errors_by": str(its["errors_by"]),
            "iterations": int(its["iterations"]),
            "converged": bool(its["converged"]),
            "items_at_bounds": int(its["at_bounds"]),
            "likelihood_on_its_nodes": round(float(its["own_likelihood"]), 2),
            **judged(train, test, its["loadings"], its["intercepts"]),
        },
        "ours": {
            "seconds_of_the_first_call": middle(ours, "first"),
            "seconds_by_default": middle(ours, "default"),
            "seconds_of_likelihood": middle(ours, "likelihood"),
            "seconds_of_likelihood_and_errors": middle(ours, "likelihood", "errors"),
            "iterations": int(our["iterations"]),
            "stop": str(our["stop"]),
            "default": judged(train, test, our["default_loadings"], our["default_intercepts"]),
            "likelihood": judged(train, test, our["loadings"], our["intercepts"]),
        },
    }


def chosen(only: str | None) -> list[str]:
    names = [name for name in PLAN if only is None or only in name]
    if not names:
        raise SystemExit(f"--only {only}: there is no such table; there are {'; '.join(PLAN)}.")
    return names


def keep(place: str, figure: dict[str, Any]) -> None:
    """Put the line of a table in the place of its last one."""
    before = json.loads(result(place).read_text())["figures"] if result(place).exists() else []
    figures = {**{line["table"]: line for line in before}, figure["table"]: figure}
    record(
        place,
        [figures[name] for name in PLAN if name in figures],
        seeds=SEED,
        packages=("numba",),
        aloud=False,
        nodes_of_mirt=21,
        judge={"nodes": NODES, "width": WIDTH},
        peers={"mirt": peer_versions("mirt", VERSION)},
    )


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", help="the lines of tables whose names contain this")
    given = parser.parse_args()
    for name in ["SAT12"] if given.quick else chosen(given.only):
        line = compare(name, 1 if given.quick else None)
        print(json.dumps(line, indent=1), flush=True)
        keep("logistic/mirt" + ("_quick" if given.quick else ""), line)

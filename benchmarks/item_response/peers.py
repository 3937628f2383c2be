"""`ItemResponseModel` beside Python's mirt: processor seconds on one thread, and whose log-likelihood is higher.

    python -m benchmarks.item_response.peers --quick    (1,000 x 20 alone, one turn; nothing is written)
    python -m benchmarks.item_response.peers --full     (minutes)

Items have lognormal slopes around 1.2 and normal difficulties, and thresholds at least .2 apart. Each program has its own
tolerance. mirt is first run in all its ways: 21 (its default), 41 and 61 nodes, plain and accelerated EM. Two go on: the fastest
with 21 nodes, and the fastest whose log-likelihood is as good as ours, within 1e-4 nats a row (if none is, the best). The programs
then run in turn, mirt in an environment of its own; both have fitted at most 5,000 of the rows before. Standard errors are those of the
observed information. All fits are judged by the same sum over 1,001 nodes on [-8, 8], in NumPy. Opening our table counts.
"""

import json
import os
import subprocess
import tempfile
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.item_response.simulated import Items, even_grid, items, log_likelihoods
from benchmarks.peers.classes import timed
from benchmarks.peers.environments import peer_python, peer_versions
from benchmarks.record import asked_quick, record
from threadpoolctl import threadpool_limits

from hiddenbits import ItemResponseModel, inference

SEED, CLOSE = 0, 1e-4
MIRT = ("mirt", "1.2.0")
ONE_THREAD = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")}
NODES = even_grid(8.0, 1001)
WAYS = [{"n_quadpts": n, "accelerate": em} for n, em in product((21, 41, 61), ("none", "squarem"))]
TABLES = {  # rows, binary items, graded items, turns
    "2PL, 1,000 x 20": (1_000, 20, 0, 9),
    "2PL, 5,000 x 50": (5_000, 50, 0, 5),
    "graded, 5,000 x 40": (5_000, 0, 40, 3),
    "2PL, 20,000 x 100": (20_000, 100, 0, 3),
}


def ours(X: np.ndarray, kind: str) -> tuple[Items, list[float]]:
    """Return the items found, and the seconds of the fit and of the fit with standard errors."""
    model = ItemResponseModel(column_types=kind, random_state=SEED)
    for rows in (X[:5000], X):
        fitted, seconds = timed(model.fit, rows)
        _, more = timed(partial(inference.standard_errors, robust=False), fitted, rows)
    d = fitted.intercepts_.reshape(X.shape[1], -1)
    return Items(fitted.components_.T, tuple(d)), [seconds, seconds + more]


def mirt(X: np.ndarray, kind: str, ways: list[dict[str, Any]]) -> tuple[list[Items], list[float]]:
    """Return the items that each way finds, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        work, path = Path(folder) / "work.npz", Path(folder) / "found.npz"
        np.savez(work, X=X, model="GRM" if kind == "ordinal" else "2PL", ways=json.dumps(ways))
        call = [peer_python(*MIRT), Path(__file__).with_name("mirt_fit.py"), work, path]
        subprocess.run(call, check=True, env=ONE_THREAD)
        with np.load(path) as of:
            found = [Items(of[f"slopes {i}"], tuple(of[f"intercepts {i}"])) for i in range(len(ways))]
            return found, of["seconds"].tolist()


def chosen(X: np.ndarray, kind: str, our_score: float) -> dict[int, float]:
    """Return mirt's fastest way with 21 nodes and the fastest that is as good as ours, and by how much ours is higher."""
    found, seconds = mirt(X, kind, [{**way, "compute_standard_errors": False} for way in WAYS])
    higher = [our_score - log_likelihoods(X, of, NODES).sum() for of in found]
    print(*zip(WAYS, seconds, higher, strict=True), sep="\n", flush=True)
    most = max(CLOSE * len(X), min(higher))
    fastest = min((i for i, way in enumerate(WAYS) if way["n_quadpts"] == 21), key=seconds.__getitem__)
    as_good = min((i for i in range(len(WAYS)) if higher[i] <= most), key=seconds.__getitem__)
    return {i: float(higher[i]) for i in (fastest, as_good)}


def beside(rows: int, binary: int, graded: int, turns: int) -> list[dict[str, Any]]:
    kind = "ordinal" if graded else "binary"
    X = items(SEED, binary, graded).table(np.random.default_rng([SEED, rows]), rows)[0].to_numpy()
    picked = chosen(X, kind, float(log_likelihoods(X, ours(X, kind)[0], NODES).sum()))
    ways = [{**WAYS[i], "compute_standard_errors": errors} for i in picked for errors in (False, True)]
    turn = [np.array([*ours(X, kind)[1], *mirt(X, kind, ways)[1]]) for _ in range(turns)]
    mine, *theirs = np.median(turn, axis=0).reshape(-1, 2)
    return [
        {
            **WAYS[i],
            "higher_by": round(higher_by, 3),
            "seconds": [[float(f"{value:.3g}") for value in part] for part in zip(mine, its, strict=True)],
            "times_faster": (its / mine).round(2).tolist(),
        }
        for (i, higher_by), its in zip(picked.items(), theirs, strict=True)
    ]


def main() -> None:
    quick = asked_quick(str(__doc__))
    warnings.simplefilter("ignore")
    figures = {}
    with threadpool_limits(1):
        for name, (*sizes, turns) in TABLES.items():
            figures[name] = beside(*sizes, 1 if quick else turns)
            print(name, json.dumps(figures[name]), flush=True)
            if quick:
                return
    versions = {name: number for name, number in peer_versions(*MIRT).items() if name in ("mirt", "numpy", "scipy")}
    record("item_response/peers", figures, seeds=SEED, packages=("numba",), aloud=False, close=CLOSE, peers=versions)  # fmt: skip


if __name__ == "__main__":
    main()

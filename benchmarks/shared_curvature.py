"""What one curvature for each column costs in likelihood, and what it gains in time: against one for each cell.

    python benchmarks/shared_curvature.py --full
    python benchmarks/shared_curvature.py --quick    (few rows; the figures mean nothing, the program runs)

Six real tables, two dimensions, no polish, the same start and tolerance. Held-out log-likelihood is exact, integrated on a
grid, in nats a row; "independent" are the column means, for scale. Then a table of 105 x 91,802 cells, 20% ones, each fit in
a process of its own with its largest resident size; and passes over a sparse table, with and without as many
all-zero columns again, to see what a pass costs that has no ones to look at.
"""

import multiprocessing
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from record import asked_quick, peak_memory_mb, record
from scipy import sparse

import hiddenbits
from hiddenbits.datasets import data_folder, load_debd

SEED, TOL = 0, 1e-5
Rows = NDArray[np.uint8]


def split(X: Rows) -> tuple[Rows, Rows]:
    """Four fifths to fit on."""
    order = np.random.default_rng(SEED).permutation(len(X))
    cut = len(X) * 4 // 5
    return X[order[:cut]], X[order[cut:]]


def tables() -> dict[str, tuple[Any, Any]]:
    """The six tables, as rows to fit on and rows held out."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in ("nltcs", "kdd", "audio"):
        splits = load_debd(name)
        found[name] = splits.train[:20_000], splits.test[:5_000]
    sat = np.genfromtxt(data_folder() / "survey" / "sat12_binary.csv", delimiter=",", skip_header=1).astype(np.uint8)
    found["SAT12"] = split(sat)
    with np.load(data_folder() / "digits" / "usps.npz") as usps:
        twos = [(usps[part][usps[f"{part}_label"] == 2] > 127).astype(np.uint8) for part in ("train", "test")]
    found["USPS twos"] = twos[0], twos[1]
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=True) as news:
        found["news100"] = split(news["X"].astype(np.uint8))
    return found


def fitted(X: Any, curvature: str, **options: Any) -> tuple[hiddenbits.LogisticPCA, float]:
    model = hiddenbits.LogisticPCA(2, curvature=curvature, polish=False, tol=TOL, random_state=SEED, **options)
    begun = time.process_time()
    model.fit(X)
    return model, time.process_time() - begun


def compare(train: Rows, test: Rows) -> dict[str, Any]:
    figures: dict[str, Any] = {"rows": len(train), "columns": train.shape[1], "density": round(float(train.mean()), 4)}
    baseline = hiddenbits.IndependentBits().fit(train)
    figures["independent"] = round(float(baseline.score(test)), 3)
    for curvature in ("cell", "shared"):
        model, seconds = fitted(train, curvature)
        figures[curvature] = {
            "held_out": round(float(model.score(test)), 3),
            "kind": model.likelihood_,
            "cpu_seconds": round(seconds, 2),
            "passes": model.n_iter_,
            "milliseconds_a_pass": round(1e3 * seconds / model.n_iter_, 2),
        }
    gain = figures["cell"]["held_out"] - figures["independent"]
    loss = figures["cell"]["held_out"] - figures["shared"]["held_out"]
    figures["loss"] = round(loss, 3)
    figures["loss_share_of_gain"] = round(loss / gain, 4) if gain > 0.01 else None  # nothing gained, nothing to lose
    return figures


def wide_rows(n_columns: int) -> Rows:
    """Rows of two groups among many columns, 20% ones."""
    rng = np.random.default_rng(SEED)
    x, W = rng.standard_normal((105, 2)), 0.7 * rng.standard_normal((n_columns, 2))
    return (rng.random((105, n_columns)) < 1.0 / (1.0 + np.exp(1.6 - x @ W.T))).astype(np.uint8)


def wide(curvature: str, n_columns: int, results: Any) -> None:
    """Fit a wide table in this process."""
    warnings.simplefilter("ignore")
    X = wide_rows(n_columns)
    before = peak_memory_mb()
    model, seconds = fitted(X, curvature, max_iter=100)
    results.put(
        {
            "curvature": curvature,
            "columns": n_columns,
            "density": round(float(X.mean()), 3),
            "peak_mb": round(peak_memory_mb()),
            "peak_mb_before_the_fit": round(before),
            "cpu_seconds": round(seconds, 1),
            "passes": model.n_iter_,
            "stop_reason": str(model.stop_reason_),
        }
    )


def in_own_process(curvature: str, n_columns: int) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=wide, args=(curvature, n_columns, results))
    process.start()
    figures: dict[str, Any] = results.get()
    process.join()
    return figures


def sparse_passes(n_rows: int, n_columns: int) -> list[dict[str, Any]]:
    """Time passes over a sparse table, and with all-zero columns beside it."""
    rng = np.random.default_rng(SEED)
    X = sparse.random_array((n_rows, n_columns), density=0.01, random_state=rng, format="csr")
    X.data[:] = 1.0
    found = []
    for columns in (n_columns, 2 * n_columns, 8 * n_columns):
        padded = sparse.csr_array((X.data, X.indices, X.indptr), shape=(n_rows, columns))
        for curvature in ("cell", "shared"):
            if curvature == "cell" and columns > 2 * n_columns:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, seconds = fitted(padded, curvature, max_iter=5)
            cost = {"columns": columns, "ones": X.nnz, "curvature": curvature}
            found.append({**cost, "milliseconds_a_pass": round(1e3 * seconds / model.n_iter_, 1)})
    return found


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    rows = 300 if quick else 10**9
    report = {
        "tables": {name: compare(train[:rows], test[:rows]) for name, (train, test) in tables().items()},
        "wide": [in_own_process(curvature, 2_000 if quick else 91_802) for curvature in ("cell", "shared")],
        "sparse": sparse_passes(2_000 if quick else 20_000, 200 if quick else 1_000),
    }
    record("shared_curvature" + ("_quick" if quick else ""), report, seeds=SEED, tol=TOL)

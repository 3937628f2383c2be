"""A wide sparse table: memory of a fit, and time a pass as columns of zeros are added.

    python -m benchmarks.mixture.retail

`baskets/retail.dat.gz` (88,162 x 16,470, 0.06% ones), 50 classes. A fresh process reports its peak memory for the whole
fit. Then the same table, and one with as many columns of zeros again, are fitted in turn; the ratio is the median over
the rounds.
"""

import json
import statistics
import subprocess
import sys
import time
import warnings

from benchmarks.record import peak_memory_mb, record
from scipy import sparse

import hiddenbits
from hiddenbits.datasets import data_folder

CLASSES, SEED, ROUNDS, PASSES = 50, 0, 15, 24


def mixture(**more):
    return hiddenbits.BernoulliMixture(CLASSES, n_init=1, random_state=SEED, **more)


def memory() -> None:
    """The measured process."""
    before = peak_memory_mb()
    table = hiddenbits.open_table(data_folder() / "baskets" / "retail.dat.gz")
    begun = time.perf_counter()
    model = mixture(tol=1e-5).fit(table)
    seconds = time.perf_counter() - begun
    figures = {
        "peak_memory_mb": round(peak_memory_mb()),
        "memory_before_mb": round(before),
        "seconds": round(seconds, 1),
        "passes": model.n_iter_,
        "converged": model.converged_,
        "mean_log_likelihood": round(model.score(table), 4),
        "mean_log_likelihood_independent_bits": round(hiddenbits.IndependentBits().fit(table).score(table), 4),
    }
    print(json.dumps(figures))


def seconds_a_pass(table: hiddenbits.Table) -> float:
    begun = time.perf_counter()
    mixture(max_iter=PASSES, tol=0.0).fit(table)
    return (time.perf_counter() - begun) / PASSES


def main() -> None:
    call = [sys.executable, "-m", "benchmarks.mixture.retail", "--memory"]
    fit = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    table = hiddenbits.open_table(data_folder() / "baskets" / "retail.dat.gz")
    indptr, indices = table.source.read(0, table.shape[0])[0].ones()
    ones = [1] * len(indices)
    wide = hiddenbits.open_table(sparse.csr_array((ones, indices, indptr), shape=(table.shape[0], 2 * table.shape[1])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the timed fits are not meant to converge
        rounds = [(seconds_a_pass(table), seconds_a_pass(wide)) for _ in range(ROUNDS)]
    ratios = [doubled / plain for plain, doubled in rounds]
    figures = {
        "fit": fit,
        "rows": table.shape[0],
        "columns": table.shape[1],
        "ones": len(indices),
        "milliseconds_a_pass": round(1e3 * statistics.median(plain for plain, _ in rounds), 1),
        "milliseconds_a_pass_with_doubled_columns": round(1e3 * statistics.median(doubled for _, doubled in rounds), 1),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }
    record("mixture/retail", figures, seeds=SEED)


if __name__ == "__main__":
    memory() if "--memory" in sys.argv else main()

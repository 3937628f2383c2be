"""Noisy-OR networks of 100 causes on large tables: memory, time a sweep, and held-out rows beside other models.

    python -m benchmarks.noisy_or.large --full | --quick

`baskets/retail.dat.gz` (88,162 x 16,470, 0.06% ones) and the words of 20newsgroups (`debd/20ng.npz`, 910 columns). A
fresh process fits each model on two threads and reports its peak memory; all score the same held-out rows. Sweeps are
timed on one thread at several numbers of rows, and with a share of the ones taken away, and fitted as a time for each
row and one for each one. --quick takes every twentieth row and ten causes.
"""

import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, peak_memory_mb, record
from scipy import sparse

import hiddenbits
from hiddenbits import BernoulliMixture, CombinationMachine, GibbsChains, IndependentBits, NoisyOrNetwork, open_table
from hiddenbits.datasets import data_folder, load_debd
from hiddenbits.families.noisy_or.gibbs import Network, Ones, sweep

SEED, THREADS = 0, 2
HELD_OUT = {"retail": 1000, "20ng": 500}
CAUSES, PASSES, CLASSES = 100, 12, (20, 50)
UNITS = {"retail": 8, "20ng": 12}  # exact: the time of a machine doubles with each unit, for every column
MODELS = ("noisy-or", "machine", *(f"mixture {k}" for k in CLASSES), "independent")
SWEPT_ROWS, SWEPT_SHARES, TURNS = (0.25, 0.5, 1.0), (0.25, 0.5, 1.0), 5
MOST_SWEPT = 20_000  # rows


def rows_of(name: str, quick: bool) -> tuple[Any, Any]:
    """Return training rows and held-out rows."""
    if name == "20ng":
        splits = load_debd("20ng")
        train, test = sparse.csr_array(splits.train), sparse.csr_array(splits.test)
    else:
        table = open_table(data_folder() / "baskets" / "retail.dat.gz")
        indptr, indices = table.source.read(0, table.shape[0])[0].ones()
        every = sparse.csr_array((np.ones(len(indices), np.uint8), indices, indptr), shape=table.shape)
        order = np.random.default_rng(SEED).permutation(table.shape[0])
        test, train = every[np.sort(order[:10_000])], every[np.sort(order[10_000:])]
    chosen = np.sort(np.random.default_rng(SEED).choice(test.shape[0], HELD_OUT[name], replace=False))
    return (train[::20], test[chosen[::20]]) if quick else (train, test[chosen])


def model_of(which: str, name: str, quick: bool) -> Any:
    causes = 10 if quick else CAUSES
    if which == "noisy-or":
        return NoisyOrNetwork(causes, method="gibbs", chains=GibbsChains(n_passes=PASSES), n_init=1, random_state=SEED)
    if which == "machine":
        return CombinationMachine(UNITS[name], start="noise", max_iter=100, random_state=SEED)
    if which.startswith("mixture"):
        return BernoulliMixture(int(which.split()[1]), n_init=1, tol=1e-4, random_state=SEED)
    return IndependentBits()


def fit(which: str, name: str, quick: bool) -> None:
    """The measured process."""
    warnings.simplefilter("ignore")  # a machine that has not converged is said to have not
    train, test = rows_of(name, quick)
    model = model_of(which, name, quick)
    begun, begun_cpu = time.perf_counter(), time.process_time()
    with hiddenbits.run_on(n_jobs=THREADS):
        model.fit(train)
        seconds, cpu, memory = time.perf_counter() - begun, time.process_time() - begun_cpu, peak_memory_mb()
        begun = time.perf_counter()
        found = model.score_with_error(test) if which == "noisy-or" else (model.score_samples(test), np.zeros(1))
    figures = {
        "seconds": round(seconds, 1),
        "seconds_of_cpu": round(cpu, 1),  # on a machine that is shared the only figure that means something
        "seconds_to_score": round(time.perf_counter() - begun, 1),
        "peak_memory_mb": round(memory),
        "passes": getattr(model, "n_iter_", 1),
        "stop_reason": getattr(model, "stop_reason_", ""),
        "likelihood": model.likelihood_ if which == "noisy-or" else "exact",
        "parameters": int(getattr(model, "n_parameters_", train.shape[1])),
        "rows": [round(float(value), 4) for value in found[0]],
        "row_error": round(float(np.sqrt(np.sum(np.square(found[1])))) / len(found[0]), 4),
    }
    if which == "noisy-or":
        figures["sweeps"] = sweeps(model, train)
    print(json.dumps(figures))


def sweeps(model: NoisyOrNetwork, train: Any) -> dict[str, Any]:
    """Return what a sweep takes, at several numbers of rows and of ones in them."""
    network, rng = Network.of(model.params_), np.random.default_rng(SEED)
    cases = []
    for rows in SWEPT_ROWS:
        for share in SWEPT_SHARES:
            some = sparse.csr_array(train[: int(rows * min(MOST_SWEPT, train.shape[0]))])
            kept = rng.random(some.nnz) < share
            indptr = np.concatenate([[0], np.cumsum(kept)])[some.indptr]
            thin = sparse.csr_array((some.data[kept], some.indices[kept], indptr), shape=some.shape)
            blocks = [
                (ones := Ones.of_block(network.layers[0], block), network.drawn(len(ones.indptr) - 1, rng))
                for block in open_table(thin).grid(1024).blocks
            ]
            times = []
            for turn in range(TURNS + 1):
                begun = time.process_time()
                for ones, states in blocks:
                    sweep(network, ones, states, rng)
                if turn:  # the first one is long: the states are drawn without a look at the rows
                    times.append(time.process_time() - begun)
            cases.append((some.shape[0], thin.nnz, min(times)))
    n, ones, seconds = np.array(cases).T
    per, *_ = np.linalg.lstsq(np.column_stack([n, ones]) / seconds[:, None], np.ones(len(n)), rcond=None)
    predicted = n * per[0] + ones * per[1]
    return {
        "cases": [[int(a), int(b), round(float(s), 5)] for a, b, s in cases],
        "nanoseconds_a_one_and_cause": round(1e9 * per[1] / len(network.priors), 3),
        "nanoseconds_a_row_and_cause": round(1e9 * per[0] / len(network.priors), 2),
        "largest_relative_miss": round(float(np.max(np.abs(predicted / seconds - 1.0))), 3),
        "seconds_a_sweep_of_all_rows": round(float(train.shape[0] * per[0] + train.nnz * per[1]), 3),
    }


def main() -> None:
    quick = asked_quick(__doc__ or "")
    figures: dict[str, Any] = {}
    for name in HELD_OUT:
        found = {}
        for which in MODELS:
            call = [sys.executable, "-m", "benchmarks.noisy_or.large", "--one", which, name, str(int(quick))]
            found[which] = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            print(name, which, found[which]["seconds"], "s,", np.mean(found[which]["rows"]), flush=True)
        ours = np.array(found["noisy-or"]["rows"])
        for f in found.values():
            values = np.array(f.pop("rows"))
            gap = ours - values
            f["held_out"] = round(float(values.mean()), 3)
            f["standard_error"] = round(float(values.std(ddof=1) / np.sqrt(len(values))), 3)
            f["noisy_or_ahead_by"] = round(float(gap.mean()), 3)
            f["standard_error_of_that"] = round(float(gap.std(ddof=1) / np.sqrt(len(gap))), 3)
        train, test = rows_of(name, quick)
        shape = {"rows": train.shape[0], "columns": train.shape[1], "ones": int(train.nnz), "held_out": test.shape[0]}
        figures[name] = {**shape, "causes": 10 if quick else CAUSES, "units": UNITS[name], "models": found}
    record("noisy_or/large_quick" if quick else "noisy_or/large", figures, seeds=SEED, packages=("numba",))


if __name__ == "__main__":
    if "--one" in sys.argv:
        fit(sys.argv[2], sys.argv[3], sys.argv[4] == "1")
    else:
        main()

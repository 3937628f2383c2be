"""The sums over all states of a combination machine against the same enumeration done bare, and what fits cost.

    python -m benchmarks.machines.states --full
    python -m benchmarks.machines.states --quick    (few units; the figures mean nothing, the program runs)

"States": ln Z and its gradient with 20 units and 256 columns, as plain matrix products in NumPy (H W', ln 2cosh, tanh,
two products), by the split enumeration, and by its compiled twin; CPU seconds of one thread, side by side, medians.
"Spikes": 16 units fitted to words of 15 neurons, whose 2^15 states can all be summed. "Ones": a pass over baskets, with
and without as many columns again that hold nothing, and with half the rows: what it costs follows the ones.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record
from threadpoolctl import threadpool_limits

import hiddenbits
from hiddenbits import CombinationMachine
from hiddenbits.datasets import data_folder
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.maths import state_sums
from hiddenbits.maths.state_sums import free_phase, states_of

SEED = 0


def bare(W: Any, th: Any, v: Any) -> tuple[float, Any]:
    """ln Z and E[x h'] by plain products, 4,096 states at a time, with weights relative to a running largest one."""
    m, step = len(th), 4096
    scale, total, joint = -np.inf, 0.0, np.zeros(W.shape)
    for k in range(0, 1 << m, step):
        H = states_of(m, k, min(k + step, 1 << m))
        om = H @ W.T + v
        score = H @ th + np.log(2.0 * np.cosh(om)).sum(axis=1)
        if (largest := float(score.max())) > scale:
            shrink, scale = np.exp(scale - largest), largest
            total, joint = total * shrink, joint * shrink
        p = np.exp(score - scale)
        total += p.sum()
        joint += np.tanh(om).T @ (p[:, None] * H)
    return scale + float(np.log(total)), joint / total


def cpu(function: Callable[[], Any]) -> float:
    begun = time.process_time()
    function()
    return time.process_time() - begun


def states(m: int, d: int, turns: int) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    W, th, v = 0.3 * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d)

    def split(kernel: bool) -> Any:
        state_sums.KERNEL_CELLS = 1 if kernel else 1 << 62
        return free_phase(W, th, v)

    phase, compiled, (log_z, joint) = split(False), split(True), bare(W, th, v)  # compiles, too
    times: dict[str, list[float]] = {"bare": [], "split": [], "kernel": []}
    for _ in range(turns):
        times["bare"].append(cpu(lambda: bare(W, th, v)))
        times["split"].append(cpu(lambda: split(False)))
        times["kernel"].append(cpu(lambda: split(True)))
    return {
        "units": m,
        "columns": d,
        **{f"{name}_cpu_seconds": round(median(seconds), 3) for name, seconds in times.items()},
        "split_over_bare": round(median(s / b for s, b in zip(times["split"], times["bare"], strict=True)), 3),
        "bare_over_kernel": round(median(b / k for k, b in zip(times["kernel"], times["bare"], strict=True)), 2),
        "largest_difference": max(abs(phase.log_partition - log_z), float(abs(phase.joint - joint).max())),
        "largest_difference_of_kernel": float(abs(compiled.joint - phase.joint).max()),
    }


def spikes(m: int, quick: bool) -> dict[str, Any]:
    with np.load(data_folder() / "tables" / "spikes15.npz") as file:
        name = next(iter(file.files))
        X = np.asarray(file[name]).astype(np.uint8)
    X = X if X.shape[1] == 15 else X.T
    X = X[:2000] if quick else X
    begun = time.perf_counter()
    model = CombinationMachine(m, random_state=SEED).fit(X)
    seconds = time.perf_counter() - begun
    words = ((np.arange(1 << 15)[:, None] >> np.arange(15)) & 1).astype(np.uint8)
    log_q = model.score_samples(words)
    counts = np.bincount((X.astype(int) << np.arange(15)).sum(axis=1), minlength=1 << 15)
    p = counts / counts.sum()
    seen = p > 0
    independent = hiddenbits.IndependentBits().fit(X).score_samples(words)
    return {
        "rows": len(X),
        "units": m,
        "seconds": round(seconds, 1),
        "stop": model.stop_reason_,
        "kl_from_words_nats": round(float(p[seen] @ (np.log(p[seen]) - log_q[seen])), 5),
        "kl_of_independent_bits": round(float(p[seen] @ (np.log(p[seen]) - independent[seen])), 5),
        "words_seen": int(seen.sum()),
        "sum_of_all_probabilities_less_1": float(np.exp(log_q).sum() - 1.0),
    }


def pass_seconds(table: Any, model: Combination, params: Any, turns: int) -> float:
    from hiddenbits.engine import Key, Local, block_height
    from hiddenbits.engine.block_statistics import block_statistics

    shared, local = model.prepare(params), Local()
    grid = table.grid(block_height(model.footprint(table.shape[1], table.source.row_cells)))
    times = []
    for _ in range(turns):
        begun = time.process_time()
        local.reduce(lambda block: block_statistics(model, params, shared, Key(0), None, block), grid)
        times.append(time.process_time() - begun)
    return median(times)


def ones(turns: int, quick: bool) -> dict[str, Any]:
    """A data phase with 10 units over retail.dat."""
    from scipy import sparse

    from hiddenbits.families.combination_machine.model import CombinationParams

    X = hiddenbits.open_table(data_folder() / "baskets" / "retail.dat.gz")
    x, _ = X.source.read(0, X.shape[0])
    csr = sparse.csr_array((np.ones(len(x.indices), np.uint8), x.indices, x.indptr), shape=x.shape)
    if quick:
        csr = csr[:2000]
    n, d = csr.shape
    wide = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=(n, 2 * d))
    half = csr[: n // 2]
    model, figures = Combination(10), {"rows": n, "columns": d, "ones": int(csr.nnz)}
    for name, table in (("all", csr), ("twice_the_columns", wide), ("half_the_rows", half)):
        rng = np.random.default_rng(SEED)
        columns = table.shape[1]
        params = CombinationParams.at(0.1 * rng.standard_normal((columns, 10)), np.zeros(10), np.zeros(columns))
        seconds = pass_seconds(hiddenbits.open_table(table), model, params, turns)
        figures[name] = {"milliseconds": round(1000 * seconds, 1), "ones": int(table.nnz)}
        figures[name]["nanoseconds_a_one"] = round(1e9 * seconds / table.nnz, 1)
    return figures


def main() -> None:
    quick = asked_quick(__doc__ or "")
    with threadpool_limits(1):
        figures = {
            "states": states(12, 64, 1) if quick else states(20, 256, 5),
            "ones": ones(3 if quick else 9, quick),
        }
    with hiddenbits.run_on(n_jobs=2):
        figures["spikes"] = spikes(4 if quick else 16, quick)
    record("machines/states_quick" if quick else "machines/states", figures, seeds=SEED, packages=("numba",))


if __name__ == "__main__":
    main()

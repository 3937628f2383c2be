"""What a Gibbs sweep of a noisy-OR network costs: with every cell literally, with zeros linear, and by the ones alone.

python -m benchmarks.noisy_or.sweep            # 1,000 columns, 1.2% ones, 50 causes
"""

import time

import numpy as np
from benchmarks.record import record
from scipy import sparse
from scipy.special import expit

from hiddenbits import open_table
from hiddenbits.families.noisy_or.gibbs import Network, Ones, sweep
from hiddenbits.families.noisy_or.params import NoisyOrParams, log_on

K, D, ROWS, SHARE = 50, 1000, 400, 0.012


def literal(w, leak, prior_odds, x, states, rng):
    """Eq 7 as it stands: for each row and unit the log-probability of every cell, with and without it."""
    for r, row in enumerate(x):
        for i in range(K):
            u = leak + states[r] @ w
            change = -w[i] if states[r, i] else w[i]
            before = np.where(row == 1, log_on(u), -u).sum()
            after = np.where(row == 1, log_on(np.maximum(u + change, 1e-12)), -(u + change)).sum()
            back = -prior_odds if states[r, i] else prior_odds
            if rng.random() < expit(after - before + back):
                states[r, i] ^= 1


def dense(w, leak, prior_odds, x, states, rng):
    """Zeros linear, but every cell in the ratios: as well as NumPy can, a few rows at a time, one log for each unit."""
    totals, keep, one = w.sum(axis=1), np.exp(-w), x == 1
    for start in range(0, len(x), 16):
        rows = slice(start, start + 16)
        s, on = states[rows], one[rows]
        off = np.exp(-(leak + s @ w))
        for i in range(K):
            off = np.where(s[:, i : i + 1], off / keep[i], off)
            ratio = np.where(on, (1.0 - off * keep[i]) / ((1.0 - off) * keep[i]), 1.0)
            odds = prior_odds - totals[i] + np.log(ratio.prod(axis=1))
            s[:, i] = rng.random(len(s)) < expit(odds)
            off = np.where(s[:, i : i + 1], off * keep[i], off)


def best_of(n, function):
    times = []
    for _ in range(n):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    f = np.where(rng.random((K, D)) < 0.02, rng.uniform(0.2, 0.9, (K, D)), 1e-5)
    params = NoisyOrParams.of([np.vstack([f, np.full((1, D), 1e-3)])], np.full(K, 0.06), (0.0, 1.0, 0.0, 0.0, 0.0))
    x = (rng.random((ROWS, D)) < SHARE).astype(np.uint8)
    network = Network.of(params)
    w, leak, odds = params.weights[0][:-1], params.weights[0][-1], float(np.log(0.06 / 0.94))
    block = open_table(sparse.csr_array(x)).grid(ROWS).blocks[0]
    data = Ones.of_block(network.layers[0], block)
    states = network.drawn(ROWS, rng)
    sweep(network, data, states, rng)  # compiles
    seconds = {
        "literal": best_of(1, lambda: literal(w, leak, odds, x[:10], states[0][:10].copy(), rng)) * ROWS / 10,
        "zeros linear, dense": best_of(3, lambda: dense(w, leak, odds, x, states[0].copy(), rng)),
        "by the ones": best_of(20, lambda: sweep(network, data, states, rng)),
    }
    figures = {
        "rows": ROWS,
        "columns": D,
        "causes": K,
        "share_of_ones": SHARE,
        "microseconds_a_row_and_sweep": {name: round(1e6 * value / ROWS, 2) for name, value in seconds.items()},
        "times_by_the_ones": {name: round(value / seconds["by the ones"], 1) for name, value in seconds.items()},
        "goals": {"literal": 100, "zeros linear, dense": 8},
    }
    record("noisy_or/sweep", figures, seeds=0, packages=("numba",))


if __name__ == "__main__":
    main()

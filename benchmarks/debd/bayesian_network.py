"""Which settings suit Bayesian networks with decision trees (network.py) on the tables of the density benchmark.

python -m benchmarks.debd.bayesian_network --quick                       likelihoods of `valid` of nltcs and dna
python -m benchmarks.debd.bayesian_network --full [--only accidents,ad]  tries settings, and prints the best, for recipes.py

Needs HIDDENBITS_DATA. All choices are made on `valid`; `test` stays shut.
"""

import argparse
import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.debd.network import BayesianNetwork, learn
from benchmarks.debd.recipes import NAMES, NOISE

from hiddenbits.datasets import load_debd
from hiddenbits.families.ensemble.pooling import pool

GRID = {"ess": (8.0,), "kappa": (0.01, 0.1, 0.3), "smoothing": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)}


def equal_mixture(rows: list[Any]) -> float:
    """Return the mean log-likelihood of the mixture of networks with equal weights, from those of each row."""
    return float(pool(np.stack(rows, axis=1), np.full(len(rows), 1.0 / len(rows)))[0].mean())


def smoothed(networks: list[BayesianNetwork], X: Any) -> dict[float, tuple[float, float]]:
    """Return, for each smoothing, the score of the first network alone, and that of the mixture of all."""
    leaves = [network.leaves(X) for network in networks]
    found = {}
    for smoothing in GRID["smoothing"]:
        rows = []
        for network, leaf in zip(networks, leaves, strict=True):
            p = replace(network, smoothing=smoothing).probabilities[leaf]
            rows.append(np.log(np.where(X == 1, p, 1.0 - p)).sum(axis=1))
        found[smoothing] = (float(rows[0].mean()), equal_mixture(rows))
    return found


def grid(name: str) -> None:
    """Print the best single network, and the settings of the best mixture of two, on `valid`."""
    splits = load_debd(name)
    begin = time.process_time()
    tried = {}
    for ess, kappa in itertools.product(GRID["ess"], GRID["kappa"]):
        pair = [learn(splits.train, ess=ess, kappa=kappa, smoothing=1.0, noise=NOISE, seed=seed) for seed in (0, 1)]
        tried |= {(ess, kappa, smoothing): both for smoothing, both in smoothed(pair, splits.valid).items()}
    single = max(tried, key=lambda settings: tried[settings][0])
    best = max(tried, key=lambda settings: tried[settings][1])
    print(
        f"{name}: N {' '.join(f'{number:g}' for number in best)} {tried[best][1]:.3f}; alone {single}: {tried[single][0]:.3f};"
        f" {time.process_time() - begin:.0f} s",
        flush=True,
    )


def quick() -> None:
    for name in ("nltcs", "dna"):
        splits = load_debd(name)
        network = learn(splits.train, ess=8.0, kappa=0.1, smoothing=4.0)
        print(f"{name}: valid {network.score_samples(splits.valid).mean():.4f}, {network.n_iter_} splits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for step in ("quick", "full"):
        parser.add_argument(f"--{step}", action="store_true")
    parser.add_argument("--only", help="names of tables, with commas")
    asked = parser.parse_args()
    if asked.quick:
        quick()
    if asked.full:
        for name in asked.only.split(",") if asked.only else NAMES:
            grid(name)


if __name__ == "__main__":
    main()

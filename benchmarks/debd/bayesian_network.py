"""Bayesian networks with decision trees (see network.py) on the tables of the density benchmark.

python -m benchmarks.debd.bayesian_network --quick                       likelihoods of `valid` of nltcs and dna; keeps nothing
python -m benchmarks.debd.bayesian_network --grid [--only accidents,ad]  tries settings, and prints the best as in SETTINGS
python -m benchmarks.debd.bayesian_network --fit [--only accidents,ad]   fits what has not been kept yet
python -m benchmarks.debd.bayesian_network --full                        the same for all tables

Needs HIDDENBITS_DATA. All choices are made on `valid`; `test` stays shut.
"""

import argparse
import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.debd import fits
from benchmarks.debd.network import BayesianNetwork, learn

from hiddenbits.datasets import load_debd
from hiddenbits.families.ensemble.pooling import pool

NOISE = 0.1  # of 0.1, 0.3 and 1 the best for mixtures of five, and better than rows drawn with replacement
FITS = 8  # networks a table
GRID = {"ess": (8.0,), "kappa": (0.01, 0.1, 0.3), "smoothing": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)}

# ess, kappa and smoothing of the best mixture of two networks on `valid`, as --grid prints it
SETTINGS: dict[str, tuple[float, float, float]] = {
    "nltcs": (8.0, 0.3, 4.0),
    "dna": (8.0, 0.01, 1.0),
    "plants": (8.0, 0.3, 16.0),
    "accidents": (8.0, 0.3, 8.0),
    "msnbc": (8.0, 0.3, 4.0),
    "audio": (8.0, 0.3, 32.0),
    "pumsb_star": (8.0, 0.1, 1.0),
    "kdd": (8.0, 0.3, 8.0),
    "msweb": (8.0, 0.1, 32.0),
    "jester": (8.0, 0.3, 32.0),
}


def members(name: str) -> list[fits.Member]:
    """Return the networks of a table; `fits.run` fits and keeps each."""
    settings = dict(zip(GRID, SETTINGS[name], strict=True)) | {"noise": NOISE}
    return [fits.Member("BayesianNetwork", settings, seed) for seed in range(FITS)]


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
        f'    "{name}": {best},  # {tried[best][1]:.3f}; alone {single}: {tried[single][0]:.3f};'
        f" {time.process_time() - begin:.0f} s",
        flush=True,
    )


def fit(names: list[str]) -> None:
    """Fit network after network, and print what `valid` says of each and of their mixture so far."""
    for name in names:
        rows = []
        for member in members(name):
            kept = fits.run(name, member)
            record = kept.record()
            rows.append(kept.valid())
            print(
                f"{name:10s} seed {member.seed}: valid {record['valid']:.4f}, mixture {equal_mixture(rows):.4f},"
                f" {record['passes']} splits, {record['seconds']} s",
                flush=True,
            )


def quick() -> None:
    for name in ("nltcs", "dna"):
        splits = load_debd(name)
        ess, kappa, smoothing = SETTINGS[name]
        network = learn(splits.train, ess=ess, kappa=kappa, smoothing=smoothing)
        print(f"{name}: valid {network.score_samples(splits.valid).mean():.4f}, {network.n_iter_} splits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for step in ("quick", "grid", "fit", "full"):
        parser.add_argument(f"--{step}", action="store_true")
    parser.add_argument("--only", help="names of tables, with commas")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else list(SETTINGS)
    if asked.quick:
        quick()
    if asked.grid:
        for name in names:
            grid(name)
    if asked.fit or asked.full:
        fit(names)


if __name__ == "__main__":
    main()

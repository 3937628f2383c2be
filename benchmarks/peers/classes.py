"""Latent classes beside StepMix and poLCA: processor time on one thread, the programs in turn, medians of several turns.

    python -m benchmarks.peers.classes --quick    (small tables, one turn, without poLCA; nothing is written)
    python -m benchmarks.peers.classes --full     (ten minutes; --defaults: the first part alone)

- defaults: `LatentClassAnalysis(4)` and `StepMix(4)`, ten tables of 1,000 x 20 bits of each design of
  `benchmarks.starts.classes` that has four classes.
- levels: 20,000 x 50 columns of five levels, four classes, complete and with 10% of the cells missing. StepMix makes its
  one-hot columns in every pass; it is also run with columns that are coded once, before its fit.
- election: the twelve items of poLCA's own example, three classes. Neither program computes errors.

In the last two there is no prior, and both programs begin with the same parameters. Each is first fitted to its end;
then seconds are those of a fit that stops with the first pass that is within 1e-6 nats a row of the lower of the two
ends. Opening the table counts. poLCA is built from its repository; StepMix has an environment of its own.
"""

import os
import subprocess
import tempfile
import time
import warnings
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.peers.environments import peer_python, peer_versions
from benchmarks.peers.jobs import Peer
from benchmarks.peers.turns import FITS, versions_of
from benchmarks.record import asking, record
from benchmarks.starts.classes import DESIGNS, FIRST_SEED, simulated

from hiddenbits import LatentClassAnalysis
from hiddenbits.datasets import data_folder

SEED, TURNS, CLOSE = 0, 3, 1e-6
STEPMIX = ("stepmix", "3.0.0")
ONE_THREAD = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
CONCENTRATIONS = {"classes apart": 1.0, "classes that overlap": 8.0}  # of the Dirichlet distribution of profiles


class Fit(NamedTuple):
    """What a program came to; `trace` has the log-likelihood after each pass."""

    log_likelihood: float
    passes: int
    seconds: float
    trace: Any


def stepmix(**work: Any) -> Any:
    """Return what StepMix finds, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/work.npz", **work)
        call = [peer_python(*STEPMIX), FITS / "stepmix_levels_fit.py", f"{folder}/work.npz", f"{folder}/path.npz"]
        subprocess.run(call, check=True, env=ONE_THREAD)
        with np.load(f"{folder}/path.npz") as arrays:
            return dict(arrays)


def defaults(quick: bool) -> dict[str, Any]:
    found = {}
    for name, design in DESIGNS.items():
        if len(design.shares) != 4:
            continue
        tables = [simulated(design, seed)[0] for seed in range(FIRST_SEED, FIRST_SEED + (2 if quick else 10))]
        LatentClassAnalysis(4, random_state=SEED).fit(tables[0])
        seconds: list[Any] = []
        for _ in range(1 if quick else TURNS):
            theirs = stepmix(
                **{f"X_{i}": X for i, X in enumerate(tables)}, measurement="binary", classes=4, passes=1000
            )
            ours = [timed(LatentClassAnalysis(4, random_state=SEED).fit, X) for X in tables]
            seconds.append([[taken for _, taken in ours], theirs["seconds"]])
        higher = [
            len(X) * (model.score(X) - mean)
            for (model, _), X, mean in zip(ours, tables, theirs["trace"][:, -1], strict=True)
        ]
        totals = np.median(seconds, axis=0).sum(axis=1)
        found[name] = {
            "seconds": [round(float(total), 3) for total in totals],
            "times_faster": round(float(totals[1] / totals[0]), 2),
            "higher_by": [round(float(value), 2) for value in higher],
        }
        print(name, found[name], flush=True)
    return found


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    begun = time.process_time()
    result = work(*given)
    return result, time.process_time() - begun


def ours(X: Any, shares: Any, profiles: Any, passes: int, **of: Any) -> Fit:
    """Fit from parameters: shares of classes, and (classes, levels of all columns)."""
    model = LatentClassAnalysis(len(shares), prior_strength=0, n_init=1, max_iter=1, random_state=SEED, **of).fit(X)
    model._params = replace(model._params, weights=shares, probabilities=np.ascontiguousarray(profiles.T))
    fitted, taken = timed(model.set_params(tol=1e-12, max_iter=passes)._refit, X)
    return Fit(float(fitted.trace_[-1]), len(fitted.trace_), taken, fitted.trace_)


def stepmix_levels(X: Any, shares: Any, profiles: Any, passes: int, *, coded: bool = False) -> Fit:
    given = {"shares": shares, "profiles": profiles, "classes": len(shares), "passes": passes}
    levels = profiles.shape[1] // X.shape[1]
    given["measurement"] = "categorical_nan" if np.isnan(X).any() else "categorical"
    if coded:
        one_hot = np.where(np.isnan(X)[:, :, None], np.nan, X[:, :, None] == np.arange(levels))
        X, given = one_hot.reshape(len(X), -1), {**given, "outcomes": levels}
    found = stepmix(X_0=X, **given)
    trace = len(X) * found["trace"][0]
    return Fit(float(trace[-1]), len(trace) - 1, float(found["seconds"][0]), trace[1:])


def polca(X: Any, _: Any, profiles: Any, passes: int) -> Fit:
    """Fit from profiles; poLCA begins with equal shares."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X.to_csv(folder / "table.csv", index=False)
        np.savetxt(folder / "start.csv", profiles.T, delimiter=",", fmt="%.17g")
        call = ["Rscript", FITS / "polca_fit.R", folder, str(passes)]
        subprocess.run(call, check=True, env=ONE_THREAD, stdout=subprocess.DEVNULL)
        llik, done, seconds = np.loadtxt(folder / "found.csv")
    return Fit(float(llik), int(done), float(seconds), None)


def fewest(fit: Callable[..., Fit], end: Fit, target: float) -> int:
    """Return the fewest passes that reach a log-likelihood."""
    if end.trace is not None:
        return int(np.argmax(end.trace >= target)) + 1
    return bisect_left(range(1, end.passes), True, key=lambda n: fit(passes=n).log_likelihood >= target) + 1


def beside(mine: Callable[..., Fit], theirs: Callable[..., Fit], rows: int, turns: int) -> dict[str, Any]:
    """Return both programs' figures to the same log-likelihood."""
    both = (mine, theirs)
    ends = [fit(passes=10_000) for fit in both]
    target = min(end.log_likelihood for end in ends) - CLOSE * rows
    passes = [fewest(fit, end, target) for fit, end in zip(both, ends, strict=True)]
    fits = [[fit(passes=n) for fit, n in zip(both, passes, strict=True)] for _ in range(turns)]
    seconds = np.array([[fit.seconds for fit in turn] for turn in fits])
    ratios = seconds[:, 1] / seconds[:, 0]
    return {
        "rows": rows,
        "ends": [round(end.log_likelihood, 4) for end in ends],
        "log_likelihoods": [round(fit.log_likelihood, 4) for fit in fits[0]],
        "passes": passes,
        "seconds": [float(f"{value:.4g}") for value in np.median(seconds, axis=0)],
        "times_faster": round(float(np.median(ratios)), 2),
        "ratios": [round(float(ratio), 2) for ratio in ratios],
    }


def survey(rows: int, concentration: float, columns: int = 50, levels: int = 5, classes: int = 4) -> Any:
    """Return simulated answers, and parameters to begin with: the levels' shares, halfway to random profiles."""
    rng = np.random.default_rng(SEED)
    profiles = rng.dirichlet(np.full(levels, concentration), (classes, columns))
    cuts = profiles.cumsum(axis=2)[rng.choice(classes, rows)]
    X = (rng.random((rows, columns, 1)) > cuts).sum(axis=2).clip(max=levels - 1).astype(np.float64)
    means = (X[:, :, None] == np.arange(levels)).mean(axis=0)
    start = 0.5 * (means + rng.dirichlet(np.ones(levels), (classes, columns)))
    return X, np.full(classes, 1.0 / classes), start.reshape(classes, -1)


def levels(quick: bool) -> dict[str, Any]:
    found = {}
    for (kind, concentration), share in product(CONCENTRATIONS.items(), (0.0, 0.1)):
        X, shares, start = survey(1_000 if quick else 20_000, concentration)
        X[np.random.default_rng(SEED + 1).random(X.shape) < share] = np.nan
        mine = partial(ours, X, shares, start, column_types="nominal")
        for coded, peer in ((False, "StepMix"), (True, "StepMix, one-hot columns")):
            theirs = partial(stepmix_levels, X, shares, start, coded=coded)
            name = f"{kind}, {f'{share:.0%} missing' if share else 'complete'}, {peer}"
            found[name] = beside(mine, theirs, len(X), 1 if quick else TURNS)
            print(name, found[name], flush=True)
    return found


def election(turns: int) -> dict[str, Any]:
    texts = pd.read_csv(data_folder() / "survey" / "election.csv").iloc[:, :12]
    every = texts.apply(lambda column: column.str[0].astype(float))
    found = {}
    for name, X in {"complete rows": every.dropna(), "all rows": every}.items():
        shares, profiles = np.full(3, 1 / 3), np.random.default_rng(SEED).dirichlet(np.ones(4), (3, 12)).reshape(3, -1)
        mine = partial(ours, X.to_numpy(), shares, profiles, column_types="nominal")
        found[name] = beside(mine, partial(polca, X, shares, profiles), len(X), turns)
        print(name, found[name], flush=True)
    return found


def main() -> None:
    parser = asking(str(__doc__))
    parser.add_argument("--defaults", action="store_true", help="the defaults alone, which have a record of their own")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    peers = {name: number for name, number in peer_versions(*STEPMIX).items() if name in ("stepmix", "numpy")}
    found = defaults(asked.quick)
    if asked.full:
        record("peers/class_defaults", found, seeds=[SEED, FIRST_SEED], turns=TURNS, peers=peers)
    if asked.defaults:
        return
    figures = {"levels": levels(asked.quick)}
    if asked.full:
        figures["election"] = election(TURNS)
        peers |= versions_of(Peer("poLCA", "polca_fit.R"))
        record("peers/classes", figures, seeds=[SEED, FIRST_SEED], aloud=False, turns=TURNS, close=CLOSE, peers=peers)


if __name__ == "__main__":
    main()

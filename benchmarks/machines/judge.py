"""The tables of the machines' benchmark, the runs of its peers, and one judge of held-out likelihood for all programs.

Peers count their visible bits as 0 and 1, ours as -1 and +1. With x = (s + 1) / 2 a machine a.x + h.(b + U'x) is ours with

    W = U / 2,   th = b + Sum_j U_j / 2,   v = a / 2,

but for a constant that goes into ln Z. ln Z is exact up to 20 units; beyond, it is our annealed importance sampling for everybody.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import Any

import numpy as np
from benchmarks.environments import peer_python
from numpy.typing import NDArray

import hiddenbits
from hiddenbits.datasets import data_folder, load_debd, load_usps
from hiddenbits.engine import current
from hiddenbits.families.combination_machine.model import UNKNOWN, Combination, CombinationParams
from hiddenbits.families.combination_machine.model_chains import EXACT_UNITS
from hiddenbits.maths.annealed_importance import log_partition

Floats = NDArray[np.float64]
Rows = NDArray[np.uint8]
FITS = File(__file__).parents[1] / "peers" / "fits"
SEED = 0
RBMS = ("rbms", "0.5.0", "torch==2.13.0")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TEMPERATURES = 10_000  # of the annealed estimates


def tables(quick: bool = False) -> dict[str, tuple[Rows, Rows, Rows]]:
    """Rows to train on, to choose by, and held out. USPS has none to choose by: a fifth of its training rows.

    Training rows are shuffled, since BernoulliRBM takes them as they come.
    """
    nltcs, usps = load_debd("nltcs"), load_usps()
    order, cut = np.random.default_rng(SEED).permutation(len(usps.train)), len(usps.train) * 4 // 5
    found = {
        "nltcs": (nltcs.train, nltcs.valid, nltcs.test),
        "USPS": (usps.train[order[:cut]], usps.train[order[cut:]], usps.test),
    }
    for name in ("mushrooms", "ocr_letters"):
        with np.load(data_folder() / "tables" / f"{name}.npz") as file:
            found[name] = tuple(file[part].astype(np.uint8) for part in ("train", "valid", "test"))
    rng = np.random.default_rng(SEED)
    found = {name: (rng.permutation(train), valid, test) for name, (train, valid, test) in found.items()}
    if quick:
        found = {name: (train[:1000], valid[:500], test[:500]) for name, (train, valid, test) in found.items()}
    return found


def run_peer(name: str, X: Rows, threads: int, **options: Any) -> dict[str, Any]:
    """Train a peer in a process of its own; return its places, with parameters in its own convention.

    On one thread the limit `most` is in CPU seconds, so that a busy machine does no harm; otherwise in seconds.
    """
    python = peer_python(*RBMS) if name == "rbms" else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        work, path = File(folder) / "work.npz", File(folder) / "path.npz"
        clock = "process_time" if threads == 1 else "perf_counter"  # threads that wait for work take CPU time, too
        np.savez(work, X=X, seed=SEED, threads=threads, clock=clock, **options)
        call = [python, FITS / f"{name}_fit.py", work, path]
        subprocess.run(call, check=True, env={**os.environ, **dict.fromkeys(THREADS, str(threads))})
        with np.load(path) as arrays:
            return {key: arrays[key] for key in arrays.files}


def in_our_convention(weights: Floats, hidden: Floats, visible: Floats) -> tuple[Floats, Floats, Floats]:
    """Return W, th and v of a machine whose visible bits are 0 and 1."""
    return weights / 2.0, hidden + weights.sum(axis=0) / 2.0, visible / 2.0


@dataclass
class Judge:
    """Scores rows under any machine."""

    train: Rows
    valid: Rows
    test: Rows
    means: Floats = field(init=False)

    def __post_init__(self) -> None:
        counts = self.train.sum(axis=0)
        self.means = (counts + 1.0) / (len(self.train) + 2.0)

    def machine(self, W: Floats, th: Floats, v: Floats) -> CombinationParams:
        """Return the machine with its ln Z, exact or estimated; of an estimate that is not to be trusted ln Z is NaN."""
        if len(th) <= EXACT_UNITS:
            return CombinationParams.at(W, th, v)
        unknown = CombinationParams(W, th, v, np.zeros(()), np.asarray(UNKNOWN))
        with hiddenbits.run_on(n_jobs=2):
            rng, run = np.random.default_rng(SEED), current().executor.run
            found = log_partition(W, th, v, self.means, rng, n_temperatures=TEMPERATURES, run=run)
        return replace(unknown, log_partition=np.asarray(found.log_z), partition_error=np.asarray(found.standard_error))

    @staticmethod
    def rows(params: CombinationParams, X: Rows) -> Floats:
        """Return ln P of each row."""
        model = Combination(params.n_units)
        shared = model.prepare(params)
        blocks = hiddenbits.open_table(X).grid(2048).blocks
        return np.concatenate([model.log_likelihood(params, shared, block) for block in blocks])


@dataclass
class Path:
    """Where a fit was at some places of its way, in our convention, and what the judge says of them, asked when needed."""

    judge: Judge
    machines: list[tuple[Floats, Floats, Floats]]
    known: dict[int, CombinationParams] = field(default_factory=dict)
    found: dict[tuple[int, str], Floats] = field(default_factory=dict)

    @classmethod
    def of_peer(cls, judge: Judge, fit: dict[str, Any]) -> "Path":
        places = zip(fit["weights"], fit["hidden"], fit["visible"], strict=True)
        return cls(judge, [in_our_convention(*place) for place in places])

    @property
    def last(self) -> int:
        return len(self.machines) - 1

    def at(self, place: int) -> CombinationParams:
        if place not in self.known:
            self.known[place] = self.judge.machine(*self.machines[place])
        return self.known[place]

    def rows(self, place: int, part: str = "test") -> Floats:
        if (place, part) not in self.found:
            self.found[place, part] = self.judge.rows(self.at(place), getattr(self.judge, part))
        return self.found[place, part]

    def mean(self, place: int, part: str = "test") -> float:
        """Return the mean ln P; minus infinity where there is no figure to be trusted."""
        value = float(self.rows(place, part).mean())
        return value if np.isfinite(value) else -np.inf

    def best(self) -> int:
        """The place with the best likelihood of the rows to choose by."""
        return max(range(len(self.machines)), key=lambda place: self.mean(place, "valid"))

    def reaches(self, level: float) -> int | None:
        """Return the first place that is at a level or above, up to the best one; a fit could be stopped there."""
        return next((place for place in range(len(self.machines)) if self.mean(place) >= level), None)

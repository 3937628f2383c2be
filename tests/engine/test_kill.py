"""kill -9 of a fitting process at a random moment: the resumed fit equals the uninterrupted one, bit for bit.

Real processes, real signals. The child is killed while it walks the table or writes its checkpoint; then the file must
be readable, and another process that runs the same program must end with the same bits.
"""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits.datasets import simulate_mixture
from hiddenbits.store import read

pytestmark = [pytest.mark.core, pytest.mark.slow]
PRELOAD = [
    "hiddenbits.families.item_response.estimator",
    "hiddenbits.families.latent_class_analysis.estimator",
    "hiddenbits.families._base.persistence",
    "hiddenbits.datasets",
]


def fit_and_save(folder: str, seed: int) -> None:
    """The program that is killed: fit with a checkpoint, then save."""
    X = simulate_mixture(3000, 20, 4, random_state=seed).X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < 0.05] = np.nan
    types, covariance_type = "auto", ("full", "tied_diag")[seed // 2 % 2]
    if seed % 2:  # six columns of four levels, two continuous ones and two of counts instead of twenty bits
        X = X[:, ::2] + 2 * X[:, 1::2]
        X[:, 6:8] += np.random.default_rng(seed).standard_normal((len(X), 2))
        types = {"*": "nominal", "6": "continuous", "7": "continuous", "8": "count", "9": "count"}
    common = {"column_types": types, "n_init": 2, "max_iter": 60, "tol": 1e-9, "random_state": seed}
    if seed % 4 == 3:
        model = hiddenbits.ItemResponseModel(**common)
    else:
        model = hiddenbits.LatentClassAnalysis(4, covariance_type=covariance_type, **common)
    with hiddenbits.run_on(n_jobs=1 + (seed + seed // 2) % 2, checkpoint=Path(folder) / "fit.hb"):
        model.fit(X)
    model.save(Path(folder) / "model.hb")


def run(folder: Path, seed: int, kill_after: float | None = None, *, saved: bool = False) -> tuple[bool, float]:
    """Run the program; kill it after some seconds, or so long after its first checkpoint. Return (killed, seconds)."""
    child = multiprocessing.get_context("forkserver").Process(target=fit_and_save, args=(str(folder), seed))
    begun = time.perf_counter()
    child.start()
    while saved and child.is_alive() and not (folder / "fit.hb").exists():
        child.join(0.002)
    child.join(kill_after)
    killed = child.is_alive()
    if killed:
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    elif child.exitcode != 0:
        raise RuntimeError(f"The fitting process ended with {child.exitcode}.")
    return killed, time.perf_counter() - begun


def trial(folder: Path, seed: int, rng: np.random.Generator) -> tuple[int, int]:
    """Kill one fit at random moments until a run is left alone; return (kills, kills that left a checkpoint)."""
    whole, broken = folder / "whole", folder / "broken"
    whole.mkdir(parents=True)
    broken.mkdir()
    _, seconds = run(whole, seed)
    kills = readable = 0
    for saved in (False, True):  # at any moment, and when there is something to resume
        share = rng.uniform(0.0, 0.3) if saved else rng.uniform(0.05, 0.9)
        killed, _ = run(broken, seed, share * seconds, saved=saved)
        if not killed:
            break
        kills += 1
        if (broken / "fit.hb").exists():
            assert read(broken / "fit.hb").kind == "checkpoint"  # never half-written
            readable += 1
    run(broken, seed)
    assert (whole / "model.hb").read_bytes() == (broken / "model.hb").read_bytes()
    return kills, readable


def test_killed_fits_resume_to_the_same_bits(short, tmp_path):
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
    times, rng = 4 if short else 20, np.random.default_rng(0)
    kills = readable = number = 0
    while kills < times:
        more, left = trial(tmp_path / str(number), number, rng)
        kills, readable, number = kills + more, readable + left, number + 1
    assert readable >= times // 4  # these kills came after the first checkpoint, so resuming is what was tested

"""Fields of natural patches where causes add up, where the largest shows, and where the largest magnitude shows.

All on the same patches, in a size that a row's cost of states x pixels allows, for several numbers of causes.
"""

from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from cells import Cells
from common import NO_DATA, have_data
from natural import described
from patches import natural

from hiddenbits import Annealing, BinarySparseCoding, load

SEEDS = {"patches": 0, "starts": 0}
WAYS = ("linear", "max", "max_magnitude")
CAUSES, SIDE, PATCHES, HELD_OUT, PASSES = (100, 200, 400), 10, 8_000, 2_000, 40
CANDIDATES, ACTIVE = 6, 3
QUICK = {"causes": (8,), "side": 6, "patches": 400, "passes": 6}


def model(way: str, causes: int, passes: int) -> BinarySparseCoding:
    """From the mean patch and pi H = 1 as in the paper, few states, every patch counts; the same for all ways."""
    start: dict[str, Any] = {"start": "mean", "start_active": 1.0, "temperature": 1.0}
    states: dict[str, Any] = {"wide_candidates": CANDIDATES, "wide_active": ACTIVE}
    course = Annealing(n_passes=passes, data_cut=False, settle=False, **start, **states)
    few: dict[str, Any] = {"n_candidates": CANDIDATES, "max_active": ACTIVE, "n_init": 1, "dtype": "float32"}
    return BinarySparseCoding(causes, superposition=way, schedule=course, random_state=SEEDS["starts"], **few)


def place(folder: Path, way: str, causes: int) -> Path:
    return folder / f"superposed_{way}_{causes}.model"


def fields(folder: Path, way: str, causes: int) -> np.ndarray:
    """The fields of a fit that was kept."""
    return np.asarray(load(place(folder, way, causes)).components_)


def one(folder: Path, way: str, causes: int, *, side: int, patches: int, passes: int) -> dict[str, Any]:
    """Fit, keep the model, and tell of it; the held-out patches are the last."""
    X = natural(patches + HELD_OUT, side, SEEDS["patches"])
    begin = process_time()
    fitted = model(way, causes, passes).fit(X[:patches])
    seconds = process_time() - begin
    folder.mkdir(parents=True, exist_ok=True)
    fitted.save(place(folder, way, causes))
    held_out = fitted.score_samples(X[patches:])
    return {
        "way": way,
        "causes": causes,
        "active": fitted.n_active_,
        "noise": fitted.noise_,
        "objective": float(fitted.trace_[-1]) / patches,
        "held_out": float(held_out.mean()),
        "held_out_error": float(held_out.std(ddof=1) / np.sqrt(len(held_out))),
        "processor_seconds": seconds,
    } | described(fitted.components_, side)


def measure(cells: Cells, folder: Path, *, full: bool) -> dict[str, Any] | str:
    """Sizes, and for each superposition and number of causes what was found."""
    if not have_data():
        return NO_DATA
    size = {"side": SIDE, "patches": PATCHES, "passes": PASSES} if full else QUICK
    causes = CAUSES if full else QUICK["causes"]
    size = {name: value for name, value in size.items() if name != "causes"}
    fits = []
    for way in WAYS:
        for n in causes:
            fits.append(cells.get(f"{way}, {n}", partial(one, folder, way, n, **size)))
            print(f"  {way}, H = {n}: {fits[-1]['processor_seconds']:.0f} s", flush=True)
    return {**size, "held_out": HELD_OUT, "candidates": CANDIDATES, "max_active": ACTIVE, "fits": fits}

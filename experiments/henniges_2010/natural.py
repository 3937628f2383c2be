"""Patches of natural images, in a size that takes a minute: sparseness, noise, shapes of the fields (Figure 2)."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from cells import Cells
from common import NO_DATA, have_data
from field_shapes import BlobFits, GaborFits, fit_blobs, fit_gabors, globular
from patches import natural
from watch import AfterEachPass

from hiddenbits import BinarySparseCoding, load

SEEDS = {"patches": [0, 1, 2], "starts": [0, 1, 2]}
GABOR = 0.8  # R^2 from which on a field counts as a Gabor function


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    causes: int = 100
    candidates: int = 8
    active: int = 6
    patches: int = 20_000
    side: int = 12
    passes: int = 100
    annealed: bool = False
    cut: bool = True
    filter_width: float = 1.0
    seed: int = 0

    def rows(self) -> np.ndarray:
        return natural(self.patches, self.side, self.seed, self.filter_width)

    def model(self) -> BinarySparseCoding:
        """The paper's settings for images, in this size; or ours: from noise, with annealing."""
        model = BinarySparseCoding.paper("images", random_state=self.seed)
        model.set_params(
            n_components=self.causes,
            n_candidates=self.candidates,
            max_active=self.active,
            schedule__wide_candidates=self.candidates,
            schedule__wide_active=self.active,
            schedule__n_passes=self.passes,
            schedule__data_cut=self.cut,
            dtype="float32",
        )
        if not self.annealed:
            return model
        ours = {"start": "noise", "start_active": 5.0, "temperature": 3.0}
        return model.set_params(**{f"schedule__{name}": value for name, value in ours.items()})


REDUCED = "H = 100, 8 candidates of which 6"
ANNEALED = "the same, annealed, from noise"
SETTINGS = {
    REDUCED: Setting(),
    "the same, no data cut": Setting(cut=False),
    ANNEALED: Setting(annealed=True),
    "H = 50": Setting(causes=50),
    "H = 200": Setting(causes=200),
    "8 candidates of which 3": Setting(active=3),
    "10 candidates of which 8": Setting(candidates=10, active=8),
    "filter of 2 and 6 pixels": Setting(filter_width=2.0),
    "the first again, seed 1": Setting(seed=1),
    "the first again, seed 2": Setting(seed=2),
    "annealed again, seed 1": Setting(annealed=True, seed=1),
    "annealed again, seed 2": Setting(annealed=True, seed=2),
}
AGAIN = (REDUCED, "the first again, seed 1", "the first again, seed 2")
FROM_NOISE = (ANNEALED, "annealed again, seed 1", "annealed again, seed 2")
SMALL = "small"
QUICK = {SMALL: Setting(causes=24, patches=2_000, side=8, passes=40)}


def place(folder: Path, name: str) -> Path:
    """Where the model of a setting is kept."""
    return folder / f"natural_{list(SETTINGS | QUICK).index(name)}.model"


def fitted(name: str, folder: Path) -> BinarySparseCoding:
    """The model of a setting: read, or fitted if it is not there."""
    if not place(folder, name).is_file():
        one(folder, name)
    return load(place(folder, name))


def one(folder: Path, name: str) -> dict[str, Any]:
    """Fit a setting, keep the model, and tell of it."""
    setting = (SETTINGS | QUICK)[name]
    X, course, begin = setting.rows(), [], process_time()
    model = setting.model().set_callbacks(AfterEachPass(lambda now: course.append((now.n_active_, now.noise_)))).fit(X)
    seconds = process_time() - begin
    folder.mkdir(parents=True, exist_ok=True)
    model.save(place(folder, name))
    return {
        "active": [active for active, _ in course],
        "noise": [noise for _, noise in course],
        "spread": float(X.std()),
        "objective": float(model.trace_[-1]) / len(X),
        "processor_seconds": seconds,
    }


def shapes(folder: Path, name: str) -> dict[str, Any]:
    """How many fields of a setting are Gabor functions, how many globular, and how large they are."""
    return described(fitted(name, folder).components_, (SETTINGS | QUICK)[name].side)


def described(fields: np.ndarray, side: int) -> dict[str, Any]:
    """The same of any square fields: rows of side x side pixels."""
    return told(fields, fit_gabors(fields, (side, side)), fit_blobs(fields, (side, side)))


def told(fields: np.ndarray, gabors: GaborFits, blobs: BlobFits) -> dict[str, Any]:
    """The same of fields whose shapes have been fitted."""
    like, left = gabors.r2 > GABOR, ((fields - gabors.images()) ** 2).sum(axis=1)
    return {
        "gabor_share": float(like.mean()),
        "gabor_share_of_squares": float((1.0 - left / (fields**2).sum(axis=1) > GABOR).mean()),
        "gabor_median": float(np.median(gabors.r2)),
        "globular_share": float(globular(gabors, blobs).mean()),
        "composed_share": float((np.fmax(gabors.r2, blobs.r2) < GABOR).mean()),  # neither: curved, composed, or noise
        "blob_share": float((blobs.r2 > GABOR).mean()),
        "near_origin_share": float(((gabors.n_x < 0.2) & (gabors.n_y < 0.2) & like).mean()),
        "width": float(np.median(np.sqrt(gabors.along * gabors.across)[like])) if like.any() else float("nan"),
        "roundness": (blobs.r2 / gabors.r2).tolist(),
    }


def measure(cells: Cells, folder: Path, *, full: bool) -> dict[str, Any] | str:
    """Setting -> what was found."""
    if not have_data("patches of natural images"):
        return NO_DATA
    names = list(SETTINGS if full else QUICK)
    fits = cells.each("fits", partial(one, folder), names)
    seen = cells.each("shapes", partial(shapes, folder), names)
    return {name: fit | shape for name, fit, shape in zip(names, fits, seen, strict=True)}

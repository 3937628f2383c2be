"""Patches of natural images, in a size that takes a minute: sparseness, noise, shapes of the fields (Figure 2)."""

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pictures
from bars import each
from common import Run, have_data
from field_shapes import fit_blobs, fit_gabors, globular
from patches import natural

from hiddenbits import BinarySparseCoding

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


class AfterEachPass:
    """A callback of scikit-learn's that keeps sparseness and noise after each pass."""

    def __init__(self) -> None:
        self.course: list[tuple[float, float]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        """Look at a pass; the answer is that the fit need not stop."""
        if context.task_name == "pass":
            self.course.append((fitted_estimator.n_active_, fitted_estimator.noise_))
        return False


def one(setting: Setting) -> tuple[dict[str, Any], np.ndarray]:
    """Fit a setting; what was found, and the fields."""
    X, watch = natural(setting.patches, setting.side, setting.seed, setting.filter_width), AfterEachPass()
    begin = process_time()
    model = setting.model().set_callbacks(watch).fit(X)
    seconds = process_time() - begin
    found = {
        "active": [active for active, _ in watch.course],
        "noise": [noise for _, noise in watch.course],
        "spread": float(X.std()),
        "objective": float(model.trace_[-1]) / len(X),
        "processor_seconds": seconds,
    }
    return found | shapes(model.components_, setting.side), model.components_


def shapes(fields: np.ndarray, side: int) -> dict[str, Any]:
    """How many fields are Gabor functions, how many globular, and how large they are."""
    gabors, blobs = fit_gabors(fields, (side, side)), fit_blobs(fields, (side, side))
    like, left = gabors.r2 > GABOR, ((fields - gabors.images()) ** 2).sum(axis=1)
    return {
        "gabor_share": float(like.mean()),
        "gabor_share_of_squares": float((1.0 - left / (fields**2).sum(axis=1) > GABOR).mean()),
        "gabor_median": float(np.median(gabors.r2)),
        "globular_share": float(globular(gabors, blobs).mean()),
        "near_origin_share": float(((gabors.n_x < 0.2) & (gabors.n_y < 0.2) & like).mean()),
        "width": float(np.median(np.sqrt(gabors.along * gabors.across)[like])) if like.any() else float("nan"),
        "roundness": (blobs.r2 / gabors.r2).tolist(),
    }


def measure(run: Run) -> dict[str, Any] | None:
    """Setting -> what was found. The fields of the first are drawn."""
    if not have_data("natural images"):
        return None
    settings = SETTINGS if run.full else QUICK
    fits = dict(zip(settings, each(one, settings.values()), strict=True))
    found, fields = next(iter(fits.values()))
    pictures.fields(run.figures, fields, found["roundness"])
    return {name: found for name, (found, _) in fits.items()}

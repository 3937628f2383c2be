"""The course of a fit to the bars: sparseness and noise after each pass, from two starts (Figure 1)."""

from typing import Any

import numpy as np
from bars_data import errors, images, in_one_order, recovered
from watch import AfterEachPass

from hiddenbits import BinarySparseCoding

SEEDS = {"data": 1, "starts": 1}  # the first with which both starts find all bars
ROWS, SHOWN = 500, 12  # N of the figure's caption (the text has 1,000); images of Figure 1A
STARTS = {"pi H = 5": 5.0, "pi H = 1": 1.0}
PASSES = (1, 2, 5, 10, 20, 40, 60)  # whose fields are kept, for Figure 1B


def followed(start_active: float) -> dict[str, Any]:
    """Fit by the paper's settings, and keep the course. Fields stand in the order of the bars they end at."""
    X, bars = images(SEEDS["data"], ROWS)
    course: list[tuple[float, float, np.ndarray]] = []
    model = BinarySparseCoding.paper("bars", random_state=SEEDS["starts"]).set_params(
        schedule__start_active=start_active
    )
    model.set_callbacks(AfterEachPass(lambda now: course.append((now.n_active_, now.noise_, now.components_)))).fit(X)
    fields = in_one_order([fields for _, _, fields in course])
    order = np.argsort(errors(fields[-1], bars)[0], kind="stable")
    return {
        "start_noise": float(np.sqrt(X.var(axis=0).mean())),  # root of the mean variance of a pixel
        "recovered": recovered(model.components_, bars),
        "active": [active for active, _, _ in course],
        "noise": [noise for _, noise, _ in course],
        "fields": {str(number): np.round(fields[number - 1][order], 3).tolist() for number in PASSES},
    }


def measure() -> dict[str, Any]:
    """Follow both starts; that is cheap, so that a quick run has all of it."""
    return {"rows": ROWS, "starts": {name: followed(start) for name, start in STARTS.items()}}

"""Table 1: final error and time, variational against sampling, and Figure 3: error against time.

Times are processor seconds of one thread: waiting for a busy machine does not count.
"""

import time
from typing import Any

import numpy as np
from common import Run, have_data

import data
from hiddenbits import IndependentColumns, LogisticPCA
from hiddenbits.options import Quadrature, Variational

SEEDS = {"synthetic data": 3, "spread over synthetic data": list(range(10)), "start": 0}
# The paper's two programs and, beside them, what this library offers: the polished bound and exact EM on a grid.
METHODS: dict[str, dict[str, Any]] = {
    "variational": {"method": Variational(refine=False)},
    "sampling": {"method": "sampling"},
    "polished": {"method": Variational(refine=True)},
    "quadrature": {"method": Quadrature(n_nodes=101)},
}
SNAPSHOTS = 8  # points of a curve
CURVE_ROWS = 300  # rows, evenly spread, on which the points of a curve are scored


class Watch:
    """Notes the time of each pass, and keeps the model as it was then: scikit-learn's callback protocol."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.models: list[Any] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.begin = time.process_time()

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        if context.task_name == "pass":
            self.seconds.append(time.process_time() - self.begin)
            self.models.append(fitted_estimator)


def fitted(X: np.ndarray, name: str, **more: Any) -> LogisticPCA:
    """All programs begin at the same small random loadings."""
    options = {"ridge": 0.001, "start": "noise", "random_state": SEEDS["start"], **METHODS[name], **more}
    return LogisticPCA(2, **options).fit(X)


def entry(X: np.ndarray, name: str, repeats: int, curve: bool) -> dict[str, Any]:
    """Error, seconds (median of some fits) and passes of one program; its curve of error against time."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        model = fitted(X, name)
        seconds.append(time.process_time() - begin)
    found: dict[str, Any] = {
        "error": -model.score(X),
        "likelihood": model._likelihood_kind,
        "seconds": float(np.median(seconds)),
        "repeats": repeats,
        "passes": model.n_iter_,
    }
    if name == "sampling":
        found["error_on_its_own_sample"] = float(-model.trace_[-1] / len(X))
    if curve:
        found["curve"] = curve_of(X, name, repeats)
    return found


def curve_of(X: np.ndarray, name: str, repeats: int) -> list[list[float]]:
    """Seconds and true error of some passes, evenly spread in the logarithm of their number.

    Repeated fits make the same passes: the shortest time of each is the least disturbed one.
    """
    options = {"ridge": 0.001, "start": "noise", "random_state": SEEDS["start"], **METHODS[name]}
    watches = [Watch() for _ in range(repeats)]
    for watch in watches:
        LogisticPCA(2, **options).set_callbacks(watch).fit(X)
    seconds, models = np.min([watch.seconds for watch in watches], axis=0), watches[0].models
    chosen = sorted({round(float(k)) for k in np.geomspace(1, len(models), SNAPSHOTS)})
    rows = X[:: -(-len(X) // CURVE_ROWS)]
    return [[float(seconds[k - 1]), -models[k - 1].score(rows)] for k in chosen]


def measure(run: Run) -> dict[str, Any]:
    """Both columns of the table; the second one needs the digits."""
    full = run.full
    X = data.synthetic(SEEDS["synthetic data"]).X
    repeats = 3 if full else 1
    found: dict[str, Any] = {"Synthetic-16": {name: entry(X, name, repeats, curve=True) for name in METHODS}}
    found["Synthetic-16"]["independent bits"] = -IndependentColumns().fit(X).score(X)
    seeds = SEEDS["spread over synthetic data"] if full else [3]
    found["spread"] = {
        name: [-fitted(data.synthetic(seed).X, name).score(data.synthetic(seed).X) for seed in seeds]
        for name in METHODS
    }
    if not have_data("Digit-256 in Table 1"):
        return found
    twos = data.twos()
    names = [name for name in METHODS if name != "quadrature"] if full else ["variational"]
    # A grid of 101 x 101 nodes for 256 columns would take minutes a fit: left out.
    found["Digit-256"] = {name: entry(twos, name, 1, curve=full) for name in names}
    found["Digit-256"]["independent bits"] = -IndependentColumns().fit(twos).score(twos)
    return found

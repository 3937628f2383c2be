"""The rows of the experiments, and estimators that are told the truth."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from hiddenbits import CombinationMachine, datasets, evaluate

INK = 12  # gray of 0 to 255 above which a pixel is ink: above -.9 in the scale of -1 to 1
SMALL_INK = 7  # the same for scikit-learn's digits, whose gray goes from 0 to 16
ROWS = 500


class Halves(NamedTuple):
    """Rows to fit on and rows to test, with the digits where there are any."""

    train: np.ndarray
    test: np.ndarray
    train_label: np.ndarray
    test_label: np.ndarray


def digits(seed: int, n_rows: int = ROWS) -> Halves:
    """Some USPS images to fit on and as many others to test."""
    whole = datasets.load_usps(threshold=INK)
    rng = np.random.default_rng(seed)
    fit, test = (rng.permutation(len(rows))[:n_rows] for rows in (whole.train, whole.test))
    return Halves(whole.train[fit], whole.test[test], whole.train_label[fit], whole.test_label[test])


def small_digits(seed: int, n_rows: int = ROWS) -> Halves:
    """Some of scikit-learn's digits to fit on and as many others to test."""
    gray, label = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(gray))
    fit, test = order[:n_rows], order[n_rows : 2 * n_rows]
    rows = (gray > SMALL_INK).astype(np.uint8)
    return Halves(rows[fit], rows[test], label[fit], label[test])


def timed(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a cell of a table, with its processor seconds."""
    begin = time.process_time()
    return {**make(), "seconds": time.process_time() - begin}


def told(weights: np.ndarray, thresholds: np.ndarray, bias: np.ndarray | None = None) -> CombinationMachine:
    """Return a machine with these parameters.

    There is no public way to make one: a start is handed over, to be whole, and its parameters are replaced.
    """
    m, d = weights.shape
    rows = np.tile(np.arange(max(2, m))[:, None] % 2, (1, d))  # as many rows as units, or the fit is refused
    model = CombinationMachine(m, bias=bias is not None, start="noise", max_iter=0, random_state=0).fit(rows)
    model._params = model._model().exact(weights.T.copy(), thresholds.copy(), np.zeros(d) if bias is None else bias)
    return model


def measures(model: Any, rows: np.ndarray, *, likelihood: bool = True) -> dict[str, float]:
    """The paper's three errors."""
    found = {
        "bit": evaluate.leave_one_out_error(model, rows).value,
        "reconstruction": evaluate.code_length(model, rows).value,
    }
    return {"log-loss": evaluate.bits_per_cell(model, rows).value, **found} if likelihood else found

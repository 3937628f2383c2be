"""Calibration of completed cells: bins of the predicted probability, and the error expected by chance alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits import Table, hide_cells
from hiddenbits.array_types import Floats
from hiddenbits.evaluate.hidden_cells import bits_of_hidden_cells

N_BINS = 10


class Calibration(NamedTuple):
    """The calibration error of completed cells.

    Attributes
    ----------
    value : float
        |share of ones - mean predicted probability| in each bin of the probability, averaged over the hidden cells.
    by_chance : float
        What perfectly calibrated probabilities would show on as many cells: a value near it is no sign of
        miscalibration. Dependent cells within a row make the error by chance somewhat larger.
    n_cells : int
        Hidden cells.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.evaluate import Calibration
    >>> Calibration(0.004, 0.003, 1000).n_cells
    1000
    """

    value: float
    by_chance: float
    n_cells: int


def bins(model: BaseEstimator, table: Table, share: float, seed: int) -> Floats:
    """Hide cells of a table and complete them; return for each bin its cells and their sums of p, ones and p (1 - p).

    There are ten bins of equal width in p. The result has shape (10, 4); bins of several splits can be added.
    """
    masked = hide_cells(table, share, seed=seed)
    truth, kept = table.to_float(), masked.to_float()
    asked = bits_of_hidden_cells(truth, kept, table.sizes)
    p, ones = np.asarray(model.complete(masked))[asked], truth[asked]
    place = np.minimum((p * N_BINS).astype(np.intp), N_BINS - 1)
    columns = [np.bincount(place, weights, N_BINS) for weights in (np.ones(len(p)), p, ones, p * (1.0 - p))]
    return np.column_stack(columns)


def calibrated(counts: Floats) -> Calibration:
    """Return the calibration error of summed bins."""
    cells, p, ones, spread = counts[counts[:, 0] > 0.0].T
    total = float(cells.sum())
    # the mean absolute value of a normal error is sqrt(2 / pi) times its standard deviation
    by_chance = np.sqrt(2.0 / np.pi * spread).sum() / total
    return Calibration(float(np.abs(ones - p).sum() / total), float(by_chance), int(total))

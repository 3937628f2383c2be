"""Are completed cells as probable as they are said to be? Bins of the probability, and what chance alone would show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Table, hide_cells

N_BINS = 10
Floats = NDArray[np.float64]


class Calibration(NamedTuple):
    """How far completed cells are from their probabilities.

    Attributes
    ----------
    value : float
        Mean over the hidden cells of |share of ones - mean probability| in their bin of the probability.
    by_chance : float
        What probabilities that are right would show, on as many cells: a figure near it is no fault. Cells of a row
        that depend on each other show somewhat more.
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


def bins(model: Any, table: Table, share: float, seed: int) -> Floats:
    """Hide cells of a table and complete them; return for each bin its cells and their sums of p, ones and p (1 - p).

    The bins are tenths of the probability. Of shape (10, 4), so that the bins of several splits add up.
    """
    masked = hide_cells(table, share, seed=seed)
    truth, kept = table.to_float(), masked.to_float()
    asked = ~np.isnan(truth) & np.isnan(kept)
    p, ones = np.asarray(model.complete(masked))[asked], truth[asked]
    place = np.minimum((p * N_BINS).astype(np.intp), N_BINS - 1)
    columns = [np.bincount(place, weights, N_BINS) for weights in (np.ones(len(p)), p, ones, p * (1.0 - p))]
    return np.column_stack(columns)


def calibrated(counts: Floats) -> Calibration:
    """Return the figure of some bins."""
    cells, p, ones, spread = counts[counts[:, 0] > 0.0].T
    total = float(cells.sum())
    # the mean size of a normal error is sqrt(2 / pi) of its standard deviation
    by_chance = np.sqrt(2.0 / np.pi * spread).sum() / total
    return Calibration(float(np.abs(ones - p).sum() / total), float(by_chance), int(total))

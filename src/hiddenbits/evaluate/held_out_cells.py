"""Hold-out by cells: hide some at random, fit to the rest, and score the predictions of the hidden cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from hiddenbits.array_types import Floats
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.measures import PIECE_CELLS, SMALLEST, Estimate, Ratio, table_of
from hiddenbits.tables import Piece, Table, hide_cells, map_pieces


def held_out_cells(
    estimator: BaseEstimator, X: object, *, share: float = 0.1, groups: ArrayLike | None = None, random_state: int = 0
) -> Estimate:
    """Hide cells at random, fit a copy of the estimator to the rest, and return its mean log-loss on the hidden ones.

    The log-loss is -ln P(cell | the rest of its row), in nats, averaged over the hidden cells that had been observed;
    its standard error treats rows, not cells, as independent. Use it to choose the number of classes or dimensions: the
    smallest value fits best, and sizes within a standard error of it fit equally well. It works for every estimator of
    this library, on every executor, in memory or on disk. Of real numbers P is a density
    in their units, so values are comparable only for the same table.

    Parameters
    ----------
    estimator : estimator
        A copy with the same hyperparameters is fitted; the estimator itself is not modified.
    X : table of shape (rows, columns)
        As for `fit`.
    share : float
        Share of the cells to hide.
    groups : array of shape (rows,), optional
        Rows with the same label have the same cells hidden, so that no copy of a row reveals a hidden cell.
    random_state : int
        Random seed that determines the hidden cells; compare sizes with the same seed.

    Returns
    -------
    figure : Estimate

    Warns
    -----
    DuplicateRowsWarning
        If equal rows look like copies and no `groups` were given.

    Examples
    --------
    >>> from hiddenbits import LatentClassAnalysis, IndependentColumns, evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(600, 12, 3, random_state=0).X
    >>> one = evaluate.held_out_cells(IndependentColumns(), X)
    >>> three = evaluate.held_out_cells(LatentClassAnalysis(3, random_state=0), X)
    >>> bool(three.value + 2 * three.standard_error < one.value)
    True
    """
    table = table_of(estimator, X, fitted=False)
    if groups is None:
        warn_of_copies(table)
    model = clone(estimator).fit(hide_cells(table, share, random_state=random_state, groups=groups))
    return guessing(model, table, share=share, seed=random_state, groups=groups)


def guessing(
    model: BaseEstimator, table: Table, *, share: float, seed: int, groups: ArrayLike | None = None
) -> Estimate:
    """Return the mean log-loss of a fitted model on the cells that `hide_cells` hides."""
    losses, cells = cell_losses(model, table, share=share, seed=seed, groups=groups)
    ratio = Ratio()
    ratio.add(losses, cells, np.ones(len(cells)) if table.weights is None else table.weights)
    return ratio.figure("exact" if table.only_bits else model._likelihood_kind)


def cell_losses(
    model: BaseEstimator, table: Table, *, share: float, seed: int, groups: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the summed log-loss of each row's hidden cells, and their number."""

    def missed(piece: Piece) -> tuple[Floats, Floats]:
        # Which cells are hidden depends on the row numbers in the whole table, hence first_row.
        masked = hide_cells(piece.table, share, random_state=seed, first_row=piece.start, groups=groups)
        if not table.only_bits:
            return _missed_reals(model, piece.table, masked)
        truth, kept = piece.table.to_float(), masked.to_float()
        asked = bits_of_hidden_cells(table, truth, kept)
        asked &= (truth == 1.0) | ~table.layout.is_level  # of a level the bit that is set has the loss of the cell
        p = model.complete(masked)
        happened = np.maximum(np.where(truth == 1, p, 1.0 - p), SMALLEST)
        return (-np.log(happened) * asked).sum(axis=1), asked.sum(axis=1).astype(np.float64)

    pieces = list(map_pieces(missed, table, max(1, PIECE_CELLS // table.shape[1])))
    losses, cells = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return losses, cells


def bits_of_hidden_cells(table: Table, truth: Floats, kept: Floats) -> NDArray[np.bool_]:
    """Return which bits belong to cells that were hidden; of a column with levels all, where one was set."""
    asked: NDArray[np.bool_] = ~np.isnan(truth) & np.isnan(kept)
    if not table.layout.all_binary:
        asked |= table.layout.column_sums((truth == 1.0) & (kept == 0.0), axis=1) > 0
    return asked


def _missed_reals(model: BaseEstimator, truth: Any, masked: Any) -> tuple[Floats, Floats]:
    """Return the log-loss of each row's hidden cells, and their number.

    ln p(cell | rest) = ln p(cell and rest) - ln p(rest): for each column only the rows with a hidden cell in it are
    scored again.
    """
    asked = truth.observed_cells() & ~masked.observed_cells()
    rest, losses = model.score_samples(masked), np.zeros(len(asked))
    for j in np.flatnonzero(asked.any(axis=0)):
        rows = np.flatnonzero(asked[:, j])
        hidden = asked[rows]
        hidden[:, j] = False
        losses[rows] -= model.score_samples(truth.hiding(hidden, rows)) - rest[rows]
    return losses, asked.sum(axis=1).astype(np.float64)


# Calibration of completed cells: bins of the predicted probability, and the error expected by chance alone.

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
    masked = hide_cells(table, share, random_state=seed)
    truth, kept = table.to_float(), masked.to_float()
    asked = bits_of_hidden_cells(table, truth, kept)
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

"""Hold-out by cells: hide cells at random, fit to the others, and score the predictions of the held-out cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from hiddenbits.array_types import Floats
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.measures import PIECE_CELLS, SMALLEST_PROBABILITY, Estimate, Ratio, table_of
from hiddenbits.tables import Piece, Table, hide_cells, map_pieces


def held_out_cells(
    estimator: BaseEstimator, X: object, *, share: float = 0.1, groups: ArrayLike | None = None, random_state: int = 0
) -> Estimate:
    """Fit a copy of the estimator without cells held out at random, and return its mean log-loss on these cells.

    The log-loss is -ln P(cell | other cells of its row), in nats, averaged over the held-out cells that had been
    observed; its standard error treats rows, not cells, as independent. Use it to choose the number of classes or
    dimensions: the smallest value fits best, and sizes within a standard error of it fit equally well. It works for
    every estimator of this library, on every executor, in memory or on disk. For real numbers P is a density in their
    units, so values are comparable only for the same table.

    Parameters
    ----------
    estimator : estimator
        A copy with the same hyperparameters is fitted; the estimator itself is not modified.
    X : table of shape (rows, columns)
        As for `fit`.
    share : float
        Share of the cells to hold out.
    groups : array of shape (rows,), optional
        Rows with the same label have the same cells held out, so no copy of a row shows a held-out cell to the fit.
    random_state : int
        Random seed that determines the held-out cells; compare sizes with the same seed.

    Returns
    -------
    estimate : Estimate

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
    return held_out_loss(model, table, share=share, seed=random_state, groups=groups)


def held_out_loss(
    model: BaseEstimator, table: Table, *, share: float, seed: int, groups: ArrayLike | None = None
) -> Estimate:
    """Return the mean log-loss of a fitted model on the cells that `hide_cells` hides."""
    losses, cells = cell_losses(model, table, share=share, seed=seed, groups=groups)
    ratio = Ratio()
    ratio.add(losses, cells, np.ones(len(cells)) if table.weights is None else table.weights)
    return ratio.estimate("exact" if table.only_bits else model._likelihood_kind)


def cell_losses(
    model: BaseEstimator, table: Table, *, share: float, seed: int, groups: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the summed log-loss of each row's held-out cells, and their number."""

    def losses_of_piece(piece: Piece) -> tuple[Floats, Floats]:
        # Which cells are held out depends on the row numbers in the whole table, hence first_row.
        masked = hide_cells(piece.table, share, random_state=seed, first_row=piece.start, groups=groups)
        if not table.only_bits:
            return _losses_of_reals(model, piece.table, masked)
        x, x_train = piece.table.to_float(), masked.to_float()
        held_out = bits_of_held_out_cells(table, x, x_train)
        held_out &= (x == 1.0) | ~table.layout.is_level  # the bit of the level that occurs has the loss of the cell
        p = model.complete(masked)
        p_observed = np.maximum(np.where(x == 1, p, 1.0 - p), SMALLEST_PROBABILITY)
        return (-np.log(p_observed) * held_out).sum(axis=1), held_out.sum(axis=1).astype(np.float64)

    pieces = list(map_pieces(losses_of_piece, table, max(1, PIECE_CELLS // table.row_size)))
    losses, cells = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return losses, cells


def bits_of_held_out_cells(table: Table, x: Floats, x_train: Floats) -> NDArray[np.bool_]:
    """Return which bits belong to held-out cells; a cell of a column with levels has a bit for each level."""
    held_out: NDArray[np.bool_] = ~np.isnan(x) & np.isnan(x_train)
    if not table.layout.all_binary:
        held_out |= table.layout.column_sums((x == 1.0) & (x_train == 0.0), axis=1) > 0
    return held_out


def _losses_of_reals(model: BaseEstimator, table: Any, masked: Any) -> tuple[Floats, Floats]:
    """Return the log-loss of each row's held-out cells, and their number.

    ln p(cell | rest) = ln p(cell and rest) - ln p(rest): for each column only the rows with a held-out cell in it
    are scored again.
    """
    held_out = table.observed_cells() & ~masked.observed_cells()
    log_p_rest, losses = model.score_samples(masked), np.zeros(len(held_out))
    for j in np.flatnonzero(held_out.any(axis=0)):
        rows = np.flatnonzero(held_out[:, j])
        hidden = held_out[rows]
        hidden[:, j] = False
        losses[rows] -= model.score_samples(table.hiding(hidden, rows)) - log_p_rest[rows]
    return losses, held_out.sum(axis=1).astype(np.float64)


# Calibration of imputed cells: bins of the predicted probability, and the error expected by chance alone.

N_BINS = 10


class Calibration(NamedTuple):
    """The calibration error of imputed cells.

    Attributes
    ----------
    value : float
        |share of 1s - mean predicted probability| in each bin of the probability, averaged over the held-out cells.
    by_chance : float
        What perfectly calibrated probabilities would show on as many cells: a value near it is no evidence of
        miscalibration. Dependence between the cells of a row makes the error by chance somewhat larger.
    n_cells : int
        Number of held-out cells.

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


def calibration_bins(model: BaseEstimator, table: Table, share: float, seed: int) -> Floats:
    """Hold out cells and impute them; return the number of cells in each bin, and their sums of p, x and p (1 - p).

    There are ten bins of equal width in p. The result has shape (10, 4); bins of several splits can be added.
    """
    masked = hide_cells(table, share, random_state=seed)
    x, x_train = table.to_float(), masked.to_float()
    held_out = bits_of_held_out_cells(table, x, x_train)
    p, ones = np.asarray(model.complete(masked))[held_out], x[held_out]
    bin_numbers = np.minimum((p * N_BINS).astype(np.intp), N_BINS - 1)
    columns = [np.bincount(bin_numbers, weights, N_BINS) for weights in (np.ones(len(p)), p, ones, p * (1.0 - p))]
    return np.column_stack(columns)


def calibration_error(bins: Floats) -> Calibration:
    """Return the calibration error from the bins of `calibration_bins`."""
    cells, p, ones, variance = bins[bins[:, 0] > 0.0].T
    total = float(cells.sum())
    # The mean absolute value of a normal error is sqrt(2 / pi) times its standard deviation
    by_chance = np.sqrt(2.0 / np.pi * variance).sum() / total
    return Calibration(float(np.abs(ones - p).sum() / total), float(by_chance), int(total))

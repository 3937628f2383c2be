"""Averages over hidden cells with standard errors that know what belongs together, and reliability curves.

Hidden cells of one row share its place on the map, and a cell may be hidden under several seeds. So rows, over all
seeds, are the independent units of every standard error: the errors of a row are summed before they are squared.
"""

from typing import Any, NamedTuple

import numpy as np

N_BINS = 10
FEWEST = 50  # a bin with fewer cells is shown but not judged
SMALLEST = 1e-15  # a probability of 0 for what happened counts as this


class Guesses(NamedTuple):
    """What was hidden (0 or 1), the probability that was given to a 1, and the row of each cell."""

    truth: np.ndarray
    p: np.ndarray
    row: np.ndarray

    @property
    def losses(self) -> np.ndarray:
        return -np.log(np.maximum(np.where(self.truth == 1, self.p, 1.0 - self.p), SMALLEST))


def joined(parts: list[Guesses]) -> Guesses:
    return Guesses(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def mean_and_error(values: np.ndarray, row: np.ndarray) -> tuple[float, float]:
    """Return the mean over cells and its standard error with rows as the units (linearised ratio of sums)."""
    mean = float(values.mean())
    sums = np.bincount(row, weights=values - mean)
    n_rows = len(np.unique(row))
    error = np.sqrt((sums**2).sum() * n_rows / max(n_rows - 1, 1)) / len(values)
    return mean, float(error)


def curve(guesses: Guesses) -> list[dict[str, Any]]:
    """Return the ten bins of the reliability curve: mean probability, share of ones, and how far apart they are.

    `error` is the standard error by rows; `plain_error` is that of independent cells, Sum p (1 - p) under the model.
    """
    bins = np.minimum((guesses.p * N_BINS).astype(int), N_BINS - 1)
    found = []
    for number in range(N_BINS):
        inside = bins == number
        if not inside.any():
            continue
        p, y, row = guesses.p[inside], guesses.truth[inside], guesses.row[inside]
        apart, error = mean_and_error(y - p, row)
        found.append(
            {
                "cells": int(inside.sum()),
                "predicted": float(p.mean()),
                "observed": float(y.mean()),
                "apart": apart,
                "error": error,
                "plain_error": float(np.sqrt((p * (1.0 - p)).sum()) / inside.sum()),
            }
        )
    return found


def expected_error(bins: list[dict[str, Any]]) -> float:
    """Return the expected calibration error: |share of ones - mean probability|, averaged over cells."""
    return float(np.average([abs(b["apart"]) for b in bins], weights=[b["cells"] for b in bins]))


def worst(bins: list[dict[str, Any]], error: str = "error") -> float:
    """Return the largest distance of a bin from the diagonal, in standard errors."""
    return max(abs(b["apart"]) / b[error] for b in bins if b["cells"] >= FEWEST)


def summary(guesses: Guesses, best: Guesses) -> dict[str, Any]:
    """Return the log-loss, how far it is from that of `best` on the same cells, and the reliability curve."""
    bins = curve(guesses)
    loss, error = mean_and_error(guesses.losses, guesses.row)
    more, paired = mean_and_error(guesses.losses - best.losses, guesses.row)
    return {
        "cells": len(guesses.p),
        "loss": loss,
        "error": error,
        "more": more,
        "paired_error": paired,
        "ece": expected_error(bins),
        "worst_bin": worst(bins),
        "worst_bin_plain": worst(bins, "plain_error"),
        "bins": bins,
    }

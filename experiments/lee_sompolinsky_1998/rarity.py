"""Negative eigenvalues of the twos' C^XX by how rare the rarer value of a pixel may be: who makes them?"""

from typing import Any

import numpy as np
from common import NO_DATA, have_data
from digits import smaller_from

from data import DIMENSIONS, recipe, twos
from hiddenbits import tetrachoric

SEEDS = {"model": 0}
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)


def measure(*, full: bool) -> Any:  # noqa: ARG001 - as quick as it is
    """Share of ink that a pixel must have, and of paper: the spectra of the pixels that are left."""
    if not have_data("rare pixels"):
        return NO_DATA
    train = twos().train
    ink = train.mean(axis=0)
    return {str(least): spectrum(train[:, (ink > least) & (ink < 1.0 - least)]) for least in SHARES}


def spectrum(rows: np.ndarray) -> dict[str, Any]:
    """What Figure 4 shows of these columns."""
    model = recipe(1).fit(rows)
    hidden = model.spectrum_
    return {
        "columns": rows.shape[1],
        "negative": int((hidden < 0.0).sum()),
        "smallest": float(hidden[-1]),
        "largest": float(hidden[0]),
        "drops_from": smaller_from(model.bit_spectrum_, hidden),
        "low_rank": low_rank(tetrachoric(rows).correlation),
    }


def leading(matrix: np.ndarray) -> np.ndarray:
    """Return WW' of the leading eigenvectors, each times the root of its eigenvalue."""
    values, vectors = np.linalg.eigh(matrix)
    W = vectors[:, -DIMENSIONS:] * np.sqrt(np.maximum(values[-DIMENSIONS:], 0.0))
    return np.asarray(W @ W.T)


def low_rank(hidden: np.ndarray) -> dict[str, Any]:
    """How near WW' is to C^XX (section 3): the share of its squares that is missed, and the variances.

    Next to it the best matrix of the same rank, whose eigenvalues may be negative.
    """
    ours, squares = leading(hidden), np.sort(np.linalg.eigvalsh(hidden) ** 2)
    return {
        "missed": float(((hidden - ours) ** 2).sum() / (hidden**2).sum()),
        "missed_by_either_sign": float(squares[:-DIMENSIONS].sum() / squares.sum()),
        "beyond_1": int((np.diag(ours) > 1.0).sum()),
        "variances": [float(np.diag(ours).min()), float(np.diag(ours).max())],
    }

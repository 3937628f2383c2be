"""Where the large negative eigenvalues of the twos' C^XX lie, and what fewer pseudo-rows and no empty cells change."""

from typing import Any

import numpy as np
from common import NO_DATA, have_data
from pairs import empty_cells
from rarity import SHARES

from data import SHAPE, recipe, twos

SEEDS = {"model": 0}
PSEUDO_ROWS = (1.0, 0.1, 0.01, 0.001)
RARE = 0.02  # ink, or paper, in fewer images
LARGE = -1.0  # eigenvalues below it


def measure(*, full: bool) -> Any:  # noqa: ARG001 - as quick as it is
    if not have_data("origins of negative eigenvalues"):
        return NO_DATA
    train = twos().train
    ink = train.mean(axis=0)
    return {
        "places": places(train),
        "pseudo_rows": {str(rows): spectrum(train, rows) for rows in PSEUDO_ROWS},
        "empty_pairs": {
            str(least): int(np.triu(empty_cells(train[:, (ink > least) & (ink < 1.0 - least)]), 1).sum())
            for least in SHARES
        },
    }


def places(train: np.ndarray) -> dict[str, Any]:
    """Share of the squares of eigenvectors in the outermost pixels, and in rare ones, next to the share of pixels."""
    varies = train.min(axis=0) < train.max(axis=0)
    values, vectors = np.linalg.eigh(recipe(1).fit(train).correlation_[np.ix_(varies, varies)])
    weight = (vectors[:, values < LARGE] ** 2).mean(axis=1)
    rim = np.ones(SHAPE, bool)
    rim[1:-1, 1:-1] = False
    ink = train.mean(axis=0)
    kinds = {"rim": rim.ravel()[varies], "rare": (np.minimum(ink, 1.0 - ink) <= RARE)[varies]}
    return {
        "eigenvalues": int((values < LARGE).sum()),
        "below": LARGE,
        "rare_below": RARE,
        **{
            name: {"of_pixels": float(inside.mean()), "of_eigenvectors": float(weight[inside].sum())}
            for name, inside in kinds.items()
        },
    }


def spectrum(train: np.ndarray, rows: float) -> dict[str, Any]:
    hidden = recipe(1, pseudo_rows=rows).fit(train).spectrum_
    return {"negative": int((hidden < 0.0).sum()), "smallest": float(hidden[-1]), "largest": float(hidden[0])}

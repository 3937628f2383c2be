"""Negative eigenvalues of the twos' C^XX by how rare the rarer value of a pixel may be: who makes them?"""

from typing import Any

import numpy as np
from common import NO_DATA, have_data
from digits import smaller_from

from data import recipe, twos

SEEDS = {"model": 0}
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)


def measure(*, full: bool) -> Any:  # noqa: ARG001 - as quick as it is
    """Share of ink that a pixel must have, and of paper: the spectra of the pixels that are left."""
    if not have_data():
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
    }

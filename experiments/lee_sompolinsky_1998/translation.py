"""The translationally invariant example: a bump anywhere on a ring of 256 bits (Figure 3)."""

from typing import Any

import numpy as np
from common import Run
from low_rank import closed_form

from data import bumps
from hiddenbits import ClippedPCA, evaluate

SEEDS = {"draws": 0, "shifts": 1}
COLUMNS = 256


def fitted(rows: np.ndarray) -> ClippedPCA:
    """The paper's model: no biases, no noise."""
    return ClippedPCA.paper(2, biases=False, random_state=0).fit(rows)


def measure(run: Run) -> dict[str, Any]:
    rows, draws = bumps(COLUMNS), 200_000 if run.full else 40_000
    model = fitted(rows)
    closed = closed_form(COLUMNS)
    drawn = model.sample(draws, random_state=SEEDS["draws"])
    whole = {row.tobytes() for row in rows}
    kinds = {row.tobytes() for row in drawn}
    positive = model.bit_spectrum_ > 1e-9
    chosen = np.random.default_rng(SEEDS["shifts"]).choice(COLUMNS, 40, replace=False)
    some = fitted(rows[chosen]).spectrum_
    flips = (rows[:, None, :] != rows[None]).sum(axis=2) + COLUMNS * np.eye(COLUMNS, dtype=int)
    # A cosine and a sine: the two loadings lie on a circle, evenly.
    turn = np.unwrap(np.arctan2(*model.components_))
    return {
        "columns": COLUMNS,
        "positive_eigenvalues_of_bits": int(positive.sum()),
        "largest_of_bits": model.bit_spectrum_[:2].tolist(),
        "smallest_positive_of_bits": float(model.bit_spectrum_[positive].min()),
        "from_closed_form": float(np.abs(model.bit_spectrum_[positive] - closed).max()),
        "largest_of_hidden": model.spectrum_[:2].tolist(),
        "rest_of_hidden": float(np.abs(model.spectrum_[2:]).max()),
        "uneven_turn": float(np.abs(np.abs(np.diff(turn)) - 2.0 * np.pi / COLUMNS).max()),
        "flips_to_the_nearest_bump": [int(flips.min(axis=1).min()), int(flips.min(axis=1).max())],
        "some_shifts": len(chosen),
        "rest_of_hidden_with_some_shifts": float(np.abs(some[2:]).max()),
        "draws": draws,
        "different_rows": len(kinds),
        "bumps_among_them": len(kinds & whole),
        "entropy": evaluate.pattern_entropy(drawn),
        "entropy_of_bumps": float(np.log(COLUMNS)),
        "entropy_by_the_paper": float(2 * np.log(COLUMNS)),
    }

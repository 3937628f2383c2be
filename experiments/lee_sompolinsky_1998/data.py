"""The rows of the experiments: the paper's two constructions, the digits, and five tables to be imitated."""

from itertools import combinations
from typing import Any

import numpy as np

from hiddenbits import ClippedPCA, datasets, open_table

SHAPE = (16, 16)  # of an image
DIMENSIONS = 16


def bumps(n_columns: int) -> np.ndarray:
    """Half of the columns are 1, side by side on a ring, and the bump may stand anywhere."""
    first = np.arange(n_columns) < n_columns // 2
    return np.array([np.roll(first, shift) for shift in range(n_columns)], np.uint8)


def balanced(n_columns: int) -> np.ndarray:
    """All rows with as many ones as zeros."""
    rows = [np.isin(np.arange(n_columns), chosen) for chosen in combinations(range(n_columns), n_columns // 2)]
    return np.array(rows, np.uint8)


def twos() -> datasets.Digits:
    """The USPS images of the digit 2, ink above half grey."""
    return datasets.load_usps(2)


def recipe(n_components: int = DIMENSIONS, **settings: Any) -> ClippedPCA:
    """The paper's PCA of C^XX, made consistent: eigenvalues raised, unit diagonal, leading dimensions, |w|^2 capped."""
    return ClippedPCA(n_components, **{"factor_steps": 0, "random_state": 0, **settings})


def tables() -> dict[str, Any]:
    """Real tables as numbers, NaN for blanks."""
    folder = datasets.data_folder()
    spikes = np.load(folder / "tables" / "spikes15.npz", allow_pickle=False)
    return {
        "house84": open_table(folder / "votes" / "house84.csv").to_float(),
        "LSAT": datasets.load_survey("lsat").to_float(),
        "SAT12": datasets.load_survey("sat12_binary").to_float(),
        "spikes15": next(iter(spikes.values())).astype(float),
        "mushrooms": np.load(folder / "tables" / "mushrooms.npz", allow_pickle=False)["train"].astype(float),
    }

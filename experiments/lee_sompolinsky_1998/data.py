"""The rows of the experiments: the paper's two constructions, and the digits."""

from itertools import combinations
from typing import Any

import numpy as np

from hiddenbits import ClippedPCA, datasets

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
    """The USPS images of the digit 2, ink above half gray."""
    return datasets.load_usps(2)


def recipe(n_components: int = DIMENSIONS, **settings: Any) -> ClippedPCA:
    """The paper's PCA of C^XX, made consistent: eigenvalues raised, unit diagonal, leading dimensions, |w|^2 capped."""
    return ClippedPCA(n_components, **{"factor_steps": 0, "random_state": 0, **settings})

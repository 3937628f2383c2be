"""Names for the types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]  # bits, one to a byte, or packed
Rows = NDArray[np.intp]  # positions of rows or columns
AnyArray = NDArray[Any]  # any type of numbers, such as float32 or float64 as the caller chose
Randomness = int | np.random.RandomState | np.random.Generator | None  # what scikit-learn takes as random_state

# Bounds of the total weight of a table: within them, products with shares and log-likelihoods are normal floats.
LEAST_WEIGHT, MOST_WEIGHT = 1e-300, 1e300

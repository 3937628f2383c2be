"""What travels arrives at even addresses: NumPy would leave BLAS aside otherwise, and the bits would be others."""

from functools import partial

import numpy as np
import pytest

from hiddenbits.data import open_table
from hiddenbits.engine import Cluster


class Held:
    """Something that a model prepares: arrays in an object that nobody knows, and text of any length before them."""

    def __init__(self, length):
        self.text, self.matrix = "a" * length, np.arange(300.0 * 7).reshape(300, 7)


def odd_arrays(held, block):
    arrays = [held.matrix, block.x.numbers, block.weights]
    return np.array([sum(not array.flags.aligned for array in arrays), 1])


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("columns", [7, 8, 9])
def test_arrays_of_functions_rows_and_weights(client, columns):
    rows = np.random.default_rng(0).standard_normal((400, columns))
    table = open_table(rows, reals=True).with_weights(np.ones(400))
    executor = Cluster(client)
    for length in range(16):  # each puts the arrays elsewhere in what is sent
        odd, blocks = executor.reduce(partial(odd_arrays, Held(length)), table.grid(100))
        assert (odd, blocks) == (0, 4)
    executor.close()

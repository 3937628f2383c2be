"""Compiled kernels are for tables that earn the time to load them; the table's size decides, in every process."""

import subprocess
import sys

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data.kernels import LARGE_CELLS, kernels_pay
from hiddenbits.engine import Local

pytestmark = pytest.mark.core
COLUMNS = 64


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rows", [LARGE_CELLS // COLUMNS - 1, LARGE_CELLS // COLUMNS])
def test_the_size_of_the_table_decides(rows, n_jobs):
    """Whatever the height of its blocks, on every thread, and only while a block is worked on."""
    table = open_table(np.zeros((rows, COLUMNS), np.uint8) + np.eye(rows, COLUMNS, dtype=np.uint8))
    large = rows * COLUMNS >= LARGE_CELLS
    for height in (512, rows):
        grid, local = table.grid(height), Local(n_jobs)
        assert list(local.map_rows(lambda block: kernels_pay(), grid)) == [large] * grid.n_blocks
        seen = local.reduce(lambda block: np.array([kernels_pay(), 1]), grid)
        assert seen.tolist() == [large * grid.n_blocks, grid.n_blocks]
        assert all(local.map_rows(lambda block: kernels_pay(work=1.1), grid))
        local.close()
        assert kernels_pay()


@pytest.mark.slow
def test_a_small_fit_does_not_load_numba():
    code = """
import sys
import numpy as np
import hiddenbits
X = (np.random.default_rng(0).random((500, 20)) < 0.3).astype(np.uint8)
for model in (hiddenbits.LatentClassAnalysis(3), hiddenbits.LogisticPCA(2), hiddenbits.CombinationMachine(2)):
    model.set_params(random_state=0).fit(X).score(X)
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)

"""Online EM's groups of rows: all of the table, short at first, then a share of what was seen, never too many cells."""

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits.engine import Local
from hiddenbits.engine.loops.online_em import GROUP_CELLS, GROUP_ROWS, GROUP_SHARE, group_ends

pytestmark = pytest.mark.core
HEIGHT = 4096


def lengths(n_rows: int, width: int) -> np.ndarray:
    """Rows of each group of a sparse table with one item a row, or of a dense one if it is wider than that."""
    X = (
        sparse.csr_array((n_rows, 4))
        if width == 1
        else np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (n_rows, width), (0, 0), writeable=False)
    )
    grid = hiddenbits.open_table(X).grid(HEIGHT)
    ends = np.minimum(np.array([0, *group_ends(grid)]) * HEIGHT, n_rows)
    assert ends[-1] == n_rows
    return np.diff(ends)


def test_groups_are_short_while_little_was_seen():
    assert set(lengths(GROUP_ROWS * GROUP_SHARE, 1)) == {GROUP_ROWS}
    assert list(lengths(1000, 1)) == [1000]


def test_groups_grow_with_what_was_seen():
    found = lengths(8_000_000, 1)
    before = np.cumsum(found) - found
    assert (np.diff(found[:-1]) >= 0).all()
    late = before[:-1] > 2 * GROUP_ROWS * GROUP_SHARE
    np.testing.assert_allclose(found[:-1][late] / before[:-1][late], 1 / GROUP_SHARE, rtol=HEIGHT / (2 * GROUP_ROWS))
    assert len(found) < 8_000_000 / GROUP_ROWS / 2


@pytest.mark.slow
def test_groups_of_wide_tables_stay_short():
    assert lengths(4_000_000, 256).max() == GROUP_CELLS // 256
    assert lengths(100_000, 4096).max() == GROUP_ROWS


def test_every_block_is_walked_once_in_order():
    grid = hiddenbits.open_table(np.eye(40, 3, dtype=np.uint8)).grid(4)
    for executor in (Local(), Local(3)):
        walked = [reduce(lambda block: np.eye(10)[block.number]) for reduce in executor.stream(grid, [1, 3, 4, 9, 10])]
        assert [list(np.flatnonzero(found)) for found in walked] == [[0], [1, 2], [3], [4, 5, 6, 7, 8], [9]]

"""`footprint` is what a block takes: the engine chooses the height of blocks by it, so that they stay in a cache.

Measured is how much more memory NumPy holds at a peak when a block has twice as many rows. By that, temporary arrays of
a fixed size do not count, unless they are larger than what the rows of these blocks need.
"""

import threading
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hiddenbits.engine import Key
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.clipped_pca.model import Clipped
from tests.contracts.cases import CASES, clipped_params
from tests.contracts.conftest import table_of
from tests.families.binary_sparse_coding import coding_data

pytestmark = pytest.mark.core

ROWS = 1024  # of the shorter block
COLUMNS = (12, 40)
# A footprint is at least the measured numbers of a row divided by MORE, and at most LESS times them. Footprints are
# those of complete rows; missing values double the cells, and without compiled kernels rows take up to 2.8 times that.
MORE, LESS = 3.0, 3.0
# Where a block without or with missing values takes more: the factor, and why its footprint is not larger.
TAKES_MORE = {
    ("LogisticPCA-refined", False): (6.0, "the footprint is that of the variational stage"),
    ("LogisticPCA-refined", True): (6.5, "the footprint is that of the variational stage"),
    ("CombinationMachine", True): (
        4.5,
        "such rows have the messages of complete ones, and a second array of their cells",
    ),
    ("TreeMixture", True): (25.0, "such rows are worked on a fixed number of cells at a time, of more rows than here"),
}
STATISTICS = 2.5  # the factor for the numbers in the statistics of a block, either way
STATISTICS_DIFFER = {
    "ClippedPCA": "counts of pairs are made from blocks of another height, see `cooccurrence.block_rows`",
    "TreeMixture": "counts of pairs count by half, for they come in some passes only",
}


def peak(function):
    """Return the numbers (8 bytes) that a call holds at its peak: the least of three, after one that fills caches.

    Each has a thread of its own, because buffers belong to threads. Another thread of the process can only add.
    """
    found = []

    def measure():
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        function()
        found.append((tracemalloc.get_traced_memory()[1] - before) / 8)
        tracemalloc.stop()

    for call in (function, measure, measure, measure):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    return min(found)


def block_of(n, d, *, missing):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (n, d)).astype(float)
    if missing:
        rows[rng.random((n, d)) < 0.1] = np.nan
    return replace(table_of(rows).grid(n).blocks[0], keep=False)


def numbers_per_row(functions, block_of):
    """Return what each further row of a block takes in the function that needs most; `block_of` makes the blocks."""
    short, tall = block_of(ROWS), block_of(2 * ROWS)
    return max((peak(partial(function, tall)) - peak(partial(function, short))) / ROWS for function in functions)


def functions_of(case, params):
    """`expect`, and `posterior` but on grids, where a fixed number of nodes is worked on at a time."""
    model, shared = case.model, case.model.prepare(params)
    functions = [lambda block: model.expect(params, shared, block, None, Key(0))]
    if case.enumerates and hasattr(model, "posterior"):
        functions.append(lambda block: model.posterior(params, shared, block))
    return functions


def check_working(case, d):
    """Require that `working` is near the numbers that a row takes, without and with missing values."""
    functions = functions_of(case, case.draw_params(d, np.random.default_rng(0)))
    working = case.model.footprint(d, float(d)).working
    for missing in (False, True):
        most = TAKES_MORE.get((case.name, missing), (MORE, ""))[0]
        check_within(working, numbers_per_row(functions, partial(block_of, d=d, missing=missing)), most)


def check_within(working, measured, most=MORE):
    assert measured / most <= working <= LESS * measured, f"{working:.0f} declared, {measured:.0f} measured"


def check_statistics(case, d):
    """Require that `statistics` is near the numbers in the statistics of a block with missing values."""
    params = case.draw_params(d, np.random.default_rng(0))
    stats = case.model.expect(params, case.model.prepare(params), block_of(64, d, missing=True), None, Key(0))[0]
    size = sum(np.size(array) for array in stats.to_arrays().values())
    declared = case.model.footprint(d, float(d)).statistics
    assert size / STATISTICS <= declared <= size * STATISTICS


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name != "ClippedPCA"],
    ids=lambda case: case.name,
)
def test_a_row_takes_what_the_footprint_says(case, d):
    check_working(case, d)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("d", [12, 24])
def test_a_row_of_clipped_pca(d, missing):
    """What counts are the posteriors of rows in more dimensions than a grid has: the pass only counts pairs."""
    model, params = Clipped(4), clipped_params(d, np.random.default_rng(0), 4)
    assert params.grid is None
    functions = [lambda block: model.posterior(params, None, block)]
    measured = numbers_per_row(functions, partial(block_of, d=d, missing=missing))
    check_within(model.footprint(d, float(d)).working, measured)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("d", COLUMNS)
def test_a_row_of_sparse_coding(d, missing):
    """Its cells are numbers, of which a block holds no copy: how many columns there are does not matter."""
    params = coding_data.params_of(0, D=d, H=40)
    model = SparseCoding(40, 8, 3)
    shared = model.prepare(params)
    functions = [lambda block: model.expect(params, shared, block, None, Key(0))]
    measured = numbers_per_row(
        functions, lambda n: replace(coding_data.block_of(coding_data.rows_of(params, 0, n, missing)), keep=False)
    )
    footprint = model.footprint(d, float(d))
    # Without missing values a compiled pass needs less than half of it.
    check_within(footprint.working, measured if missing else max(measured, footprint.working / LESS))
    stats = coding_data.expected(model, params, coding_data.rows_of(params, 0))
    size = sum(np.size(array) for array in stats.to_arrays().values())
    assert size / STATISTICS <= footprint.statistics <= size * STATISTICS


@pytest.mark.parametrize("d", COLUMNS)
def test_statistics_are_as_large_as_the_footprint_says(case, d):
    if case.name not in STATISTICS_DIFFER:
        check_statistics(case, d)

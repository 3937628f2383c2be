"""Some rows of a table against indexing the array, in every storage."""

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import open_table
from hiddenbits.data import Table
from hiddenbits.exceptions import TableError
from hiddenbits.tables import hide_cells, take_rows
from tests.contracts.conftest import NotResident

pytestmark = pytest.mark.core

BITS = np.random.default_rng(0).integers(0, 2, (40, 11))
BLANKS = np.where(np.random.default_rng(1).random(BITS.shape) < 0.2, np.nan, BITS)
ROWS = np.array([0, 3, 4, 17, 39])
TABLES = {
    "dense": (open_table(BITS), BITS),
    "blanks": (open_table(BLANKS), BLANKS),
    "pattern": (open_table(sparse.csr_array(BITS)), BITS),
    "packed": (open_table(np.packbits(BITS, axis=1), packed=True, n_columns=11), BITS),
    "reals": (open_table(BLANKS * 1.5, reals=True), BLANKS * 1.5),
    "on disk": (Table(NotResident(open_table(BLANKS).source), None, None, 8 * 60), BLANKS),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_of_the_array(name):
    table, cells = TABLES[name]
    weights = np.arange(1.0, 41.0)
    taken = take_rows(table.with_weights(weights), ROWS)
    np.testing.assert_array_equal(taken.to_float(), cells[ROWS])
    np.testing.assert_array_equal(taken.weights, weights[ROWS])
    assert taken.source.resident == table.source.resident
    again = take_rows(taken, np.array([False, True, True, False, True]))
    np.testing.assert_array_equal(again.to_float(), cells[ROWS[[1, 2, 4]]])


def test_hidden_cells_of_rows_on_disk_stay_hidden():
    table = TABLES["on disk"][0]
    hidden = hide_cells(table, 0.3, random_state=1)
    np.testing.assert_array_equal(take_rows(hidden, ROWS).to_float(), hidden.to_float()[ROWS])


def test_a_fit_to_rows_on_disk_is_the_fit_in_memory():
    rows = np.arange(0, 40, 2)
    model = hiddenbits.LatentClassAnalysis(2, online_passes=1, random_state=0)
    there = model.fit(take_rows(TABLES["on disk"][0], rows)).probabilities_
    here = model.fit(BLANKS[rows]).probabilities_
    np.testing.assert_allclose(there, here, atol=1e-9)


@pytest.mark.parametrize("rows", [[], [3, 2], [1, 1], [-1, 2], [0, 40], [0.5], [True, False], [[1]]])
def test_other_rows_are_refused(rows):
    with pytest.raises(TableError, match=r"Select rows with|Row numbers must be"):
        take_rows(TABLES["dense"][0], np.array(rows))

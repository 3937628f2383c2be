"""Tables of real numbers: from arrays without a copy, from frames and lists; what is refused, and where."""

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.exceptions import TableError
from hiddenbits.tables import hide_cells

pytestmark = pytest.mark.core

ROWS = np.array([[0.5, np.nan, -2.0], [2.0, 3.25, 1e99]])
FRAMES = ["pandas", "polars", "pyarrow"]


def frame_of(library, columns):
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_without_blanks_is_not_copied(dtype):
    rows = np.arange(12.0, dtype=dtype).reshape(4, 3)
    table = open_table(rows, reals=True)
    assert (table.shape, table.n_missing, table.only_bits, table.names) == ((4, 3), 0, False, None)
    assert np.shares_memory(table.source.read(1, 3)[0].operand(dtype), rows)
    np.testing.assert_array_equal(table.to_float(), rows)


def test_blanks_whole_numbers_masks_and_lists():
    table = open_table(ROWS, reals=True, names=["a", "b", "c"])
    assert (table.n_missing, table.names) == (1, ("a", "b", "c"))
    np.testing.assert_array_equal(table.to_float(), ROWS)
    np.testing.assert_array_equal(table.observed_cells(), ~np.isnan(ROWS))
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(open_table(masked, reals=True).to_float(), [[1, np.nan], [3, 4]])
    np.testing.assert_array_equal(open_table([[1, None], [2.5, True]], reals=True).to_float(), [[1, np.nan], [2.5, 1]])


@pytest.mark.parametrize("library", FRAMES)
def test_frames(library):
    table = open_table(frame_of(library, {"a": [0.5, None, 2.0], "b": [1, 2, 3]}), reals=True)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.to_float(), [[0.5, 1], [np.nan, 2], [2.0, 3]])
    with pytest.raises(TableError, match=r"row 1, column 1 \('b'\): 'x' is not a number"):
        open_table(frame_of(library, {"a": [0.5, 1.0], "b": [None, "x"]}), reals=True)


def test_hidden_cells_and_rows_that_are_taken():
    rows = np.random.default_rng(0).normal(size=(50, 4))
    table = open_table(rows, reals=True)
    hidden = hide_cells(table, 0.3, random_state=1)
    assert 30 < hidden.n_missing < 90
    np.testing.assert_array_equal(hidden.to_float()[hidden.observed_cells()], rows[hidden.observed_cells()])
    few = table.hiding(~hidden.observed_cells()[[4, 2]], np.array([4, 2]))
    np.testing.assert_array_equal(few.to_float(), hidden.to_float()[[4, 2]])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (np.array([[0.5, np.inf]]), {}, "row 0, column 1: inf is infinite or too large"),
        ([[0.5, 1e200]], {}, r"row 0, column 1: 1e\+200 is infinite or too large"),
        (np.zeros(3), {}, "1 dimension"),
        (np.array([["a", "b"]]), {}, "row 0, column 0 .*'a' is not a number"),
        (np.zeros((2, 2), "M8[s]"), {}, "Give numbers, text or categories"),
        (np.zeros((0, 3)), {}, "at least one of each"),
        (sparse.eye_array(3), {}, "frames and arrays in memory"),
        ({"a": [0.5, 1.0]}, {}, "frames and arrays in memory"),
        ("no_such.csv", {}, "there is no such file"),
        (ROWS, {"threshold": 1.0}, "uses cells as they are"),
        (ROWS, {"empty": "zero"}, "uses cells as they are"),
        (ROWS, {"drop": [0]}, "uses all columns"),
    ],
)
def test_refusals(rows, options, message):
    with pytest.raises((TableError, TypeError), match=message):
        open_table(rows, reals=True, **options)


def test_files_are_refused_and_models_of_bits(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n0.5,1.5\n")
    with pytest.raises(TypeError, match="frames and arrays in memory, not for csv files"):
        open_table(tmp_path / "x.csv", reals=True)
    table = open_table(ROWS, reals=True)
    with pytest.raises(TableError, match="LatentClassAnalysis needs binary columns, but this is a table of real"):
        LatentClassAnalysis(2).fit(table)
    with pytest.raises(TypeError, match="already open"):
        open_table(table, reals=True)
    for refused in (table.source.x.ones, table.source.x.row_sums):
        with pytest.raises(TableError, match="real numbers"):
            refused()

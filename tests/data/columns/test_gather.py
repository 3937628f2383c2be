"""Columns of frames as distinct values: the same cells as one by one, by value and by type."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from hiddenbits.data.columns.gather import cells_of_frame, cells_of_numbers, cells_of_objects, opened_frame
from hiddenbits.exceptions import TableError

MIXED = [True, 1, 1.0, "1", None, float("nan"), "a", False, 0]


def typed(cells):
    return [(type(cell), cell) for cell in cells]


def column_of(frame):
    (column,) = cells_of_frame(opened_frame(frame))
    return column


def test_mixed_objects_keep_their_types():
    assert typed(cells_of_objects("a", MIXED).listed()) == typed([*MIXED[:5], None, *MIXED[6:]])
    numbers = cells_of_objects("a", [True, 1, 1.0, None, Decimal(2), 0.5])
    assert typed(numbers.listed()) == typed([1, 1, 1, None, 2, 0.5])  # of numbers alone True and 1 are one
    assert len(numbers.values) == 4


def test_frames_of_mixed_objects():
    pandas = pytest.importorskip("pandas")
    late = ["a", None] * 200 + MIXED  # libraries that look at the first rows take the column for text
    for cells in (MIXED, late):
        found = column_of(pandas.DataFrame({"a": pandas.Series(cells, dtype=object)}))
        assert typed(found.listed()) == typed([None if cell != cell else cell for cell in cells])


@pytest.mark.parametrize("kind", ["object", "string", "category", "polars", "polars categories", "arrow", "dictionary"])
def test_text_with_missing_values_from_every_container(kind):
    words = ["no", None, "yes", "perhaps", None, "no", ""]
    if kind.startswith("polars"):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"a": words}, schema={"a": polars.Categorical if kind[6:] else polars.String})
    elif kind in ("arrow", "dictionary"):
        pa = pytest.importorskip("pyarrow")
        column = pa.chunked_array([words[:3], words[3:]])
        frame = pa.table({"a": column if kind == "arrow" else column.dictionary_encode()})
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"a": pandas.Series(words, dtype=kind)})
    found = column_of(frame)
    assert found.listed() == words
    assert sorted(found.values, key=str) == sorted({*words}, key=str)


def test_categories_that_no_row_has_are_left_out():
    pandas = pytest.importorskip("pandas")
    column = column_of(pandas.DataFrame({"a": pandas.Categorical([2, None, 1], categories=[3, 2, 1])}))
    assert (column.listed(), None in column.values, 3 in column.values) == ([2, None, 1], True, False)


@pytest.mark.parametrize("low", [-3, 0, 2**40])
def test_numbers_in_a_range_and_others(low):
    rng = np.random.default_rng(0)
    whole = np.where(rng.random(200) < 0.2, np.nan, low + rng.integers(0, 9, 200).astype(float))
    for numbers in (whole, whole + 0.5, whole * 1e6):
        cells = cells_of_numbers("a", numbers)
        np.testing.assert_array_equal(cells.numbers(), numbers)
        assert len(cells.values) == len(np.unique(numbers))


def test_dates_and_lists_are_of_another_form():
    pandas = pytest.importorskip("pandas")
    dates = column_of(pandas.DataFrame({"a": pandas.to_datetime(["2020-01-01", None])}))
    assert (dates.form, dates.listed()[1]) == ("date", None)
    lists = column_of(pandas.DataFrame({"a": [[1], [2]]}))
    assert (lists.form, lists.listed()) == ("other", ["[1]", "[2]"])


@pytest.mark.parametrize("cell", [[1], {"a": 1}, datetime.timedelta(1), 1j])
def test_an_object_that_is_no_cell_is_named_with_its_place(cell):
    with pytest.raises(TableError, match=r"row 2, column 1 .*neither a finite number nor a category"):
        cells_of_objects("a", ["x", "y", cell], number=1)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_of_missing_values_alone_may_be_anything(kind):
    library = pytest.importorskip(kind)
    frame = (library.table if kind == "pyarrow" else library.DataFrame)({"a": [None, None, None]})
    found = column_of(frame)
    assert (found.form, found.values, found.listed()) == ("", [None], [None] * 3)

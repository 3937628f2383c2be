"""Plain Python objects as tables: dicts of columns and records; a fit to them, and to transactions."""

import warnings

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.core
CELLS = np.array([[1, 0], [0, 1], [np.nan, 1]])


@pytest.mark.parametrize(
    "data",
    [
        {"a": [1, 0, None], "b": [0, 1, 1]},
        {"a": np.array([1, 0, np.nan]), "b": (False, True, True)},
        {"a": np.ma.array([1, 0, 0], mask=[0, 0, 1]), "b": np.array([0, 1, 1], np.int8)},
        [{"a": 1, "b": 0}, {"b": 1, "a": 0}, {"b": 1}],
    ],
    ids=["lists", "arrays", "masked", "records"],
)
def test_columns_and_records(data):
    table = open_table(data)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.to_float(), CELLS)


def test_thresholds_and_blanks_are_those_of_arrays():
    data = {"a": [3, 0, None], "b": [0, -1, 5]}
    array = np.array([[3, 0], [0, -1], [np.nan, 5]])
    for options in ({"threshold": -0.5}, {"threshold": 1}, {"threshold": 1, "empty": "zero"}):
        expected = open_table(array, **options).to_float()
        np.testing.assert_array_equal(open_table(data, **options).to_float(), expected)
    np.testing.assert_array_equal(open_table({"a": [1, None]}, empty="zero").to_float(), [[1], [0]])
    with pytest.raises(TableError, match="'w': 'x' or missing"):
        open_table({"a": [1, 0], "w": [None, "x"]}, threshold=1)


def test_columns_that_are_refused():
    with pytest.raises(TableError, match="Column 'b' has 1 cells, but 'a' has 2"):
        open_table({"a": [1, 0], "b": [1]})
    with pytest.raises(TableError, match="Two columns are called '1'"):
        open_table({1: [1, 0], "1": [1, 0]})
    for nothing in ({}, {"a": 1}, {"a": "01"}, {"a": {"b": 1}}):
        with pytest.raises(TableError, match=r"Expected a table with rows and columns.*a dict of columns"):
            open_table(nothing)


def test_objects_in_a_fit():
    model = LatentClassAnalysis(1, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in ({"a": [1, 0, 1], "b": [0, 1, 1]}, [{"a", "b"}, {"b"}, {"a"}]):
            assert list(model.fit(data).feature_names_in_) == ["a", "b"]

"""Columns that need a decision are left out of a report, and it says so."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import report
from tests.reporting.conftest import quick

pd = pytest.importorskip("pandas")


def frame(bits):
    rng = np.random.default_rng(0)
    found = {f"q{j}": rng.integers(0, 2, 60) for j in range(bits)}
    return pd.DataFrame(found | {"job": np.tile(["clerk", "sales", "cook"], 20), "grade": np.tile([1, 2, 3, 4], 15)})


def test_they_are_left_out_and_named():
    with (
        quick(),
        pytest.warns(hiddenbits.exceptions.ExcludedColumnsWarning, match=r"Excluded because .*'job', 'grade'"),
    ):
        found = report(frame(4)).found
    assert found.numbers["columns"] == 4
    assert "Not used: 2 columns that are not binary (“job” and “grade”)." in found.table


def test_with_fewer_than_three_columns_left_the_question_stays():
    with pytest.raises(hiddenbits.exceptions.AmbiguousColumnsError, match="2 columns need a decision"):
        report(frame(2))
    with pytest.raises(hiddenbits.exceptions.AmbiguousColumnsError, match="2 columns need a decision"):
        report(frame(0))

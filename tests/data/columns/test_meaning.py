"""Which values are 1, in words."""

import pytest

from hiddenbits.data.coding.coded_columns import CodedColumn, Coding

pytestmark = pytest.mark.core


def values(name, ones, zeros, if_missing=None):
    return CodedColumn(name, "values", ones, zeros, if_missing=if_missing)


def yes(n):
    return [values(f"q{j}", ("Yes",), ("No",)) for j in range(n)]


def codes(n, first=0):
    return [values(f"q{j}", (2,), (1,)) for j in range(first, first + n)]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ([CodedColumn("a"), CodedColumn("b", missing=(9,))], ""),
        ([values("a", (1,), (0,)), values("b", (True,), (False,))], ""),
        (yes(9), "1 means 'Yes' in all 9 columns."),
        ([*yes(9), values("sex", ("male",), ("female",))], "1 means 'Yes' in 9 columns and 'male' in 'sex'."),
        ([*yes(9), CodedColumn("b")], "1 means 'Yes' in 9 columns and 1 as in the table in 'b'."),
        (codes(12), "The value 2 is counted as yes in all 12 columns (codes 1 and 2; change with recode=)."),
        (codes(1), "The value 2 is counted as yes in 'q0' (codes 1 and 2; change with recode=)."),
        ([values("a", (0,), (1,))], "The value 0 is counted as yes in 'a' (codes 0 and 1; change with recode=)."),
        (
            [values("trust", (4, 5), (1, 2, 3))],
            "The values 4 or 5 are counted as yes in 'trust' (codes 1, 2, 3, 4 and 5; change with recode=).",
        ),
        (
            [*yes(3), *codes(2, 3), values("side", (9,), (5,)), CodedColumn("b")],
            "Counted as yes: 'Yes' in 3 columns, the value 2 in 'q3' and 'q4' (codes 1 and 2; change with recode=), "
            "the value 9 in 'side' (codes 5 and 9), and 1 as in the table in 'b'.",
        ),
        (
            [CodedColumn("age", "above", threshold=40.0), values("wine", ("x",), (), 0), values("tea", (), ("x",), 1)],
            "1 means above 40 in 'age', 'x' in 'wine' and 'missing' in 'tea'.",
        ),
        (
            [CodedColumn("size", "one-hot", ("s", "m", "l")), *yes(1)],
            "1 means the value that the column is named after in 3 columns and 'Yes' in 'q0'.",
        ),
        (
            [values(f"q{j}", (f"word{j}",), ("other",)) for j in range(9)],
            "1 means 'word0' in 'q0', 'word1' in 'q1', 'word2' in 'q2', 'word3' in 'q3', 'word4' in 'q4', 'word5' in "
            "'q5' and other values in 3 columns.",
        ),
    ],
)  # fmt: skip
def test_the_sentence(columns, sentence):
    assert Coding(tuple(columns)).sentence() == sentence


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (CodedColumn("q"), ["q"]),
        (values("q", ("ja",), ("nein",)), ["q"]),
        (values("q", ("yes",), ("no", "maybe")), ["q"]),
        (values("q", ("✓",), (), 0), ["q"]),
        (values("q", ("no",), ("yes",)), ["q = no"]),
        (values("q", ("yes", "perhaps"), ("no",)), ["q = yes or perhaps"]),
        (values("q", ("agree",), ("disagree",)), ["q = agree"]),
        (values("q", (2.5,), (1,)), ["q = 2.5"]),
        (values("q", (), ("x",), 1), ["q = missing"]),
        (CodedColumn("q", "above", threshold=0.5), ["q > 0.5"]),
        (CodedColumn("q", "one-hot", ("s", "m")), ["q=s", "q=m"]),
    ],
)
def test_the_value_is_named_unless_it_is_yes(column, named):
    assert [meaning.named for meaning in column.meanings] == named

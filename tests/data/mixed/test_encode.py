"""Kinds of columns: inferred, asked for, refused; pandas, polars and Arrow say the same."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from hiddenbits.data import TableError
from hiddenbits.data.mixed.encode import encode, open_mixed, raw_columns
from hiddenbits.data.mixed.layout import Column, Layout

pytestmark = pytest.mark.core

nan = np.nan


def pandas_frame():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {
            "alive": [True, False, True, False],
            "seen": pd.array([1, 0, None, 1], dtype="Int8"),
            "holed": [0.0, nan, 1.0, 1.0],
            "weight": [1.5, nan, -2.0, 3e3],
            "colour": ["red", None, "blue", "green"],
            "size": pd.Categorical(["s", "l", None, "m"], categories=["s", "m", "l"], ordered=True),
            "make": pd.Categorical(["b", "a", "b", None], categories=["b", "a", "never"]),
        }
    )


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(
        {
            "alive": [True, False, True, False],
            "seen": pl.Series([1, 0, None, 1], dtype=pl.Int8),
            "holed": [0.0, nan, 1.0, 1.0],
            "weight": [1.5, None, -2.0, 3e3],
            "colour": ["red", None, "blue", "green"],
            "size": pl.Series(["s", "l", None, "m"], dtype=pl.Enum(["s", "m", "l"])),
            "make": pl.Series(["b", "a", "b", None], dtype=pl.Categorical),
        }
    )


def arrow_frame():
    pa = pytest.importorskip("pyarrow")
    size = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 1]), pa.array(["s", "m", "l"]), ordered=True)
    return pa.table(
        {
            "alive": [True, False, True, False],
            "seen": pa.array([1, 0, None, 1], pa.int8()),
            "holed": [0.0, None, 1.0, 1.0],
            "weight": [1.5, None, -2.0, 3e3],
            "colour": ["red", None, "blue", "green"],
            "size": size,
            "make": pa.array(["b", "a", "b", None]).dictionary_encode(),
        }
    )


KINDS = ["binary", "binary", "binary", "real", "nominal", "ordered", "nominal"]


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame, arrow_frame])
def test_kinds_are_inferred(frame):
    data = frame()
    kinds = {"size": "ordered"} if frame is polars_frame else "auto"  # an Enum of polars need not be an order
    table = open_mixed(data, kinds=kinds)
    assert [column.kind for column in table.layout.columns] == KINDS
    assert table.layout.columns[4].categories == ("blue", "green", "red")
    assert table.layout.columns[5].categories == ("s", "m", "l")
    never = frame is pandas_frame
    assert table.layout.columns[6].categories == (("b", "a", "never") if never else ("a", "b"))
    assert table.shape == (4, 7)
    assert table.n_missing == 6
    numbers = table.to_float()
    expected = [
        [1, 1, 0, 0, nan],
        [0, 0, nan, 1, 1],
        [1, nan, 1, nan, nan],
        [0, 1, 1, 1, 0],
    ]
    np.testing.assert_array_equal(numbers[:, :5], expected)  # "size": beyond s, beyond m
    real = table.layout.labels().index("weight")
    np.testing.assert_array_equal(numbers[:, real], [1.5, nan, -2.0, 3e3])
    red = table.layout.labels().index("colour=red")
    np.testing.assert_array_equal(numbers[:, red - 2 : red + 1], [[0, 0, 1], [nan] * 3, [1, 0, 0], [0, 1, 0]])


def test_a_polars_enum_is_nominal():
    assert open_mixed(polars_frame()).layout.columns[5].kind == "nominal"


def test_arrays_with_kinds():
    X = np.array([[1, 0.5, "a"], [0, None, "b"], [1, -1, "c"]], dtype=object)
    table = open_mixed(X, kinds=["binary", "real", "nominal"])
    assert table.layout.labels() == ["x0", "x1", "x2=a", "x2=b", "x2=c"]
    np.testing.assert_array_equal(table.to_float()[1], [0, nan, 0, 1, 0])
    masked = np.ma.array([[1.0, 2.0], [5.0, 7.0]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(open_mixed(masked, kinds="real").to_float(), [[1, nan], [5, 7]])


def test_ordered_numbers_are_in_their_order():
    table = open_mixed(np.array([[10], [2], [4], [nan]]), kinds="ordered")
    assert table.layout.columns[0].categories == (2, 4, 10)
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, nan], [1, 0], [nan, nan]])


def test_blocks_are_rows():
    table = open_mixed(pandas_frame(), kinds="auto")
    whole = table.to_float()
    blocks = list(table.grid(2).load(0).blocks()) or table.grid(2).blocks
    for block in blocks:
        np.testing.assert_array_equal(
            np.where(block.observed.to_dense() == 1, block.x.operand(), nan), whole[block.start : block.start + 2]
        )
    taken = table.source.x.take(np.array([3, 0])).operand()
    np.testing.assert_array_equal(taken, table.source.x.operand()[[3, 0]])


@pytest.mark.parametrize(
    ("values", "kinds", "message"),
    [
        ([[1.0], [np.inf]], "real", r"column 0 \('x0'\): inf in row 1 .* Use NaN"),
        ([[1.0], [-1e200]], "real", "is infinite or too large"),
        ([[0.0], [2.0]], "binary", r"row 1, column 0 \('x0'\): 2.0 is not a bit"),
        ([["a"], ["b"]], "binary", r"row 0, column 0 \('x0'\): 'a' is not a bit"),
        ([["a"], ["b"]], "real", "'a' in row 0 is not a number"),
        ([["a"], ["b"]], "ordered", "order of its categories is not known"),
        ([[None], [None]], "nominal", "every cell is blank"),
        ([["a"], ["a"]], "nominal", "Every column has a single category"),
        ([["a"], [datetime.date(2020, 1, 1)]], "nominal", "row 1, column 0 .* neither a finite number nor a category"),
        ([[1, 2]], ["real"], "1 entries for 2 columns"),
        ([[1]], ["number"], "'number' for column 'x0'"),
        ([[1]], {"y": "real"}, "'y', but there is no such column"),
        ([[f"n{i}"] for i in range(1001)], "nominal", "1001 categories"),
        ([[0], [3]], "auto", r"row 1, column 0 \('x0'\): 3 is not a bit.* kinds=\{'x0': 'real'\}"),
    ],
)
def test_what_does_not_fit_is_refused(values, kinds, message):
    array = np.array(values) if isinstance(values[0][0], (int, float)) else np.array(values, dtype=object)
    with pytest.raises(TableError, match=message):
        open_mixed(array, kinds=kinds)


def test_unknown_categories_are_refused():
    layout = open_mixed(pandas_frame()).layout
    other = pandas_frame()
    other.loc[2, "colour"] = "mauve"
    with pytest.raises(TableError, match=r"row 2, column 4 \('colour'\): 'mauve' .* 'blue', 'green', 'red'. Make"):
        encode(raw_columns(other)[0], layout)


def test_a_single_category_says_nothing_and_is_allowed():
    table = open_mixed(np.array([["a", 1.5], ["a", 2.5]], dtype=object), kinds=["nominal", "real"])
    assert table.layout.labels() == ["x1"]
    with pytest.raises(TableError, match="'b' is not among the categories of the fit"):
        encode(raw_columns(np.array([["b", 1.5]], dtype=object))[0], table.layout)


def test_layouts_go_through_json():
    layout = open_mixed(pandas_frame()).layout
    assert Layout.from_plain(layout.to_plain()) == layout
    good = layout.to_plain()
    for damage in (
        {"frame": "numpy"},
        {"columns": 3},
        {"columns": [["a", "real", "float"]]},
        {"columns": [["a", "real", "float", ["x"]]]},
        {"columns": [["a", "nominal", "text", []]]},
        {"columns": [["a", "nominal", "words", ["x", "y"]]]},
        {"columns": [["a", "nominal", "text", ["x", None]]]},
        {"columns": [["a", "nominal", "text", ["x", "x"]]]},
        {"columns": [["a", "odd", "text", []]]},
        {"columns": []},
        {"more": 1},
    ):
        with pytest.raises(ValueError, match=r"."):
            Layout.from_plain({**good, **damage})
    assert Column("a", "nominal", ("x", "y")).n_bits == 1


def test_bits_in_odd_types_stay_bits():
    """No category: 0 and 1 in a categorical type, columns of blanks, decimals; a table of bits may be made of these."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "c": pd.Categorical([0, 1, 0, None]),
            "n": [None] * 4,
            "o": np.array([True, None, False, True], dtype=object),
            "d": [Decimal(1), Decimal(0), None, Decimal(1)],
            "x": [0.5, 1.0, 2.0, 3.0],
        }
    )
    layout = open_mixed(frame).layout
    assert [column.kind for column in layout.columns] == ["binary"] * 4 + ["real"]
    pl = pytest.importorskip("polars")
    assert open_mixed(pl.DataFrame({"n": [None, None], "x": [0.5, 1.0]})).layout.labels() == ["n", "x"]
    with pytest.raises(TableError, match="is infinite or too large"):
        open_mixed(np.array([[10**400], [1]], dtype=object), kinds="real")


def test_names_of_their_own():
    pd = pytest.importorskip("pandas")
    twice = pd.DataFrame([[0.5, 1.5]], columns=["a", "a"])
    with pytest.raises(TableError, match="a unique name"):
        open_mixed(twice)
    with pytest.raises(TableError, match="'1'"):
        open_mixed(pd.DataFrame([[0.5, 1.5]], columns=[1, "1"]))


def test_arrow_dictionaries_may_list_more_than_is_used():
    """Ints 0 and 1 in a dictionary type are bits, whatever else the dictionary lists; null and chunks too."""
    pa = pytest.importorskip("pyarrow")
    codes, more = pa.array([0, 1, None]), pa.array([1, 1, 0])
    bits = pa.chunked_array([pa.DictionaryArray.from_arrays(c, pa.array([1, 0, 7], pa.int64())) for c in (codes, more)])
    words = pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), pa.array(["b", "a"])),
            pa.array(["c", None, "a"]).dictionary_encode(),
        ]
    )
    table = open_mixed(pa.table({"bits": bits, "words": words}))
    assert [column.kind for column in table.layout.columns] == ["binary", "nominal"]
    assert table.layout.columns[1].categories == ("a", "b", "c")
    np.testing.assert_array_equal(table.to_float()[:, 0], [1, 0, nan, 0, 0, 1])
    np.testing.assert_array_equal(table.to_float()[:, 1], [0, 1, nan, 0, nan, 1])

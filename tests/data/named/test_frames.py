"""Frames of pandas, polars and Arrow say the same as the array they hold."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest

from hiddenbits.data import AllOnes, open_table
from hiddenbits.exceptions import ExcludedColumnsWarning, TableError

nan = np.nan
HOLES = np.array([[1, 0, nan], [nan, 1, 0], [1, 1, 1], [0, nan, nan]])
FULL = np.nan_to_num(HOLES)
NULLS = [[None if np.isnan(v) else v for v in row] for row in HOLES]
LIBRARIES = ["pandas", "polars", "pyarrow"]
COLUMN_TYPES = {
    "pandas": [
        "float16",
        "float32",
        "float64",
        "object",
        "Int8",
        "UInt8",
        "Int64",
        "UInt64",
        "Float32",
        "Float64",
        "boolean",
        "int8[pyarrow]",
        "bool[pyarrow]",
        "double[pyarrow]",
        "category",
        "Sparse[float64]",
    ],
    "polars": [
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "Int128",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "Float32",
        "Float64",
        "Boolean",
        "Decimal",
    ],
    "pyarrow": [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "bool_",
    ],
}


def frame_of(library: str, columns: dict[str, list], dtype: str | None = None):
    """A frame of the library, its columns of one type."""
    module = pytest.importorskip(library)
    if library == "pandas":
        return module.DataFrame({name: module.Series(held, dtype=dtype) for name, held in columns.items()})
    if library == "polars":
        kind = getattr(module, dtype) if dtype else None
        if dtype == "Decimal":
            columns = {name: [None if v is None else Decimal(int(v)) for v in c] for name, c in columns.items()}
            kind = module.Decimal(10, 2)
        return module.DataFrame({name: module.Series(held, dtype=kind, strict=False) for name, held in columns.items()})
    kind = getattr(module, dtype)() if dtype else None
    return module.table({name: module.array(held, kind) for name, held in columns.items()})


def columns_of(rows) -> dict[str, list]:
    return {f"c {j}": list(column) for j, column in enumerate(zip(*rows, strict=True))}


def as_kind(rows, dtype: str):
    """Python values that the library will take for the type."""
    boolean, whole = "bool" in dtype.lower(), "int" in dtype.lower()
    make = bool if boolean else int if whole else float
    return [[None if v is None else make(v) for v in row] for row in rows]


@pytest.mark.parametrize(("library", "dtype"), [(lib, t) for lib in LIBRARIES for t in COLUMN_TYPES[lib]])
def test_nulls(library, dtype):
    frame = frame_of(library, columns_of(as_kind(NULLS, dtype)), dtype)
    for blank, want in (("auto", HOLES), ("missing", HOLES), ("zero", FULL)):
        table = open_table(frame, empty=blank)
        np.testing.assert_array_equal(table.to_float(), want)
        assert table.names == ("c 0", "c 1", "c 2")
    full = open_table(frame_of(library, columns_of(as_kind(FULL.tolist(), dtype)), dtype))
    np.testing.assert_array_equal(full.to_float(), FULL)
    assert isinstance(full.source.observed, AllOnes)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_several_types_and_names(library):
    columns = {"a": [True, False], "b": [None, None], "c": [0.0, None], "d": [1, 0]}
    frame = frame_of(library, columns)
    want = [[1, nan, 0, 1], [0, nan, nan, 0]]
    np.testing.assert_array_equal(open_table(frame).to_float(), want)
    assert open_table(frame).names == ("a", "b", "c", "d")
    assert open_table(frame, names="wxyz").names == ("w", "x", "y", "z")
    with pytest.raises(TableError, match="3 names were given for 4 columns"):
        open_table(frame, names="xyz")
    with pytest.raises(TableError, match="0 names were given for 4 columns"):
        open_table(frame, names=[])


@pytest.mark.parametrize("library", LIBRARIES)
def test_nan_and_null_are_both_blanks(library):
    frame = frame_of(
        library, {"a": [nan, None, 1.0]}, None if library == "pandas" else {"polars": "Float64"}.get(library, "float64")
    )
    np.testing.assert_array_equal(open_table(frame).to_float(), [[nan], [nan], [1]])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("hole", [0.3, None])
def test_threshold_does_not_depend_on_nulls(library, hole):
    kind = {"pandas": "Float32", "polars": "Float32", "pyarrow": "float32"}[library]
    held = [float(np.float32(0.1)), 0.2, hole]
    table = open_table(frame_of(library, {"a": held}, kind), threshold=0.1)
    np.testing.assert_array_equal(table.to_float(), [[0], [1], [nan if hole is None else 1]])
    with pytest.raises(TableError, match=r"^row 1, column 0 \('a'\): inf is not a finite number"):
        open_table(frame_of(library, {"a": [1.0, np.inf]}), threshold=0.1)


ASKED = {
    "two": ([0, 1, 2], "ordinal values 0, 1, 2"),
    "minus": ([0, 1, -1], "ordinal values -1, 0, 1"),
    "half": ([0.0, 1.0, 0.5], "nominal values 0, 0.5, 1"),
    "word": ([None, None, "column 0"], "'column 0' or missing"),
}
LEFT_OUT = {
    "list": ([None, None, [0, 1]], "text"),
    "lists": ([[0, 1], [1, 1], [0, 1]], "text"),
    "date": ([None, None, datetime.date(2020, 1, 1)], "(date|text)"),
    "time": ([None, None, datetime.datetime(2020, 1, 1)], "date"),
    "span": ([None, None, datetime.timedelta(seconds=1)], "date"),
    "struct": ([None, None, {"x": 1}], "text"),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", ASKED)
def test_columns_that_need_a_word_are_named(library, case):
    held, shown = ASKED[case]
    with pytest.raises(TableError, match=rf"^One column needs a decision(.|\n)*'{case}': {shown}") as caught:
        open_table(frame_of(library, {"fine": [0, 1, 0], case: held}))
    assert "fine" not in str(caught.value)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", LEFT_OUT)
def test_columns_that_cannot_be_bits_are_left_out(library, case):
    held, taken = LEFT_OUT[case]
    with pytest.warns(ExcludedColumnsWarning, match=rf"'{case}' \({taken}\)"):
        table = open_table(frame_of(library, {"fine": [0, 1, 0], case: held}))
    assert table.names == ("fine",)
    assert list(table.beside) == [case]


@pytest.mark.parametrize("library", LIBRARIES)
def test_infinity_is_refused_with_its_place(library):
    with pytest.raises(TableError, match=r"^row 2, column 1 \('a'\): infinity .*is not a bit\. "):
        open_table(frame_of(library, {"fine": [0, 1, 0], "a": [None, 1.0, np.inf]}))
    assert open_table(frame_of(library, {"fine": [0, 1, 0], "a": [None, None, "1"]})).n_missing == 2


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("columns", [{}, {"a": [], "b": []}])
def test_empty_frames(library, columns):
    with pytest.raises(TableError, match=f"The table has 0 rows and {len(columns)} columns"):
        open_table(frame_of(library, columns))


def test_duplicate_names():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for frame in (
        pandas.DataFrame(np.eye(3), columns=["a", "b", "a"]),
        arrow.table([arrow.array([1])] * 3, names=["a", "b", "a"]),
    ):
        with pytest.raises(TableError, match=r"'a'(.|\n)*Give each column a unique name"):
            open_table(frame)
    with pytest.raises(TableError, match=r"Two columns are called '1'. Give each column a unique name"):
        open_table(pandas.DataFrame(np.eye(2), columns=[1, "1"]))


@pytest.mark.parametrize("names", [[0, 1, 2], [2, 0, 1], [7, -1, 3], [("a", 1), ("a", 2), ("b", 1)], [None, 1.5, "x"]])
def test_pandas_names_that_are_no_strings(names):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(HOLES, columns=names, index=[3, 3, 1, 0])
    table = open_table(frame)
    np.testing.assert_array_equal(table.to_float(), HOLES)
    assert table.names == tuple(str(name) for name in frame.columns)


def test_lazy_and_wrapped_frames():
    polars, narwhals = pytest.importorskip("polars"), pytest.importorskip("narwhals")
    frame = polars.DataFrame({"a": [1, 0, None], "b": [0, 0, 1]})
    want = [[1, 0], [0, 0], [nan, 1]]
    for data in (frame.lazy(), frame.lazy().filter(polars.col("b") < 5), narwhals.from_native(frame), frame.to_arrow()):
        np.testing.assert_array_equal(open_table(data).to_float(), want)
    with pytest.raises(TableError, match="1 dimension"):
        open_table(frame["a"])


def test_frames_are_not_changed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(HOLES, columns=list("abc"))
    before = frame.copy(deep=True)
    open_table(frame, empty="zero")
    open_table(frame, threshold=0.5)
    pandas.testing.assert_frame_equal(frame, before)

"""Tables that are no tables: refused before any arithmetic, with the place and the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import Complement, Pattern, memory_table, open_table
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.core
BOXES = ["array", "matrix"]
X = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0]], float)


def refused(message: str, *args, **options) -> None:
    with pytest.raises(TableError, match=message):
        open_table(*args, **options)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"1", "b'1'"),
        (1j, "1j"),
        ([1], r"\[1\]"),
        ({}, "{}"),
        (np.array(1), "1"),
        (10**400, "10000"),
        (10**5000, "a number that is too long to print"),
        (np.datetime64("2020-01-01"), "2020-01-01"),
        (np.timedelta64(1, "s"), "1 seconds"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_that_are_no_bits(value, shown):
    values = X.astype(object)
    values[3, 2] = value
    refused(rf"^row 3, column 2 \('c'\): {shown}.* is not a bit.*Cells must be 0, 1 or empty", values, names="abcd")


@pytest.mark.parametrize("dtype", ["S1", "M8[s]", "m8[s]", "V2"])
def test_arrays_of_other_kinds(dtype):
    refused("got an array of dtype .*Recode the two values as 0 and 1", np.zeros((2, 2), dtype))


def test_complex_numbers():
    refused("Complex data not supported", np.zeros((2, 2), complex))


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2)])
def test_wrong_number_of_dimensions(shape):
    refused(rf"rows and columns, got an array with {len(shape)} dimension", np.zeros(shape))
    if len(shape) == 1:
        refused("rows and columns, got 1 dimension", sparse.coo_array(np.zeros(shape)))


def test_ragged_rows():
    refused("rows and columns", [])
    refused("Give every row the same number of cells", [[1, 0], [1]])
    refused("Give every row the same number of cells", [[1, [0, 1]], [0, 1]])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables(shape):
    message = f"The table has {shape[0]} rows and {shape[1]} columns. It needs at least one of each."
    refused(message, np.zeros(shape))
    refused(message, np.zeros(shape, object))
    refused(message, np.zeros((shape[0], -(-shape[1] // 8)), np.uint8), packed=True, n_columns=shape[1])
    for kind in ("csr", "csc", "coo", "lil", "dok"):
        refused(message, getattr(sparse, kind + "_array")(shape))
    with pytest.raises(TableError, match=message):
        memory_table(Complement(Pattern(np.zeros(shape[0] + 1, np.int64), np.zeros(0, np.int32), shape[1])))


def test_names_and_options():
    refused("^3 names were given for 4 columns. Give one name for each column", X, names="abc")
    refused("^5 names were given for 4 columns", sparse.csr_array(X), names="abcde")
    refused("^0 names were given for 4 columns", X, names=[])
    refused("^row 0, column 3: 2.0 is not a bit", 2 * X[:, ::-1] * [0, 1, 1, 1], names="abc")
    for data in (X, sparse.csr_array(X)):
        refused("empty='none' is not one of 'auto', 'zero', 'missing'", data, empty="none")
    refused("empty='none'", np.zeros((2, 1), np.uint8), packed=True, n_columns=3, empty="none")
    with pytest.raises(TypeError, match="column: option of a file reader, but the table is in memory"):
        open_table(X, column="a")


def test_packed_of_wrong_width():
    packed = np.packbits(X.astype(np.uint8), axis=1)
    refused("needs n_columns=", packed, packed=True)
    for n_columns in (0, 9, 10**30):
        refused(f"^{n_columns} columns pack into .* bytes per row, got 1", packed, packed=True, n_columns=n_columns)
    for n_columns in (-1, 4.0, "4", True):
        refused("n_columns=.* is not a number of columns", packed, packed=True, n_columns=n_columns)
    refused("n_columns=-1 is not", packed[:, :0], packed=True, n_columns=-1)
    for wrong in (packed.astype(int), packed[0], packed[None], X, sparse.csr_array(X)):
        refused("two-dimensional uint8 array, got", wrong, packed=True, n_columns=4)
    refused("cannot be masked", np.ma.array(packed, mask=True), packed=True, n_columns=4)
    packed[2, 0] |= 1 << 2
    refused("^row 2: bits are set beyond column 3. Give the right n_columns=", packed, packed=True, n_columns=4)


def test_sparse_of_other_kinds():
    refused("sparse array of dtype complex128", sparse.csr_array(X * 1j))
    refused("threshold below 0 would turn every absent cell", sparse.csr_array(X), threshold=-1)
    assert open_table(sparse.csr_array(X), threshold=-1, empty="missing").source.x.row_sums().sum() == X.sum()


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("values", [[1, 1], [1, 0], [0, 0], [True, True], [np.nan, 1.0]])
def test_two_values_for_one_cell(box, values):
    coo = getattr(sparse, "coo_" + box)((np.array([1, *values, 0]), ([0, 2, 2, 1], [3, 1, 1, 0])), shape=(3, 4))
    message = "^row 2, column 1: the sparse table holds two values for this cell. Keep one of them"
    refused(message, coo)
    csr = getattr(sparse, "csr_" + box)((np.array([1, *values]), [3, 1, 1], [0, 1, 1, 3]), shape=(3, 4))
    refused(message, csr)
    csr.has_canonical_format = True  # a promise that it does not keep
    refused(message, csr)
    refused(message, getattr(sparse, "csc_" + box)((np.array(values), [2, 2], [0, 0, 2, 2, 2]), shape=(3, 4)))
    blocks = np.array(values).reshape(2, 1, 1)
    refused(message, getattr(sparse, "bsr_" + box)((blocks, [1, 1], [0, 0, 0, 2]), shape=(3, 4)))


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_unsorted_indices_are_sorted_in_a_copy(box, kind):
    cells = ([1, 0, 1, 1, 1], ([2, 0, 2, 0, 1], [3, 1, 0, 0, 2]))
    coo = sparse.coo_array(cells, shape=(3, 4))
    if kind == "coo":
        matrix, held = getattr(sparse, "coo_" + box)(cells, shape=(3, 4)), "col"
    else:
        sorted_one = coo.tobsr(blocksize=(1, 1)) if kind == "bsr" else coo.asformat(kind)
        matrix, held = getattr(sparse, f"{kind}_{box}")(sorted_one), "indices"
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
            matrix.indices[a:b] = matrix.indices[a:b][::-1].copy()
            matrix.data[a:b] = matrix.data[a:b][::-1].copy()
        matrix.has_sorted_indices = False
    before = getattr(matrix, held).copy()
    x = open_table(matrix).source.x
    np.testing.assert_array_equal(x.to_dense(), coo.toarray())
    np.testing.assert_array_equal(x.ones()[1], np.nonzero(coo.toarray())[1])
    np.testing.assert_array_equal(getattr(matrix, held), before)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"])
def test_huge_declared_shapes(kind):
    for shape in ((10**12, 4), (-6, 4), (6.5, 4)):
        matrix = getattr(sparse, kind + "_array")(X)
        matrix._shape = shape
        refused("The sparse table is damaged", matrix)

"""HDF5 files that lie are refused by what they declare."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import bits

h5py = pytest.importorskip("h5py", reason="the files extra is not installed")
from tests.data.arrays.test_h5ad import NAMES, write  # noqa: E402  (it skips itself without h5py)


def fails(path, message, **options):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match=message) as caught:
        open_table(path, **options).to_float()
    assert path.name in str(caught.value)
    assert len(str(caught.value)) < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def replace_x(path, make):
    """Put another X into a file; `make` is given the file."""
    write(path, bits())
    with h5py.File(path, "r+") as file:
        del file["X"]
        make(file)
    return path


def test_nothing_outside_the_file_is_read(tmp_path):
    secret = write(tmp_path / "secret.h5ad", bits())
    np.save(tmp_path / "secret.npy", bits())
    path = tmp_path / "x.h5ad"

    def virtual(file):
        layout = h5py.VirtualLayout(shape=(60, 7), dtype="u1")
        layout[:] = h5py.VirtualSource(str(secret), "X", shape=(60, 7))
        file.create_virtual_dataset("X", layout)

    def inside(file):
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (60, 7)
        matrix = sparse.csr_array(bits())
        group["indptr"], group["data"] = matrix.indptr, matrix.data
        group["indices"] = h5py.ExternalLink(str(secret), "/X")

    outside = [(str(tmp_path / "secret.npy"), 128, 420)]
    for make, message in [
        (lambda file: file.__setitem__("X", h5py.ExternalLink(str(secret), "/X")), "'X' is a link to another location"),
        (lambda file: file.__setitem__("X", h5py.SoftLink("/var/gene")), "'X' is a link to another location"),
        (lambda file: file.__setitem__("X", h5py.SoftLink("/nowhere")), "'X' is a link to another location"),
        (inside, "'X/indices' is a link to another location or file, and links are not followed"),
        (virtual, "'X' is stored in other files, which are not read"),
        (lambda file: file.create_dataset("X", (60, 7), "u1", external=outside), "'X' is stored in other files"),
    ]:
        fails(replace_x(path, make), message)
    write(path, bits(), names=None)
    with h5py.File(path, "r+") as file:
        file["var/gene"] = h5py.ExternalLink(str(secret), "/var/gene")
    fails(path, "'var/gene' is a link")
    assert open_table(path, names="abcdefg").shape == (60, 7)
    with h5py.File(path, "r+") as file:
        file["layers/x"] = h5py.ExternalLink(str(secret), "/X")
    fails(path, "'layers/x' is a link", layer="x", names="abcdefg")


def test_other_types(tmp_path):
    path = tmp_path / "x.h5ad"
    rows = np.zeros(60, [("a", "u1"), ("b", "u1")])
    for array, message in [
        (np.zeros((60, 7), complex), r"'X' holds <c16|'X' holds \|V16"),
        (np.zeros((60, 7), "S3"), r"'X' holds \|S3, not numbers"),
        (np.zeros((2, 60, 7), "u1"), r"'X' has 3 dimension\(s\)"),
        (np.zeros(60, "u1"), r"'X' has 1 dimension\(s\)"),
        (np.zeros((0, 7), "u1"), "The table has 0 rows and 7 columns"),
        (rows, "'X' holds"),
        (np.uint8(3), r"'X' has 0 dimension\(s\)"),
        (h5py.Empty("u1"), "'X' is an empty dataset without a shape"),
        (bits() * 2, r"x\.h5ad: row 0, column \d \('gène \d'\): 2 is not a bit"),
        (np.full((60, 7), np.inf), r"row 0, column 0 \('gène 0'\): infinity"),
    ]:
        fails(replace_x(path, lambda file, array=array: file.create_dataset("X", data=array)), message)

    def objects(file):
        file.create_dataset("X", (60, 7), dtype=h5py.string_dtype())

    for make, message in [
        (objects, r"'X' holds \|O, not numbers"),
        (lambda file: None, r"there is no 'X' in the file. The layers are: nothing"),
        (lambda file: file.create_group("X"), "'X' is stored as None, not as an array"),
        (lambda file: file.__delitem__("var"), "is not what AnnData writes"),
    ]:
        fails(replace_x(path, make), message)
    path.write_bytes(b"")
    fails(path, r"cannot be read \(OSError")


def test_names_that_lie(tmp_path):
    path = tmp_path / "x.h5ad"
    for names, message in [
        (NAMES[:-1], "there are no 7 column names at 'var/gene'"),
        ([*"abcdefa"], "Two columns are called 'a'"),
        (None, "there are no 7 column names at 'var/gene'. Give them with names="),
    ]:
        fails(write(path, bits(), names=names), message)
    with h5py.File(path, "r+") as file:
        file["var/gene"] = np.arange(7)
    fails(path, "'var/gene' does not hold the columns' names as text")
    with h5py.File(path, "r+") as file:
        del file["var/gene"]
        file["var/gene"] = np.array([b"a", b"b", b"\xff\xfe", b"d", b"e", b"f", b"g"])
    fails(path, r"x\.h5ad: .*(utf|UTF)")
    with h5py.File(path, "r+") as file:
        del file["var/gene"]
        file["var/gene"] = np.array([*"abcdefg"], "S1")
    assert open_table(path).names == tuple("abcdefg")
    for outside in ("../secret/x", ".", "/X", "gene/..", "", "a" * 10**4):
        with h5py.File(path, "r+") as file:
            file["var"].attrs["_index"] = outside
        fails(path, r"no 7 column names at|not a path within|does not hold|cannot be read")


# Damaged files ---------------------------------------------------------------------------------------------------

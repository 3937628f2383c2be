"""HDF5 files that lie, and files that are damaged: refused before they do harm."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import TableError, open_table
from hiddenbits.data.readers.arrays import h5_store
from hiddenbits.data.readers.arrays.chunks import unfold
from tests.data.readers.test_readers import assert_lawful, assert_reads, bits, damage

h5py = pytest.importorskip("h5py", reason="the files extra is not installed")
from tests.data.readers.arrays.test_h5ad import NAMES, STORAGE, write  # noqa: E402  (it skips itself without h5py)


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
        (lambda file: file.__setitem__("X", h5py.ExternalLink(str(secret), "/X")), "'X' is a link to another place"),
        (lambda file: file.__setitem__("X", h5py.SoftLink("/var/gene")), "'X' is a link to another place"),
        (lambda file: file.__setitem__("X", h5py.SoftLink("/nowhere")), "'X' is a link to another place"),
        (inside, "'X/indices' is a link to another place or file, and links are not followed"),
        (virtual, "'X' is a virtual dataset, made of other files, which are not read"),
        (lambda file: file.create_dataset("X", (60, 7), "u1", external=outside), "'X' is stored outside the file"),
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

    def unusual(file):
        kind = h5py.h5t.NATIVE_INT16.copy()
        kind.set_precision(9)
        space = h5py.h5s.create_simple((60, 7))
        h5py.h5d.create(file.id, b"X", kind, space)

    def packed(file):
        file.create_dataset("X", (60, 7), "i2", scaleoffset=0, chunks=(10, 7))[...] = bits()

    def legacy(file):
        file["X"] = bits()
        del file["var"]
        file["var"] = rows[:7]

    for make, message in [
        (objects, r"'X' holds \|O, not numbers"),
        (unusual, "'X' holds numbers of an unusual kind"),
        (packed, "is stored with 'scaleoffset', which is not read here"),
        (legacy, r"'var' is written as AnnData did before 0\.7"),
        (lambda file: None, r"there is no X. The layers are: none; choose one with layer="),
        (lambda file: file.create_group("X"), "'X' is stored as None, not as an array"),
        (lambda file: file.__delitem__("var"), "is not what AnnData writes"),
    ]:
        fails(replace_x(path, make), message)
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = bits()
    fails(path, "begins with a block that is not HDF5")
    path.write_bytes(b"")
    fails(path, r"cannot be read \(OSError")


def test_declared_shapes(tmp_path):
    path = tmp_path / "x.h5ad"

    def declared(shape, **options):
        return replace_x(path, lambda file: file.create_dataset("X", shape, "f8", **options))

    fails(declared((10**14, 7), chunks=(10, 7)), r"declares the shape \(10+, 7\), 10+ chunks, but hardly any of them")
    fails(declared((60, 10**8), chunks=(1, 1000)), "is cut into more than 65536 chunks across")
    fails(declared((60, 10**8), chunks=(1, 10**6)), "declares 100000000 columns, above max_columns")
    fails(declared((60, 10**7), chunks=(50, 10**6)), "declares 400000000 bytes, above max_bytes=1000", max_bytes=1000)
    fails(declared((10**16, 7)), r"declares the shape \(10+, 7\), more than the file holds")
    assert_reads(open_table(declared((60, 7), chunks=(10, 7))), np.zeros((60, 7)))  # never written, but zero by default
    assert_reads(open_table(declared((60, 7), chunks=(10, 7), fillvalue=np.nan)), np.full((60, 7), np.nan))
    fails(declared((60, 7), chunks=(10, 7), fillvalue=3.0), "row 0, column 0 .*3.0 is not a bit")

    def unfilled(file):
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((10, 7))
        plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        h5py.h5d.create(file.id, b"X", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((60, 7)), plan)

    assert open_table(replace_x(path, unfilled)).shape == (60, 7)


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_chunks_that_lie(tmp_path, compression):
    """HDF5 itself takes all of these, and hands out memory that nobody wrote where a chunk is too short."""
    path = tmp_path / "x.h5ad"

    def folded(size):
        with h5py.File(tmp_path / "scratch.h5", "w") as file:
            data = file.create_dataset("x", data=np.zeros(size, "u1"), chunks=(size,), compression=compression)
            return data.id.read_direct_chunk((0,))[1]

    for size in (1, 10, 419, 421, 10**6, 10**7):
        write(path, bits(), chunks=(60, 7), compression=compression)
        with h5py.File(path, "r+") as file:
            file["X"].id.write_direct_chunk((0, 0), folded(size))
        fails(path, r"the array 'X', chunk \(0, 0\): (it unfolds to|it declares|it cannot be read)")
    for raw in (b"\0", b"\xff" * 50, folded(420)[:-1], folded(420) + b"\0", bytes(10**6)):
        write(path, bits(), chunks=(60, 7), compression=compression)
        with h5py.File(path, "r+") as file:
            file["X"].id.write_direct_chunk((0, 0), raw)
        if raw[:-1] == folded(420) and compression == "gzip":
            continue  # a byte behind the end of a deflated stream does no harm
        fails(path, r"chunk \(0, 0\): ")
    write(path, bits(), compression=compression)
    with h5py.File(path, "r+") as file:
        file["var/gene"].id.write_direct_chunk((0,), folded(20))  # HDF5 would look up texts at random addresses
    fails(path, r"x\.h5ad: ")


@pytest.mark.parametrize("seed", range(40))
def test_lzf_against_h5py(tmp_path, seed):
    rng = np.random.default_rng([0x1F, seed])
    size = int(rng.integers(1, 3000))
    values = rng.integers(0, int(rng.choice([2, 3, 256])), size).astype("u1")
    values = np.repeat(values, rng.integers(1, int(rng.choice([2, 20, 900])), size))[: 1 << 16]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        data = file.create_dataset("x", data=values, chunks=values.shape, compression="lzf")
        mask, raw = data.id.read_direct_chunk((0,))
    assert np.array_equal(unfold(raw, () if mask else (("lzf", 0),), len(values)), values)
    assert mask or len(raw) < len(values)
    for wrong in (len(values) - 1, len(values) + 1):
        with pytest.raises(TableError, match="unfolds to"):
            unfold(raw, () if mask else (("lzf", 0),), wrong)


@pytest.mark.parametrize("size", [1, 2, 3, 100, 719, 720, 721, 200_001])
def test_checksums_against_h5py(tmp_path, size):
    rng = np.random.default_rng(size)
    for values in (rng.integers(0, 256, size), np.full(size, 255), np.zeros(size)):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            data = file.create_dataset("x", data=values.astype("u1"), chunks=(size,), fletcher32=True)
            raw = data.id.read_direct_chunk((0,))[1]
        steps = (("fletcher32", 0),)
        assert np.array_equal(unfold(raw, steps, size), values)
        for at in {0, size // 2, size - 1, size + 1}:
            wrong = bytearray(raw)
            wrong[at] ^= 4
            with pytest.raises(TableError, match="its checksum is wrong"):
                unfold(bytes(wrong), steps, size)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("indptr", lambda a: np.r_[1, a[1:]], "its index pointers start with 1, not 0"),
        ("indptr", lambda a: np.r_[a[:30], -5, a[31:]], "row 29: .* index pointers go from .* to -5 of"),
        ("indptr", lambda a: np.r_[a[:-1], 10**12], "row 59: .* go from .* to 1000000000000 of"),
        ("indptr", lambda a: np.r_[a[:30], np.full(31, a[-1])], "row 29: .* cells are stored for 7 columns"),
        ("indptr", lambda a: a[:-1], r"need 61 index pointers .* shapes are \(60,\)"),
        ("indptr", lambda a: a.astype("f8"), "'X/indptr' holds <f8, not whole numbers"),
        ("indices", lambda a: np.r_[a[:50], 7, a[51:]], r"row \d+: .* column index 7 is outside 0 to 6"),
        ("indices", lambda a: np.r_[a[:50], -1, a[51:]], r"row \d+: .* column index -1 is outside"),
        ("indices", lambda a: np.r_[a[0], a[0], a[2:]], "row 0, column .*: the sparse table holds two values"),
        ("indices", lambda a: a[:-1], "as many indices as values"),
        ("data", lambda a: np.r_[a[:90], 5, a[91:]], r"row \d+, column \d \('gène \d'\): 5 is not a bit"),
        ("data", lambda a: a.astype("S1"), r"'X/data' holds \|S1, not numbers"),
    ],
)
def test_sparse_that_lies(tmp_path, name, wrong, message):
    matrix = sparse.csr_array(bits())
    array = wrong(getattr(matrix, name).astype(np.int64))
    path = write(tmp_path / "x.h5ad", matrix, replaced={name: array})
    fails(path, message)


def test_sparse_by_columns_that_lies(tmp_path):
    matrix = sparse.csc_array(bits())
    path = write(tmp_path / "x.h5ad", matrix, replaced={"indptr": np.r_[0, 99, matrix.indptr[2:]]})
    fails(path, "column 0: 99 cells are stored|column 1: .* index pointers go from 99")
    path = write(tmp_path / "x.h5ad", matrix, replaced={"indices": np.r_[matrix.indices[:-1], 60]})
    fails(path, "column 6: .* row index 60 is outside 0 to 59")
    fails(write(path, matrix), r"stored by columns \(CSC\).*max_bytes=1000.*tocsr", max_bytes=1000)


@pytest.mark.parametrize("shape", [(60,), (60, 7, 1), (-60, 7), (60.0, 7.0), "60", (10**12, 7), (60, 10**8), [1] * 50])
def test_sparse_shapes_that_lie(tmp_path, shape):
    path = write(tmp_path / "x.h5ad", sparse.csr_array(bits()))
    with h5py.File(path, "r+") as file:
        file["X"].attrs["shape"] = shape
    fails(path, r"its shape is|rows and 7 columns|index pointers|above max_columns|attribute 'shape' is too large")


def test_names_that_lie(tmp_path):
    path = tmp_path / "x.h5ad"
    for names, message in [
        (NAMES[:-1], r"7 names are needed, but 'var/gene' has the shape \[6\]"),
        ([*"abcdefa"], "Two columns are called 'a'"),
        (None, "there are no column names at 'var/gene'. Give them with names="),
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
        fails(path, r"no column names at|not a path within|does not hold|cannot be read")


# Damaged files ---------------------------------------------------------------------------------------------------

KINDS = ["dense", "chunks", "gzip", "csr", "csr, lzf", "csr, latest", "csc, all"]


def damaged(kind, path):
    """Write a file to be damaged; return the table that it holds."""
    form, _, storage = kind.partition(", ")
    options = STORAGE.get(storage or form, {})
    libver = "latest" if storage == "latest" else None
    values = sparse.csr_array(bits().astype("f4")).asformat(form) if form[0:2] == "cs" else bits().astype("f4")
    write(path, values, libver=libver, **options)
    return bits()


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(tmp_path, kind, monkeypatch):
    """Damaged anywhere: refused with the file's name, or a valid table; nothing crashes, hangs or takes much memory.

    One or two in a thousand crash or hang HDF5 itself, in its own process.
    """
    monkeypatch.setattr(h5_store, "SECONDS", 5.0)
    expected = damaged(kind, tmp_path / "good.h5ad")
    good = (tmp_path / "good.h5ad").read_bytes()
    stores = []
    for i in range(150):
        rng = np.random.default_rng([11, i])
        raw = damage(good, rng, False)
        if i % 3 == 0:  # a byte of extreme value in the part of the file that is not empty space
            raw = bytearray(good)
            raw[int(rng.choice(np.flatnonzero(np.frombuffer(good, "u1"))))] = int(rng.choice([0, 127, 128, 255]))
        path = tmp_path / f"{i}.h5ad"
        path.write_bytes(raw)
        stores.append(h5_store.H5Store(str(path), len(raw), None, True, 10**7))
    answers = {store.path: answer for store, answer in zip(stores, h5_store.survey(stores), strict=True)}
    monkeypatch.setattr(h5_store, "survey", lambda asked: [answers[store.path] for store in asked])  # all in one go
    monkeypatch.setattr("hiddenbits.data.readers.arrays.h5ad.survey", h5_store.survey)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = equal = 0
    for i in range(150):
        path = tmp_path / f"{i}.h5ad"
        try:
            table = open_table(path, max_bytes=10**7)
            for start in range(0, min(table.shape[0], 100), 16):
                x, observed = table.source.read(start, start + 16)
                assert x.shape == observed.shape
                assert_lawful(x)
                assert_lawful(observed)
            equal += table.shape == expected.shape and np.array_equal(table.to_float(), expected)
        except TableError as error:
            assert path.name in str(error)  # noqa: PT017
            refused += 1
    assert refused > 50
    assert equal > 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_a_file_that_crashes_or_hangs_the_survey(tmp_path, monkeypatch):
    """A child that dies or stands still costs that file alone."""
    script = tmp_path / "h5_child.py"
    script.write_text(
        "import faulthandler, json, os, signal, sys, time\n"
        "asked = json.load(sys.stdin)\n"
        "print('ready', flush=True)\n"
        "for path in map(os.path.basename, asked['paths']):\n"
        "    faulthandler.dump_traceback_later(asked['seconds'], exit=True)\n"
        "    if 'crash' in path: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    if 'hang' in path: time.sleep(1000)\n"
        "    print(json.dumps({'error': 'seen'}), flush=True)\n"
    )
    monkeypatch.setattr(h5_store, "__file__", str(tmp_path / "h5_store.py"))
    monkeypatch.setattr(h5_store, "SECONDS", 1.0)
    names = ["a", "crash1", "b", "hang", "crash2", "c", "hang2"]
    for name in names:
        (tmp_path / f"{name}.h5ad").write_bytes(b"x")
    stores = [h5_store.H5Store(str(tmp_path / f"{name}.h5ad"), 1, None, True, 10) for name in names]
    said = [str(answer) for answer in h5_store.survey(stores)]
    for name, answer in zip(names, said, strict=True):
        assert answer == "seen" if len(name) == 1 else "crashed or took for ever" in answer
    with pytest.raises(TableError, match=r"crash1\.h5ad: HDF5's library crashed or took for ever.*write it again"):
        open_table(tmp_path / "crash1.h5ad")

"""Delta tables: exactly the rows of one version, whatever else lies in the folder; its files alone are refused."""

import json
import pickle
import struct
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, open_table, run_on
from hiddenbits.data.named import streams
from hiddenbits.exceptions import CheckpointError, FileError, TableError
from hiddenbits.store import read, write

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")
deltalake = pytest.importorskip("deltalake")
write_deltalake, DeltaTable = deltalake.write_deltalake, deltalake.DeltaTable

RNG = np.random.default_rng(0)
CELLS = RNG.integers(0, 2, (300, 6))
FRAME = pa.table({name: pa.array(CELLS[:, j], pa.int8()) for j, name in enumerate("abcdef")})


def fitted(table, **options):
    """Return the parameters of a short fit; online, so that rows in memory are not collapsed either."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few passes are not enough
        model = LatentClassAnalysis(2, max_iter=3, n_init=1, tol=0, online_passes=1, random_state=0, **options).fit(
            table
        )
    return vars(model._params)


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value)


def rows(table):
    """Return the rows in an order of their own: a lake promises none between its files."""
    return sorted(map(tuple, np.nan_to_num(table.to_float(), nan=9.0)))


@pytest.fixture
def lake(tmp_path):
    """Five versions: written in two steps, rows deleted, rows updated, overwritten; and what the rows of each are."""
    folder = tmp_path / "lake"
    write_deltalake(folder, FRAME.slice(0, 200))
    write_deltalake(folder, FRAME.slice(200), mode="append")
    DeltaTable(folder).delete("a = 1 and b = 1")
    DeltaTable(folder).update(predicate="c = 0", updates={"d": "1"})
    write_deltalake(folder, FRAME.slice(7, 50), mode="overwrite")
    left = CELLS[~((CELLS[:, 0] == 1) & (CELLS[:, 1] == 1))]
    changed = left.copy()
    changed[changed[:, 2] == 0, 3] = 1
    return folder, [CELLS[:200], CELLS, left, changed, CELLS[7:57]]


def test_each_version_has_exactly_its_rows(lake):
    folder, versions = lake
    for version, cells in enumerate(versions):
        table = open_table(folder, version=version)
        assert table.version == version
        assert table.names == tuple("abcdef")
        assert rows(table) == sorted(map(tuple, cells.astype(float)))
        assert not table.source.resident
    assert open_table(str(folder)).version == 4
    assert rows(open_table(DeltaTable(folder, version=2))) == rows(open_table(folder, version=2))


def test_the_fit_is_that_of_the_same_rows_in_memory(lake, tmp_path):
    """Files come in the order in which they were written, so that appended rows stand below."""
    folder, _ = lake
    assert_same(fitted(open_table(folder, version=1)), fitted(CELLS.astype(float)))
    assert_same(fitted(folder), fitted(CELLS[7:57].astype(float)))
    pq.write_table(FRAME, tmp_path / "x.parquet")
    with run_on(n_jobs=2):
        assert_same(fitted(open_table(folder, version=1, part_bytes=100)), fitted(tmp_path / "x.parquet"))


def test_an_open_table_does_not_change(lake):
    folder, _ = lake
    table = open_table(folder)
    before = table.to_float()
    write_deltalake(folder, FRAME, mode="append")
    DeltaTable(folder).delete("a = 1")
    np.testing.assert_array_equal(table.to_float(), before)
    assert rows(open_table(folder)) != rows(table)


def test_partitions_are_columns_in_their_place(tmp_path):
    """Whatever they are called."""
    whole = FRAME.append_column("g", pa.array([1, 0, None] * 100, pa.int32())).select(["a", "g", "b", "f"])
    whole = whole.append_column("h", pa.array(["x y/ö%20", "..", "+=&"] * 100))
    write_deltalake(tmp_path / "a lake", whole, partition_by=["g", "f", "h"])
    DeltaTable(tmp_path / "a lake").delete("a = 1")
    table = open_table(tmp_path / "a lake", drop="h")
    assert table.names == ("a", "g", "b", "f")
    kept = whole.filter(pa.compute.equal(whole["a"], 0)).drop_columns("h")
    assert rows(table) == rows(open_table(kept))
    assert table.n_missing == kept["g"].null_count > 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).to_float(), table.to_float())  # for workers
    assert rows(open_table(tmp_path / "a lake", columns=["g"])) == rows(open_table(kept.select(["g"])))


def test_columns_that_came_later_are_blank_before(tmp_path):
    write_deltalake(tmp_path, FRAME.select(["a", "b"]).slice(0, 100))
    write_deltalake(tmp_path, FRAME.select(["c", "a", "b"]).slice(100), mode="append", schema_mode="merge")
    table = open_table(tmp_path)
    expected = CELLS[:, :3].astype(float)
    expected[:100, 2] = np.nan
    assert table.names == ("a", "b", "c")
    np.testing.assert_array_equal(table.to_float(), expected)


def test_other_options_are_those_of_parquet(tmp_path):
    write_deltalake(tmp_path / "pairs", pa.table({"order": [1, 1, 2], "product": ["tea", "jam", "tea"]}))
    table = open_table(tmp_path / "pairs", version=0, row="order", item="product")
    assert (table.names, table.version) == (("jam", "tea"), 0)
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 1]])


# The version in files ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_model_file_names_the_version(lake, tmp_path):
    folder, _ = lake
    model = LatentClassAnalysis(2, random_state=0).fit(open_table(folder, version=2))
    assert model._table_version == 2
    model.save(tmp_path / "m.hb")
    assert hiddenbits.load(tmp_path / "m.hb")._table_version == 2
    assert LatentClassAnalysis(2, random_state=0).fit(CELLS)._table_version is None
    stored = read(tmp_path / "m.hb")
    for hostile in (-1, 1.5, None, True):
        write(tmp_path / "bad.hb", stored.kind, {**stored.meta, "table_version": hostile}, stored.arrays)
        with pytest.raises(FileError, match="the version of its table is not a count"):
            hiddenbits.load(tmp_path / "bad.hb")


def test_a_checkpoint_of_another_version_is_refused(lake, tmp_path):
    """Even if the rows are the same: here a version that only wrote them anew."""
    folder, _ = lake
    path, last = tmp_path / "fit.hb", open_table(folder)
    model = LatentClassAnalysis(2, max_iter=2, n_init=1, tol=0, random_state=0)

    def fit(table):
        with warnings.catch_warnings(), run_on(checkpoint=path):
            warnings.simplefilter("ignore")
            return model.fit(table)

    fit(last)
    assert read(path).meta["version of the Delta table"] == 4
    write_deltalake(folder, FRAME.slice(7, 50), mode="overwrite")
    with pytest.raises(CheckpointError, match="its version of the Delta table is 4, here it is 5"):
        fit(folder)
    with pytest.raises(CheckpointError, match="its version of the Delta table is 4, here it is None"):
        fit(FRAME.slice(7, 50))
    fit(open_table(folder, version=4))


# Deletion vectors ----------------------------------------------------------------------------------------------------

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def z85(data):
    text = ""
    for (word,) in struct.iter_unpack(">I", data):
        text += "".join(Z85[word // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text


def deletion_vector(deleted):
    """Return a deletion vector as the Delta protocol has it in the log."""
    container = struct.pack(f"<IIHHI{len(deleted)}H", 12346, 1, 0, len(deleted) - 1, 16, *deleted)
    bitmap = struct.pack("<IQI", 1681511377, 1, 0) + container
    bitmap += bytes(-len(bitmap) % 4)
    size = len(bitmap)
    return {"storageType": "i", "pathOrInlineDv": z85(bitmap), "sizeInBytes": size, "cardinality": len(deleted)}


def rewrite(folder, change, number=0):
    """Change the actions of a version of the log."""
    log = Path(folder) / "_delta_log" / f"{number:020d}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        change(action)
    log.write_text("\n".join(map(json.dumps, actions)))


def with_vector(folder, vector):
    """Mark rows of the first version as deleted: deltalake writes no such tables."""

    def change(action):
        if "protocol" in action:
            both = {key: ["deletionVectors"] for key in ("readerFeatures", "writerFeatures")}
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, **both}
        if "add" in action:
            action["add"]["deletionVector"] = vector

    rewrite(folder, change)


@pytest.mark.parametrize("spilled", [False, True])
def test_rows_that_deletion_vectors_mark_are_gone(tmp_path, monkeypatch, spilled):
    write_deltalake(tmp_path / "lake", FRAME.slice(0, 200))
    deleted = [0, 3, 4, 100, 150]
    with_vector(tmp_path / "lake", deletion_vector(deleted))
    pq.write_table(FRAME.slice(200), tmp_path / "lake" / "more.parquet")  # by hand: deltalake appends no such files
    size = (tmp_path / "lake" / "more.parquet").stat().st_size
    add = {"path": "more.parquet", "partitionValues": {}, "size": size, "modificationTime": 2**42, "dataChange": True}
    (tmp_path / "lake" / "_delta_log" / f"{1:020d}.json").write_text(json.dumps({"add": add}))
    expected = np.delete(CELLS, deleted, axis=0)
    monkeypatch.setattr(streams, "KEEP_BYTES", 100 if spilled else 10**9)
    with (
        pytest.warns(hiddenbits.exceptions.SpilledTableWarning, match="without its deleted")
        if spilled
        else nullcontext()
    ):
        table = open_table(tmp_path / "lake")
    assert table.source.resident is not spilled
    assert table.version == 1
    np.testing.assert_array_equal(table.to_float(), expected)


def test_damaged_deletion_vectors(tmp_path):
    write_deltalake(tmp_path, FRAME)
    with_vector(tmp_path, deletion_vector([1, 2]) | {"pathOrInlineDv": "00000" * 8})
    with pytest.raises(TableError, match="deletion vectors cannot be read"):
        open_table(tmp_path)


def test_column_mapping_is_refused(tmp_path):
    write_deltalake(tmp_path, FRAME)

    def mapped(action):
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        if "metaData" in action:
            action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
            schema = json.loads(action["metaData"]["schemaString"])
            for number, one in enumerate(schema["fields"]):
                one["metadata"] = {
                    "delta.columnMapping.id": number + 1,
                    "delta.columnMapping.physicalName": one["name"],
                }
            action["metaData"]["schemaString"] = json.dumps(schema)

    rewrite(tmp_path, mapped)
    with pytest.raises(TableError, match=r"column mapping.*DeltaTable\(folder\)\.scan\(\)"):
        open_table(tmp_path)
    assert rows(open_table(DeltaTable(tmp_path).scan())) == sorted(map(tuple, CELLS.astype(float)))  # the advice works


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitioned", [False, True])
def test_files_of_a_lake_alone_are_refused(tmp_path, partitioned):
    write_deltalake(tmp_path / "lake", FRAME, partition_by=["a"] if partitioned else None)
    for named in (
        str(tmp_path / "lake" / "**" / "*.parquet"),
        next((tmp_path / "lake").rglob("*.parquet")),
        sorted(map(str, (tmp_path / "lake").rglob("*.parquet"))),
        ds.dataset(tmp_path / "lake", partitioning=None),
    ):
        with pytest.raises(TableError, match=r"Delta table.*deleted or changed.*open_table\('.*lake'\)"):
            open_table(named)
    with pytest.raises(TableError, match="a file of a Delta table"):
        open_table([tmp_path / "lake", "x.parquet"])


def test_remote_patterns_into_a_lake_are_refused():
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    for folder, other in (
        ("one", "one/_delta_log/0.json"),
        ("two/g=1", "two/_delta_log/0.json"),
        ("ice/data", "ice/metadata/v1.metadata.json"),
        ("plain", "plain/metadata/about.txt"),
    ):
        with fs.open(f"/lakes/{folder}/x.parquet", "wb") as file:
            pq.write_table(FRAME, file)
        fs.pipe(f"/lakes/{other}", b"{}")
    for named, lake in (("one/*", "Delta"), ("two/*/*", "Delta"), ("ice/data/*", "Iceberg")):
        with pytest.raises(TableError, match=f"{lake} table"):
            open_table(f"memory://lakes/{named}.parquet")
    assert open_table("memory://lakes/plain/*.parquet").shape == FRAME.shape
    fs.rm("/lakes", recursive=True)


def test_iceberg_is_refused_with_advice(tmp_path):
    (tmp_path / "ice" / "data" / "g=1").mkdir(parents=True)
    (tmp_path / "ice" / "metadata").mkdir()
    (tmp_path / "ice" / "metadata" / "v1.metadata.json").write_text("{}")
    pq.write_table(FRAME, tmp_path / "ice" / "data" / "g=1" / "x.parquet")
    for named in ("ice", "ice/data", "ice/data/*/*.parquet", "ice/data/g=1/x.parquet"):
        with pytest.raises(TableError, match=r"Iceberg table.*pyiceberg.*iceberg_scan"):
            open_table(tmp_path / named)


@pytest.mark.parametrize(
    "path", ["../secret.parquet", "%2e%2e/secret.parquet", "{}/secret.parquet", "file://{}/secret.parquet", "link/x"]
)
def test_files_outside_of_the_folder_are_refused(tmp_path, path):
    pq.write_table(FRAME, tmp_path / "secret.parquet")
    write_deltalake(tmp_path / "lake", FRAME)
    (tmp_path / "lake" / "link").symlink_to(tmp_path)
    rewrite(tmp_path / "lake", lambda action: action.get("add", {}).update(path=path.format(tmp_path)))
    with pytest.raises(TableError, match="outside of the table's folder"):
        open_table(tmp_path / "lake")


@pytest.mark.parametrize(
    "log", ["", "{", "[]\n", '{"add": {}}\n', "\x00" * 100, '{"protocol": {"minReaderVersion": 99}}']
)
def test_damaged_logs(tmp_path, log):
    write_deltalake(tmp_path, FRAME)
    (tmp_path / "_delta_log" / f"{0:020d}.json").write_text(log)
    with pytest.raises(TableError, match="the log of the Delta table cannot be read") as error:
        open_table(tmp_path)
    assert "unknown" not in str(error.value)  # of Rust's trace
    assert "\n" not in str(error.value)


def test_missing_and_damaged_files(tmp_path):
    write_deltalake(tmp_path, FRAME)
    (file,) = tmp_path.glob("*.parquet")
    data = file.read_bytes()
    file.write_bytes(data[:-20])
    with pytest.raises(TableError, match="not a complete Parquet file"):
        open_table(tmp_path)
    file.unlink()
    with pytest.raises(TableError, match=r"version 0 needs part-.*\.parquet, but there is no such file.*VACUUM"):
        open_table(tmp_path)
    (tmp_path / "_delta_log" / f"{0:020d}.json").unlink()
    with pytest.raises(TableError, match="cannot be read"):
        open_table(tmp_path)


def test_versions_that_are_not_there(lake, tmp_path):
    folder, _ = lake
    for version in (-1, True, 1.0, "1"):
        with pytest.raises(TypeError, match="give the number of a version"):
            open_table(folder, version=version)
    with pytest.raises(TableError, match="has no version 99"):
        open_table(folder, version=99)
    with pytest.raises(TypeError, match="already has a version"):
        open_table(DeltaTable(folder), version=1)
    pq.write_table(FRAME, tmp_path / "x.parquet")
    with pytest.raises(TypeError, match="version= is not an option"):
        open_table(tmp_path / "x.parquet", version=1)
    DeltaTable(folder).delete()
    with pytest.raises(TableError, match="version 5 of the Delta table has no rows"):
        open_table(folder)


def test_what_to_install(lake, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[lakes\]'"):
        open_table(lake[0])


def test_columns_of_any_values_are_read_as_from_every_file(tmp_path):
    """Partitions that are no bits stay with the rows; the coding goes with the version into the model file."""
    answers = np.where(CELLS[:, :2] == 1, "yes", "no")
    frame = pa.table({"q1": answers[:, 0], "q2": answers[:, 1], "day": ["mon", "tue", "wed"] * 100})
    write_deltalake(tmp_path / "lake", frame, partition_by=["day"])
    with pytest.warns(hiddenbits.exceptions.RecodedColumnsWarning, match="yes = 1"):
        table = open_table(tmp_path / "lake", drop=["day"])
    assert table.names == ("q1", "q2")
    assert table.version == 0
    assert rows(table) == sorted(map(tuple, CELLS[:, :2].astype(float)))
    assert sorted(table.beside["day"]) == sorted(frame["day"].to_pylist())

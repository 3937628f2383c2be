"""JSON lines and Feather files, written by pandas and pyarrow: the same table as the frame."""

import gzip

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.exceptions import TableError

pa = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
FRAME = pandas.DataFrame({"a": [1, 0, 1], "b": [True, None, False], "c": [0.0, np.nan, 1.0], "word": ["x", "y", None]})
BITS = ["a", "b", "c"]


def write_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "x.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "x.ndjson.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_json(orient="records", lines=True).encode())),
    "x.feather": lambda path: FRAME.to_feather(path),
    "x.arrow": lambda path: write_stream(FRAME, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_table_of_the_frame(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    table, frame = open_table(path, columns=BITS), open_table(FRAME[BITS])
    assert table.names == frame.names
    np.testing.assert_array_equal(table.to_float(), frame.to_float())
    np.testing.assert_array_equal(open_table(path, drop=["word"]).to_float(), frame.to_float())
    more = tmp_path / f"more{name}"
    WRITERS[name](more)
    assert open_table([path, more], columns=BITS).shape == (6, 3)


def test_keys_that_a_line_lacks_are_blanks(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1, "b": 0}\n{"b": 1}\n')
    np.testing.assert_array_equal(open_table(tmp_path / "x.jsonl").to_float(), [[1, 0], [np.nan, 1]])


def test_lists_and_pairs(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"items": ["tea", "jam"]}\n{"items": []}\n{"items": ["tea"]}\n')
    table = open_table(path)
    assert table.names == ("jam", "tea")
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 0], [0, 1]])
    path.write_text('{"o": 7, "p": "tea"}\n{"o": 7, "p": "jam"}\n{"o": 8, "p": "tea"}\n')
    np.testing.assert_array_equal(open_table(path, row="o", item="p").to_float(), [[1, 1], [0, 1]])


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_refused(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    whole = path.read_bytes()
    for data in (
        b"",
        b"\x00" * 50,
        b"a,b\n1,0\n",
        b"FEA1" + bytes(40) + b"FEA1",
        whole[: len(whole) // 2 + 3],
        whole[:9],
    ):
        path.write_bytes(data)
        with pytest.raises(TableError, match=rf"{name}: "):
            open_table(path)
    path.write_bytes(whole)
    with pytest.raises(TableError, match=rf"{name}: .*max_bytes=20"):
        open_table(path, max_bytes=20)


def test_other_columns_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"b": 1}\n')
    with pytest.raises(TableError, match=r"b\.jsonl: the columns differ from those of a\.jsonl"):
        open_table([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    (tmp_path / "a.jsonl").write_text('{"a": 1, "a": 0}\n')
    with pytest.raises(TableError, match=r"a\.jsonl: "):
        open_table(tmp_path / "a.jsonl")

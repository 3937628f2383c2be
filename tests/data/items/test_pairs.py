"""Lines that pair a row with an item, in every format: against a naive reading, line by line; in memory and on disk."""

from __future__ import annotations

import csv
import gc
import json
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenbits.data import AllOnes, Pattern, open_table
from hiddenbits.data.items import gather
from hiddenbits.exceptions import CSVDialectWarning, DuplicateItemsWarning, SpilledTableWarning, TableError
from tests.data.tables import assert_reads, bits

pa = pytest.importorskip("pyarrow", reason="the files extra is not installed")
pq = pytest.importorskip("pyarrow.parquet")

PAIRS = {"row": "who", "item": "what"}
ASK = {**PAIRS, "value": "saw"}
TYPES = ["int8", "uint16", "int64", "uint64", "string", "large_string", "names", "numbers"]


def meaning(lines, columns=None, blank=0.0):
    """Read pairs line by line: (table, row keys, items). Rows as they first appear, items ascending."""
    keys = list(dict.fromkeys(line[0] for line in lines))
    items = sorted({line[1] for line in lines}) if columns is None else list(columns)
    table = np.full((len(keys), len(items)), blank)
    for key, item, *value in lines:
        saw = value[0] if value else 1
        table[keys.index(key), items.index(item)] = (np.nan if blank != 0 else 0.0) if saw is None else saw
    return table, keys, items


def arrow(values, kind):
    """Return an Arrow array of keys; numbers become words for the types of text."""
    if kind == "names":
        return pa.array([f"k{v:03}" for v in values]).dictionary_encode()
    if kind == "numbers":
        return pa.array(values, "int32").dictionary_encode()
    if "string" in kind:
        return pa.array([f"k{v:03}" for v in values], kind)
    return pa.array([v + 2**63 if kind == "uint64" else v for v in values], kind)


def write(path, lines, types=("int64", "int64"), group=7, files=1):
    """Write lines (row, item[, value]) into one file, or several; return the pattern that names them."""
    columns = dict(zip(("who", "what", "saw"), zip(*lines, strict=True), strict=False))
    table = pa.table({name: arrow(columns[name], kind) for name, kind in zip(("who", "what"), types, strict=True)})
    if "saw" in columns:
        table = table.append_column("saw", pa.array(columns["saw"]))
    for i, cut in enumerate(np.array_split(np.arange(len(lines)), files)):
        part = table.slice(int(cut[0]) if len(cut) else 0, len(cut))
        pq.write_table(part, path / f"{i}.parquet", row_group_size=group)
    return path / "*.parquet"


def lines_of(x, order="sorted", seed=0):
    """Return the ones of a matrix as lines, their rows in some order."""
    lines = [(int(i), int(j)) for i, j in zip(*np.nonzero(x), strict=True)]
    rng = np.random.default_rng(seed)
    if order == "falling":
        return sorted(lines, key=lambda line: (-line[0], line[1]))
    if order == "grouped":
        place = rng.permutation(len(x))
        return sorted(lines, key=lambda line: (place[line[0]], rng.random()))
    return lines if order == "sorted" else [lines[i] for i in rng.permutation(len(lines))]


@pytest.fixture
def on_disk(monkeypatch):
    """Rows go to temporary files from the first batch on, and are sorted a few items at a time."""
    monkeypatch.setattr(gather, "HELD_BYTES", 0)
    monkeypatch.setattr(gather, "SORT_ITEMS", 30)
    monkeypatch.setattr("hiddenbits.data.named.parquet.files.BATCH_ROWS", (13, 13))


@pytest.mark.thin(3)
@pytest.mark.parametrize("order", ["sorted", "falling", "grouped", "shuffled"])
@pytest.mark.parametrize(("group", "files"), [(1, 1), (5, 3), (1000, 1), (40, 7)])
def test_any_order_group_and_file(tmp_path, order, group, files):
    lines = lines_of(bits(40, 9, density=0.3), order)
    table = open_table(write(tmp_path, lines, group=group, files=files), **PAIRS)
    want, keys, items = meaning(lines)
    assert_reads(table, want, 40)
    assert table.names == tuple(map(str, items))
    assert isinstance(table.source.read(0, 3)[0], Pattern)
    assert isinstance(table.source.read(0, 3)[1], AllOnes)
    for start, stop in ((0, 40), (3, 17), (39, 40), (5, 5)):
        assert list(table.source.row_keys(start, stop)) == keys[start:stop]


@pytest.mark.thin(5)
@pytest.mark.parametrize("row_type", TYPES)
@pytest.mark.parametrize("item_type", TYPES)
def test_types_of_keys(tmp_path, row_type, item_type):
    for order in ("sorted", "shuffled"):
        lines = lines_of(bits(30, 12, density=0.2), order)
        table = open_table(write(tmp_path, lines, (row_type, item_type), files=2), **PAIRS)
        want, keys, items = meaning(lines)
        assert_reads(table, want)
        assert table.names == tuple(str(one) for one in arrow(items, item_type).to_pylist())
        assert list(table.source.row_keys(0, 30)) == arrow(keys, row_type).to_pylist()
        again = pickle.loads(pickle.dumps(table))
        assert_reads(again, want)
        assert list(again.source.row_keys(2, 5)) == arrow(keys[2:5], row_type).to_pylist()


def test_numbered_and_named_items(tmp_path):
    lines = [("a", 3), ("a", 0), ("b", 5), ("c", 0)]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(dict(zip(("who", "what"), zip(*lines, strict=True), strict=True))), path)
    assert open_table(path, **PAIRS).names == ("0", "3", "5")
    assert_reads(open_table(path, **PAIRS), meaning(lines)[0])
    numbered = open_table(path, **PAIRS, n_columns=7)
    assert_reads(numbered, meaning(lines, range(7))[0])
    assert numbered.names is None
    named = open_table(path, **PAIRS, items=list("tuvwxyz"))
    assert_reads(named, meaning(lines, range(7))[0])
    assert named.names == tuple("tuvwxyz")
    # and the other way round: text for items, in an order of one's own, with one that does not occur
    turned = open_table(path, row="what", item="who", items=["c", "b", "z", "a"])
    assert_reads(turned, meaning([(i, w) for w, i in lines], ["c", "b", "z", "a"])[0])
    assert_reads(open_table(path, row="what", item="who"), meaning([(i, w) for w, i in lines])[0])
    assert_reads(open_table(path, **PAIRS, empty="missing"), meaning(lines, blank=np.nan)[0])


def test_values(tmp_path):
    lines = [("a", 1, 1), ("a", 0, 0), ("b", 2, None), ("b", 1, 0), ("c", 0, 1), ("d", 1, None)]
    who, what, saw = (list(column) for column in zip(*lines, strict=True))
    for kind in ("bool", "int8", "double"):
        table = pa.table({"who": who, "what": what, "saw": pa.array(saw).cast(kind)})
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
        missing = meaning(lines, blank=np.nan)[0]
        for blank, want in (("auto", missing), ("missing", missing), ("zero", meaning(lines)[0])):
            assert_reads(open_table(tmp_path / "x.parquet", **ASK, empty=blank), want)
        assert np.isnan(missing[3]).all()  # a row of which nothing was seen is a row
    marks = pa.array([4.5, 2.0, None, 1.0, 5.0, float("nan")])
    pq.write_table(pa.table({"who": who, "what": what, "saw": marks}), tmp_path / "x.parquet")
    want = meaning([(*line[:2], saw) for line, saw in zip(lines, [1, 0, None, 0, 1, None], strict=True)], blank=np.nan)
    assert_reads(open_table(tmp_path / "x.parquet", **ASK, threshold=3), want[0])


lines_with_values = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.sampled_from([0, 1, 1, None])), min_size=1, max_size=40
)


@pytest.mark.parametrize("valued", [True, False])
@given(lines=lines_with_values, group=st.integers(1, 9), grouped=st.booleans(), spilled=st.booleans())
def test_any_lines(tmp_path_factory, valued, lines, group, grouped, spilled):
    """Repeats are counted once with a warning, contradictions refused, and all else is what the lines say."""
    path = tmp_path_factory.mktemp("pairs")
    lines = sorted(lines, key=lambda line: line[0]) if grouped else lines
    lines = lines if valued else [line[:2] for line in lines]
    cells = {}
    for who, what, *saw in lines:
        cells.setdefault((who, what), []).extend(saw or [1])
    repeats = sum(len(saw) - 1 for saw in cells.values())
    pattern = write(path, lines, group=group, files=min(2, len(lines)))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        patch.setattr(gather, "HELD_BYTES", 0 if spilled else 1e9)
        patch.setattr(gather, "SORT_ITEMS", 7)
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", SpilledTableWarning)
        if any(len(set(saw)) > 1 for saw in cells.values()):
            with pytest.raises(TableError, match=r"has the values .* and .*Keep one line per pair"):
                open_table(pattern, **ASK)
            return
        x = open_table(pattern, **(ASK if valued else PAIRS)).to_float()
    np.testing.assert_array_equal(x, meaning(lines, blank=np.nan if valued else 0.0)[0])
    assert [one.category for one in caught] == [DuplicateItemsWarning] * bool(repeats)
    if repeats:
        assert f"There are {repeats} repeated items in all" in str(caught[0].message)


# More than memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int64", "string"])
@pytest.mark.parametrize("order", ["sorted", "grouped", "shuffled"])
def test_rows_on_disk(tmp_path, on_disk, kind, order):
    """The same rows in any part, thread and process; the files go with the table."""
    lines = [(*line, (line[0] + line[1]) % 2) for line in lines_of(bits(300, 11, density=0.3), order)]
    want, keys, _ = meaning(lines, blank=np.nan)
    path = write(tmp_path, lines, (kind, "int64"), group=64, files=3)
    if order == "shuffled":  # grouped in memory
        assert_reads(open_table(path, **ASK), want)
        return
    with pytest.warns(SpilledTableWarning, match="set TMPDIR"):
        table = open_table(path, **ASK, part_bytes=300)
    assert not table.source.resident
    assert_reads(table, want)
    source = pickle.loads(pickle.dumps(table.source))
    assert source.read(len(want) - 5, len(want) + 50)[0].shape == (5, 11)  # as a slice would
    assert list(source.row_keys(7, 19)) == arrow(keys[7:19], kind).to_pylist()
    with ThreadPoolExecutor(8) as pool:
        for start, part in enumerate(pool.map(lambda i: source.read(i, i + 40), range(200))):
            np.testing.assert_array_equal(part[0].to_dense(), np.nan_to_num(want[start : start + 40]))
    folder = table.source.cells.path.parent
    del table
    gc.collect()
    assert not folder.exists()
    with pytest.raises(TableError, match="there is no such file"):
        source.read(0, 5)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.SpilledTableWarning")
def test_sorted_lines_take_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "HELD_BYTES", 1 << 18)
    monkeypatch.setattr(gather, "SORT_ITEMS", 1 << 14)
    n = 1_000_000
    pq.write_table(pa.table({"who": np.arange(n) // 4, "what": np.arange(n) % 4}), tmp_path / "x.parquet")
    tracemalloc.start()
    table = open_table(tmp_path / "x.parquet", **PAIRS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.shape == (n // 4, 4)
    assert peak < 5e6  # of 6 MB that the rows take, with twice as much to put them in order
    assert table.source.read(n // 4 - 2, n // 4)[0].to_dense().all()


# Other formats ---------------------------------------------------------------------------------------------------


def test_csv_and_json_lines(tmp_path):
    """The same table as from Parquet, whatever the way of writing."""
    lines = [(i, 5 + j, (i * j) % 2) for i, j in lines_of(bits(40, 20, density=0.2), "shuffled")]
    for kinds in (("int64", "int64"), ("int64", "string"), ("string", "int64")):
        write(tmp_path, lines, kinds)
        columns = pq.read_table(tmp_path / "0.parquet").to_pydict()
        with (tmp_path / "x.csv").open("w", newline="", encoding="cp1252") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["größe", *columns])
            writer.writerows(zip(["ä"] * len(lines), *columns.values(), strict=True))
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
        for ask in (PAIRS, ASK):
            expected = open_table(tmp_path / "0.parquet", **ask)
            with pytest.warns(CSVDialectWarning) as caught:
                tables = [open_table(tmp_path / "x.csv", **ask), open_table(tmp_path / "x.jsonl", **ask)]
            assert len(caught) == 1
            for table in tables:
                assert table.names == expected.names
                np.testing.assert_array_equal(table.to_float(), expected.to_float())
                np.testing.assert_array_equal(table.source.row_keys(0, 9), expected.source.row_keys(0, 9))


def test_codes_with_zeros_before_them_are_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("title\nid,code\n1,007\n2,7\n10,07\n")
    table = open_table(path, row="id", item="code", skip_top=1)
    assert table.names == ("007", "07", "7")
    assert table.source.row_keys(0, 3).tolist() == [1, 2, 10]

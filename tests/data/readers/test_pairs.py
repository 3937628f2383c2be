"""Parquet files with a line for each pair: against a naive reading, line by line; the same fits as in memory."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenbits.data import AllOnes, Pattern, TableError, open_table
from hiddenbits.data.items.items import DuplicateItemsWarning
from hiddenbits.data.named.parquet.pairs import PairsInMemory, PairSource
from tests.data.readers.test_readers import assert_reads, bits

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


# What is read ----------------------------------------------------------------------------------------------------


@pytest.mark.thin(3)
@pytest.mark.parametrize("order", ["sorted", "falling", "grouped", "shuffled"])
@pytest.mark.parametrize(("group", "files"), [(1, 1), (5, 3), (1000, 1), (40, 7)])
def test_any_order_group_and_file(tmp_path, order, group, files):
    lines = lines_of(bits(40, 9, density=0.3), order)
    table = open_table(write(tmp_path, lines, group=group, files=files), **PAIRS)
    want, keys, items = meaning(lines)
    assert_reads(table, want, 40)
    assert table.names == tuple(map(str, items))
    assert isinstance(table.source, PairsInMemory if order == "shuffled" else PairSource)
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
    pq.write_table(pa.table(dict(zip(("who", "what"), zip(*lines, strict=True), strict=True))), tmp_path / "x.parquet")
    path = tmp_path / "x.parquet"
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
    assert_reads(open_table(path, **PAIRS, blank="missing"), meaning(lines, blank=np.nan)[0])


def test_values(tmp_path):
    lines = [("a", 1, 1), ("a", 0, 0), ("b", 2, None), ("b", 1, 0), ("c", 0, 1), ("d", 1, None)]
    for kind in ("bool", "int8", "double"):
        columns = [list(column) for column in zip(*lines, strict=True)]
        table = pa.table({"who": columns[0], "what": columns[1], "saw": pa.array(columns[2]).cast(kind)})
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
        missing = meaning(lines, blank=np.nan)[0]
        for blank, want in (("auto", missing), ("missing", missing), ("zero", meaning(lines)[0])):
            table = open_table(tmp_path / "x.parquet", **ASK, blank=blank)
            assert_reads(table, want)
            assert isinstance(table.source, PairSource)
        assert np.isnan(missing[3]).all()  # a row of which nothing was seen is a row
    marks = pa.array([4.5, 2.0, None, 1.0, 5.0, float("nan")])
    pq.write_table(pa.table({"who": columns[0], "what": columns[1], "saw": marks}), tmp_path / "x.parquet")
    want = meaning([(*line[:2], saw) for line, saw in zip(lines, [1, 0, None, 0, 1, None], strict=True)], blank=np.nan)
    assert_reads(open_table(tmp_path / "x.parquet", **ASK, threshold=3), want[0])


lines_with_values = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.sampled_from([0, 1, 1, None])), min_size=1, max_size=40
)


@pytest.mark.parametrize("valued", [True, False])
@given(lines=lines_with_values, group=st.integers(1, 9), files=st.integers(1, 4), grouped=st.booleans())
def test_any_lines(tmp_path_factory, valued, lines, group, files, grouped):
    """Repeats are counted once with a warning, contradictions refused, and all else is what the lines say."""
    path = tmp_path_factory.mktemp("pairs")
    lines = sorted(lines, key=lambda line: line[0]) if grouped else lines
    lines = lines if valued else [line[:2] for line in lines]
    cells = {}
    for who, what, *saw in lines:
        cells.setdefault((who, what), []).extend(saw or [1])
    contradiction = any(len(set(saw)) > 1 for saw in cells.values())
    repeats = sum(len(saw) - 1 for saw in cells.values())
    pattern = write(path, lines, group=group, files=min(files, len(lines)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if contradiction:
            with pytest.raises(TableError, match=r"has the values .* and .*Keep one line per pair"):
                open_table(pattern, **ASK).to_float()
            return
        x = open_table(pattern, **(ASK if valued else PAIRS)).to_float()
    np.testing.assert_array_equal(x, meaning(lines, blank=np.nan if valued else 0.0)[0])
    assert len(told) == bool(repeats)
    if repeats:
        assert told[0].category is DuplicateItemsWarning
        assert f"There are {repeats} repeated items in all" in str(told[0].message)


def test_repeats_are_told_with_their_place(tmp_path):
    lines = [(0, 3), (0, 1), (1, 2), (1, 2), (1, 2), (2, 3), (3, 1), (3, 1)]
    table = open_table(write(tmp_path, lines, group=4), **PAIRS)
    with pytest.warns(DuplicateItemsWarning, match=r"0\.parquet: row 1: item 1 occurs twice. There are 3 repeated"):
        table.to_float()
    path = write(tmp_path, [(*line, 1) for line in lines], group=4)
    with pytest.warns(DuplicateItemsWarning, match=r"0\.parquet: row 1: item 1 occurs twice. There are 3 repeated"):
        open_table(path, **ASK).to_float()


# How it is read --------------------------------------------------------------------------------------------------


@pytest.fixture
def decoded(monkeypatch):
    """The row groups that were decoded, one entry each."""
    groups, honest = [], pq.ParquetFile.iter_batches

    def spy(self, *args, **options):
        groups.extend(options["row_groups"])
        return honest(self, *args, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    return groups


def test_only_the_row_groups_needed(tmp_path, decoded):
    # rows of 3, 3, 1, 8 (over three groups of 4), 2, 3 lines
    lines = [(i, j) for i, n in enumerate([3, 3, 1, 8, 2, 3]) for j in range(n)]
    table = open_table(write(tmp_path, lines, group=4), **PAIRS)
    assert decoded == [0, 1, 2, 3, 4]  # one scan
    opens, ends = [0, 0, 1, 1, 3, 4], [0, 1, 1, 3, 4, 4]  # groups in which rows begin and end
    for start in range(6):
        for stop in range(start + 1, 7):
            decoded.clear()
            x, _ = table.source.read(start, stop)
            np.testing.assert_array_equal(x.to_dense(), meaning(lines)[0][start:stop])
            assert decoded == list(range(opens[start], ends[stop - 1] + 1))
    assert len(pickle.dumps(table.source)) < 4000


def test_sorted_files_are_scanned_once_and_grouped_ones_twice(tmp_path, decoded):
    x = bits(40, 9, density=0.3)
    for order, scans in (("sorted", 1), ("falling", 1), ("grouped", 2), ("shuffled", 3)):
        path = write(tmp_path, lines_of(x, order), group=50)
        decoded.clear()
        open_table(path, **PAIRS)
        assert len(decoded) == scans * len(set(decoded)), order


@pytest.mark.slow
def test_parts_of_any_size_threads_and_processes(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.named.parquet.files.BATCH_ROWS", (13, 13))
    monkeypatch.setattr("hiddenbits.data.named.parquet.pair_cells.SORTED", 30)
    x = bits(300, 11, density=0.3)
    lines = lines_of(x, "grouped")
    want = meaning(lines)[0]
    path = write(tmp_path, lines, group=64, files=3)
    for part_bytes in (1, 300, 10**9):
        grid = open_table(path, **PAIRS, part_bytes=part_bytes).grid(16)
        blocks = [block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]
        np.testing.assert_array_equal(np.concatenate(blocks), want)
    source = pickle.loads(pickle.dumps(open_table(path, **PAIRS).source))
    assert source.read(len(want) - 5, len(want) + 50)[0].shape == (5, 11)  # as a slice would
    with ThreadPoolExecutor(8) as pool:
        for start, part in enumerate(pool.map(lambda i: source.read(i, i + 40), range(200))):
            np.testing.assert_array_equal(part[0].to_dense(), want[start : start + 40])


def test_estimates_are_exact_without_repeats(tmp_path):
    rng = np.random.default_rng(0)
    x = bits(50, 9, density=0.4)
    lines = [(*line, int(rng.integers(0, 2))) for line in lines_of(x)]
    plain, valued = (open_table(write(tmp_path, lines), **ask) for ask in (PAIRS, ASK))
    for table in (plain, valued):
        bits_read, observed = table.source.read(0, table.shape[0])
        assert table.source.row_cells == bits_read.row_sums().sum() / table.shape[0]
        pointers = 8 * (1 + isinstance(observed, Pattern))
        assert table.source.row_bytes * table.shape[0] == pytest.approx(
            bits_read.nbytes + observed.nbytes - pointers, rel=1e-12
        )


# Real files ------------------------------------------------------------------------------------------------------

"""Tables for tests of formats: their cells, files of them, and what reading them must give."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

from hiddenbits.data import Complement, Dense, Pattern, open_table
from hiddenbits.exceptions import DuplicateItemsWarning, TableError

RANGES = 8  # runs of rows that are read of each table; 25 with --full


def bits(rows=60, columns=7, seed=0, density=0.4):
    return (np.random.default_rng(seed).random((rows, columns)) < density).astype(np.uint8)


def holes(x, share=0.1, seed=1):
    """Return floats with NaN in some cells."""
    values = x.astype(float)
    values[np.random.default_rng(seed).random(x.shape) < share] = np.nan
    return values


def assert_reads(table, expected, n_ranges=None):
    """The whole table, and any run of its rows, is what is expected (NaN where not observed)."""
    expected = np.asarray(expected, float)
    assert table.shape == expected.shape
    np.testing.assert_array_equal(table.to_float(), expected)
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(n_ranges or RANGES):
        start, stop = np.sort(rng.integers(0, len(expected) + 1, 2))
        x, observed = table.source.read(int(start), int(stop))
        part = expected[start:stop]
        assert x.shape == observed.shape == part.shape
        np.testing.assert_array_equal(x.to_dense(), np.nan_to_num(part))
        np.testing.assert_array_equal(observed.to_dense(), ~np.isnan(part))
        kinds.add((type(x), type(observed)))
    assert len(kinds) == 1  # parts are added, so all need one storage


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return type(array).__name__ == "mmap"


def write_baskets(path, x):
    path.write_text("".join(" ".join(map(str, np.flatnonzero(row))) + "\n" for row in x))
    return path


def as_lists(x, names=None):
    return [[int(j) if names is None else names[j] for j in np.flatnonzero(row)] for row in x]


def write_parquet(path, columns, group=17, **options):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, path, row_group_size=group, **options)
    return path


def frame(values, dtype=None):
    """Return columns c0, c1, ...: NaN becomes null, and dtype "nan" keeps it."""
    pa = pytest.importorskip("pyarrow")
    values = np.asarray(values, float)
    if dtype == "nan":
        return {f"c{j}": pa.array(column) for j, column in enumerate(values.T)}
    return {f"c{j}": pa.array([None if v != v else v for v in column]).cast(dtype) for j, column in enumerate(values.T)}


# Damage ----------------------------------------------------------------------------------------------------------

WORDS = (b"2", b"-1", b"inf", b"nan", b"abc", b"1e300", b"0.5", b"99999999999", b'"', b"\0", b"\xc3", b"\n", b",", b" ")


def damage(data: bytes, rng: np.random.Generator, words: bool) -> bytes:
    """Flip bits, cut the end, cut a piece from the middle, or put another word somewhere."""
    raw = bytearray(data)
    kind = rng.integers(0, 5 if words else 3)
    if kind == 0:
        for _ in range(rng.integers(1, 5)):
            raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del raw[rng.integers(len(raw)) :]
    elif kind == 2:
        start = rng.integers(len(raw))
        del raw[start : start + rng.integers(1, 30)]
    else:
        at = int(rng.integers(len(raw)))
        raw[at : at + int(rng.integers(0, 2))] = WORDS[rng.integers(len(WORDS))]
    return bytes(raw)


def assert_lawful(bits, of=None):
    """Every cell is 0 or 1, and indices are ascending and in range."""
    if isinstance(bits, Complement):
        bits = bits.of
    if isinstance(bits, Pattern):
        assert bits.indptr[0] == 0
        assert bits.indptr[-1] == len(bits.indices)
        assert (np.diff(bits.indptr) >= 0).all()
        row = np.repeat(np.arange(bits.shape[0]), np.diff(bits.indptr))
        assert (np.diff(row * bits.n_columns + bits.indices.astype(np.int64)) > 0).all()
        assert ((bits.indices >= 0) & (bits.indices < bits.n_columns)).all()
    elif isinstance(bits, Dense):
        assert bits.values.max(initial=0) <= 1


def fuzz(path: Path, seed: int, words: bool, times: int, **options) -> int:
    """Damage the file many times: each time it is refused with its name, or is a valid table."""
    good, refused, valid = path.read_bytes(), 0, 0
    for i in range(times):
        rng = np.random.default_rng([seed, i])
        unpacked = gzip.decompress(good) if path.suffix == ".gz" and i % 2 else good
        raw = damage(unpacked, rng, words)
        path.write_bytes(gzip.compress(raw) if unpacked is not good else raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DuplicateItemsWarning)
            try:
                table = open_table(path, **options)
                grid = table.grid(16)
                for part in range(min(grid.n_parts, 4)):
                    loaded = grid.load(part)
                    assert loaded.x.shape == loaded.observed.shape
                    assert_lawful(loaded.x)
                    assert_lawful(loaded.observed)
            except TableError as error:
                refused += path.name in str(error)
            else:
                valid += 1
    assert refused + valid == times
    return refused

"""Files with flipped bits, cut ends and cut middles: refused with their name, or a valid table."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse

from tests.data.named.test_csv import write_csv
from tests.data.tables import bits, frame, fuzz, holes, write_baskets, write_parquet

BITS, HOLES = bits(), holes(bits())
FILES = {
    "u8.npy": lambda path: np.save(path, BITS),
    "f8.npy": lambda path: np.save(path, HOLES),
    "bool.npy": lambda path: np.save(path, BITS == 1),
    "packed.npy": lambda path: np.save(path, np.packbits(BITS, axis=1)),
    "dense.npz": lambda path: np.savez_compressed(path, x=BITS),
    "csr.npz": lambda path: sparse.save_npz(path, sparse.csr_array(BITS)),
    "x.csv": lambda path: write_csv(path, HOLES, "abcdefg"),
    "x.csv.gz": lambda path: write_csv(path, HOLES, "abcdefg"),
    "x.dat": lambda path: write_baskets(path, BITS),
    "x.dat.gz": lambda path: path.write_bytes(gzip.compress(write_baskets(path, BITS).read_bytes())),
    "bool.parquet": lambda path: write_parquet(path, frame(BITS, "bool")),
    "nulls.parquet": lambda path: write_parquet(path, frame(HOLES, "uint8")),
    "double.parquet": lambda path: write_parquet(path, frame(HOLES, "double")),
}


@pytest.mark.core
@pytest.mark.parametrize("name", FILES)
def test_damaged_files(tmp_path, name, short):
    FILES[name](tmp_path / name)
    times = 75 if short else 150
    options = {"packed": True, "n_columns": 7} if name == "packed.npy" else {}
    assert fuzz(tmp_path / name, 1, name[:2] == "x.", times, **options) > times // 5

"""One table in every format that is read from addresses."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from scipy import sparse

from tests.data.named.test_csv import write_csv
from tests.data.tables import as_lists, bits, frame, holes, write_baskets, write_parquet

ROWS = 120
X = bits(ROWS)
HOLES = holes(X)
NAMES = [f"c{j}" for j in range(7)]
S3_OPTIONS = {"key": "key", "secret": "very-secret", "client_kwargs": {"region_name": "us-east-1"}}


def write_files(folder):
    """Write one table in formats of every kind; return {name or pattern: (options, what it holds)}."""
    np.save(folder / "u8.npy", X)
    np.save(folder / "float.npy", HOLES)
    np.savez_compressed(folder / "two.npz", x=X, y=HOLES)
    sparse.save_npz(folder / "csr.npz", sparse.csr_array(X))
    write_csv(folder / "x.csv", HOLES, NAMES)
    write_csv(folder / "x.csv.gz", HOLES, NAMES)
    write_baskets(folder / "x.dat", X)
    for i in range(12):  # part10 comes after part9
        np.save(folder / f"part{i}.npy", X[10 * i : 10 * i + 10])
    cases = {
        "u8.npy": ({}, X),
        "float.npy": ({}, HOLES),
        "part*.npy": ({"names": NAMES}, X),
        "two.npz": ({"key": "y"}, HOLES),
        "csr.npz": ({}, X),
        "x.csv": ({}, HOLES),
        "x.csv.gz": ({"drop": ["c3"]}, np.delete(HOLES, 3, 1)),
        "x.dat": ({"n_columns": 7}, X),
    }
    if find_spec("pyarrow"):
        for i in range(12):
            write_parquet(folder / f"part{i}.parquet", frame(HOLES[10 * i : 10 * i + 10], "uint8"), group=4)
        write_parquet(folder / "lists.parquet", {"l": as_lists(X)}, group=25)
        cases |= {"part*.parquet": ({}, HOLES), "lists.parquet": ({}, X)}
    return cases


def quick(seconds=1.0):
    """Return options of the http file system that allow each request this long."""
    import aiohttp

    return {"client_kwargs": {"timeout": aiohttp.ClientTimeout(total=seconds)}}

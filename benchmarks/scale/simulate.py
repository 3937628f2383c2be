"""Sparse tables as large as wanted, in Parquet files with a list of items for each row.

A row has one of K classes. A one comes from a background that all columns share, or from the row's class, which has some columns
of its own; so P(bit) is p0, or 1 - (1 - p0)(1 - p1) in the class's columns. Only the ones are drawn, by the gaps between
them: the time follows the ones, not the cells.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS, CLASSES = 1000, 32
OWN, BACKGROUND, STRENGTH = 50, 0.0062, 0.08  # columns of a class; p0, p1: one cell in a hundred is a one
ROWS_PER_FILE, ROWS_PER_GROUP = 1_000_000, 100_000


def truth(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the class weights and each class's own columns."""
    rng = np.random.default_rng([seed, 0])
    own = np.stack([rng.choice(COLUMNS, OWN, replace=False) for _ in range(CLASSES)])
    return rng.dirichlet(np.full(CLASSES, 10.0)), own


def probabilities(seed: int) -> np.ndarray:
    """Return P(bit = 1) in each class, columns x classes."""
    theta = np.full((COLUMNS, CLASSES), BACKGROUND)
    for k, columns in enumerate(truth(seed)[1]):
        theta[columns, k] = 1.0 - (1.0 - BACKGROUND) * (1.0 - STRENGTH)
    return theta


def places(rng: np.random.Generator, n_cells: int, p: float) -> np.ndarray:
    """Return the numbers of the cells that are ones, each with probability p: sums of geometric gaps."""
    expected = n_cells * p
    gaps = rng.geometric(p, int(expected + 8.0 * np.sqrt(expected) + 16.0))
    at = np.cumsum(gaps) - 1
    if at[-1] < n_cells:
        raise RuntimeError("the gaps do not reach the end of the table")  # eight standard errors: does not happen
    return at[: np.searchsorted(at, n_cells)]


def draw(n_rows: int, seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (row starts, items) of the rows of one group."""
    weights, own = truth(seed)
    rng = np.random.default_rng([seed, 1, number])
    classes = rng.choice(CLASSES, n_rows, p=weights)
    background = places(rng, n_rows * COLUMNS, BACKGROUND)
    rows, slots = np.divmod(places(rng, n_rows * OWN, STRENGTH), OWN)
    cells = np.concatenate([background, rows * COLUMNS + own[classes[rows], slots]])
    cells.sort()
    cells = cells[np.concatenate([[True], cells[1:] != cells[:-1]])]  # the background and the class may agree
    rows, items = np.divmod(cells, COLUMNS)
    return np.searchsorted(rows, np.arange(n_rows + 1)).astype(np.int32), items.astype(np.int16)


def write_file(folder: Path, n_rows: int, seed: int, number: int) -> int:
    """Write one file, and return its number of ones."""
    ones, per_file = 0, ROWS_PER_FILE // ROWS_PER_GROUP
    with pq.ParquetWriter(
        folder / f"part{number:04d}.parquet", pa.schema([("items", pa.list_(pa.int16()))]), compression="none"
    ) as writer:
        first = number * ROWS_PER_FILE
        for group in range(per_file):
            n = min(ROWS_PER_GROUP, n_rows - first - group * ROWS_PER_GROUP)
            if n <= 0:
                break
            starts, items = draw(n, seed, number * per_file + group)
            lists = pa.ListArray.from_arrays(pa.array(starts), pa.array(items))
            writer.write_table(pa.table({"items": lists}, schema=writer.schema))
            ones += len(items)
    return ones


def write(folder: Path, n_rows: int, *, seed: int, processes: int = 2) -> int:
    """Write a table and return its number of ones; the first rows of a longer table are those of a shorter one."""
    folder.mkdir(parents=True)
    with ProcessPoolExecutor(processes) as pool:
        return sum(pool.map(partial(write_file, folder, n_rows, seed), range(-(-n_rows // ROWS_PER_FILE))))

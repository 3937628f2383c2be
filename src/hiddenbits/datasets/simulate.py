"""Tables simulated from latent class models, in memory or as files larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.store import make_folder, writing

CHUNK_ROWS = 1 << 17  # rows sampled at a time, each chunk with its own random stream


class SimulatedMixture(NamedTuple):
    """A table sampled from a Bernoulli mixture, with its parameters and classes.

    Attributes
    ----------
    X : ndarray of shape (rows, columns) of uint8
    classes : ndarray of shape (rows,)
    weights : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_classes, columns)

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_mixture
    >>> simulate_mixture(100, 6, 2, random_state=0).probabilities.shape
    (2, 6)
    """

    X: Bytes
    classes: NDArray[np.int64]
    weights: Floats
    probabilities: Floats


def true_mixture(n_columns: int, n_classes: int, random_state: int) -> tuple[Floats, Floats]:
    """Return (weights, probabilities) of a random mixture.

    Parameters
    ----------
    n_columns, n_classes : int
        Number of columns and of classes.
    random_state : int
        Random seed.

    Examples
    --------
    >>> from hiddenbits.datasets import true_mixture
    >>> weights, probabilities = true_mixture(6, 2, random_state=0)
    >>> probabilities.shape
    (2, 6)
    """
    rng = np.random.default_rng([random_state, 0])
    return rng.dirichlet(np.full(n_classes, 5.0)), rng.beta(0.7, 1.4, (n_classes, n_columns))


def simulate_mixture(n_rows: int, n_columns: int, n_classes: int, *, random_state: int = 0) -> SimulatedMixture:
    """Simulate a table from a random Bernoulli mixture.

    Parameters
    ----------
    n_rows, n_columns, n_classes : int
        Number of rows, columns and classes.
    random_state : int
        Random seed of the model and of the rows.

    Returns
    -------
    simulated : SimulatedMixture

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_mixture
    >>> simulate_mixture(100, 6, 2, random_state=0).X.shape
    (100, 6)
    """
    weights, probabilities = true_mixture(n_columns, n_classes, random_state)
    chunks = list(_rows(n_rows, weights, probabilities, random_state))
    X, classes = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
    return SimulatedMixture(X, classes, weights, probabilities)


def write_mixture(
    folder: str | os.PathLike[str],
    n_rows: int,
    n_columns: int,
    n_classes: int,
    *,
    random_state: int = 0,
    rows_per_file: int = 1 << 20,
) -> Path:
    """Write a simulated table as Parquet files of 0/1 columns, never holding more than one file in memory.

    Parameters
    ----------
    folder : path
        The folder of the files, created if it does not exist.
    n_rows, n_columns, n_classes, random_state
        As for `simulate_mixture`; the rows are the same.
    rows_per_file : int
        Rows in each file, a multiple of 131,072 (the rows of one random stream).

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> import tempfile, hiddenbits
    >>> from hiddenbits.datasets import write_mixture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_mixture(folder, 1000, 6, 2, random_state=0)
    ...     hiddenbits.open_table(f"{path}/*.parquet").shape
    (1000, 6)
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rows_per_file % CHUNK_ROWS:
        raise ValueError(f"rows_per_file={rows_per_file} is not a multiple of {CHUNK_ROWS}.")
    folder = Path(folder)
    make_folder(folder)
    names = [f"x{j}" for j in range(n_columns)]
    schema = pa.schema([(name, pa.uint8()) for name in names])
    writer: Any = None
    with writing(folder):
        for number, (X, _) in enumerate(_rows(n_rows, *true_mixture(n_columns, n_classes, random_state), random_state)):
            file_number, within = divmod(number * CHUNK_ROWS, rows_per_file)
            if within == 0:
                if writer is not None:
                    writer.close()
                writer = pq.ParquetWriter(folder / f"part{file_number}.parquet", schema)
            writer.write_table(pa.table([pa.array(X[:, j]) for j in range(n_columns)], schema=schema))
        writer.close()
    return folder


def _rows(n_rows: int, weights: Floats, probabilities: Floats, seed: int) -> Iterator[tuple[Bytes, NDArray[np.int64]]]:
    """Yield rows and classes, one chunk at a time."""
    # Comparing 16-bit random numbers takes a sixth of the time, and rounds probabilities to 1/65536.
    limits = np.round(probabilities * 65536.0).astype(np.uint32)
    for number, start in enumerate(range(0, n_rows, CHUNK_ROWS)):
        rng = np.random.default_rng([seed, 1, number])
        n = min(CHUNK_ROWS, n_rows - start)
        classes = rng.choice(len(weights), size=n, p=weights)
        numbers = rng.integers(0, 65536, (n, probabilities.shape[1]), dtype=np.uint16)
        yield (numbers < limits[classes]).view(np.uint8), classes

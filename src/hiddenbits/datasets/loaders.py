"""Loaders of real tables from the folder in the environment variable HIDDENBITS_DATA."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from hiddenbits.array_types import AnyArray, Bytes
from hiddenbits.tables import Table


class Splits(NamedTuple):
    """A benchmark table in its published splits.

    Attributes
    ----------
    train, valid, test : ndarray of shape (rows, columns) of uint8
        Training, validation and test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.datasets import Splits
    >>> Splits(*np.zeros((3, 2, 4), np.uint8)).test.shape
    (2, 4)
    """

    train: Bytes
    valid: Bytes
    test: Bytes


def data_folder() -> Path:
    """Return the folder of real tables.

    Examples
    --------
    >>> from hiddenbits.datasets import data_folder
    >>> data_folder().name  # doctest: +SKIP
    'data'
    """
    folder = os.environ.get("HIDDENBITS_DATA")
    if not folder:
        raise FileNotFoundError("Set the environment variable HIDDENBITS_DATA to the folder with the real tables.")
    return Path(folder)


def load_debd(name: str) -> Splits:
    """Return one of the 20 tables of the standard density-estimation benchmark.

    Parameters
    ----------
    name : str
        Such as "nltcs", "kdd" or "audio".

    Examples
    --------
    >>> from hiddenbits.datasets import load_debd
    >>> load_debd("nltcs").train.shape  # doctest: +SKIP
    (16181, 16)
    """
    with np.load(data_folder() / "debd" / f"{name}.npz", allow_pickle=False) as arrays:
        return Splits(arrays["train"], arrays["valid"], arrays["test"])


def as_bunch(data: Table | dict[str, Any], **extra_columns: AnyArray) -> Bunch:
    """Return a table as pandas data frames, as scikit-learn's loaders do.

    `data` has the columns for a model; `frame` has these and the extra columns, which are also attributes by name.
    """
    import pandas

    if isinstance(data, Table):
        cells = data.to_float()
        data = dict(zip(data.names or (), (cells if data.n_missing else cells.astype(np.int64)).T, strict=True))
    frame = pandas.DataFrame({**data, **extra_columns})
    return Bunch(data=frame[list(data)], frame=frame, **{name: frame[name] for name in extra_columns})

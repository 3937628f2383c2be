"""Well-known real tables, from the folder in HIDDENBITS_DATA: digits, votes of the Senate, surveys."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from hiddenbits import open_table
from hiddenbits.array_types import Bytes, Floats
from hiddenbits.datasets.loaders import as_bunch, data_folder
from hiddenbits.tables import Table

USPS_SOURCE = (
    "It is made from zip.train.gz and zip.test.gz of https://hastie.su.domains/ElemStatLearn/data.html: `train` and "
    "`test` are uint8 arrays with 256 columns, the gray values scaled from -1 to 1 to 0 to 255; `train_label` and "
    "`test_label` are the digits. Save them with numpy.savez_compressed."
)
SENATE_SOURCE = (
    "Its columns are `party` and the votes, 1 for yes and 0 for no; they come from `s109` of the R package pscl."
)


class Digits(NamedTuple):
    """Images of handwritten digits as binary data, 16 x 16 pixels, row by row.

    Attributes
    ----------
    train, test : ndarray of shape (rows, 256) of uint8
        Pixels, 1 for ink.
    train_label, test_label : ndarray of shape (rows,)
        The digits.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.datasets import Digits
    >>> Digits(np.zeros((1, 256), np.uint8), np.array([2]), np.zeros((0, 256), np.uint8), np.array([])).train.shape
    (1, 256)
    """

    train: Bytes
    train_label: NDArray[np.int64]
    test: Bytes
    test_label: NDArray[np.int64]


class Votes(NamedTuple):
    """Roll-call votes of a chamber.

    Attributes
    ----------
    X : ndarray of shape (members, votes)
        1 for yes, 0 for no, NaN for missing votes.
    party : ndarray of shape (members,) of str
        The members' parties.
    names : tuple of str
        Names of the votes.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.datasets import Votes
    >>> Votes(np.array([[1.0, np.nan]]), np.array(["D"]), ("X1", "X2")).X.shape
    (1, 2)
    """

    X: Floats
    party: NDArray[np.str_]
    names: tuple[str, ...]


def load_usps(digit: int | None = None, *, threshold: float = 127) -> Digits:
    """Return the USPS digits as binary images: 7,291 training rows and 2,007 test rows.

    They are read from ``digits/usps.npz`` in the folder in the environment variable HIDDENBITS_DATA. The file
    is not part of the package; it is made from ``zip.train.gz`` and ``zip.test.gz`` of the book "The Elements of
    Statistical Learning", https://hastie.su.domains/ElemStatLearn/data.html: arrays ``train`` and ``test`` of uint8
    with 256 columns, whose gray values are scaled from -1 to 1 to 0 to 255, and ``train_label`` and ``test_label``
    with the digits.

    Parameters
    ----------
    digit : int, optional
        Return only this digit; there are 731 training and 198 test rows of the digit 2.
    threshold : float, default=127
        Pixels with a gray value (0 to 255) above it are ink.

    Returns
    -------
    digits : Digits

    References
    ----------
    LeCun et al. (1989), "Backpropagation applied to handwritten zip code recognition".

    Examples
    --------
    >>> from hiddenbits.datasets import load_usps
    >>> load_usps(2).train.shape  # doctest: +SKIP
    (731, 256)
    """
    if digit is not None and digit not in range(10):
        raise ValueError(f"digit={digit!r}: digits are 0 to 9.")
    parts: list[NDArray[np.integer]] = []
    with np.load(_file("digits/usps.npz", USPS_SOURCE), allow_pickle=False) as arrays:
        for part in ("train", "test"):
            images, labels = arrays[part], arrays[f"{part}_label"].astype(np.int64)
            chosen = np.ones(len(labels), bool) if digit is None else labels == digit
            parts += [(images[chosen] > threshold).astype(np.uint8), labels[chosen]]
    return Digits(*parts)  # type: ignore[arg-type]


def load_senate109(*, as_frame: bool = False) -> Votes | Bunch:
    """Return the votes of the 109th Senate of the United States: 102 senators, 645 votes, with missing votes.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `party` with it in `frame`, as scikit-learn's loaders do.

    Returns
    -------
    votes : Votes or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_senate109
    >>> load_senate109().X.shape  # doctest: +SKIP
    (102, 645)
    """
    with _file("votes/senate109.csv", SENATE_SOURCE).open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    cells = [[np.nan if cell in ("", "NA") else float(cell) for cell in row[1:]] for row in rows]
    votes = Votes(np.array(cells), np.array([row[0] for row in rows]), tuple(names[1:]))
    return as_bunch(dict(zip(votes.names, votes.X.T, strict=True)), party=votes.party) if as_frame else votes


def load_survey(name: str, *, as_frame: bool = False) -> Table | Bunch:
    """Return a survey or test as a table with the names of its items.

    Parameters
    ----------
    name : str
        Such as "lsat" (1,000 x 5) or "sat12_binary" (600 x 32).
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, as scikit-learn's loaders do.

    Returns
    -------
    table : Table or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_survey
    >>> load_survey("lsat").shape  # doctest: +SKIP
    (1000, 5)
    """
    path = data_folder() / "survey" / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.csv"))) or "none"
        raise FileNotFoundError(f"There is no survey {name!r} in {path.parent}. Available: {known}.")
    table = open_table(path)
    return as_bunch(table) if as_frame else table


def _file(name: str, source: str) -> Path:
    """Return the path of a file in the folder of real tables; errors report the source of the file."""
    try:
        path = data_folder() / name
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{error} It must contain {name}. {source}") from None
    if not path.is_file():
        raise FileNotFoundError(f"There is no {name} in the folder HIDDENBITS_DATA. {source}")
    return path

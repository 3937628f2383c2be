"""A folder of finished fits, so that a comparison or bootstrap that was interrupted does not repeat them.

Every finished fit is three files, each written atomically. The file with the results is written last, so a fit that has
it is complete. The file name is a digest of everything that the fit depends on.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import hiddenbits
from hiddenbits.data.hashing import digest
from hiddenbits.quoting import printable, redacted
from hiddenbits.store import make_folder, whole_file
from hiddenbits.tables import Piece, Table, map_pieces

FORMAT = 1
PIECE_CELLS = 1 << 22  # cells that are processed together
PACKAGES = ("hiddenbits", "numpy", "scipy", "scikit-learn", "numba")


def table_digest(table: Table) -> str:
    """Return a digest of the rows of a table, their weights and columns; computed on the executor."""

    def of_piece(piece: Piece) -> bytes:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        mask = np.packbits(observed.to_dense(), axis=1)
        plain = type(piece.table) is Table and not piece.table.n_numbers
        cells = np.packbits(x.to_dense(), axis=1) if plain else piece.table.to_float()
        return bytes.fromhex(digest(*(np.ascontiguousarray(array).tobytes() for array in (cells, mask, piece.weights))))

    pieces = map_pieces(of_piece, table, max(1, PIECE_CELLS // table.row_size))
    return digest(json.dumps([table.shape, table.names]).encode(), *pieces)[:32]


def versions() -> dict[str, str]:
    """Return the versions that the results of a fit depend on, in addition to data and settings."""
    result = {"python": platform.python_version(), "machine": platform.machine(), "format": str(FORMAT)}
    for name in PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = "none"
    return result


class FitCache:
    """The finished fits in a folder; without a folder, nothing is saved.

    Parameters
    ----------
    folder : path or None
        Created if it does not exist.
    identity : dict
        Everything that all fits of this run depend on.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, identity: dict[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        self._identity = identity
        if self.folder is not None:
            make_folder(self.folder)

    def key(self, job: dict[str, Any]) -> str:
        """Return the file name of a fit."""
        # What is not JSON is described completely by its repr.
        text = json.dumps([self._identity, job], sort_keys=True, default=repr) if self.folder is not None else ""
        return text and digest(text.encode())[:32]

    def get(self, key: str) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]], Any] | None:
        """Return (results, arrays, model) of a finished fit, or None."""
        if self.folder is None or not (path := self.folder / f"{key}.json").is_file():
            return None
        try:
            results: dict[str, Any] = json.loads(path.read_text())
            with np.load(path.with_suffix(".npz"), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(
                f"{printable(path)} cannot be read: {redacted(error, path)}. Delete it to repeat the fit."
            ) from error
        model = path.with_suffix(".hb")
        return results, arrays, hiddenbits.load(model) if model.is_file() else None

    def put(
        self, key: str, results: dict[str, Any], arrays: dict[str, NDArray[np.float64]], model: BaseEstimator
    ) -> None:
        """Save a finished fit; the results, which mark it as complete, are written last."""
        if self.folder is None:
            return
        if hasattr(model, "save"):
            model.save(self.folder / f"{key}.hb")
        buffer = BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        for name, content in (("npz", buffer.getvalue()), ("json", (json.dumps(results, indent=1) + "\n").encode())):
            with whole_file(self.folder / f"{key}.{name}") as file:
                file.write(content)

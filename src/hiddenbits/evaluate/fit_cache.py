"""A folder of finished fits: what a comparison that was killed need not do again.

Every finished fit is three files, each of which appears whole or not at all; the one with the figures comes last, so
that a fit whose figures are there is complete. Their name is a digest of everything the fit depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hiddenbits
from hiddenbits import Piece, Table, map_pieces
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.quoting import printable, told
from hiddenbits.store import whole_file

FORMAT = 2
PACKAGES = ("hiddenbits", "numpy", "scipy", "scikit-learn", "numba")


def digest(value: Any) -> str:
    """Return a name for a value that JSON can say, or whose repr says it all."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=repr).encode()).hexdigest()[:32]


def table_digest(table: Table) -> str:
    """Return a name for the rows of a table, their weights and columns; computed where the engine runs."""

    def of_piece(piece: Piece) -> bytes:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        both = np.packbits(observed.to_dense(), axis=1)
        cells = np.packbits(x.to_dense(), axis=1) if type(piece.table) is Table else piece.table.to_float()
        hashed = hashlib.sha256(np.ascontiguousarray(cells).tobytes())
        for array in (both, piece.weights):
            hashed.update(np.ascontiguousarray(array).tobytes())
        return hashed.digest()

    whole = hashlib.sha256(json.dumps([table.shape, table.names]).encode())
    for part in map_pieces(of_piece, table, max(1, PIECE_CELLS // table.shape[1])):
        whole.update(part)
    return whole.hexdigest()[:32]


def versions() -> dict[str, str]:
    """Return what the figures of a fit depend on beside data and settings."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "format": str(FORMAT)}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


class Kept:
    """The finished fits in a folder; with no folder, nothing is kept.

    Parameters
    ----------
    folder : path or None
        Made if need be.
    identity : dict
        What all fits of this comparison depend on.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, identity: dict[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        self._identity = identity
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def key(self, job: dict[str, Any]) -> str:
        """Return the name of a fit."""
        return digest([self._identity, job]) if self.folder is not None else ""

    def get(self, key: str) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]], Any] | None:
        """Return (figures, arrays, model) of a finished fit; None where there is none."""
        if self.folder is None or not (path := self.folder / f"{key}.json").is_file():
            return None
        try:
            figures: dict[str, Any] = json.loads(path.read_text())
            with np.load(path.with_suffix(".npz"), allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(
                f"{printable(path)} cannot be read: {told(error, path)}. Remove it, and the fit is done again."
            ) from error
        model = path.with_suffix(".hb")
        return figures, arrays, hiddenbits.load(model) if model.is_file() else None

    def put(self, key: str, figures: dict[str, Any], arrays: dict[str, NDArray[np.float64]], model: Any) -> None:
        """Keep a finished fit; its figures, which say that it is finished, come last."""
        if self.folder is None:
            return
        if hasattr(model, "save"):
            model.save(self.folder / f"{key}.hb")
        held = BytesIO()
        np.savez(held, **arrays)  # type: ignore[arg-type]
        for name, content in (("npz", held.getvalue()), ("json", (json.dumps(figures, indent=1) + "\n").encode())):
            with whole_file(self.folder / f"{key}.{name}") as file:
                file.write(content)

"""Results larger than memory: Parquet files, each written where its rows were computed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.coded_columns import ReadColumns
from hiddenbits.data.locations.places import is_url
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.engine import Piece, map_pieces
from hiddenbits.families._base.columns import level_names
from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.quoting import printable
from hiddenbits.store import whole_file, whole_folder, writing

VERBS = (
    "transform",
    "posterior",
    "code",
    "predict",
    "predict_proba",
    "score_samples",
    "complete",
    "bit_probabilities",
)
FILE_BYTES = 1 << 27  # about what the results in one file take in memory


def write(estimator: Estimator, verb: str, X: object, path: str | os.PathLike[str]) -> Path:
    """Write what a verb returns for every row of X into a folder of Parquet files; see `BitsEstimator.write`."""
    check_is_fitted(estimator, "params_")
    able = [name for name in VERBS if hasattr(estimator, name)]
    if verb not in able:
        raise ValueError(f"{verb!r} cannot be written. {type(estimator).__name__} can write: {', '.join(able)}.")
    pyarrow()  # say so at once where it is not installed
    if is_url(path):
        raise ValueError(
            f"{printable(path)}: results are written to a folder that all workers share, not to an address."
        )
    folder = Path(path).expanduser().absolute()  # workers may run in other folders
    with writing(folder):
        exists = folder.exists()
    if exists:
        raise FileExistsError(f"{printable(folder)} exists. Remove it first, or choose another path.")
    table = as_table(estimator, X, reset=False)
    names = _columns(estimator, verb, table.names)
    read_as = table.read_as if table.only_bits else None
    rows = max(1, min(FILE_BYTES // (8 * len(names)), table.part_rows(1)))
    with whole_folder(folder) as unfinished:
        write_one = partial(_write_piece, estimator, verb, unfinished, folder, names, read_as)
        written = sum(map_pieces(write_one, table, rows))
        if written != table.shape[0]:
            raise RuntimeError(f"{written} of {table.shape[0]} rows were written: please report this as a bug.")
    return folder


def _write_piece(
    estimator: Estimator,
    verb: str,
    folder: Path,
    final: Path,
    names: list[str],
    read_as: ReadColumns | None,
    piece: Piece,
) -> int:
    """Write the results of some rows into a folder that will be called `final`; return how many rows."""
    pa = pyarrow()
    values = np.asarray(getattr(estimator, verb)(piece.table))
    made = pa.table([np.ascontiguousarray(column) for column in values.reshape(len(values), -1).T], names=names)
    if read_as is not None:
        made = _with_own_values(read_as, made, values if verb == "complete" else None, piece.start)
    if not folder.is_dir():
        raise OSError(f"{printable(folder)} does not exist here: choose a folder that every worker can write to.")
    name = f"rows{piece.start:013d}.parquet"
    with whole_file(folder / name, shown=final / name) as file:
        pa.parquet.write_table(made, file)
    return len(values)


def _with_own_values(read_as: ReadColumns, made: Any, completed: AnyArray | None, start: int) -> Any:
    """Return results after the columns that did not enter; completed rows as all columns of the table, in its order."""
    pa, types = pyarrow(), read_as.types()
    arrow = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    if completed is None:
        cells = read_as.beside(start, start + made.num_rows)
    else:
        cells = read_as.in_order(completed, start)
        made = made.select([])
    for at, (name, column) in enumerate(cells.items()):
        kind = types.get(name, float)
        told = [None if cell is None else kind(cell) for cell in column]
        made = made.add_column(at, name, pa.array(told, arrow[kind]))
    return made


def _columns(estimator: Estimator, verb: str, names: Any) -> list[str]:
    """Return the names of the columns that a verb makes."""
    if verb == "score_samples":
        return ["log_likelihood"]
    if verb in ("complete", "bit_probabilities"):
        return list(names or level_names(estimator))
    if verb == "predict" and hasattr(estimator, "predict_proba"):
        return ["class"]  # one a row; of causes there are several
    return [str(name) for name in estimator.get_feature_names_out()]

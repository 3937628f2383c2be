"""Results larger than memory: a folder of Parquet files, each written where its rows are computed."""

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

METHODS = {  # the names that users give, and the methods that compute them
    **{name: name for name in ("transform", "posterior_mode", "predict", "predict_proba", "score_samples", "complete")},
    "cell_probabilities": "_cell_probabilities",
}
FILE_BYTES = 1 << 27  # approximate memory of the results in one file


def write_results(model: Estimator, method: str, X: object, path: str | os.PathLike[str]) -> Path:
    """Write the results of a method for every row to a folder of Parquet files.

    For results larger than memory: on a cluster the workers write them, and nothing passes through this process. Every
    worker must be able to write to the folder; it appears when it is complete. The files sorted by name have the
    order of the rows. Columns that are not part of the model are written next to the results; completed rows have all
    columns of the table, with their original values.

    Parameters
    ----------
    model : fitted estimator
        The model.
    method : str
        The method: "transform", "posterior_mode", "predict", "predict_proba", "score_samples", "complete" or
        "cell_probabilities".
    X : table of shape (rows, columns)
        As for `fit`.
    path : path
        The folder, such as "classes.parquet". It must not exist yet.

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> import tempfile, hiddenbits
    >>> from hiddenbits.tables import write_results
    >>> model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit([[0, 0], [1, 1]] * 50)
    >>> folder = write_results(model, "predict_proba", [[0, 0], [1, 1]], tempfile.mkdtemp() + "/classes.parquet")
    >>> [path.name for path in folder.iterdir()]
    ['rows0000000000000.parquet']
    """
    check_is_fitted(model, "_params")
    available = [name for name, attribute in METHODS.items() if hasattr(model, attribute)]
    if method not in available:
        raise ValueError(f"{method!r} cannot be written. {type(model).__name__} can write: {', '.join(available)}.")
    pyarrow()  # an error now, where it is not installed
    if is_url(path):
        raise ValueError(f"{printable(path)}: results are written to a folder that all workers share, not to a URL.")
    folder = Path(path).expanduser().absolute()  # workers may have another working directory
    with writing(folder):
        exists = folder.exists()
    if exists:
        raise FileExistsError(f"{printable(folder)} exists. Remove it first, or specify another path.")
    table = as_table(model, X, reset=False)
    names = _result_names(model, method, table.names)
    read_as = table.read_as if table.only_bits else None
    rows = max(1, min(FILE_BYTES // (8 * len(names)), table.part_rows(1)))
    with whole_folder(folder) as unfinished:
        write_one = partial(_write_piece, model, method, unfinished, folder, names, read_as)
        written = sum(map_pieces(write_one, table, rows))
        if written != table.shape[0]:
            raise RuntimeError(f"{written} of {table.shape[0]} rows were written: please report this as a bug.")
    return folder


def _write_piece(
    model: Estimator,
    method: str,
    folder: Path,
    final_folder: Path,
    names: list[str],
    read_as: ReadColumns | None,
    piece: Piece,
) -> int:
    """Write the results of some rows to `folder`, later renamed to `final_folder`; return the number of rows."""
    pa = pyarrow()
    values = np.asarray(getattr(model, METHODS[method])(piece.table))
    results = pa.table([np.ascontiguousarray(column) for column in values.reshape(len(values), -1).T], names=names)
    if read_as is not None:
        results = _with_table_columns(read_as, results, values if method == "complete" else None, piece.start)
    if not folder.is_dir():
        raise OSError(
            f"{printable(folder)} does not exist on this worker: use a folder that every worker can write to."
        )
    name = f"rows{piece.start:013d}.parquet"
    with whole_file(folder / name, shown=final_folder / name) as file:
        pa.parquet.write_table(results, file)
    return len(values)


def _with_table_columns(read_as: ReadColumns, results: Any, completed: AnyArray | None, start: int) -> Any:
    """Return the columns outside the model, then the results; for completed rows, all columns in the table's order."""
    pa, types = pyarrow(), read_as.types()
    arrow = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    if completed is None:
        columns = read_as.beside(start, start + results.num_rows)
    else:
        columns = read_as.in_order(completed, start)
        results = results.select([])
    for position, (name, cells) in enumerate(columns.items()):
        cell_type = types.get(name, float)
        converted = [None if cell is None else cell_type(cell) for cell in cells]
        results = results.add_column(position, name, pa.array(converted, arrow[cell_type]))
    return results


def _result_names(model: Estimator, method: str, names: Any) -> list[str]:
    """Return the names of the columns of the results of a method."""
    if method == "score_samples":
        return ["log_likelihood"]
    if method in ("complete", "cell_probabilities"):
        return list(names or level_names(model))
    if method == "predict" and hasattr(model, "predict_proba"):
        return ["class"]  # causes have a column each
    return [str(name) for name in model.get_feature_names_out()]

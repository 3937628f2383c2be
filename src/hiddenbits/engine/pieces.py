"""Work from top to bottom: a function of small tables, run where the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.engine.context import current
from hiddenbits.engine.executors.local import one_blas_thread

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive rows of a table, in memory.

    Attributes
    ----------
    table : Table
        The rows, without weights.
    weights : ndarray of shape (rows,)
        Their weights.
    start : int
        Number of the first of them in the whole table.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(3))
    >>> [piece.start for piece in hiddenbits.map_pieces(lambda piece: piece, table, 2)]
    [0, 2]
    """

    table: Table
    weights: Floats
    start: int


def map_pieces(function: Callable[[Piece], T], table: Table, max_rows: int) -> Iterator[T]:
    """Yield function(piece) for consecutive pieces of a table, in order, computed where the engine in force runs.

    On a cluster the workers load the rows and call the function; only what it returns travels. Verbs of an estimator
    inside the function run there too, on one thread.

    Parameters
    ----------
    function : callable
        Takes a `Piece`; what it returns should be small. On a cluster it is called again if a worker dies.
    table : Table
        From `open_table`.
    max_rows : int
        Rows in a piece; the last one may have fewer.

    Yields
    ------
    result : object
        What the function returned.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(5))
    >>> list(hiddenbits.map_pieces(lambda piece: piece.table.shape[0], table, 2))
    [2, 2, 1]
    """
    if max_rows < 1:
        raise ValueError(f"max_rows={max_rows}: a piece has at least one row.")
    with one_blas_thread():
        apply = partial(_apply, function, table.of_rows, table.names, table.coding_of_levels)
        yield from current().executor.map_rows(apply, table.grid(max_rows))


def _apply(
    function: Callable[[Piece], T],
    of_rows: Callable[..., Table],
    names: tuple[str, ...] | None,
    levels: Coding | None,
    block: Block,
) -> T:
    return function(Piece(of_rows(block.x, block.observed, names, levels), block.weights, block.start))

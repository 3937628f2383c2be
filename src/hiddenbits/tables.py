"""Functions of tables: inspect columns, select rows, hide cells, write results.

`hiddenbits.open_table` returns a `Table`. Estimators accept one, or anything that `open_table` accepts.
"""

from hiddenbits.data import Table
from hiddenbits.data.columns.message import without_ambiguous
from hiddenbits.data.look import TableLook, look
from hiddenbits.data.masking import hide_cells
from hiddenbits.data.subset import repeat_rows, take_rows
from hiddenbits.engine import Piece, map_fits, map_pieces
from hiddenbits.families._base.write_results import write_results

__all__ = [
    "Piece",
    "Table",
    "TableLook",
    "hide_cells",
    "look",
    "map_fits",
    "map_pieces",
    "repeat_rows",
    "take_rows",
    "without_ambiguous",
    "write_results",
]

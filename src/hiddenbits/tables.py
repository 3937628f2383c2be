"""What can be done with tables besides fitting models: look at columns, take rows, hide cells, write results.

`hiddenbits.open_table` makes a `Table`; every estimator takes one, and all that `open_table` takes, too.
"""

from hiddenbits.data import Table
from hiddenbits.data.columns.message import without_ambiguous
from hiddenbits.data.look import TableLook, look
from hiddenbits.data.masking import hide_cells
from hiddenbits.data.subset import repeat_rows, take_rows
from hiddenbits.engine import Piece, map_pieces
from hiddenbits.families._base.write_results import write_results

__all__ = [
    "Piece",
    "Table",
    "TableLook",
    "hide_cells",
    "look",
    "map_pieces",
    "repeat_rows",
    "take_rows",
    "without_ambiguous",
    "write_results",
]

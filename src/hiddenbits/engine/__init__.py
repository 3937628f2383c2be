"""The engine: processes tables block by block, adds statistics, runs EM. It contains no model.

`loops/restarts.py` describes how a fit goes through the engine, `tree_sum.py` how statistics are added.
"""

from hiddenbits.engine.block_statistics import block_height
from hiddenbits.engine.checkpoint import Checkpoint
from hiddenbits.engine.context import Engine, Piece, current, map_fits, map_pieces, run_on
from hiddenbits.engine.executors.dask_cluster import Cluster
from hiddenbits.engine.executors.local import Executor, Local, one_blas_thread
from hiddenbits.engine.loops.closed_form import fit_closed_form
from hiddenbits.engine.loops.em import fit_em
from hiddenbits.engine.loops.online_em import first_rows, online_form, online_pass
from hiddenbits.engine.loops.planned import fit_planned
from hiddenbits.engine.loops.stochastic import fit_persistent
from hiddenbits.engine.loops.subsample_start import MIN_RATIO, MOST_CELLS
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.recorded_cells import no_cell_recorded
from hiddenbits.engine.state import Position, Running, Settings, Watch
from hiddenbits.engine.tree_sum import TreeSum
from hiddenbits.model_api import Key, Model

__all__ = [
    "MIN_RATIO",
    "MOST_CELLS",
    "Checkpoint",
    "Cluster",
    "Engine",
    "Executor",
    "Key",
    "Local",
    "Model",
    "Outcome",
    "Piece",
    "Position",
    "Restart",
    "Running",
    "Settings",
    "StopReason",
    "TreeSum",
    "Watch",
    "block_height",
    "current",
    "first_rows",
    "fit_closed_form",
    "fit_em",
    "fit_persistent",
    "fit_planned",
    "map_fits",
    "map_pieces",
    "no_cell_recorded",
    "one_blas_thread",
    "online_form",
    "online_pass",
    "run_on",
]

"""The engine: walks tables, adds statistics, runs EM. It knows no model."""

from hiddenbits.engine.checkpoint import Checkpoint, CheckpointError, UnlockedCheckpointWarning
from hiddenbits.engine.climb import fit_gradient
from hiddenbits.engine.cluster import Cluster
from hiddenbits.engine.context import Engine, current, run_on
from hiddenbits.engine.em import fit_em
from hiddenbits.engine.environment import EnvironmentChangedWarning
from hiddenbits.engine.executors import Executor, Local, one_blas_thread
from hiddenbits.engine.height import block_height
from hiddenbits.engine.keys import Key
from hiddenbits.engine.no_zeros import NoZerosWarning
from hiddenbits.engine.on_workers import ClusterError
from hiddenbits.engine.online import Running, first_rows, online_form, online_pass
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.persist import fit_persistent
from hiddenbits.engine.pieces import Piece, map_pieces
from hiddenbits.engine.position import Position, Settings, Watch
from hiddenbits.engine.protocol import Model, plain, prefixed, unprefixed
from hiddenbits.engine.tree import TreeSum

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Cluster",
    "ClusterError",
    "Engine",
    "EnvironmentChangedWarning",
    "Executor",
    "Key",
    "Local",
    "Model",
    "NoZerosWarning",
    "Outcome",
    "Piece",
    "Position",
    "Restart",
    "Running",
    "Settings",
    "StopReason",
    "TreeSum",
    "UnlockedCheckpointWarning",
    "Watch",
    "block_height",
    "current",
    "first_rows",
    "fit_em",
    "fit_gradient",
    "fit_persistent",
    "map_pieces",
    "one_blas_thread",
    "online_form",
    "online_pass",
    "plain",
    "prefixed",
    "run_on",
    "unprefixed",
]

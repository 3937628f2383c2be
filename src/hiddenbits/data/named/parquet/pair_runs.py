"""Runs of lines with one row key: where they begin, and whether they are the rows of the table.

A *run* is consecutive lines with the same row key, over the edges of row groups and files. If no key comes back after
its run has ended, runs are rows, and all that is needed to read any of them is how many runs open before each row
group. Keys that only rise, or only fall, cannot come back; otherwise the keys of all runs are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.errors import TableError
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.named.parquet.pair_lines import PairFiles, decoding

RUN_BYTES = 48  # of a run, while keys are compared: its key, its first line, its row, and what sorting takes


@dataclass(frozen=True, eq=False)
class Runs:
    """Where runs begin.

    Attributes
    ----------
    n_runs : int
        Number of runs.
    starts : ndarray of shape (groups + 1,)
        First line of every row group that is not empty, and the line after the last.
    before : ndarray of shape (groups,)
        Number of runs that open before the group.
    fresh : ndarray of shape (groups,)
        Whether the group's first line opens a run.
    """

    n_runs: int
    starts: NDArray[np.int64]
    before: NDArray[np.int64]
    fresh: NDArray[np.bool_]

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return int(self.starts[-1])

    def where(self, start: int, stop: int) -> tuple[int, int, int]:
        """Return (first line, line after the last, run of the first line) of the row groups with runs start to stop."""
        first = int(np.searchsorted(self.before, start, side="right")) - 1
        last = len(self.before)
        if stop < self.n_runs:  # the end of the last run may lie in the group in which run `stop` opens
            last = int(np.searchsorted(self.before, stop, side="right")) - 1
            last += not (self.fresh[last] and self.before[last] == stop)
        return int(self.starts[first]), int(self.starts[last]), int(self.before[first]) - int(not self.fresh[first])


class RunFinder:
    """Finds the runs of lines that are handed to it batch after batch, from the first to the last.

    Attributes
    ----------
    turn : int
        The first line at which the keys are neither rising nor falling any more; -1 if there is none.
    """

    def __init__(self, pairs: PairFiles) -> None:
        starts = np.unique(np.concatenate([np.asarray(groups, np.int64) for groups in pairs.files.groups]))
        self._starts = starts  # edges of row groups; those of empty ones coincide
        self._before = np.zeros(len(starts) - 1, np.int64)
        self._fresh = np.zeros(len(starts) - 1, bool)
        self._n_runs = 0
        self._last: Any = None
        self._rises = self._falls = True
        self.turn = -1

    def add(self, start: int, keys: Any, opens: NDArray[np.bool_]) -> None:
        """Take note of the lines of a batch, which lies within one row group."""
        import pyarrow.compute as pc

        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        if self._starts[group] == start:
            self._before[group], self._fresh[group] = self._n_runs, opens[0]
        lines = np.flatnonzero(opens)
        if not len(lines):
            return
        self._n_runs += len(lines)
        opened = keys.take(pyarrow().array(lines))
        if self._rises or self._falls:
            first = opened[0].as_py()
            up = np.ones(len(lines), bool)
            down = up.copy()
            if self._last is not None:
                up[0], down[0] = self._last < first, self._last > first
            up[1:] = pc.less(opened[:-1], opened[1:]).to_numpy(zero_copy_only=False)
            down[1:] = pc.greater(opened[:-1], opened[1:]).to_numpy(zero_copy_only=False)
            both = (up.all() and self._rises) or (down.all() and self._falls)
            if not both:
                wrong = [int(np.argmin(way)) for way, held in ((up, self._rises), (down, self._falls)) if held]
                self.turn = start + int(lines[max(wrong)])
            self._rises &= bool(up.all())
            self._falls &= bool(down.all())
        self._last = opened[-1].as_py()

    def runs(self) -> Runs:
        """Return where the runs begin."""
        return Runs(self._n_runs, self._starts, self._before, self._fresh)


def rows_of_runs(pairs: PairFiles, runs: Runs, turn: int, max_bytes: int) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return (row of each run, first line of each run, row keys), the rows in the order in which they first appear.

    Parameters
    ----------
    pairs, runs : PairFiles, Runs
        The lines, and where their runs begin.
    turn : int
        A line that is not in the order of those before it, for the message.
    max_bytes : int
        The most that comparing the keys may take.
    """
    pa = pyarrow()
    keys: list[Any] = []
    lines: list[NDArray[np.int64]] = []
    held = RUN_BYTES * runs.n_runs
    for batch in pairs.lines(0, runs.n_lines):
        if held > max_bytes:
            raise TableError(
                f"{pairs.place(turn)}: the lines are not sorted by {pairs.row!r}. Checking whether the lines of each "
                f"row are adjacent needs at least {held} bytes, above max_bytes={max_bytes}. Sort the lines by "
                f"{pairs.row!r}, or raise max_bytes=."
            )
        with decoding(batch.path):
            opened = np.flatnonzero(batch.opens)
            keys.append(batch.keys.take(pa.array(opened)))
            held += 2 * (keys[-1].nbytes - 8 * len(opened)) if pairs.row_type == "large_string" else 0
        lines.append(batch.start + opened)
    with decoding(pairs.files.paths[0]):
        encoded = pa.concat_arrays(keys).dictionary_encode()
        return encoded.indices.to_numpy(zero_copy_only=False), np.concatenate(lines), encoded.dictionary

"""Per-row memory from pass to pass: posterior means, states of a sampler. It stays next to the rows, and it is a cache.

A `RowMemory` serves one pass: it returns what the last accepted pass stored and stores what this one computes, so that
a refused pass (a failed extrapolation) leaves no trace. What is lost is computed again by the model from its
parameters: the fit stays right, though not to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Protocol


class RowMemory(Protocol):
    """The memory of the blocks during one pass."""

    @property
    def may_be_missing(self) -> bool:
        """Whether rows may have had no memory in this pass: in a first pass, or because a worker took it along."""
        ...

    def get(self, block: int) -> object:
        """Return what the last accepted pass kept for a block; None when there is nothing."""
        ...

    def put(self, block: int, value: object) -> None:
        """Keep something for a block."""
        ...

    def accepted(self) -> RowMemory:
        """Return the memory to keep after an accepted pass: what this pass stored, not the one before."""
        ...

    def local_values(self) -> Mapping[int, Any]:
        """Return what this process holds, by block number, for a checkpoint."""
        ...


class LocalRowMemory:
    """Memory in this process.

    Parameters
    ----------
    before : mapping, optional
        What the last accepted pass kept, by block number.
    after : dict, optional
        What this pass keeps.
    """

    def __init__(self, before: Mapping[int, object] | None = None, after: dict[int, object] | None = None) -> None:
        self._before = before or {}
        self._after = {} if after is None else after

    @property
    def may_be_missing(self) -> bool:
        """True where no earlier memory exists: a first pass, or a cluster's checkpoint that is resumed here."""
        return not self._before

    def get(self, block: int) -> object:
        """Return what the last accepted pass kept for a block."""
        return self._before.get(block)

    def put(self, block: int, value: object) -> None:
        """Keep something for a block."""
        self._after[block] = value

    def accepted(self) -> LocalRowMemory:
        """Return the memory with what this pass stored alone."""
        return LocalRowMemory(None, self._after)

    def local_values(self) -> Mapping[int, Any]:
        """Return what this pass kept."""
        return self._after


class WorkerRowMemory:
    """Memory in the processes of a cluster's workers, each holding that of the blocks it walked.

    Parameters
    ----------
    owner : str
        Name of the executor; what another one left is not touched.
    before, after : int
        Numbers of the last accepted pass and of this one.
    """

    may_be_missing = True

    def __init__(self, owner: str, before: int, after: int) -> None:
        self.owner, self.before, self.after = owner, before, after

    def get(self, block: int) -> object:
        """Return what the last accepted pass kept for a block, if this worker walked it then."""
        with _lock:
            return _kept.get(self.owner, {}).get(self.before, {}).get(block)

    def put(self, block: int, value: object) -> None:
        """Keep something for a block on this worker, and let go of passes that nobody will ask for."""
        with _lock:
            passes = _kept.setdefault(self.owner, {})
            for number in [number for number in passes if number not in (self.before, self.after)]:
                del passes[number]
            passes.setdefault(self.after, {})[block] = value

    def accepted(self) -> WorkerRowMemory:
        """Return itself: the workers let go when the next pass begins."""
        return self

    def local_values(self) -> Mapping[int, Any]:
        """Return nothing: the memory of workers is not in the driver's checkpoint."""
        return {}


def forget(owner: str) -> None:
    """Let go of everything that an executor keeps in this process."""
    with _lock:
        _kept.pop(owner, None)


_lock = Lock()
_kept: dict[str, dict[int, dict[int, object]]] = {}  # on a worker: owner -> pass -> block -> value

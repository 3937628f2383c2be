"""What a model stores about each row from pass to pass, such as posterior means or states of a sampler.

A `RowMemory` serves one pass: it returns what the last accepted pass stored, and stores what this pass computes. So a
refused pass has no effect. The model computes lost memory again from its parameters: the fit stays correct, but not to
the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Protocol


class RowMemory(Protocol):
    """The memory of the blocks during one pass."""

    @property
    def may_be_missing(self) -> bool:
        """Whether rows may have no memory in this pass: in a first pass, or because a worker was lost."""
        ...

    def get(self, block: int) -> object:
        """Return what the last accepted pass stored for a block, or None."""
        ...

    def put(self, block: int, value: object) -> None:
        """Store a value for a block."""
        ...

    def accepted(self) -> RowMemory:
        """Return the memory after an accepted pass: what this pass stored, without the values of the pass before."""
        ...

    def local_values(self) -> Mapping[int, Any]:
        """Return the values in this process by block number, for a checkpoint."""
        ...


class LocalRowMemory:
    """Memory in this process.

    Parameters
    ----------
    before : mapping, optional
        What the last accepted pass stored, by block number.
    after : dict, optional
        What this pass stores.
    """

    def __init__(self, before: Mapping[int, object] | None = None, after: dict[int, object] | None = None) -> None:
        self._before = before or {}
        self._after = {} if after is None else after

    @property
    def may_be_missing(self) -> bool:
        """True if there is no earlier memory: in a first pass, or after resuming the checkpoint of a cluster."""
        return not self._before

    def get(self, block: int) -> object:
        """Return what the last accepted pass stored for a block."""
        return self._before.get(block)

    def put(self, block: int, value: object) -> None:
        """Store a value for a block."""
        self._after[block] = value

    def accepted(self) -> LocalRowMemory:
        """Return the memory with what this pass stored."""
        return LocalRowMemory(None, self._after)

    def local_values(self) -> Mapping[int, Any]:
        """Return what this pass stored."""
        return self._after


class WorkerRowMemory:
    """Memory in the processes of a cluster's workers: each stores the memory of the blocks that it processed.

    Parameters
    ----------
    owner : str
        Name of the executor; the memory of other executors is left alone.
    before, after : int
        Numbers of the last accepted pass and of this one.
    """

    may_be_missing = True

    def __init__(self, owner: str, before: int, after: int) -> None:
        self.owner, self.before, self.after = owner, before, after

    def get(self, block: int) -> object:
        """Return what the last accepted pass stored for a block, if this worker processed it then."""
        with _lock:
            return _kept.get(self.owner, {}).get(self.before, {}).get(block)

    def put(self, block: int, value: object) -> None:
        """Store a value for a block on this worker, and delete values of passes that are no longer needed."""
        with _lock:
            passes = _kept.setdefault(self.owner, {})
            for number in [number for number in passes if number not in (self.before, self.after)]:
                del passes[number]
            passes.setdefault(self.after, {})[block] = value

    def accepted(self) -> WorkerRowMemory:
        """Return itself: the workers delete older values when the next pass begins."""
        return self

    def local_values(self) -> Mapping[int, Any]:
        """Return nothing: the memory of workers is not in the driver's checkpoint."""
        return {}


def forget(owner: str) -> None:
    """Delete all values of an executor in this process."""
    with _lock:
        _kept.pop(owner, None)


_lock = Lock()
_kept: dict[str, dict[int, dict[int, object]]] = {}  # on a worker: owner -> pass -> block -> value

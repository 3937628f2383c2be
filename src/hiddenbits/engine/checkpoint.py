"""Checkpoints: a fit's Position on disk, in the format of the model file.

Written after every pass, atomically, so that a killed fit loses one pass at most and the file is never half-written.
Resuming gives the same bits as going on would have, with the same package versions and kind of processor; both are
recorded, and a difference is warned about. What a checkpoint holds is the engine's own, and it is read whole or not at
all: whatever changes it changes FORMAT, and a checkpoint with another number is refused.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params, plain, prefixed, unprefixed
from hiddenbits.data.hashing import digest
from hiddenbits.data.summary import ColumnSums
from hiddenbits.engine.environment import differences, environment
from hiddenbits.engine.outcome import Restart, StopReason
from hiddenbits.engine.row_memory import LocalRowMemory, RowMemory
from hiddenbits.engine.state import Position, Settings
from hiddenbits.exceptions import (
    CheckpointError,
    EnvironmentChangedWarning,
    FileError,
    UnlockedCheckpointWarning,
    UnwrittenCheckpointWarning,
)
from hiddenbits.model_api import Model
from hiddenbits.quoting import message_of, printable
from hiddenbits.store import read, write, writing
from hiddenbits.store.lock import LockedError, NoLocksError, locked

KIND = "checkpoint"
VERSION = "version of the Delta table"  # an entry only where the table is one
FORMAT = 1


def path_beside(path: Path, name: str) -> Path:
    """Return the file, next to a checkpoint, for a part of the same fit."""
    return path.with_name(f"{path.name}.{name}")


def _digest(names: Sequence[str] | None) -> str | None:
    """Return a short word for the names of columns, of which there may be very many."""
    return None if names is None else digest(json.dumps(list(names)).encode())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _close(a: AnyArray, b: AnyArray) -> bool:
    """Whether two counts are the same but for the rounding of another machine."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=0.0))


@dataclass(frozen=True)
class Checkpoint:
    """Keeps the positions of one fit in one file.

    Parameters
    ----------
    path : Path
        The file.
    model : Model
        What is fitted; a checkpoint of anything else is refused.
    settings : Settings
        How it is fitted.
    shape : tuple of int
        Rows and columns of the table as it was handed in.
    height : int
        Block height of the table as it is walked.
    names : sequence of str, optional
        Names of its columns.
    version : int, optional
        The version of a Delta table.
    """

    path: Path
    model: Model[Any, Any]
    settings: Settings
    shape: tuple[int, int]
    height: int
    names: Sequence[str] | None = field(default=None, kw_only=True)
    version: int | None = field(default=None, kw_only=True)
    # what was warned about, shared with the checkpoints beside this one: one warning a fit
    _warned: list[str] = field(default_factory=list, kw_only=True, repr=False, compare=False)

    def _identity(self) -> dict[str, Any]:
        """Return what must agree, in the order in which it is compared."""
        model: Any = self.model
        return {
            "model": type(model).__name__,
            "hyperparameters": plain(asdict(model)),
            "settings": plain({name: value for name, value in asdict(self.settings).items() if name != "max_time"}),
            "shape": list(self.shape),
            "names": _digest(self.names),
            VERSION: self.version,
        }

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file for one fit: another on the same path is refused, until this one ends or its process dies."""
        with ExitStack() as stack:
            try:
                with writing(self.path):
                    stack.enter_context(locked(self.path.with_name(f"{self.path.name}.lock")))
            except LockedError:
                raise CheckpointError(
                    f"{self.path} is in use by another fit that is still running. Wait for it to end, or choose "
                    "another path: a checkpoint is for one fit at a time."
                ) from None
            except NoLocksError as error:
                warnings.warn(
                    f"{self.path} is on a file system without locks ({error.__cause__}): make sure that no other fit "
                    "uses this file.",
                    UnlockedCheckpointWarning,
                    stacklevel=4,
                )
            yield

    def load(self, summary: ColumnSums) -> Position | None:
        """Return the position in the file; None when there is no file."""
        if not self.path.exists():
            return None
        stored = read(self.path)
        if stored.kind != KIND:
            raise CheckpointError(f"{self.path} holds a {stored.kind}, not a checkpoint. Choose another path.")
        meta: Any = stored.meta
        self._refuse_other(meta, unprefixed("summary", stored.arrays), summary)
        origin = meta["environment"] if isinstance(meta.get("environment"), dict) else {}
        if origin != (here := environment()):
            warnings.warn(
                f"{printable(self.path)} was written with {differences(origin, here)}: the fit "
                "continues, but its result may differ in the last digits from an uninterrupted one.",
                EnvironmentChangedWarning,
                stacklevel=2,
            )
        try:
            position = self._position(meta, stored.arrays)
            again, arrays = self._described(position, summary)
            if set(again) != set(meta) or again["position"] != meta["position"] or set(arrays) != set(stored.arrays):
                raise ValueError("it does not have the entries of a checkpoint")
        except MemoryError:  # of the machine, which says nothing about the file
            raise
        except Exception as error:
            said = " ".join(f"{type(error).__name__}: {message_of(error)}".split())[:300]
            raise FileError(
                f"{self.path}: the checkpoint is not complete ({said}). Delete it to start again."
            ) from error
        return position

    def _refuse_other(self, meta: Any, theirs: Mapping[str, AnyArray], summary: ColumnSums) -> None:
        """Refuse a checkpoint of another format or of another fit: the first difference that says why."""
        number = meta.get("format")
        if type(number) is not int or number != FORMAT:
            raise CheckpointError(
                f"{self.path} is a checkpoint with format number {str(number)[:20]}, but this version of hiddenbits "
                f"({environment()['hiddenbits']}) reads only {FORMAT}. Finish the fit with the version that started "
                "it, or delete the file to start again."
            )
        remedy = "Delete the file to start again, or choose another path."
        for name, mine in self._identity().items():
            if meta.get(name) != mine and name == "names":
                raise CheckpointError(
                    f"{self.path} is the checkpoint of another fit: its column names or their order differ from those "
                    f"of this table. {remedy}"
                )
            if meta.get(name) != mine:
                raise CheckpointError(
                    f"{self.path} is the checkpoint of another fit: its {name} is {_short(meta.get(name))}, here it is "
                    f"{_short(mine)}. {remedy}"
                )
        if not all(name in theirs and _close(mine, theirs[name]) for name, mine in summary.to_arrays().items()):
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit to other data: the table has the same shape, but a cell, a "
                f"weight or the order of the rows differs. {remedy}"
            )
        # After the data, which may decide about the height.
        if meta.get("height") != self.height:
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit in blocks of {_short(meta.get('height'))} rows, but here "
                f"blocks have {self.height} rows: the table is stored in another format. {remedy}"
            )

    def save(self, position: Position, summary: ColumnSums) -> None:
        """Write a position, atomically. If the disk does not take it, warn once and keep the file that is there."""
        content = self._described(position, summary)
        try:
            write(self.path, KIND, *content)
        except (OSError, FileError) as error:
            if isinstance(error, FileError) and not isinstance(error.__cause__, OSError):
                raise  # about what is to be written, and not about the disk
            if not self._warned:
                self._warned.append(message_of(error))
                kept = "the last one that was written is still there" if self.path.exists() else "there is none yet"
                warnings.warn(
                    f"{self._warned[0]} The fit continues without this checkpoint ({kept}), and tries again after "
                    "every pass.",
                    UnwrittenCheckpointWarning,
                    stacklevel=2,
                )

    def _described(self, position: Position, summary: ColumnSums) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return what a file says of a position, and its arrays."""
        state, arrays = to_file(position)
        meta = {
            **self._identity(),
            "format": FORMAT,
            "height": self.height,
            "environment": environment(),
            "position": state,
        }
        if self.version is None:
            del meta[VERSION]
        return meta, {**prefixed("summary", summary), **{f"position.{name}": array for name, array in arrays.items()}}

    def beside(self, name: str) -> Checkpoint:
        """Return a checkpoint for a part of the same fit, in a file next to this one."""
        return replace(self, path=path_beside(self.path, name))

    def drop(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _position(self, meta: Any, arrays: Mapping[str, AnyArray]) -> Position:
        position = from_file(Position, self.model, meta["position"], unprefixed("position", arrays))
        restart, best, finished = position.restart, position.best.restart, position.finished
        if len(finished) > restart or best >= max(restart, 1):
            raise ValueError("the number of finished restarts is wrong")
        return position


# A position as JSON and arrays, and back, by the types that its dataclasses declare.
#
# Counts and truth values are JSON. Floats are arrays, because JSON would not keep them to the bit. A nested dataclass
# is a nested dictionary, and its arrays are named `<field>.<array>`. What depends on the model is declared `Any`: its
# class is found by the name of the field.

D = TypeVar("D")
MOST = 2**53  # the largest count that JSON keeps everywhere
ARRAYS, COUNTS = (float, tuple[float, ...]), (int, tuple[int, ...], bool)
CLASS_OF = {
    "params": "params_type",
    "safe": "params_type",
    "stats": "stats_type",
    "memory": "memory_type",
}


@cache  # a position is written after every pass
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def to_file(state: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return what a file says of a dataclass, and its arrays; what is None is in neither."""
    meta: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, hint in _hints(type(state)).items():  # type: ignore[arg-type]
        value = getattr(state, name)
        if is_dataclass(hint):
            meta[name], inner = to_file(value)
            arrays |= {f"{name}.{key}": array for key, array in inner.items()}
        elif hint == tuple[Restart, ...]:
            meta[name] = [[end.n_iter, str(end.reason)] for end in value]
            arrays[name] = np.array([end.objective for end in value])
        elif hint == RowMemory | None:
            held = {} if value is None else value.here()
            for number, memory in held.items():
                arrays |= prefixed(f"{name}.{number}", memory)
        elif hint in COUNTS:
            meta[name] = list(value) if isinstance(value, tuple) else value
        elif hint in ARRAYS or isinstance(value, np.ndarray):
            arrays[name] = np.asarray(value)
        else:
            arrays |= prefixed(name, value)
    return meta, arrays


def from_file(kind: type[D], model: Model[Any, Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> D:
    """Return the dataclass that `to_file` wrote; ValueError where something is not of its type, or is invalid."""
    return kind(
        **{name: _field(name, hint, model, meta, arrays) for name, hint in _hints(kind).items()},  # type: ignore[arg-type]
    )


def _field(
    name: str, hint: Any, model: Model[Any, Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> Any:
    inner = unprefixed(name, arrays)
    if is_dataclass(hint):
        return from_file(hint, model, meta[name], inner)  # type: ignore[arg-type]
    if hint == tuple[Restart, ...]:
        ends = zip(arrays[name].tolist(), meta[name], strict=True)
        return tuple(Restart(objective, _count(n_iter), StopReason(reason)) for objective, (n_iter, reason) in ends)
    if hint == RowMemory | None:
        return _row_memory(model.carry_type, inner)
    if hint is bool:
        if type(meta[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
        return meta[name]
    if hint in COUNTS:
        least = -1 if name == "restart" else 0  # of no restart yet
        return _count(meta[name], least) if hint is int else tuple(map(_count, meta[name]))
    if hint in ARRAYS:
        return float(arrays[name]) if hint is float else tuple(arrays[name].tolist())
    if hint is Any:
        return _of_model(getattr(model, CLASS_OF[name], None), inner)
    if hint == Floats | None:
        return arrays.get(name)
    raise TypeError(f"checkpoints cannot store {name}: {hint}")


def _count(value: Any, least: int = 0) -> int:
    if type(value) is not int or not least <= value < MOST:
        raise ValueError("a count is not a whole number")
    return value


def _of_model(kind: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Return what belongs to a model, such as parameters, which know whether they are valid."""
    if not arrays:
        return None
    found = kind.from_arrays(arrays)
    if isinstance(found, Params) and (flaw := found.flaw()):
        raise ValueError(flaw)
    return found


def _row_memory(kind: Any, arrays: Mapping[str, AnyArray]) -> LocalRowMemory:
    """Return the memory of rows, by blocks."""
    blocks: dict[int, dict[str, AnyArray]] = {}
    for name, array in arrays.items():
        number, field = name.split(".", 1)
        blocks.setdefault(int(number), {})[field] = array
    return LocalRowMemory(None, {number: kind.from_arrays(fields) for number, fields in blocks.items()})

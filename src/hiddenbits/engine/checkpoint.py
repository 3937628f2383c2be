"""Checkpoints: a fit's Position on disk, in the format of the model file.

It is written atomically, so that the file is always complete. Most fits write it after every pass; the last pass of a
stage is saved with the beginning of the next stage. Gradient ascent writes it after each segment, and fits to larger
subsamples have no checkpoint: what was not saved is repeated.

With the same package versions and type of processor, a resumed fit gives the same bits as an uninterrupted one; both
are recorded, and differences raise a warning. The content is private to the engine: any change of it changes FORMAT,
and a checkpoint with another format number is refused.
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
VERSION = "version of the Delta table"  # an entry only for Delta tables
FORMAT = 1


def _digest(names: Sequence[str] | None) -> str | None:
    """Return a digest of the names of columns, because there may be very many."""
    return None if names is None else digest(json.dumps(list(names)).encode())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _short_form(value: Any) -> Any:
    """Return the digest of an array of a model, such as fixed parameters, or a number of NumPy as one of Python."""
    return digest(value.tobytes()) if isinstance(value, np.ndarray) else value.item()


def _nearly_equal(a: AnyArray, b: AnyArray) -> bool:
    """Whether two counts are equal except for the rounding of another computer."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=0.0))


@dataclass(frozen=True)
class Checkpoint:
    """Saves the positions of one fit in one file, and loads them.

    Parameters
    ----------
    path : Path
        The file.
    model : Model
        The model that is fitted; a checkpoint of another model is refused.
    settings : Settings
        The settings of the fit.
    shape : tuple of int
        Rows and columns of the table as it was passed in.
    height : int
        Block height of the table as it is processed.
    names : sequence of str, optional
        Names of the columns.
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
    # empty, or the one warning of a fit that cannot write; shared with the checkpoints of its parts
    _warned: list[str] = field(default_factory=list, kw_only=True, repr=False, compare=False)

    def _identity(self) -> dict[str, Any]:
        """Return the entries that must agree, in the order in which they are compared."""
        model: Any = self.model
        return {
            "model": type(model).__name__,
            "hyperparameters": json.loads(json.dumps(asdict(model), default=_short_form)),
            "settings": plain({name: value for name, value in asdict(self.settings).items() if name != "max_time"}),
            "shape": list(self.shape),
            "names": _digest(self.names),
            VERSION: self.version,
        }

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the file for one fit: another on this path is refused until the first ends or its process dies."""
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
        """Return the position in the file, or None if there is no file."""
        if not self.path.exists():
            return None
        stored = read(self.path)
        if stored.kind != KIND:
            raise CheckpointError(f"{self.path} holds a {stored.kind}, not a checkpoint. Choose another path.")
        meta: Any = stored.meta
        self._refuse_other(meta, unprefixed("summary", stored.arrays), summary)
        origin = meta["environment"] if isinstance(meta.get("environment"), dict) else {}
        if origin != environment():
            warnings.warn(
                f"{printable(self.path)} was written with {differences(origin, environment())}: the fit "
                "continues, but its result may differ in the last digits from an uninterrupted one.",
                EnvironmentChangedWarning,
                stacklevel=2,
            )
        try:
            position = self._position(meta, stored.arrays)
            copy, arrays = self._content(position, summary)
            if set(copy) != set(meta) or copy["position"] != meta["position"] or set(arrays) != set(stored.arrays):
                raise ValueError("it does not have the entries of a checkpoint")
        except MemoryError:  # the file may be fine
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {message_of(error)}".split())[:300]
            raise FileError(
                f"{self.path}: the checkpoint is not complete ({reason}). Delete it to start again."
            ) from error
        return position

    def _refuse_other(self, meta: Any, theirs: Mapping[str, AnyArray], summary: ColumnSums) -> None:
        """Refuse a checkpoint of another format or another fit, with the first difference in the message."""
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
        if not all(name in theirs and _nearly_equal(mine, theirs[name]) for name, mine in summary.to_arrays().items()):
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit to other data: the table has the same shape, but a cell, a "
                f"weight or the order of the rows differs. {remedy}"
            )
        # Compared after the data, because the height may depend on them.
        if meta.get("height") != self.height:
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit in blocks of {_short(meta.get('height'))} rows, but here "
                f"blocks have {self.height} rows: the table is stored in another format. {remedy}"
            )

    def save(self, position: Position, summary: ColumnSums) -> None:
        """Write a position atomically. If the disk fails or is full, warn once and keep the existing file."""
        content = self._content(position, summary)
        try:
            write(self.path, KIND, *content)
        except (OSError, FileError) as error:
            if isinstance(error, FileError) and not isinstance(error.__cause__, OSError):
                raise  # the content is invalid; the disk is fine
            if not self._warned:
                self._warned.append(message_of(error))
                state = "the last one that was written is still there" if self.path.exists() else "there is none yet"
                warnings.warn(
                    f"{self._warned[0]} The fit continues without this checkpoint ({state}), and tries again after "
                    "every pass.",
                    UnwrittenCheckpointWarning,
                    stacklevel=2,
                )

    def _content(self, position: Position, summary: ColumnSums) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the metadata and the arrays of a file with this position."""
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

    def for_part(self, name: str) -> Checkpoint:
        """Return a checkpoint for a part of the same fit, in a file next to this one."""
        return replace(self, path=self.path.with_name(f"{self.path.name}.{name}"))

    def drop(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _position(self, meta: Any, arrays: Mapping[str, AnyArray]) -> Position:
        position = from_file(Position, self.model, meta["position"], unprefixed("position", arrays))
        restart, best, finished = position.restart, position.best.restart, position.finished
        if len(finished) > restart or best >= max(restart, 1):
            raise ValueError("the number of finished restarts is wrong")
        return position


# Conversion of a position to JSON and arrays and back, by the types that its dataclasses declare.
#
# Counts and booleans are JSON. Floats are arrays, because JSON would not preserve every bit. A nested dataclass is a
# nested dictionary, and its arrays are named `<field>.<array>`. Fields that depend on the model are declared `Any`:
# the name of the field determines their class.

D = TypeVar("D")
MAX_COUNT = 2**53  # the largest count that every JSON parser preserves
FLOAT_TYPES, COUNT_TYPES = (float, tuple[float, ...]), (int, tuple[int, ...], bool)
CLASS_ATTRIBUTES = {
    "params": "params_type",
    "safe": "params_type",
    "stats": "stats_type",
    "memory": "memory_type",
}


@cache  # a position is written after every pass
def _hints(state_type: Any) -> dict[str, Any]:
    return get_type_hints(state_type)


def to_file(state: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the metadata and the arrays of a dataclass; fields that are None are in neither."""
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
            for number, memory in ({} if value is None else value.local_values()).items():
                arrays |= prefixed(f"{name}.{number}", memory)
        elif hint in COUNT_TYPES:
            meta[name] = list(value) if isinstance(value, tuple) else value
        elif hint in FLOAT_TYPES or isinstance(value, np.ndarray):
            arrays[name] = np.asarray(value)
        else:
            arrays |= prefixed(name, value)
    return meta, arrays


def from_file(
    state_type: type[D], model: Model[Any, Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> D:
    """Return the dataclass that `to_file` wrote; ValueError if an entry has the wrong type or is invalid."""
    return state_type(
        **{name: _field(name, hint, model, meta, arrays) for name, hint in _hints(state_type).items()},  # type: ignore[arg-type]
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
    if hint in COUNT_TYPES:
        minimum = -1 if name == "restart" else 0  # -1: no restart has ended
        return _count(meta[name], minimum) if hint is int else tuple(map(_count, meta[name]))
    if hint in FLOAT_TYPES:
        return float(arrays[name]) if hint is float else tuple(arrays[name].tolist())
    if hint is Any:
        return _of_model(getattr(model, CLASS_ATTRIBUTES[name], None), inner)
    if hint == Floats | None:
        return arrays.get(name)
    raise TypeError(f"checkpoints cannot store {name}: {hint}")


def _count(value: Any, minimum: int = 0) -> int:
    if type(value) is not int or not minimum <= value < MAX_COUNT:
        raise ValueError("a count is not a whole number")
    return value


def _of_model(arrays_type: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Return parameters, statistics or memory of a model; ValueError if parameters are invalid."""
    if not arrays:
        return None
    value = arrays_type.from_arrays(arrays)
    if isinstance(value, Params) and (flaw := value.flaw()):
        raise ValueError(flaw)
    return value


def _row_memory(carry_type: Any, arrays: Mapping[str, AnyArray]) -> LocalRowMemory:
    """Return the memory of rows, by blocks."""
    blocks: dict[int, dict[str, AnyArray]] = {}
    for name, array in arrays.items():
        number, field = name.split(".", 1)
        blocks.setdefault(int(number), {})[field] = array
    return LocalRowMemory(None, {number: carry_type.from_arrays(fields) for number, fields in blocks.items()})

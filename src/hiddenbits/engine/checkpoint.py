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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.arrays import plain, prefixed, unprefixed
from hiddenbits.data.hashing import digest
from hiddenbits.data.summary import Summary
from hiddenbits.engine.environment import EnvironmentChangedWarning, differences, environment
from hiddenbits.engine.outcome import Growth, Restart, StopReason
from hiddenbits.engine.row_memory import LocalRowMemory, RowMemory
from hiddenbits.engine.state import Extrapolation, Position, Running, Settings
from hiddenbits.model_api import Model
from hiddenbits.quoting import PrintableError, printable
from hiddenbits.store import StoreError, read, write
from hiddenbits.store.lock import LockedError, NoLocksError, locked

KIND = "checkpoint"
FORMAT = 2  # 1 had no number, neither names of columns nor the shape of the table as it was handed in


class CheckpointError(PrintableError):
    """A checkpoint that does not belong to this fit, or that another fit is using."""


def path_beside(path: Path, name: str) -> Path:
    """Return the file, next to a checkpoint, for a part of the same fit."""
    return path.with_name(f"{path.name}.{name}")


class UnlockedCheckpointWarning(UserWarning):
    """The file system of a checkpoint offers no locks: nothing stops a second fit from using the same file."""


def _carry_arrays(carry: RowMemory | None) -> dict[str, AnyArray]:
    held = {} if carry is None else carry.here()
    return {f"carry.{number}.{name}": array for number, one in held.items() for name, array in one.to_arrays().items()}


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
    """

    path: Path
    model: Model[Any, Any]
    settings: Settings
    shape: tuple[int, int]
    height: int
    names: Sequence[str] | None = field(default=None, kw_only=True)

    def _identity(self) -> dict[str, Any]:
        """Return what must agree, in the order in which it is compared."""
        model: Any = self.model
        return {
            "model": type(model).__name__,
            "hyperparameters": plain(asdict(model)),
            "settings": plain(asdict(self.settings)),
            "shape": list(self.shape),
            "names": _digest(self.names),
        }

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file for one fit: another on the same path is refused, until this one ends or its process dies."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path.with_name(f"{self.path.name}.lock")))
            except LockedError:
                raise CheckpointError(
                    f"{self.path} is in use by another fit that is still running. Wait for it to end, or choose "
                    "another path: one file serves one fit."
                ) from None
            except NoLocksError as error:
                warnings.warn(
                    f"{self.path} is on a file system without locks ({error.__cause__}): take care that no other fit "
                    "uses this file.",
                    UnlockedCheckpointWarning,
                    stacklevel=4,
                )
            yield

    def load(self, summary: Summary) -> Position | None:
        """Return the position in the file; None when there is no file."""
        if not self.path.exists():
            return None
        stored = read(self.path)
        if stored.kind != KIND:
            raise CheckpointError(f"{self.path} holds a {stored.kind}, not a checkpoint. Choose another path.")
        meta: Any = stored.meta
        self._refuse_other(meta, unprefixed("summary", stored.arrays), summary)
        if meta.get("environment") != (here := environment()):
            warnings.warn(
                f"{printable(self.path)} was written with {differences(meta.get('environment') or {}, here)}: the fit "
                "continues, but its result may differ in the last digits from an uninterrupted one.",
                EnvironmentChangedWarning,
                stacklevel=2,
            )
        try:
            position = self._position(meta, stored.arrays)
            again, arrays = self._described(position, summary)
            if set(again) != set(meta) or set(arrays) != set(stored.arrays):
                raise ValueError("it holds more or less than a checkpoint does")
        except MemoryError:  # of the machine, which says nothing about the file
            raise
        except Exception as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise StoreError(
                f"{self.path}: the checkpoint is not complete ({said}). Remove it to start afresh."
            ) from error
        return position

    def _refuse_other(self, meta: Any, theirs: Mapping[str, AnyArray], summary: Summary) -> None:
        """Refuse a checkpoint of another format or of another fit: the first difference that says why."""
        number = meta.get("format", 1)
        if type(number) is not int or number != FORMAT:
            raise CheckpointError(
                f"{self.path} is a checkpoint with format number {str(number)[:20]}, and this version of hiddenbits "
                f"({environment()['hiddenbits']}) has {FORMAT}. Checkpoints are not read across format numbers: end "
                "the fit with the version that began it, or remove the file to start afresh."
            )
        remedy = "Remove the file to start afresh, or choose another path."
        for name, mine in self._identity().items():
            if meta.get(name) != mine and name == "names":
                raise CheckpointError(
                    f"{self.path} is the checkpoint of another fit: the names of its columns, or their order, are not "
                    f"those of this table. {remedy}"
                )
            if meta.get(name) != mine:
                raise CheckpointError(
                    f"{self.path} is the checkpoint of another fit: its {name} is {_short(meta.get(name))}, here it is "
                    f"{_short(mine)}. {remedy}"
                )
        if not all(name in theirs and _close(mine, theirs[name]) for name, mine in summary.to_arrays().items()):
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit to other data: the table has the same shape, but a cell, a "
                f"weight or the order of the rows is not the same. {remedy}"
            )
        # After the data, which may decide about the height.
        if meta.get("height") != self.height:
            raise CheckpointError(
                f"{self.path} is the checkpoint of a fit in blocks of {_short(meta.get('height'))} rows, here they "
                f"have {self.height}: the table is stored in another way. {remedy}"
            )

    def save(self, position: Position, summary: Summary) -> None:
        """Write a position, atomically."""
        write(self.path, KIND, *self._described(position, summary))

    def _described(self, position: Position, summary: Summary) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return what a file says of a position, and its arrays."""
        extrapolation = position.extrapolation
        meta = {
            **self._identity(),
            "format": FORMAT,
            "height": self.height,
            "environment": environment(),
            "restart": position.restart,
            "online_passes": position.online_passes,
            "running": [position.running.steps, position.running.weight],
            "stages": list(position.stages),
            "best_stages": list(position.best_stages),
            "speculative": position.speculative,
            "grown": position.growth.done,
            "extrapolation": {
                "phase": extrapolation.phase,
                "longest": extrapolation.longest,
                "at_limit": extrapolation.at_limit,
            },
            "finished": [[r.n_iter, str(r.reason)] for r in position.finished],
            "best": position.best,
        }
        arrays = {
            "objective": np.array(position.objective),
            "trace": np.array(position.trace),
            "best_trace": np.array(position.best_trace),
            "marks": np.array(position.growth.marks),
            "best_marks": np.array(position.best_marks),
            "finished": np.array([r.objective for r in position.finished]),
            **prefixed("summary", summary),
            **prefixed("running", position.running.stats),
            **prefixed("memory", position.memory),
            **prefixed("params", position.params),
            **prefixed("safe", position.safe),
            **prefixed("chosen", position.growth.chosen),
            **prefixed("best_params", position.best_params),
            **_carry_arrays(position.carry),
        }
        if extrapolation.theta0 is not None:
            arrays["theta0"] = extrapolation.theta0
        if position.velocity is not None:
            arrays["velocity"] = position.velocity
        return meta, arrays

    def beside(self, name: str) -> Checkpoint:
        """Return a checkpoint for a part of the same fit, in a file next to this one."""
        return replace(self, path=path_beside(self.path, name))

    def drop(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _position(self, meta: Any, arrays: Mapping[str, AnyArray]) -> Position:
        def params(prefix: str) -> Any:
            fields = unprefixed(prefix, arrays)
            if not fields:
                return None
            restored = self.model.params_type.from_arrays(fields)
            if flaw := restored.flaw():
                raise ValueError(flaw)
            return restored

        restart, best, finished = meta["restart"], meta["best"], meta["finished"]
        counts = [restart, meta["online_passes"], meta["running"][0], *meta["stages"], *meta["best_stages"]]
        if not all(type(count) is int and 0 <= count < 2**53 for count in counts):
            raise ValueError("a count is not one")
        if len(finished) > restart or type(best) is not int or not -1 <= best < max(restart, 1):
            raise ValueError("the restarts that are over are not those it counts")

        running, memory = unprefixed("running", arrays), unprefixed("memory", arrays)

        carry: dict[int, dict[str, Any]] = {}
        for name, array in unprefixed("carry", arrays).items():
            number, field = name.split(".", 1)
            carry.setdefault(int(number), {})[field] = array
        model: Any = self.model
        return Position(
            restart=int(meta["restart"]),
            params=params("params"),
            safe=params("safe"),
            online_passes=int(meta["online_passes"]),
            running=Running(
                self.model.stats_type.from_arrays(running) if running else None,
                int(meta["running"][0]),
                float(meta["running"][1]),
            ),
            objective=float(arrays["objective"]),
            trace=tuple(arrays["trace"].tolist()),
            stages=tuple(meta["stages"]),
            extrapolation=Extrapolation(
                int(meta["extrapolation"]["phase"]),
                arrays.get("theta0"),
                float(meta["extrapolation"]["longest"]),
                bool(meta["extrapolation"]["at_limit"]),
            ),
            speculative=bool(meta["speculative"]),
            carry=LocalRowMemory(
                None, {number: model.carry_type.from_arrays(fields) for number, fields in carry.items()}
            ),
            memory=model.memory_type.from_arrays(memory) if memory else None,
            velocity=arrays.get("velocity"),
            growth=Growth(tuple(arrays["marks"].tolist()), params("chosen"), bool(meta["grown"])),
            finished=tuple(
                Restart(float(objective), int(n_iter), StopReason(reason))
                for objective, (n_iter, reason) in zip(arrays["finished"].tolist(), meta["finished"], strict=True)
            ),
            best=int(meta["best"]),
            best_params=params("best_params"),
            best_trace=tuple(arrays["best_trace"].tolist()),
            best_stages=tuple(meta["best_stages"]),
            best_marks=tuple(arrays["best_marks"].tolist()),
        )

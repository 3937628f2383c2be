"""Checkpoints: a fit's Position on disk, in the format of the model file.

Written after every pass, atomically, so that a killed fit loses one pass at most and the file is never half-written.
Resuming gives the same bits as going on would have, with the same package versions and kind of processor; both are
recorded, and a difference is warned about.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.summary import Summary
from hiddenbits.engine.accelerate import Leap
from hiddenbits.engine.carry import LocalShelf, Shelf
from hiddenbits.engine.environment import EnvironmentChangedWarning, differences, environment
from hiddenbits.engine.online import Running
from hiddenbits.engine.outcome import Growth, Restart, StopReason
from hiddenbits.engine.position import Position, Settings
from hiddenbits.engine.protocol import Model, plain, prefixed, unprefixed
from hiddenbits.quoting import PrintableError, printable
from hiddenbits.store import StoreError, read, write

KIND = "checkpoint"


class CheckpointError(PrintableError):
    """A checkpoint that does not belong to this fit."""


def _carry_arrays(carry: Shelf | None) -> dict[str, NDArray[Any]]:
    held = {} if carry is None else carry.here()
    return {f"carry.{number}.{name}": array for number, one in held.items() for name, array in one.to_arrays().items()}


def _close(a: NDArray[Any], b: NDArray[Any]) -> bool:
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
        Rows and columns of the table as it is walked.
    height : int
        Its block height.
    """

    path: Path
    model: Model
    settings: Settings
    shape: tuple[int, int]
    height: int

    def _identity(self) -> dict[str, Any]:
        model: Any = self.model
        return {
            "model": type(model).__name__,
            "hyperparameters": plain(asdict(model)),
            "settings": plain(asdict(self.settings)),
            "shape": list(self.shape),
            "height": self.height,
        }

    def load(self, summary: Summary) -> Position | None:
        """Return the position in the file; None when there is no file."""
        if not self.path.exists():
            return None
        stored = read(self.path)
        if stored.kind != KIND:
            raise CheckpointError(f"{self.path} holds a {stored.kind}, not a checkpoint. Choose another path.")
        meta: Any = stored.meta
        expected = self._identity()
        for name, mine in expected.items():
            if meta.get(name) != mine:
                raise CheckpointError(
                    f"{self.path} is the checkpoint of another fit: its {name} is {meta.get(name)!r}, here it is "
                    f"{mine!r}. Remove the file to start afresh, or choose another path."
                )
        theirs = unprefixed("summary", stored.arrays)
        if not all(name in theirs and _close(mine, theirs[name]) for name, mine in summary.to_arrays().items()):
            raise CheckpointError(f"{self.path} is the checkpoint of a fit to other data. Remove it or choose another.")
        if meta.get("environment") != (here := environment()):
            warnings.warn(
                f"{printable(self.path)} was written with {differences(meta.get('environment') or {}, here)}: the fit "
                "continues, but its result may differ in the last digits from an uninterrupted one.",
                EnvironmentChangedWarning,
                stacklevel=2,
            )
        try:
            return self._position(meta, stored.arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.path}: the checkpoint is not complete ({error}). Remove it to start afresh."
            ) from error

    def save(self, position: Position, summary: Summary) -> None:
        """Write a position, atomically."""
        leap = position.leap
        meta = {
            **self._identity(),
            "environment": environment(),
            "restart": position.restart,
            "online_passes": position.online_passes,
            "running": [position.running.steps, position.running.weight],
            "stages": list(position.stages),
            "best_stages": list(position.best_stages),
            "untried": position.untried,
            "grown": position.growth.done,
            "leap": {"phase": leap.phase, "longest": leap.longest, "at_limit": leap.at_limit},
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
        if leap.theta0 is not None:
            arrays["theta0"] = leap.theta0
        if position.velocity is not None:
            arrays["velocity"] = position.velocity
        write(self.path, KIND, meta, arrays)

    def beside(self, name: str) -> Checkpoint:
        """Return a checkpoint for a part of the same fit, in a file beside this one."""
        return replace(self, path=self.path.with_name(f"{self.path.name}.{name}"))

    def drop(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _position(self, meta: Any, arrays: Mapping[str, NDArray[Any]]) -> Position:
        def params(prefix: str) -> Any:
            fields = unprefixed(prefix, arrays)
            if not fields:
                return None
            restored = self.model.params_type.from_arrays(fields)
            if flaw := restored.flaw():
                raise ValueError(flaw)
            return restored

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
            leap=Leap(
                int(meta["leap"]["phase"]),
                arrays.get("theta0"),
                float(meta["leap"]["longest"]),
                bool(meta["leap"]["at_limit"]),
            ),
            untried=bool(meta["untried"]),
            carry=LocalShelf(None, {number: model.carry_type.from_arrays(fields) for number, fields in carry.items()}),
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

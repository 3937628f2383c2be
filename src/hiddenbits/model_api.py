"""What the engine asks of a model. It knows no model; `families/_base/promises.py` says the same in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import Summary
from hiddenbits.engine.keys import Key


class Promises(Protocol):
    """The promises that steer the engine."""

    @property
    def monotone(self) -> bool: ...
    @property
    def deterministic(self) -> bool: ...
    @property
    def carry(self) -> bool: ...
    @property
    def accelerates(self) -> bool: ...
    @property
    def hopes(self) -> bool: ...
    @property
    def closed_form(self) -> bool: ...
    @property
    def scheduled(self) -> bool: ...
    @property
    def surveys(self) -> bool: ...
    @property
    def online_form(self) -> bool: ...


class Footprint(Protocol):
    """What a block costs."""

    @property
    def working(self) -> float: ...
    @property
    def statistics(self) -> float: ...
    @property
    def flops(self) -> float: ...


Passes = Callable[[Callable[[Block], Any]], Any]
"""Adds what a function makes of each block of the table: a pass that a start may ask for."""


class Model(Protocol):
    """A model that EM can fit."""

    @property
    def promises(self) -> Promises: ...
    @property
    def params_type(self) -> Any: ...
    @property
    def stats_type(self) -> Any: ...
    @property
    def carry_type(self) -> Any: ...
    def footprint(self, n_columns: int, row_cells: float) -> Footprint: ...
    def start(self, summary: Summary, key: Key, passes: Passes) -> Any: ...
    def prepare(self, params: Any) -> Any: ...
    def expect(self, params: Any, shared: Any, block: Block, carry: Any, key: Key) -> tuple[Any, Any]: ...
    def objective(self, params: Any, stats: Any) -> float: ...
    def update(self, params: Any, stats: Any) -> Any: ...
    def grow(self, params: Any, key: Key) -> Any | None: ...


class Extrapolates(Model, Protocol):
    """A model whose parameters have coordinates without borders."""

    def to_vector(self, params: Any) -> NDArray[np.float64]: ...
    def from_vector(self, vector: NDArray[np.float64], params: Any) -> Any: ...


class Hopes(Extrapolates, Protocol):
    """A model whose updates are steps to be measured, which may be taken untried as long as that goes well."""

    def untried(self, params: Any) -> Any | None: ...


class Surveys(Model, Protocol):
    """A model that looks at all rows before a pass, and puts what it found into the parameters that the pass sees."""

    def survey(self, params: Any, passes: Passes) -> Any: ...


class Scheduled(Model, Protocol):
    """A model whose fits have a planned course, which its parameters count; `repaired` goes on from a fit that is over.

    While it is "running" a fit is not judged; afterwards it is "free" to go on until it stands still, or "over".
    """

    def pending(self, params: Any) -> Literal["running", "free", "over"]: ...
    def repaired(self, params: Any, key: Key) -> Any: ...


class Coordinates(Protocol):
    """Coordinates of a climb, linear in the vectors of a model."""

    def inwards(self, vector: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def outwards(self, point: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def slope(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]: ...


class Climbs(Extrapolates, Protocol):
    """A model whose statistics give the gradient of its objective, once the free model has been summed over.

    `place` is `from_vector` without what `free` finds; `over` adds a function over a table of hidden states. A model
    that grows offers `candidates` and marks each size, smaller is better; one that `chooses` is taken back to the size
    with the best mark when `enough` have been tried. `rivals` are the same model with other starts.
    """

    @property
    def chooses(self) -> bool: ...

    def free(self, params: Any, over: Callable[[Callable[..., Any], Any], Any]) -> tuple[Any, Any]: ...
    def place(self, vector: NDArray[np.float64], params: Any) -> Any: ...
    def gradient(self, params: Any, stats: Any, phase: Any) -> NDArray[np.float64]: ...
    def coordinates(self, params: Any, phase: Any) -> Coordinates: ...
    def candidates(self, params: Any, key: Key, passes: Passes) -> list[Any]: ...
    def mark(self, params: Any, objective: float, weight: float) -> float: ...
    def enough(self, marks: tuple[float, ...]) -> bool: ...
    def rivals(self) -> Sequence[Climbs]: ...


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return NumPy numbers as Python ones: JSON knows no other."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def prefixed(prefix: str, value: Arrays | None) -> dict[str, NDArray[Any]]:
    """Return the fields of `value` under names that begin with `prefix`, for a file."""
    return {} if value is None else {f"{prefix}.{name}": array for name, array in value.to_arrays().items()}


def unprefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the fields that `prefixed` put into a file; empty when there are none."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}

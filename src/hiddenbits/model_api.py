"""What a model is, in one file: what the engine calls, what a model promises, what a block costs, and keyed randomness.

A model is a frozen dataclass of hyperparameters with pure functions of arrays. The engine calls

    start(summary, key, passes)      -> params            from column means and keyed noise; `passes` adds over blocks
    prepare(params)                  -> shared            once a pass
    expect(params, shared, block, carry, key) -> stats, carry     statistics add up; the bound is one of them
    objective(params, stats)         -> float             what must not fall: the bound and the log prior
    update(params, stats)            -> params
    grow(params, key)                -> params or None    the next stage of a staged start, None when complete
    pseudo_statistics(params, weight) -> stats            rows just as the model expects, to go on online from a fit

and, where the model can be extrapolated, `to_vector` and `from_vector`; where its updates are steps to be measured,
`untried`; where a fit has a planned course, `pending`; where all rows have to be looked at before a pass, `survey`;
where a fit that is over may be mended, `repaired`; where statistics do not outlive the parameters that they were
counted with, `online`, the form of the model that online EM goes by. The verbs of the estimators rest on the row
functions (`log_likelihood`, `posterior`, ...). `log_joint` is the definition that the tests enumerate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data import Block
from hiddenbits.data.summary import Summary

DRIVER = 2**63  # stands for "no block": draws made once a pass, such as a start


@dataclass(frozen=True)
class Key:
    """The address of a stream of random numbers: (seed, restart, pass, block).

    Examples
    --------
    >>> Key(0).at(pass_number=3, block=7).rng().random() == Key(0).at(pass_number=3, block=7).rng().random()
    True
    """

    seed: int
    restart: int = 0
    pass_number: int = 0
    block: int = DRIVER

    def at(self, *, restart: int | None = None, pass_number: int | None = None, block: int | None = None) -> Key:
        """Return the key of another restart, pass or block."""
        return replace(
            self,
            restart=self.restart if restart is None else restart,
            pass_number=self.pass_number if pass_number is None else pass_number,
            block=self.block if block is None else block,
        )

    def rng(self) -> np.random.Generator:
        """Return a generator that starts at this address."""
        words = [self.seed, self.restart, self.pass_number, self.block]
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))


@dataclass(frozen=True)
class Promises:
    """What a model keeps to; the contract tests read it. Every "no" carries its reason in `why`.

    Attributes
    ----------
    likelihood : {"exact", "bound", "estimate"}
        What the bound in the statistics, and `log_likelihood`, are.
    monotone : bool
        The objective never falls from one pass to the next.
    deterministic : bool
        `expect` draws no random numbers.
    carry : bool
        Rows keep memory from pass to pass.
    accelerates : bool
        `to_vector` and `from_vector` exist, so that the engine may extrapolate.
    oracle : {"enumeration", "quadrature"}
        How the tests compute the truth from `log_joint`.
    why : mapping of str to str
        The reason for each promise that is not given.
    hopes : bool
        `untried` exists: an update may be a step that a further pass has to measure, and the engine first looks where
        the whole step leads, going back if the objective falls.
    closed_form : bool
        The statistics do not depend on the parameters, and the update on nothing but them: one pass is a fit. What
        `objective` says need not be at its maximum there.
    scheduled : bool
        `pending` exists: a fit goes by a planned course, and is not judged before its end.
    surveys : bool
        `survey` exists: before a pass the model may look at all rows, to decide which of them count.
    online_form : bool
        `online` exists: what the statistics mean depends on the parameters that they were counted with, so that a
        running average needs another form of them, and of the update.
    online_gap : float
        The most that `partial_fit`, three times through the rows, may be behind `fit` on held-out rows, in nats a row:
        tests/contracts/test_online.py. More than 0.05 has its reason in `why`.
    """

    likelihood: Literal["exact", "bound", "estimate"]
    monotone: bool
    deterministic: bool
    carry: bool
    accelerates: bool
    oracle: Literal["enumeration", "quadrature"]
    why: Mapping[str, str] = field(default_factory=dict)
    hopes: bool = False
    closed_form: bool = False
    scheduled: bool = False
    surveys: bool = False
    online_form: bool = False
    online_gap: float = 0.05


@dataclass(frozen=True)
class Footprint:
    """What a block costs, so that the engine can choose its height.

    Attributes
    ----------
    working : float
        Numbers held for each row while a block is worked on.
    statistics : float
        Numbers in the statistics of a block.
    flops : float
        Arithmetic for each row.
    """

    working: float
    statistics: float
    flops: float


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

"""What a model is, in one file: every method that a model can have, with shapes; promises, costs, and keyed randomness.

A model is a frozen dataclass of hyperparameters with pure functions of arrays. Its parameters are a `Params`, its
statistics are `Arrays`: where they are counts, `Statistics`. Both declare shapes and ranges (`data/declared.py`), and
check themselves. Shapes below: n rows of a block, d columns, K classes, q numbers of a code.

Eight functions are the mathematics of a model: `start`, `prepare`, `expect`, `objective`, `update`, `posterior` (or
`log_likelihood` alone, where rows have no code), `sample` and `log_joint`. `footprint` says what a block costs. `Model`
lists what the engine calls, `RowModel` and `CodeModel` what the verbs of estimators call, `Defined` what the tests
enumerate. `AsOnSubsample`, `Declared`, `Linked` and `ClassCodes` have the others for models that fit them.
The further protocols are for models that can do more. Functions beyond these belong to a family and are called by its
estimator alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Arrays, Block, Table
from hiddenbits.data.declared import Additive, Params, WeightedSums
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.data.summary import ColumnSums

T = TypeVar("T", bound=Additive)
Kept = TypeVar("Kept", bound=Params)
DRIVER = 2**63  # stands for "no block": draws made once a pass, such as a start
# Streams beside those of restarts, passes and blocks, which count from 0: the part of the address, and where it begins.
STREAMS: Mapping[str, tuple[Literal["restart", "pass_number", "block"], int]] = {
    "online": ("pass_number", 2**32),  # online passes
    "stage": ("pass_number", 2**33),  # what a later stage begins with
    "memory": ("pass_number", 2**34),  # what random steps begin with
    "subsample": ("pass_number", 2**35),  # the rows of a start on few
    "split off": ("pass_number", 2**36),  # the rows that a fit does not learn from
    "step": ("block", 2**33),  # a random step, next to the blocks that it was estimated from
    "sample": ("restart", 2**32),  # rows that are drawn from a fitted model
    "normalizer": ("restart", 2**35),  # estimates of a normalizing constant
    "row order": ("restart", 2**36),  # the shuffle of rows for random steps
}


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

    def stream(self, name: str, number: int = 0) -> Key:
        """Return the key of a named stream, or of the `number`-th part of it."""
        part, first = STREAMS[name]
        return replace(self, **{part: first + number})

    def rng(self) -> np.random.Generator:
        """Return a generator that starts at this address."""
        return keyed_rng(self.seed, self.restart, self.pass_number, self.block)


@dataclass(frozen=True, kw_only=True)
class Promises:
    """What a model keeps to; the contract tests read it. The defaults are those of exact EM.

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
        The model is one that `Extrapolates`.
    oracle : {"enumeration", "quadrature"}
        How the tests compute the truth from `log_joint`.
    why : mapping of str to str
        The reason for each of the promises monotone, deterministic and accelerates that is not given, and for a
        likelihood that is not exact.
    closed_form : bool
        The statistics do not depend on the parameters, and the update on nothing but them: one pass is a fit. What
        `objective` says need not be at its maximum there.
    start_sees_all : bool
        Where a fit begins on some of the rows, its start looks at all of them: it makes what stays, as a structure.
    online_gap : float
        The most that `partial_fit`, three times through the rows, may be behind `fit` on held-out rows, in nats a row:
        tests/contracts/test_online.py. More than 0.05 has its reason in `why`.
    """

    likelihood: Literal["exact", "bound", "estimate"] = "exact"
    monotone: bool = True
    deterministic: bool = True
    carry: bool = False
    accelerates: bool = True
    oracle: Literal["enumeration", "quadrature"] = "enumeration"
    why: Mapping[str, str] = field(default_factory=dict)
    closed_form: bool = False
    start_sees_all: bool = False
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


class Passes(Protocol):
    """Adds what a function makes of each block of the table: a pass that a start may ask for."""

    def __call__(self, function: Callable[[Block], T], /) -> T:
        """Return the sum of function(block) over all blocks."""


Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function for each of several tasks: `map`, or that of a pool of threads."""


P = TypeVar("P", bound=Params)  # parameters
S = TypeVar("S", bound=WeightedSums)  # statistics
P_in = TypeVar("P_in", bound=Params, contravariant=True)


# ------------------------------------------------------------------------------------------------ what a model has


class Model(Protocol[P, S]):
    """A model that EM can fit: what the engine calls."""

    @property
    def promises(self) -> Promises:
        """What the model keeps to."""

    @property
    def params_type(self) -> type[P]:
        """Class of the parameters."""

    @property
    def stats_type(self) -> type[S]:
        """Class of the statistics."""

    @property
    def carry_type(self) -> type[Arrays] | None:
        """Class of what rows keep from pass to pass; None where they keep nothing."""

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block of d columns costs, whose rows have so many stored cells on average."""

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> P:
        """Return the parameters that a restart begins with: from column means, keyed noise, and passes of its own."""

    def prepare(self, params: P) -> Any:
        """Return what every block of a pass needs of the parameters, made once a pass: `shared` below."""

    def expect(self, params: P, shared: Any, block: Block, carry: Any, key: Key) -> tuple[S, Any]:
        """E-step: return the statistics of a block, which add up, and what its rows keep for the next pass."""

    def objective(self, params: P, stats: S) -> float:
        """Return what must not fall: the bound of all rows plus the log prior, in nats."""

    def update(self, params: P, stats: S) -> P:
        """M-step: return the parameters that the statistics of all rows ask for."""

    def mismatch(self, params: P) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""


class RowModel(Model[P, S], Protocol[P, S]):
    """What `score`, `complete`, `cell_probabilities` and `sample` call."""

    def log_likelihood(self, params: P, shared: Any, block: Block) -> Floats:
        """Return ln P(observed cells) of each row, (n,)."""

    def fill(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) of each cell, (n, d), as if that cell had to be drawn again."""

    def leave_one_out(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(bit = 1 | the other observed bits) of each cell, (n, d)."""

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        """Draw rows, (n, d), bits as uint8, and their codes, (n, q)."""


class CodeModel(RowModel[P, S], Protocol[P, S]):
    """What `transform`, `code` and `inverse_transform` call, where rows have a hidden code."""

    def posterior(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the posterior mean of each row's code, (n, q)."""

    def posterior_mode(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the most probable code of each row, (n, q)."""

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(bit = 1) given codes, (n, d)."""


class Defined(Protocol[P_in]):
    """The definition, as plain as can be: the tests compute everything else from it."""

    def hidden_states(self, params: P_in) -> Floats:
        """Return every code that a row can have, (states, q), where the truth is enumerated."""

    def log_joint(self, params: P_in, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row x, (d,), with the code h, (q,)."""


# --------------------------------------------------------------------------------- what needs not be written by hand


class AsOnSubsample:
    """A fit goes on over all rows with the parameters that one to some of them ended with."""

    @property
    def has_prior(self) -> bool:
        """Return False: a fit begins only on rows that show both values of every column. Safe, but more rows."""
        return False

    def on_all_rows(self, params: Kept) -> Kept:
        """Return the parameters as they are."""
        return params


class Declared(Generic[P]):
    """Parameters and statistics are checked as they declare themselves.

    `letters` names the hyperparameter that a letter of the shapes must equal, and what the letter counts:
    {"q": ("n_components", "dimensions")}.
    """

    letters: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def mismatch(self, params: P) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        for letter, (name, what) in self.letters.items():
            size, wanted = params.axis_sizes[letter], getattr(self, name)
            if size != wanted:
                return f"it has {size} {what} where {wanted} are declared"
        return None

    def stats_flaw(self, stats: WeightedSums, params: P) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return stats.flaw(params.axis_sizes)


class Linked:
    """The coordinates of the extrapolation are those of the links that the parameters declare."""

    def to_vector(self, params: Params) -> Floats:
        """Return the coordinates, in one row."""
        return params.to_vector()

    def from_vector(self, vector: Floats, params: Kept) -> Kept:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        return params.with_vector(vector)


class ClassCodes(Declared[P]):
    """Rows belong to one of K classes: all that follows from `posterior` and P(bit = 1) in each class.

    The letter K stands for the classes in the shapes of the parameters. `fill` and `leave_one_out` are those of cells
    that are independent within a class; a model in which they are not has its own.
    """

    n_components: int
    letters: ClassVar[Mapping[str, tuple[str, str]]] = {"K": ("n_components", "classes")}

    @abstractmethod
    def posterior(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the probability of each class given the row's observed bits, (n, K)."""

    @abstractmethod
    def cell_probabilities(self, params: P) -> Floats:
        """Return P(bit = 1) in each class, (d, K)."""

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows of independent cells and their classes (1 among zeros); `params.weights` are the shares."""
        weights = params.to_arrays()["weights"]
        classes = rng.choice(len(weights), size=n, p=weights)
        x = rng.random((n, params.n_columns)) < self.cell_probabilities(params).T[classes]
        return x.view(np.uint8), np.eye(len(weights))[classes]

    def posterior_mode(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the most probable class of each row, as 1 among zeros, (n, K)."""
        r = self.posterior(params, shared, block)
        return np.asarray(np.eye(r.shape[1])[r.argmax(axis=1)])

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(bit = 1) given class probabilities and nothing else of the row, (n, d): r theta."""
        return np.asarray(codes @ self.cell_probabilities(params).T)

    def fill(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again: r theta."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell.

        Without bit j the class weights are r_k / P(x_j | k), so that with x_j = 1 the answer is
        1 / Sum_k(r_k / theta_jk), with x_j = 0 it is Sum_k r_k theta/(1 - theta) / Sum_k r_k/(1 - theta), and for
        a missing bit Sum_k r_k theta_jk.
        """
        theta = self.cell_probabilities(params).T
        r = self.posterior(params, shared, block)
        if_one = 1.0 / (r @ (1.0 / theta))
        if_zero = (r @ (theta / (1.0 - theta))) / (r @ (1.0 / (1.0 - theta)))
        x, o = block.x.to_dense(), block.observed.to_dense()
        return np.where(o == 0, r @ theta, np.where(x == 1, if_one, if_zero))

    def hidden_states(self, params: P) -> Floats:
        """Return every class, as 1 among zeros, (K, K)."""
        return np.eye(params.axis_sizes["K"])


# ------------------------------------------------------------------------------------------ what a model may also do


@runtime_checkable
class Extrapolates(Protocol[P]):
    """A model with an unconstrained parametrization. `Linked` has it."""

    def to_vector(self, params: P) -> Floats:
        """Return the coordinates, in one row."""

    def from_vector(self, vector: Floats, params: P) -> P:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""


@dataclass(frozen=True)
class Stage(Generic[P, S]):
    """One of the models that a fit goes through, each from where the one before ended.

    Attributes
    ----------
    model : Model
        The model of this stage; all stages have the same class of parameters.
    begin : function, optional
        Takes the parameters that the stage before ended with, and a key; returns those that this one begins with, or
        None where the fit is over without it. The first stage begins with `start`.
    tolerance : float
        The stage ends at the tolerance of the fit times this.
    loop : function, optional
        The loop that the stage goes by, in place of that of the fit: see `engine/loops/restarts.py`.
    """

    model: Model[P, S]
    begin: Callable[[P, Key], P | None] | None = None
    tolerance: float = 1.0
    loop: Callable[..., Any] | None = None


@runtime_checkable
class Staged(Protocol):
    """A model whose fits go through several models."""

    def stages(self) -> Sequence[Stage[Any, Any]]:
        """Return the stages, the first one included."""


def stages_of(model: Model[P, S]) -> Sequence[Stage[P, S]]:
    """Return the models that a fit goes through: the model itself, unless it has stages."""
    return model.stages() if isinstance(model, Staged) else (Stage(model),)


@runtime_checkable
class Planned(Model[P, S], Protocol[P, S]):
    """A model whose fits follow a plan, which has a model for each pass; no pass is judged before its end."""

    @property
    def planned_passes(self) -> int:
        """Passes of the plan."""

    @property
    def settles(self) -> bool:
        """Whether a fit goes on after the plan until the objective stands still; otherwise it ends there."""

    def of_pass(self, params: P, key: Key, passes: Passes) -> Model[P, S]:
        """Return the model of pass `key.pass_number`, counted from 0; it may look at all rows to make it."""


@runtime_checkable
class BeginsOnFew(Protocol[P]):
    """A model whose fits to long tables begin on some of the rows."""

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary; else the rows must show both values.

        `AsOnSubsample` has it: False.
        """

    def on_all_rows(self, params: P) -> P:
        """Return the parameters with which a fit goes on over all rows, where one to some of them ended.

        `AsOnSubsample` has it.
        """


@runtime_checkable
class Averages(Protocol[P_in, S]):
    """A model for `partial_fit`: its statistics may be averaged over groups of rows."""

    def stats_flaw(self, stats: S, params: P_in) -> str | None:
        """Return what makes statistics invalid for these parameters, or None. `Declared` has it."""

    def pseudo_statistics(self, params: P_in, weight: float) -> S:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""


@runtime_checkable
class OnlineForm(Protocol[P, S]):
    """A model whose statistics do not outlive the parameters that they were counted with."""

    def online(self) -> Model[P, S]:
        """Return the form of the model that online EM needs: statistics and an update that may be averaged."""


class Persists(Model[P, S], Protocol[P, S]):
    """A model that learns by random steps, with a memory from step to step."""

    @property
    def batch_rows(self) -> int:
        """Rows of a step."""

    @property
    def memory_type(self) -> type[Arrays]:
        """Class of the memory."""

    def first_memory(self, params: P, summary: ColumnSums, key: Key) -> Any:
        """Return the memory to begin with."""

    def step(self, params: P, memory: Any, stats: S, share_left: float, key: Key, run: Run) -> tuple[P, Any, float]:
        """Return parameters and memory after one step, and how well it is going (larger is better)."""

    def settle(self, params: P, memory: Any) -> P:
        """Return parameters as a fit hands them over."""


class Coordinates(Protocol):
    """Coordinates of a climb, linear in the vectors of a model."""

    def inwards(self, vector: Floats) -> Floats:
        """Return the point at a vector of the model."""

    def outwards(self, point: Floats) -> Floats:
        """Return the vector of the model at a point."""

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient by points, from the one by vectors."""


@runtime_checkable
class Climbs(Model[P, S], Extrapolates[P], Protocol[P, S]):
    """A model whose statistics, with expectations under the model (the negative phase), give the gradient."""

    def model_expectations(self, params: P, over: Callable[[Callable[[Block], T], Table], T]) -> tuple[P, Any]:
        """Return the parameters and the phase: expectations under the model; `over` adds over a table of its states."""

    def at_vector(self, vector: Floats, params: P) -> P:
        """Return parameters at `vector`, without what `model_expectations` finds."""

    def gradient(self, params: P, stats: S, phase: Any) -> Floats:
        """Return the gradient of the objective by the vector."""

    def rows_or_prior(self, weight: float) -> float:
        """Return what the objective is divided by for the climb: the weight of all rows, or the prior's if larger."""

    def coordinates(self, params: P, phase: Any) -> Coordinates:
        """Return the coordinates in which to climb from here."""

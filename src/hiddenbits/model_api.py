"""The protocols of a model: every method that it can have, with shapes; its promises and costs; keyed randomness.

A model is a frozen dataclass of hyperparameters with pure functions of arrays. Its parameters are a `Params`, its
statistics are `Arrays`, or `Statistics` if they are counts. Both declare shapes and ranges (`data/declared.py`) and
check themselves. Shapes below: n rows of a block, d columns, K classes, q numbers of a code.

Eight methods are the mathematics of a model: `start`, `prepare`, `expect`, `objective`, `update`, `posterior` (or only
`log_likelihood`, if rows have no code), `sample` and `log_joint`. `footprint` returns the cost of a block. `Model`
lists the methods that the engine calls, `RowModel` and `CodeModel` those that estimators call, `Defined` those from
which tests compute exact results. The base classes `AsOnSubsample`, `Declared`, `Linked` and `ClassCodes` implement the
others. The further protocols are optional. All other methods belong to a family and its estimator.
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
NO_BLOCK = 2**63  # block number of random numbers that are needed once per pass, such as for a start
# Named streams: the part of the key that each changes, and its first number. Restarts, passes and blocks count from 0.
STREAMS: Mapping[str, tuple[Literal["restart", "pass_number", "block"], int]] = {
    "online": ("pass_number", 2**32),  # online passes
    "stage": ("pass_number", 2**33),  # the beginning of a later stage
    "memory": ("pass_number", 2**34),  # the beginning of random steps
    "subsample": ("pass_number", 2**35),  # the rows of a subsample
    "split off": ("pass_number", 2**36),  # rows that are held out of a fit
    "step": ("block", 2**33),  # a random step
    "sample": ("restart", 2**32),  # rows that are sampled from a fitted model
    "normalizer": ("restart", 2**35),  # estimates of a normalizing constant
    "row order": ("restart", 2**36),  # the shuffle of rows for random steps
}


@dataclass(frozen=True)
class Key:
    """The key of a stream of random numbers: (seed, restart, pass, block).

    Examples
    --------
    >>> Key(0).derive(pass_number=3, block=7).rng().random() == Key(0).derive(pass_number=3, block=7).rng().random()
    True
    """

    seed: int
    restart: int = 0
    pass_number: int = 0
    block: int = NO_BLOCK

    def derive(self, *, restart: int | None = None, pass_number: int | None = None, block: int | None = None) -> Key:
        """Return the key of another restart, pass or block."""
        return replace(
            self,
            restart=self.restart if restart is None else restart,
            pass_number=self.pass_number if pass_number is None else pass_number,
            block=self.block if block is None else block,
        )

    def stream(self, name: str, number: int = 0) -> Key:
        """Return the key of a named stream, or of its `number`-th part."""
        part, first = STREAMS[name]
        return replace(self, **{part: first + number})

    def rng(self) -> np.random.Generator:
        """Return a generator for this key."""
        return keyed_rng(self.seed, self.restart, self.pass_number, self.block)


@dataclass(frozen=True, kw_only=True)
class Promises:
    """The guarantees of a model, which the contract tests check. The defaults are those of exact EM.

    Attributes
    ----------
    likelihood : {"exact", "bound", "estimate"}
        The type of the bound in the statistics and of `log_likelihood`.
    monotone : bool
        The objective never decreases from one pass to the next.
    deterministic : bool
        `expect` uses no random numbers.
    carry : bool
        Rows have memory from pass to pass.
    accelerates : bool
        The model has the methods of `Extrapolates`.
    oracle : {"enumeration", "quadrature"}
        How the tests compute exact results from `log_joint`.
    why : mapping of str to str
        The reason for each of monotone, deterministic and accelerates that is False, and for a likelihood that is not
        exact.
    closed_form : bool
        The statistics do not depend on the parameters, and the update only on the statistics: one pass is a fit. The
        `objective` need not be at its maximum there.
    start_sees_all : bool
        If a fit begins on a subsample, its start uses all rows, because it determines what does not change later, such
        as a structure.
    online_gap : float
        How much lower, in nats per row, the held-out log-likelihood may be after three passes of `partial_fit` than
        after `fit`: tests/contracts/test_online.py. A gap above 0.05 has its reason in `why`.
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
    """The cost of a block, from which the engine chooses its height.

    Attributes
    ----------
    working : float
        Numbers in memory per row while a block is processed.
    statistics : float
        Numbers in the statistics of a block.
    flops : float
        Arithmetic operations per row.
    """

    working: float
    statistics: float
    flops: float


class Passes(Protocol):
    """Sums a function over the blocks of the table, for a start that needs a pass."""

    def __call__(self, function: Callable[[Block], T], /) -> T:
        """Return the sum of function(block) over all blocks."""


Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function for each of several tasks: `map`, or the method of a thread pool."""


P = TypeVar("P", bound=Params)  # parameters
S = TypeVar("S", bound=WeightedSums)  # statistics
P_in = TypeVar("P_in", bound=Params, contravariant=True)


# ------------------------------------------------------------------------------------- methods of every model


class Model(Protocol[P, S]):
    """A model that EM can fit: the methods that the engine calls."""

    @property
    def promises(self) -> Promises:
        """The guarantees of the model."""

    @property
    def params_type(self) -> type[P]:
        """Class of the parameters."""

    @property
    def stats_type(self) -> type[S]:
        """Class of the statistics."""

    @property
    def carry_type(self) -> type[Arrays] | None:
        """Class of the memory of rows from pass to pass, or None."""

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block of d columns; `row_cells` is the mean number of stored cells per row."""

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> P:
        """Return the first parameters of a restart, from sums over columns, keyed noise, and passes if needed."""

    def prepare(self, params: P) -> Any:
        """Return what all blocks of a pass need from the parameters (`shared` below); called once per pass."""

    def expect(self, params: P, shared: Any, block: Block, carry: Any, key: Key) -> tuple[S, Any]:
        """E-step: return the additive statistics of a block, and the memory of its rows for the next pass."""

    def objective(self, params: P, stats: S) -> float:
        """Return the function that EM increases: log-likelihood or bound of all rows plus log prior, in nats."""

    def update(self, params: P, stats: S) -> P:
        """M-step: return the best parameters for the statistics of all rows."""

    def mismatch(self, params: P) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""


class RowModel(Model[P, S], Protocol[P, S]):
    """The methods that `score`, `complete`, `cell_probabilities` and `sample` call."""

    def log_likelihood(self, params: P, shared: Any, block: Block) -> Floats:
        """Return ln P(observed cells) of each row, (n,)."""

    def fill(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of each cell, (n, d), as if that cell were sampled again."""

    def leave_one_out(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(x = 1 | the other observed cells) of each cell, (n, d)."""

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        """Return simulated rows, (n, d), as uint8 if binary, and their codes, (n, q)."""


class CodeModel(RowModel[P, S], Protocol[P, S]):
    """The methods that `transform`, `posterior_mode` and `inverse_transform` call, if rows have latent variables."""

    def posterior(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the posterior mean of each row's code, (n, q)."""

    def posterior_mode(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the most probable code of each row, (n, q)."""

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(x = 1) given codes, (n, d)."""


class Defined(Protocol[P_in]):
    """The definition of the model in its simplest form, from which the tests compute everything else."""

    def hidden_states(self, params: P_in) -> Floats:
        """Return every code that a row can have, (states, q), for tests by enumeration."""

    def log_joint(self, params: P_in, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row x, (d,), with the code h, (q,)."""


# ---------------------------------------------------------------------------------------------------- base classes


class AsOnSubsample:
    """A fit continues on all rows with the final parameters of the fit to a subsample."""

    @property
    def has_prior(self) -> bool:
        """Return False, the safe answer: the subsample must show both values of every column, so it has more rows."""
        return False

    def on_all_rows(self, params: Kept) -> Kept:
        """Return the parameters as they are."""
        return params


class Declared(Generic[P]):
    """Parameters and statistics are checked by their own declarations.

    `letters` maps a letter of the shapes to the hyperparameter that it must equal, and a word for what it counts:
    {"q": ("n_components", "dimensions")}.
    """

    letters: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def mismatch(self, params: P) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        for letter, (name, what) in self.letters.items():
            size, declared = params.axis_sizes[letter], getattr(self, name)
            if size != declared:
                return f"it has {size} {what} where {declared} are declared"
        return None

    def stats_flaw(self, stats: WeightedSums, params: P) -> str | None:
        """Return why statistics are invalid for these parameters, or None."""
        return stats.flaw(params.axis_sizes)


class Linked:
    """The coordinates of the extrapolation are defined by the links that the parameters declare."""

    def to_vector(self, params: Params) -> Floats:
        """Return the coordinates as a vector."""
        return params.to_vector()

    def from_vector(self, vector: Floats, params: Kept) -> Kept:
        """Return the parameters at `vector`; arrays that are not extrapolated are taken from `params`."""
        return params.with_vector(vector)


class ClassCodes(Declared[P]):
    """Methods of models with K classes, which follow from `posterior` and P(x = 1) in each class.

    The letter K is the number of classes in the shapes of the parameters. `fill` and `leave_one_out` assume that cells
    are independent within a class; other models override them.
    """

    n_components: int
    letters: ClassVar[Mapping[str, tuple[str, str]]] = {"K": ("n_components", "classes")}

    @abstractmethod
    def posterior(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the probability of each class given the row's observed cells, (n, K)."""

    @abstractmethod
    def cell_probabilities(self, params: P) -> Floats:
        """Return P(x = 1) in each class, (d, K)."""

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Return n simulated rows of independent cells and their classes (one-hot); `params.weights` are the shares."""
        weights = params.to_arrays()["weights"]
        classes = rng.choice(len(weights), size=n, p=weights)
        x = rng.random((n, params.n_columns)) < self.cell_probabilities(params).T[classes]
        return x.view(np.uint8), np.eye(len(weights))[classes]

    def posterior_mode(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the most probable class of each row, one-hot, (n, K)."""
        r = self.posterior(params, shared, block)
        return np.asarray(np.eye(r.shape[1])[r.argmax(axis=1)])

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(x = 1) given only the class probabilities of each row, (n, d): r theta."""
        return np.asarray(codes @ self.cell_probabilities(params).T)

    def fill(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of each cell, as if that cell were sampled again: r theta."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: P, shared: Any, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every cell.

        Without cell j the class weights are r_k / P(x_j | k), so that with x_j = 1 the result is
        1 / Sum_k(r_k / theta_jk), with x_j = 0 it is Sum_k r_k theta/(1 - theta) / Sum_k r_k/(1 - theta), and for
        a missing cell Sum_k r_k theta_jk.
        """
        theta = self.cell_probabilities(params).T
        r = self.posterior(params, shared, block)
        if_one = 1.0 / (r @ (1.0 / theta))
        if_zero = (r @ (theta / (1.0 - theta))) / (r @ (1.0 / (1.0 - theta)))
        x, o = block.x.to_dense(), block.observed.to_dense()
        return np.where(o == 0, r @ theta, np.where(x == 1, if_one, if_zero))

    def hidden_states(self, params: P) -> Floats:
        """Return every class, one-hot, (K, K)."""
        return np.eye(params.axis_sizes["K"])


# ------------------------------------------------------------------------------------------------ optional methods


@runtime_checkable
class Extrapolates(Protocol[P]):
    """A model with an unconstrained parametrization. `Linked` implements it."""

    def to_vector(self, params: P) -> Floats:
        """Return the coordinates as a vector."""

    def from_vector(self, vector: Floats, params: P) -> P:
        """Return the parameters at `vector`; arrays that are not extrapolated are taken from `params`."""


@dataclass(frozen=True)
class Stage(Generic[P, S]):
    """One of the models that a fit consists of; each stage begins where the stage before ended.

    Attributes
    ----------
    model : Model
        The model of this stage; all stages have the same class of parameters.
    begin : function, optional
        Takes the final parameters of the stage before, and a key; returns the first parameters of this stage, or None
        if the fit needs no further stage. The first stage begins with `start`.
    tolerance : float
        Factor of the tolerance of the fit for this stage.
    loop : function, optional
        The loop of this stage, instead of the loop of the fit: see `engine/loops/restarts.py`.
    """

    model: Model[P, S]
    begin: Callable[[P, Key], P | None] | None = None
    tolerance: float = 1.0
    loop: Callable[..., Any] | None = None


@runtime_checkable
class Staged(Protocol):
    """A model whose fits consist of several stages."""

    def stages(self) -> Sequence[Stage[Any, Any]]:
        """Return all stages."""


def stages_of(model: Model[P, S]) -> Sequence[Stage[P, S]]:
    """Return the stages of a fit: the model itself, unless it is `Staged`."""
    return model.stages() if isinstance(model, Staged) else (Stage(model),)


@runtime_checkable
class Planned(Model[P, S], Protocol[P, S]):
    """A model whose fits follow a plan with a model for each pass; convergence is judged only after its end."""

    @property
    def planned_passes(self) -> int:
        """Number of passes of the plan."""

    @property
    def settles(self) -> bool:
        """Whether a fit continues after the plan until the objective stops changing; otherwise it ends there."""

    def of_pass(self, params: P, key: Key, passes: Passes) -> Model[P, S]:
        """Return the model of pass `key.pass_number`, counted from 0; `passes` may be used to determine it."""


@runtime_checkable
class StartsOnSubsample(Protocol[P]):
    """A model whose fits to long tables begin on a subsample of the rows. `AsOnSubsample` implements it."""

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters of constant columns finite; otherwise a subsample must show both values."""

    def on_all_rows(self, params: P) -> P:
        """Return the first parameters of the fit to all rows, from the final parameters of a fit to a subsample."""


@runtime_checkable
class Averages(Protocol[P_in, S]):
    """A model for `partial_fit`: its statistics may be averaged over groups of rows."""

    def stats_flaw(self, stats: S, params: P_in) -> str | None:
        """Return why statistics are invalid for these parameters, or None. `Declared` implements it."""

    def pseudo_statistics(self, params: P_in, weight: float) -> S:
        """Return the statistics of rows that are exactly as the model expects, for online EM to continue from a fit."""


@runtime_checkable
class OnlineForm(Protocol[P, S]):
    """A model whose statistics are valid only at the parameters with which they were computed."""

    def online(self) -> Model[P, S]:
        """Return the variant of the model for online EM, whose statistics may be averaged."""


class Persists(Model[P, S], Protocol[P, S]):
    """A model that is fitted by random steps, with a memory from step to step."""

    @property
    def batch_rows(self) -> int:
        """Number of rows per step."""

    @property
    def memory_type(self) -> type[Arrays]:
        """Class of the memory."""

    def first_memory(self, params: P, summary: ColumnSums, key: Key) -> Any:
        """Return the initial memory."""

    def step(self, params: P, memory: Any, stats: S, share_left: float, key: Key, run: Run) -> tuple[P, Any, float]:
        """Return the parameters and the memory after one step, and a score (larger is better)."""

    def settle(self, params: P, memory: Any) -> P:
        """Return the final parameters of a fit."""


class Coordinates(Protocol):
    """Coordinates of a gradient ascent, linear in the vectors of a model."""

    def inwards(self, vector: Floats) -> Floats:
        """Return the point at a vector of the model."""

    def outwards(self, point: Floats) -> Floats:
        """Return the vector of the model at a point."""

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient with respect to points, from the gradient with respect to vectors."""


@runtime_checkable
class Climbs(Model[P, S], Extrapolates[P], Protocol[P, S]):
    """A model whose gradient follows from its statistics and expectations under the model (the negative phase)."""

    def model_expectations(self, params: P, over: Callable[[Callable[[Block], T], Table], T]) -> tuple[P, Any]:
        """Return the parameters and the expectations under the model; `over` sums over a table of its states."""

    def at_vector(self, vector: Floats, params: P) -> P:
        """Return the parameters at `vector`, without the results of `model_expectations`."""

    def gradient(self, params: P, stats: S, phase: Any) -> Floats:
        """Return the gradient of the objective with respect to the vector."""

    def rows_or_prior(self, weight: float) -> float:
        """Return the scale of the objective: the weight of all rows or of the prior, whichever is larger."""

    def coordinates(self, params: P, phase: Any) -> Coordinates:
        """Return the coordinates for the next segment of the ascent."""

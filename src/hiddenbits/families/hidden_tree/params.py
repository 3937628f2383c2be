"""Parameters and expected counts of a latent tree model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.declared import SLACK, Params, Statistics
from hiddenbits.maths.chow_liu import FORESTS, top_down
from hiddenbits.maths.numerics import LOGITS, LOGS, PROBABILITIES, SHARES

RESCALE_FACTORS = 8  # a product of so many factors is rescaled


@dataclass(frozen=True, eq=False)
class HiddenTreeParams(Params):
    """Parents, P(state | state of the parent), P(x = 1 | state), and the mean of the prior of P(x = 1 | state).

    `parents` are whole numbers, stored as floats like all arrays of a model file; a root has -1, and all its rows of
    `moves` are the same.
    """

    parents: Annotated[Floats, "d", FORESTS]
    moves: Annotated[Floats, "d K K", SHARES, LOGS]
    probabilities: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]

    @property
    def n_states(self) -> int:
        """Number of states of each latent variable."""
        return int(self.probabilities.shape[1])

    @cached_property
    def parent_numbers(self) -> list[int]:
        """The parents as whole numbers."""
        return [int(parent) for parent in self.parents]

    @cached_property
    def order(self) -> list[int]:
        """The columns, parents before children."""
        return [int(j) for j in top_down(self.parents.astype(np.int32))]

    @cached_property
    def rescaled(self) -> frozenset[int]:
        """The columns after whose message the product of messages at their parent is rescaled.

        There may be thousands of factors, each as small as TINY; up to twice RESCALE_FACTORS do not underflow.
        """
        n_factors, rescaled = [1] * self.n_columns, []
        for j in reversed(self.order):
            parent = self.parent_numbers[j]
            if parent >= 0:
                n_factors[parent] += n_factors[j]
                if n_factors[parent] >= RESCALE_FACTORS:
                    n_factors[parent] = 1
                    rescaled.append(j)
        return frozenset(rescaled)

    @cached_property
    def tree_arrays(self) -> Rows:
        """`order`, `parent_numbers` and whether a column is in `rescaled`, as one array, (3, d)."""
        return np.array([self.order, self.parent_numbers, [j in self.rescaled for j in range(self.n_columns)]], np.intp)

    @cached_property
    def move_factors(self) -> Floats:
        """`moves`, but 1 for a root: the factor A of the expected moves."""
        return np.where((self.parents < 0)[:, None, None], 1.0, self.moves)

    @cached_property
    def transposed_moves(self) -> Floats:
        """`moves` with the state of the parent last."""
        return np.ascontiguousarray(self.moves.transpose(0, 2, 1))

    @cached_property
    def cell_probabilities(self) -> Floats:
        """P(cell | state) of a cell that is 0, 1, or missing, (3 d, K): three rows for each column."""
        theta = self.probabilities
        return np.stack([1.0 - theta, theta, np.ones_like(theta)], axis=1).reshape(-1, self.n_states)

    def state_shares(self) -> Floats:
        """Return P(state) of each latent variable, (d, K)."""
        shares: Floats = np.empty(self.probabilities.shape)
        for j in self.order:
            parent = self.parent_numbers[j]
            shares[j] = self.moves[j, 0] if parent < 0 else shares[parent] @ self.moves[j]
        return shares

    @cached_property
    def moving(self) -> Mapping[str, Any]:
        """The free entries: of the moves of a root only the first row."""
        return {"moves": (self.parents >= 0)[:, None] | (np.arange(self.n_states) == 0)}

    def with_vector(self, vector: Floats) -> HiddenTreeParams:
        """Return the parameters at other coordinates."""
        params = super().with_vector(vector)
        root = self.parents < 0
        params.moves[root] = params.moves[root][:, :1]
        return params

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        root = self.parents < 0
        return super().flaw() or (
            "a root has no parent, so its rows of moves must be equal"
            if np.any(self.moves[root] != self.moves[root][:, :1])
            else None
        )


@dataclass(frozen=True, eq=False)
class HiddenTreeStats(Statistics):
    """Log-likelihood, weight of the rows, and expected counts for each column.

    `moves` (d, K, K) counts states together with the state of the parent; those of a root are in its first row. `ones`
    and `observed` (d, K) count 1s and observed cells in each state.
    """

    moves: Annotated[Floats, "d K K"]
    ones: Annotated[Floats, "d K"]
    observed: Annotated[Floats, "d K"]

    nested: ClassVar = ("ones", "observed", "states")

    @property
    def states(self) -> Floats:
        """Expected rows in each state of each column, (d, K)."""
        return np.asarray(self.moves.sum(axis=1))

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        slack = SLACK * float(self.weight)
        counts = (self.moves >= -slack).all() and (abs(self.states.sum(axis=1) - self.weight) <= slack).all()
        return None if counts else "the statistics are not counts"

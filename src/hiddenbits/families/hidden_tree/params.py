"""Parameters and statistics of a hidden tree, and the order in which its columns are walked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.declared import Params, Sums
from hiddenbits.maths.chow_liu import top_down
from hiddenbits.maths.numerics import are_probabilities, are_shares

FACTORS = 8  # columns whose factors are in a product when it is scaled


@dataclass(frozen=True, eq=False)
class HiddenTreeParams(Params):
    """Parents, P(state | state of the parent), P(bit = 1 | state), and the centre of its prior.

    `parents` are whole numbers, -1 for a root, whose rows of `moves` are all the same. They are kept as floats, as all
    arrays of a model file are.
    """

    parents: Floats
    moves: Floats
    probabilities: Floats
    prior_mean: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.prior_mean)

    @property
    def n_states(self) -> int:
        """Number of states of each hidden variable."""
        return int(self.probabilities.shape[1])

    @cached_property
    def above(self) -> list[int]:
        """The parents as whole numbers."""
        return [int(parent) for parent in self.parents]

    @cached_property
    def order(self) -> list[int]:
        """The columns, parents before children."""
        return [int(j) for j in top_down(self.parents.astype(np.int32))]

    @cached_property
    def rescaled(self) -> frozenset[int]:
        """The columns after whose message their parent's product is scaled: when it has the factors of several columns.

        Each factor may be as small as TINY, and there may be thousands; those of twice FACTORS are still a number.
        """
        factors, found = [1] * self.n_columns, []
        for j in reversed(self.order):
            parent = self.above[j]
            if parent >= 0:
                factors[parent] += factors[j]
                if factors[parent] >= FACTORS:
                    factors[parent] = 1
                    found.append(j)
        return frozenset(found)

    @cached_property
    def walk(self) -> Rows:
        """`order`, `above` and whether a column is in `rescaled`, as one array, (3, d)."""
        return np.array([self.order, self.above, [j in self.rescaled for j in range(self.n_columns)]], np.intp)

    @cached_property
    def factors(self) -> Floats:
        """`moves`, with 1 for a root's: the last factor of P(h_parent, h_j | x)."""
        return np.where((self.parents < 0)[:, None, None], 1.0, self.moves)

    @cached_property
    def turned(self) -> Floats:
        """`moves` with the parent's state last."""
        return np.ascontiguousarray(self.moves.transpose(0, 2, 1))

    @cached_property
    def of_bits(self) -> Floats:
        """P(cell | state) of a cell that is 0, 1, or not observed, (3 d, K): three rows for each column."""
        theta = self.probabilities
        return np.stack([1.0 - theta, theta, np.ones_like(theta)], axis=1).reshape(-1, self.n_states)

    def state_shares(self) -> Floats:
        """Return P(state) of each hidden variable, (d, K)."""
        shares: Floats = np.empty(self.probabilities.shape)
        for j in self.order:
            parent = self.above[j]
            shares[j] = self.moves[j, 0] if parent < 0 else shares[parent] @ self.moves[j]
        return shares

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        above, A, theta, m = self.parents, self.moves, self.probabilities, self.prior_mean
        if m.ndim != 1 or theta.ndim != 2 or len(theta) != len(m) or theta.shape[1] == 0 or above.shape != m.shape:
            return "parents, probabilities and prior_mean must have shapes (d,), (d, K) and (d,)"
        if A.shape != (*theta.shape, theta.shape[1]):
            return "moves must have the shape (d, K, K)"
        if np.any((above != np.floor(above)) | (above < -1) | (above >= len(m))):
            return "parents must be columns, or -1"
        if len(top_down(above.astype(np.int32))) < len(m):
            return "parents must make trees, and there is a circle"
        if not are_shares(A, axis=2):
            return "moves must be positive and add up to 1"
        if np.any(A[above < 0] != A[above < 0][:, :1]):
            return "a root has no parent on which its states could depend"
        if not (are_probabilities(theta) and are_probabilities(m)):
            return "probabilities must lie between 0 and 1"
        return None


@dataclass(frozen=True, eq=False)
class HiddenTreeStats(Sums):
    """Weighted log-likelihood, rows, and expected counts for each column.

    `moves` (d, K, K) counts states together with the parent's state; those of a root stand in its first row. `ones` and
    `observed` (d, K) count ones and observed cells in each state.
    """

    bound: Floats
    weight: Floats
    moves: Floats
    ones: Floats
    observed: Floats

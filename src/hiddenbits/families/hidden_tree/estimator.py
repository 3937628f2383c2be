"""`HiddenTree`: a hidden variable behind every column, and a tree that ties them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness, Rows
from hiddenbits.data import Table
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.estimator import FIRST_RESTARTS
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.hidden_tree.model import StateTree
from hiddenbits.families.hidden_tree.params import HiddenTreeParams, HiddenTreeStats
from hiddenbits.maths.pair_counts import refuse_width
from hiddenbits.model_api import RowModel
from hiddenbits.shown import SummaryTable

MOST_COLUMNS = 8_000  # the counts of pairs that its tree is made from take 512 MB, three times as much with blanks


class HiddenTree(LatentEstimator[HiddenTreeParams, HiddenTreeStats]):
    """A tree of hidden variables: each column has one of its own, with a few states, on which its bit depends.

    Columns that are close in the tree share much, distant ones little, so that a row need not belong to one class as a
    whole. The tree is the Chow-Liu tree of the columns. The log-likelihood is exact. The time of a pass grows with
    rows x columns x states^2, and the tree takes memory for all pairs of columns: at most 8,000 columns. A code is
    the probability of each state of each column's variable.

    Parameters
    ----------
    n_components : int, default=4
        Number of states of each hidden variable.
    prior_strength : float, default=1.0
        Strength of the Beta prior on P(bit = 1) in each state, in pseudo-rows with the column's mean.
    move_strength : float, default=1.0
        Strength of the Dirichlet prior on P(state | parent's state), in pseudo-rows spread evenly over the states.
    first_passes : int, default=20
        Passes as a Bernoulli mixture, from which the tree begins.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows.
    n_init : int, default=1
        Restarts; the one with the best objective is kept.
    max_iter : int, default=200
        Most passes over the table, for each restart.
    tol : float, default=1e-5
        Converged when a step raises the objective by at most this much a row, in nats.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    parents_ : ndarray of shape (columns,)
        Parent of each column's variable in the tree; -1 for the root.
    moves_ : ndarray of shape (columns, n_components, n_components)
        P(state | parent's state); all rows of the root's are its own shares.
    probabilities_ : ndarray of shape (columns, n_components)
        P(bit = 1) in each state.
    trace_, n_iter_, converged_, stop_reason_, restarts_
        As for every estimator.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Chow and Liu (1968), "Approximating discrete probability distributions with dependence trees". Liu and Van den
    Broeck (2021), "Tractable regularization of probabilistic circuits". Zhang and Kocka (2004), "Effective dimensions
    of hierarchical latent class models", for `n_parameters_`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import HiddenTree
    >>> steps = np.random.default_rng(0).random((400, 12)) < 0.1
    >>> X = (np.cumsum(steps, axis=1) % 2).astype(float)   # each bit is mostly like the one before
    >>> X[0, 5] = np.nan                                   # a blank: not observed
    >>> model = HiddenTree(2, random_state=0).fit(X)
    >>> bool((model.parents_[1:] == np.arange(11)).all())
    True
    >>> X[0, 4], X[0, 6], float(model.complete(X)[0, 5].round(1))
    (np.float64(0.0), np.float64(0.0), 0.0)
    """

    _prior_settings = ("prior_strength", "move_strength")
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("states"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "prior_strength": [Interval(Real, 0, None, closed="left")],
        "move_strength": [Interval(Real, 0, None, closed="left")],
        "first_passes": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 4,
        *,
        prior_strength: float = 1.0,
        move_strength: float = 1.0,
        first_passes: int = 20,
        online_passes: int = 0,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.prior_strength = prior_strength
        self.move_strength = move_strength
        self.first_passes = first_passes
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _first_restarts(self) -> int:
        return 4 * FIRST_RESTARTS * self._n_restarts  # a fit has one, from noise, which few rows often lead astray

    def _model(self) -> StateTree:
        return StateTree(self.n_components, self.prior_strength, self.move_strength, self.first_passes)

    def _pass_height(self, model: RowModel[HiddenTreeParams, HiddenTreeStats], table: Table) -> int:
        refuse_width(table.shape[1], type(self).__name__, MOST_COLUMNS)
        return self._height(model, table)

    def _latent_names(self) -> list[str]:
        K = self.probabilities_.shape[1]
        return [f"{name}_state_{k + 1}" for name in column_names(self) for k in range(K)]

    def _tables(self) -> dict[str, SummaryTable]:
        names = np.array([*column_names(self), "-"], dtype=object)
        states = {f"P(1) in state_{k + 1}": column for k, column in enumerate(self.probabilities_.T)}
        columns = {"depends on": names[self.parents_], **states}
        spread = np.ptp(self.probabilities_, axis=1)
        return {"tree": table_by_column(self, "The tree of hidden states, one for each column", columns, spread)}

    @property
    def parents_(self) -> Rows:
        """Parent of each column's variable in the tree; -1 for the root."""
        return self._params.parents.astype(np.intp)

    @property
    def moves_(self) -> Floats:
        """P(state | parent's state)."""
        return self._params.moves

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) in each state."""
        return self._params.probabilities

    @property
    def _n_features_out(self) -> int:
        return int(self._params.probabilities.size)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: fewer than probabilities, of which rows do not show all."""
        return n_free_parameters(self.parents_.tolist(), self.probabilities_.shape[1])


# How many parameters of a hidden tree are free: the dimension of the set of distributions that it can have.
#
# The tables of a hidden tree say more than rows can show. A column at the end of the tree has a hidden variable on
# which its bit alone depends: P(bit | parent's state) is one number for each state of the parent, whatever the two
# tables are that it is made of. So only the inner variables count, with the columns at the ends as bits of the
# variable next to them; and of these none has more states than its neighbors can tell apart (Zhang 2004, regular
# models). Such a tree has
#
#     Sum over inner variables (parameters of a latent class model of its neighbors) - Sum over links (K K' - 1)
#
# parameters (Zhang & Kocka 2004). Those of a latent class model with r classes of variables with n_i values are r (1
# + Sum(n_i - 1)) - 1, at most Prod(n_i) - 1, but in the two cases in which tensors of rank r make a smaller set than
# that, of those in which one of the variables is a bit (Abo, Ottaviani & Peterson 2009).


def n_free_parameters(parents: Sequence[int], n_states: int) -> int:
    """Return the number of free parameters of a tree in which each column has these parents; -1 for a root.

    Examples
    --------
    >>> n_free_parameters([-1, 0, 0], 2), n_free_parameters([-1, 0, 1, 2, 3], 2)   # of 7 and 31 that any table has
    (7, 15)
    """
    linked: list[list[int]] = [[] for _ in parents]
    links = [(child, parent) for child, parent in enumerate(parents) if parent >= 0]
    for child, parent in links:
        linked[child].append(parent)
        linked[parent].append(child)
    inner = {j for j, others in enumerate(linked) if len(others) > 1}
    inner |= {j for j, parent in enumerate(parents) if parent < 0 and inner.isdisjoint(linked[j])}  # one or two columns
    states = dict.fromkeys(sorted(inner), n_states)

    def sizes(j: int) -> list[int]:
        return [2, *(states.get(other, 2) for other in linked[j])]

    before: dict[int, int] = {}
    while before != states:
        before = states
        states = {j: min(K, prod(sizes(j)) // max(sizes(j))) for j, K in before.items()}
    shared = sum(states[a] * states[b] - 1 for a, b in links if a in inner and b in inner)
    return sum(_of_classes(sizes(j), states[j]) for j in states) - shared


def _of_classes(sizes: list[int], r: int) -> int:
    """Return the free parameters of r latent classes of variables with so many values, one of them a bit."""
    *others, largest = sorted(sizes)
    together, free = prod(others), sum(others) - len(others)
    if r > together - free:  # the largest variable has more values than the others have room for
        return min(r, largest) * (largest + together - min(r, largest)) - 1
    fewer = int(len(sizes) == 4 and others == [2, 2, largest] and r == 2 * largest - 1)
    return min(r * (free + largest), together * largest) - fewer - 1

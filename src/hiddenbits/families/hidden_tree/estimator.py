"""`HiddenTree`, and the number of its free parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness, Rows
from hiddenbits.data import Table
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.estimator import ONLINE_RESTART_FACTOR
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.hidden_tree.model import StateTree
from hiddenbits.families.hidden_tree.params import HiddenTreeParams, HiddenTreeStats
from hiddenbits.maths.pair_counts import refuse_width
from hiddenbits.model_api import RowModel

MAX_COLUMNS = 8_000  # the pair counts for the tree take 512 MB, and three times as much with missing values


class HiddenTree(LatentEstimator[HiddenTreeParams, HiddenTreeStats]):
    """Latent tree model (hidden Chow-Liu tree): each column depends on its own latent state; the states form a tree.

    Columns that are close in the tree are strongly related, distant ones weakly, so a row need not belong to one class
    as a whole. The tree is the Chow-Liu tree of the columns. The model is fitted by EM; its log-likelihood is exact.
    The time of an iteration grows with rows x columns x states^2, and the tree needs memory for all pairs of columns:
    at most 8,000 columns. `transform` returns the probability of each state of each column.

    Parameters
    ----------
    n_components : int, default=4
        Number of states of each latent variable.
    prior_strength : float, default=1.0
        Strength of the Beta prior on P(x = 1) in each state, in pseudo-rows with the column's mean.
    move_strength : float, default=1.0
        Strength of the Dirichlet prior on P(state | state of the parent), in pseudo-rows spread evenly over the states.
    first_passes : int, default=20
        Iterations as a latent class model, from which the tree starts.
    online_passes : int, default=0
        Passes of online EM before the iterations over all rows, for tables with very many rows.
    n_init : int, default=1
        Number of restarts; the one with the best objective is kept.
    max_iter : int, default=200
        Maximum number of iterations per restart.
    tol : float, default=1e-5
        Convergence tolerance: the smallest increase of the objective in an iteration, in nats per row.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the start values.

    Attributes
    ----------
    parents_ : ndarray of shape (columns,)
        Parent of each column's variable in the tree; -1 for the root.
    moves_ : ndarray of shape (columns, n_components, n_components)
        P(state | state of the parent); all rows of the root's are its probabilities of the states.
    probabilities_ : ndarray of shape (columns, n_components)
        P(x = 1) in each state.
    trace_, n_iter_, converged_, stop_reason_, restarts_
        As in `LatentClassAnalysis`.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    TreeMixture : Latent classes, each with a tree over the columns themselves.
    LatentClassAnalysis : One latent class behind all columns.

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
    >>> X = (np.cumsum(steps, axis=1) % 2).astype(float)   # each column is mostly a copy of the one before
    >>> X[0, 5] = np.nan                                   # missing
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

    def _online_restarts(self) -> int:
        return (
            4 * ONLINE_RESTART_FACTOR * self._n_restarts
        )  # on few rows, one restart as in a fit often ends in a poor maximum

    def _model(self) -> StateTree:
        return StateTree(self.n_components, self.prior_strength, self.move_strength, self.first_passes)

    def _pass_height(self, model: RowModel[HiddenTreeParams, HiddenTreeStats], table: Table) -> int:
        refuse_width(table.shape[1], type(self).__name__, MAX_COLUMNS)
        return self._height(model, table)

    def _latent_names(self) -> list[str]:
        K = self.probabilities_.shape[1]
        return [f"{name}_state_{k + 1}" for name in column_names(self) for k in range(K)]

    def _tables(self) -> dict[str, SummaryTable]:
        names = np.array([*column_names(self), "-"], dtype=object)
        states = {f"P(x = 1) in state_{k + 1}": column for k, column in enumerate(self.probabilities_.T)}
        columns = {"depends on": names[self.parents_], **states}
        spread = np.ptp(self.probabilities_, axis=1)
        return {"tree": table_by_column(self, "The tree of latent states, one for each column", columns, spread)}

    @property
    def parents_(self) -> Rows:
        """Parent of each column's variable in the tree; -1 for the root."""
        return self._params.parents.astype(np.intp)

    @property
    def moves_(self) -> Floats:
        """P(state | state of the parent)."""
        return self._params.moves

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) in each state."""
        return self._params.probabilities

    @property
    def _n_features_out(self) -> int:
        return int(self._params.probabilities.size)

    @property
    def n_parameters_(self) -> int:
        """Number of free (identifiable) parameters: fewer than there are probabilities."""
        return n_free_parameters(self.parents_.tolist(), self.probabilities_.shape[1])


# The number of free parameters of a latent tree: the dimension of the set of its distributions of the columns.
#
# It is smaller than the number of probabilities. The latent variable of a leaf affects only the leaf's column, through
# P(x | state of the parent): one number for each state of the parent, although it is computed from two tables. So only
# inner variables count, with the columns of adjacent leaves as their binary indicators, and an inner variable has no
# more states than its neighbors can identify (Zhang 2004, regular models). Such a tree has
#
#     Sum over inner variables (parameters of a latent class model of its neighbors) - Sum over links (K K' - 1)
#
# parameters (Zhang & Kocka 2004). A latent class model with r classes of variables with n_i values has
# r (1 + Sum(n_i - 1)) - 1 parameters, at most Prod(n_i) - 1. If a variable is binary, there are two exceptions
# with fewer parameters (Abo, Ottaviani & Peterson 2009, on the dimension of the set of tensors of rank r).


def n_free_parameters(parents: Sequence[int], n_states: int) -> int:
    """Return the number of free parameters of a latent tree with these parents, -1 for a root.

    Examples
    --------
    >>> n_free_parameters([-1, 0, 0], 2), n_free_parameters([-1, 0, 1, 2, 3], 2)   # any distribution: 7, 31
    (7, 15)
    """
    neighbors: list[list[int]] = [[] for _ in parents]
    links = [(child, parent) for child, parent in enumerate(parents) if parent >= 0]
    for child, parent in links:
        neighbors[child].append(parent)
        neighbors[parent].append(child)
    inner = {j for j, adjacent in enumerate(neighbors) if len(adjacent) > 1}
    # Without an inner variable, the root of a tree of one or two columns counts as one.
    inner |= {j for j, parent in enumerate(parents) if parent < 0 and inner.isdisjoint(neighbors[j])}
    states = dict.fromkeys(sorted(inner), n_states)

    def sizes(j: int) -> list[int]:
        return [2, *(states.get(neighbor, 2) for neighbor in neighbors[j])]

    previous: dict[int, int] = {}
    while previous != states:
        previous = states
        states = {j: min(K, prod(sizes(j)) // max(sizes(j))) for j, K in previous.items()}
    shared = sum(states[a] * states[b] - 1 for a, b in links if a in inner and b in inner)
    return sum(_latent_class_parameters(sizes(j), states[j]) for j in states) - shared


def _latent_class_parameters(sizes: list[int], r: int) -> int:
    """Return the number of free parameters of r latent classes of variables with `sizes` values, one of them binary."""
    *others, largest = sorted(sizes)
    product, free = prod(others), sum(others) - len(others)
    if r > product - free:  # the exception of unbalanced tensors: one variable has too many values
        return min(r, largest) * (largest + product - min(r, largest)) - 1
    defect = int(len(sizes) == 4 and others == [2, 2, largest] and r == 2 * largest - 1)
    return min(r * (free + largest), product * largest) - defect - 1

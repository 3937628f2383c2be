"""`TreeMixture`, and the search for its trees during a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Settings, StopReason
from hiddenbits.engine.loops.em import one_pass
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.state import Position
from hiddenbits.families._base.columns import column_names
from hiddenbits.families._base.parameters import COMMON, N_INIT, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.tree_mixture.model import Trees
from hiddenbits.families.tree_mixture.params import TreeParams, TreeStats
from hiddenbits.maths.pair_counts import refuse_width
from hiddenbits.model_api import RowModel, Stage

MAX_COLUMNS = 8_000  # the pairs of columns of one class take 256 MB, and a search for its tree 512 MB more


class TreeMixture(ClassesEstimator[TreeParams, TreeStats]):
    """Mixture of trees: each row belongs to one latent class, within which each column depends on one other column.

    Each class is a tree over the binary columns, in which the distribution of a column depends on its parent (Chow and
    Liu 1968; Meila and Jordan 2000). With one class the model is a Chow-Liu tree; without links it is a
    `LatentClassAnalysis`. The log-likelihood is exact, also with missing values. Trees and probabilities are estimated
    together by EM, whose iterations never decrease the penalized likelihood: `docs/trees.md`.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes, each with its own tree.
    smoothing : float, default=0.1
        Strength of a uniform prior, in pseudo-rows per class with P(x = 1) = 1/2: it keeps probabilities from 0 and 1.
    sharing : float, default=10.0
        Strength of a prior shared by the classes, in pseudo-rows per class with the pairwise tables of all rows: it
        shrinks a class with few rows towards the whole table. Hundreds of pseudo-rows are appropriate if there are more
        columns than rows in a class. `smoothing` and `sharing` of 0 give maximum likelihood.
    penalty : float, default=0.0
        The smallest gain of a link, in nats over the table; above 0, the trees become forests.
    first_passes : int, default=10
        Iterations as a latent class model, without links, before trees are searched for. Every other restart begins
        with trees, which is better if classes differ only in their links.
    online_passes : int, default=0
        Passes of online EM before the iterations over all rows, for tables with very many rows.
    n_init : "auto" or int, default="auto"
        Number of restarts; the one with the best objective is kept. "auto" is 4, and 8 on small tables. On long tables
        twice as many begin on a subsample of the rows, and the best continues on all rows.
    max_iter : int, default=200
        Maximum number of iterations per restart and stage: a fit that has converged searches for better trees once
        more, as a second stage.
    tol : float, default=1e-5
        Convergence tolerance: the smallest increase of the objective in an iteration, in nats per row.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the start values.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Share of each class.
    parents_ : ndarray of shape (n_components, columns) of int
        The column that each column depends on, or -1. Directions are not identified: any column of a tree could be
        its root.
    conditionals_ : ndarray of shape (n_components, columns, 2)
        P(x = 1) if the parent is 0, and if it is 1.
    probabilities_ : ndarray of shape (n_components, columns)
        P(x = 1) in each class.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration (log-likelihood, log prior and penalty, in nats over the table).
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations of the best restart, whether it converged, and why it stopped.
    restarts_ : tuple
        Objective, iterations and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    LatentClassAnalysis : Classes within which columns are independent.
    HiddenTree : A tree of latent variables, one behind each column.

    References
    ----------
    Chow and Liu (1968), "Approximating discrete probability distributions with dependence trees".
    Meila and Jordan (2000), "Learning with mixtures of trees".

    Examples
    --------
    A chain: each column is a copy of the one before it, with a tenth of the cells flipped.

    >>> import numpy as np
    >>> from hiddenbits import TreeMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.random((1000, 5)) < [0.5, 0.1, 0.1, 0.1, 0.1], axis=1) % 2
    >>> tree = TreeMixture(1, random_state=0).fit(X)
    >>> tree.parents_
    array([[-1,  0,  1,  2,  3]], dtype=int32)
    >>> tree.complete([[1, np.nan, 1, np.nan, 0]]).round(2)   # between 1 and 1; between 1 and 0
    array([[1.  , 0.99, 1.  , 0.46, 0.  ]])
    """

    _prior_settings = ("smoothing", "sharing", "penalty")
    _usual_restarts = 4
    _keeps_trees = False  # True in a copy whose refits do not search for trees
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("classes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "sharing": [Interval(Real, 0, None, closed="left")],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "first_passes": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        smoothing: float = 0.1,
        sharing: float = 10.0,
        penalty: float = 0.0,
        first_passes: int = 10,
        online_passes: int = 0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 200,
        tol: float = 1e-5,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.smoothing = smoothing
        self.sharing = sharing
        self.penalty = penalty
        self.first_passes = first_passes
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _with_extra_restarts(self, settings: Settings, _flops: float) -> Settings:
        return replace(settings, n_init=2 * settings.n_init)

    def _model(self) -> Trees:
        search = TreeSearch(
            self.n_components, self.smoothing, self.sharing, self.penalty, first_passes=self.first_passes
        )
        return search.with_fixed_trees() if self._keeps_trees else search

    def _pass_height(self, model: RowModel[TreeParams, TreeStats], table: Table) -> int:
        refuse_width(table.shape[1], type(self).__name__, MAX_COLUMNS)
        return self._height(model, table)

    def _tables(self) -> dict[str, SummaryTable]:
        classes, names = self._latent_names(), np.array(column_names(self), dtype=object)
        k, child = np.nonzero(self.parents_ >= 0)
        if_zero, if_one = self.conditionals_[k, child].T
        links = {
            "class": np.array(classes, dtype=object)[k],
            "column": names[child],
            "depends on": names[self.parents_[k, child]],
            "P(1) if it is 0": if_zero,
            "P(1) if it is 1": if_one,
        }
        table = SummaryTable("Links of the trees", links, "links", np.abs(if_one - if_zero))
        return self._class_tables(self.weights_, self.probabilities_) | {"links": table}

    @property
    def weights_(self) -> Floats:
        """Share of each class."""
        return self._params.weights

    @property
    def parents_(self) -> NDArray[np.int32]:
        """Parent of each column in each class, (n_components, columns), or -1."""
        return self._params.parents.T

    @property
    def conditionals_(self) -> Floats:
        """P(x = 1) if the parent is 0, and if it is 1, (n_components, columns, 2)."""
        return np.stack([self._params.if_zero.T, self._params.if_one.T], axis=-1)

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) in each class, (n_components, columns)."""
        return self._params.marginals.T

    @property
    def n_parameters_(self) -> int:
        """Number of free probabilities: one for each column and link of a class, and the weights of the classes."""
        return len(self.weights_) * (self.n_features_in_ + 1) - 1 + int(np.count_nonzero(self.parents_ >= 0))


# The search for trees: a fit looks for better trees in some of its iterations.
#
# A search iteration counts all pairs of 1s and finds the best tree of every class, or, if the counts would be too many,
# of one part of the classes; the next iterations search the other parts. A search costs as much as many plain
# iterations, so there are 1, 2, 4, 8, ... of these between searches. When a fit has converged, a second stage searches
# once more and continues.


@dataclass(frozen=True)
class TreeSearch(Trees):
    """A mixture of trees whose trees are searched for; hyperparameters only: those of `Trees`, and

    Parameters
    ----------
    first_passes : int
        Iterations as a latent class model before the first search, in every other restart.
    """  # noqa: D400

    first_passes: int = 10

    def with_fixed_trees(self) -> Trees:
        """Return the same mixture without a search for trees."""
        return Trees(self.n_components, self.smoothing, self.sharing, self.penalty)

    def stages(self) -> Sequence[Stage[TreeParams, TreeStats]]:
        """Return two equal stages: the second searches once more after the first has converged."""
        return (Stage(self, loop=search_and_iterate), Stage(self, loop=search_and_iterate))

    def passes_before_search(self, restart: int, stage: int) -> int:
        """Return the iterations of a stage before the first search.

        A fit that begins as a latent class model finds classes that differ in their means, but misses those that differ
        only in their links. So only every other restart begins as one.
        """
        without_links = stage == 0 and self.n_components > 1 and restart % 2 == 0
        return self.first_passes if without_links else 0


def search_and_iterate(model: TreeSearch, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Iterate until there is a reason to stop; return the last position, and the reason."""
    first_search = model.passes_before_search(position.restart, position.stage)
    n_parts, reason = model.n_parts(position.params.n_columns), None
    while reason is None:
        part = part_to_search(position.n_passes - first_search, n_parts)
        position, reason = one_pass(replace(model, part=part), context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def part_to_search(n_passes: int, n_parts: int) -> int | None:
    """Return the part of the classes to search in the n-th iteration (from 0) from the first search on, or None.

    Examples
    --------
    >>> [n for n in range(100) if part_to_search(n, 1) is not None]
    [0, 2, 5, 10, 19, 36, 69]
    >>> [part_to_search(n, 2) for n in range(8)]
    [0, 1, None, 0, 1, None, None, 0]
    """
    part, gap = n_passes, 1
    while part >= n_parts + gap:
        part, gap = part - n_parts - gap, 2 * gap
    return part if 0 <= part < n_parts else None

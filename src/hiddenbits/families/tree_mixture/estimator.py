"""`TreeMixture`: one hidden class per row, and within a class a tree of bits."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.engine import Settings
from hiddenbits.families._base.columns import column_names
from hiddenbits.families._base.parameters import COMMON, N_INIT, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.tree_mixture.model import Trees
from hiddenbits.families.tree_mixture.params import TreeParams, TreeStats
from hiddenbits.families.tree_mixture.search import TreeSearch
from hiddenbits.maths.pair_counts import refuse_width
from hiddenbits.model_api import RowModel
from hiddenbits.shown import SummaryTable

MOST_COLUMNS = 8_000  # the pairs of columns of one class take 256 MB, and a look for a tree twice as much again


class TreeMixture(ClassesEstimator[TreeParams, TreeStats]):
    """A mixture of trees: each row belongs to one hidden class, in which each bit depends on one other bit.

    A class is a tree over the columns: a bit is drawn given the bit of its parent (Chow and Liu 1968; Meila and Jordan
    2000). One class is the Chow-Liu tree itself; without links the model is a `LatentClassAnalysis`. The log-likelihood
    is exact, with missing cells too, which are summed over along the tree. Trees and probabilities are learned together
    by EM whose steps never lower the penalized likelihood: `docs/trees.md`.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes, each with a tree of its own.
    smoothing : float, default=0.1
        Pseudo-rows of fair coins for each class: they keep probabilities from 0 and 1.
    sharing : float, default=10.0
        Pseudo-rows for each class that are like all rows of the table, as far as pairs of columns go. A class with few
        rows then falls back on what holds for all of them. Hundreds of pseudo-rows are not too many for tables with
        more columns than a class has rows. Both at 0 is maximum likelihood.
    penalty : float, default=0.0
        What a link has to gain to be there, in nats over the table: the trees become forests.
    first_passes : int, default=10
        Passes without links, as a Bernoulli mixture, before trees are looked for. Every other restart begins with
        trees: that is better where classes differ in their links alone.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows.
    n_init : "auto" or int, default="auto"
        Restarts; the one with the best objective is kept. "auto" is 4, and 8 where a table is small. On long tables
        twice as many begin on a subsample of the rows, and the best of them goes on over all.
    max_iter : int, default=200
        Most passes over the table, for each restart and each stage of it: a fit that stands still looks for better
        trees once more and continues.
    tol : float, default=1e-5
        Converged when a step raises the objective by at most this much a row, in nats.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Share of each class.
    parents_ : ndarray of shape (n_components, columns) of int
        The column that each column depends on, -1 where there is none. Directions mean nothing: any column of a tree
        could be its root.
    conditionals_ : ndarray of shape (n_components, columns, 2)
        P(bit = 1) where the parent is 0, and where it is 1.
    probabilities_ : ndarray of shape (n_components, columns)
        P(bit = 1) in each class.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass (log-likelihood, log prior and penalty, in nats over the table).
    n_iter_, converged_, stop_reason_ : int, bool, str
        How the best restart went.
    restarts_ : tuple
        Objective, passes and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Chow and Liu (1968), "Approximating discrete probability distributions with dependence trees".
    Meila and Jordan (2000), "Learning with mixtures of trees".

    Examples
    --------
    A chain: each column is the one before it, with a tenth of the bits flipped.

    >>> import numpy as np
    >>> from hiddenbits import TreeMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.random((1000, 5)) < [0.5, 0.1, 0.1, 0.1, 0.1], axis=1) % 2
    >>> tree = TreeMixture(1, random_state=0).fit(X)
    >>> tree.parents_
    array([[-1,  0,  1,  2,  3]], dtype=int32)
    >>> tree.complete([[1, np.nan, 1, np.nan, 0]]).round(2)   # between two ones; between a one and a zero
    array([[1.  , 0.99, 1.  , 0.46, 0.  ]])
    """

    _prior_settings = ("smoothing", "sharing", "penalty")
    _usual_restarts = 4
    _keeps_trees = False  # of a copy for refits that shall
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

    def _with_extra_restarts(self, settings: Settings, _size: float) -> Settings:
        return replace(settings, n_init=2 * settings.n_init)

    def _model(self) -> Trees:
        search = TreeSearch(
            self.n_components, self.smoothing, self.sharing, self.penalty, first_passes=self.first_passes
        )
        return search.plain() if self._keeps_trees else search

    def _pass_height(self, model: RowModel[TreeParams, TreeStats], table: Table) -> int:
        refuse_width(table.shape[1], type(self).__name__, MOST_COLUMNS)
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
        found = SummaryTable("Links of the trees", links, "links", np.abs(if_one - if_zero))
        return self._class_tables(self.weights_, self.probabilities_) | {"links": found}

    @property
    def weights_(self) -> Floats:
        """Share of each class."""
        return self._params.weights

    @property
    def parents_(self) -> NDArray[np.int32]:
        """Parent of each column in each class, (n_components, columns); -1 where there is none."""
        return self._params.parents.T

    @property
    def conditionals_(self) -> Floats:
        """P(bit = 1) where the parent is 0, and where it is 1, (n_components, columns, 2)."""
        return np.stack([self._params.if_zero.T, self._params.if_one.T], axis=-1)

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) in each class, (n_components, columns)."""
        return self._params.marginals.T

    @property
    def n_parameters_(self) -> int:
        """Number of free probabilities: one for each column and link of a class, and the shares of the classes."""
        return len(self.weights_) * (self.n_features_in_ + 1) - 1 + int(np.count_nonzero(self.parents_ >= 0))

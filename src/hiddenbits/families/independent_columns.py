"""`IndependentColumns`: the baseline of all models."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data.request import HandleUnknown
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import column_sizes, level_names, numbers_of_columns, table_by_column
from hiddenbits.families._base.estimator import ModelEstimator
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, HANDLE_UNKNOWN, ColumnTypes
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeCounts, NodeParams


class IndependentColumns(ModelEstimator[NodeParams, NodeCounts]):
    """Independence model: every column has its own probability, independent of the others.

    The baseline that every other model must beat. Rows have no latent variables, and so there is no `transform`.

    Parameters
    ----------
    column_types : "auto", str or dict, default="auto"
        Type of the columns: as for `LatentClassAnalysis`.
    handle_unknown : {"error", "missing"}, default="error"
        Values that did not occur in the fit: as for `LatentClassAnalysis`.
    prior_strength : float, default=1.0
        Strength of the prior, in pseudo-rows with the probabilities `prior_mean`; 0 gives maximum likelihood. Laplace
        smoothing is ``prior_strength=2, prior_mean=0.5``.
    prior_mean : float, optional
        Mean of the prior of every binary column; the levels of other columns then have equal prior means. By default
        the proportions in the table.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of `sample`.

    Attributes
    ----------
    probabilities_ : ndarray of shape (columns,)
        P(x = 1); a nominal or ordinal column has one probability per level (`level_names_`).
    level_names_ : list of str
        The entries of `probabilities_`: names of binary columns, and "column=level".
    trace_, n_iter_, converged_, stop_reason_, restarts_
        As in `LatentClassAnalysis`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns
    >>> model = IndependentColumns(prior_strength=0).fit(np.array([[0, 1], [1, 1], [0, 0], [0, 1]]))
    >>> model.probabilities_
    array([0.25, 0.75])
    """

    _prior_settings = ("prior_strength",)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "column_types": COLUMN_TYPES,
        "handle_unknown": HANDLE_UNKNOWN,
        "prior_strength": [Interval(Real, 0, None, closed="left")],
        "prior_mean": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        column_types: ColumnTypes = "auto",
        handle_unknown: HandleUnknown = "error",
        prior_strength: float = 1.0,
        prior_mean: float | None = None,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.column_types = column_types
        self.handle_unknown = handle_unknown
        self.prior_strength = prior_strength
        self.prior_mean = prior_mean
        self.threshold = threshold
        self.random_state = random_state

    def _model(self) -> Classes:
        return Classes(1, self.prior_strength, self.prior_mean, column_sizes(self), *numbers_of_columns(self))

    def _tables(self) -> dict[str, SummaryTable]:
        title = "P(x = 1) of each column" if column_sizes(self) is None else "Share of each level"
        return {"probabilities": table_by_column(self, title, {"probability": self.probabilities_})}

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) of each column."""
        return self._params.probabilities[:, 0]

    @property
    def level_names_(self) -> list[str]:
        """The entries of `probabilities_`: names of binary columns, and "column=level"."""
        return level_names(self)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        n_continuous, n_counts = numbers_of_columns(self)
        return self._params.layout.n_free + 2 * n_continuous + n_counts

"""`IndependentBits`: the baseline."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, NoReturn

from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.families._base.closed_form import ClosedForm
from hiddenbits.families._base.criteria import CriteriaMixin
from hiddenbits.families._base.estimator import BitsEstimator
from hiddenbits.families._base.showing import SummaryTable
from hiddenbits.families.independent_bits.model import Independent, IndependentParams, IndependentStats


class _Absent:
    """A verb that this model cannot offer: it is not there, and asking for it says why."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no hidden code, so there is no {self.name!r}.")


class IndependentBits(ClosedForm, CriteriaMixin, BitsEstimator[IndependentParams, IndependentStats]):
    """No hidden structure: every column has its own probability, independent of the others.

    The baseline that every other model must beat. There is no hidden code, and so no `transform`, `inverse_transform`,
    `posterior` or `code`.

    Parameters
    ----------
    prior_strength : float, default=1.0
        Strength of the Beta prior, in pseudo-rows drawn from `prior_mean`; 0 gives plain column means. Laplace
        smoothing is ``prior_strength=2, prior_mean=0.5``.
    prior_mean : float, optional
        Centre of the prior, the same for every column; by default each column's mean.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of `sample`.

    Attributes
    ----------
    probabilities_ : ndarray of shape (columns,)
        P(bit = 1).
    trace_, n_iter_, converged_, stop_reason_, restarts_
        As for every estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentBits
    >>> model = IndependentBits(prior_strength=0).fit(np.array([[0, 1], [1, 1], [0, 0], [0, 1]]))
    >>> model.probabilities_
    array([0.25, 0.75])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **ClosedForm._constraints_in_common,
        "prior_strength": [Interval(Real, 0, None, closed="left")],
        "prior_mean": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        prior_strength: float = 1.0,
        prior_mean: float | None = None,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.prior_strength = prior_strength
        self.prior_mean = prior_mean
        self.threshold = threshold
        self.random_state = random_state

    transform, inverse_transform = _Absent("transform"), _Absent("inverse_transform")
    posterior, code = _Absent("posterior"), _Absent("code")

    def _model(self) -> Independent:
        return Independent(self.prior_strength, self.prior_mean)

    def _tables(self) -> dict[str, SummaryTable]:
        return {"probabilities": self._by_column("P(bit = 1) of each column", {"probability": self.probabilities_})}

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) of each column."""
        return self.params_.probabilities

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return len(self.probabilities_)

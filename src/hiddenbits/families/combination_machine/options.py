"""How a combination machine begins, and the Markov chains of one with many units: `Growth`, `Pursuit`, `Chains`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval


class Growth(BaseEstimator):  # type: ignore[misc]
    """Begin a `CombinationMachine` with one unit, add one after the other, and fit all of them each time.

    Parameters
    ----------
    n_candidates : int, default=4
        Candidates for each further unit, each drawn towards a row of the table; the best is kept.

    Examples
    --------
    >>> from hiddenbits import CombinationMachine
    >>> from hiddenbits.options import Growth
    >>> CombinationMachine(6, start=Growth(n_candidates=2))
    CombinationMachine(n_components=6, start=Growth(n_candidates=2))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_candidates: int = 4) -> None:
        self.n_candidates = n_candidates


class Pursuit(BaseEstimator):  # type: ignore[misc]
    """Begin a `CombinationMachine` with the units that projection pursuit finds one by one, which is quick.

    Parameters
    ----------
    n_candidates : int, default=4
        Tries for each unit; the best is kept.
    n_steps : int, default=20
        Passes for each unit.

    Examples
    --------
    >>> from hiddenbits import CombinationMachine
    >>> from hiddenbits.options import Pursuit
    >>> CombinationMachine(45, method="chains", start=Pursuit(n_steps=4))
    CombinationMachine(method='chains', n_components=45, start=Pursuit(n_steps=4))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_candidates: int = 4, n_steps: int = 20) -> None:
        self.n_candidates = n_candidates
        self.n_steps = n_steps


class Chains(BaseEstimator):  # type: ignore[misc]
    """The Markov chains that stand for a `CombinationMachine` with too many units to enumerate, and its steps.

    Parameters
    ----------
    n_chains : int, default=200
        Their number.
    n_temperatures : int, default=1
        Temperatures of each; more than 1 lets them swap (parallel tempering), for machines whose chains get stuck.
    batch_rows : int, default=128
        Rows of a step.
    learning_rate : float, default=0.05
        Size of the first steps; they shrink evenly to nothing over `max_iter` epochs.

    Examples
    --------
    >>> from hiddenbits import CombinationMachine
    >>> from hiddenbits.options import Chains
    >>> CombinationMachine(100, chains=Chains(n_chains=50, n_temperatures=10))
    CombinationMachine(chains=Chains(n_chains=50, n_temperatures=10),
                       n_components=100)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_temperatures": [Interval(Integral, 1, None, closed="left")],
        "batch_rows": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, n_chains: int = 200, n_temperatures: int = 1, batch_rows: int = 128, learning_rate: float = 0.05
    ) -> None:
        self.n_chains = n_chains
        self.n_temperatures = n_temperatures
        self.batch_rows = batch_rows
        self.learning_rate = learning_rate

"""Options of `CombinationMachine`: its start (`Growth`, `Pursuit`), and Markov chains for many units (`Chains`)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval


class Growth(BaseEstimator):  # type: ignore[misc]
    """Start a `CombinationMachine` with one hidden unit, add units one by one, and fit all of them each time.

    Parameters
    ----------
    n_candidates : int, default=4
        Candidates for each added unit, each started towards a row of the table; the best is kept.

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
    """Start a `CombinationMachine` with hidden units from projection pursuit, one by one, which is fast.

    Parameters
    ----------
    n_candidates : int, default=4
        Candidates for each unit; the best is kept.
    n_steps : int, default=20
        EM steps, each a pass over the data, for each unit.

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
    """Persistent contrastive divergence: Markov chains for a `CombinationMachine` with too many units to enumerate.

    Parameters
    ----------
    n_chains : int, default=200
        Number of chains.
    n_temperatures : int, default=1
        Temperatures of each; more than 1 for parallel tempering, if chains get stuck.
    batch_rows : int, default=128
        Rows per gradient step.
    learning_rate : float, default=0.05
        Size of the first steps; it decreases linearly to 0 over `max_iter` epochs.

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

"""`GibbsChains`: how a noisy-OR network learns by Gibbs sampling."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval


class GibbsChains(BaseEstimator):  # type: ignore[misc]
    """The chains of a `NoisyOrNetwork` that learns by Gibbs sampling: one for each row, carried on from pass to pass.

    Parameters
    ----------
    n_passes : int, default=40
        Passes in which a layer learns its strengths. Half as many follow for priors and leak, and for all layers
        together.
    n_sweeps, first_sweeps : int, default=3 and 15
        How often the states of a row are drawn in a pass, and in the first one.
    spare : float, default=1.0
        How many causes more, as a share, a layer begins with. Those that rows can best do without are taken away
        again; without spare causes a fit often ends in a bad place.

    Examples
    --------
    >>> from hiddenbits import GibbsChains, NoisyOrNetwork
    >>> NoisyOrNetwork(20, chains=GibbsChains(n_passes=80))
    NoisyOrNetwork(chains=GibbsChains(n_passes=80), n_components=20)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "first_sweeps": [Interval(Integral, 1, None, closed="left")],
        "spare": [Interval(Real, 0, 10, closed="both")],
    }

    def __init__(self, n_passes: int = 40, n_sweeps: int = 3, first_sweeps: int = 15, spare: float = 1.0) -> None:
        self.n_passes = n_passes
        self.n_sweeps = n_sweeps
        self.first_sweeps = first_sweeps
        self.spare = spare

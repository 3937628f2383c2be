"""`bootstrap_lrt`: likelihood-ratio test of a larger model, with simulated tables."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.tables import open_for, table_simulator
from hiddenbits.tables import map_fits

STREAM = 0x1127  # keeps these random numbers apart from others with the same seed


class BootstrapLRT(NamedTuple):
    """A bootstrap likelihood-ratio test, returned by `bootstrap_lrt`.

    Attributes
    ----------
    statistic : float
        2 (ln L of the larger model - ln L of the smaller one).
    p : float
        Share of tables, the simulated and the real one, whose statistic is at least as large.
    replicates : ndarray of shape (n,)
        Statistics of the simulated tables.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.diagnostics import BootstrapLRT
    >>> BootstrapLRT(3.2, 0.4, np.array([1.0, 4.0])).p
    0.4
    """

    statistic: float
    p: float
    replicates: Floats


def bootstrap_lrt(
    smaller: Any, larger: Any, X: object, *, n_replicates: int = 99, random_state: int = 0
) -> BootstrapLRT:
    """Test whether a table needs the larger of two models, such as K + 1 classes instead of K.

    The likelihood ratio of mixtures is not chi-square, so its distribution is simulated (McLachlan 1987): tables are
    sampled from the smaller model, with the missing cells of X, and both models are fitted to each. The smaller model
    starts from its own parameters, the larger one from the starts of its `n_init`. With too few starts it misses its
    maximum, and the p-value is too small: use as many starts for simulated tables as for the real one.

    Parameters
    ----------
    smaller, larger : fitted estimators
        Models fitted to X by maximum likelihood (no prior or ridge), with an exact likelihood, without weights.
    X : table of shape (rows, columns)
        The table to which both were fitted, in memory.
    n_replicates : int, default=99
        Number of simulated tables: p is a multiple of 1 / (n + 1).
    random_state : int, default=0
        Random seed of the simulation.

    Returns
    -------
    test : BootstrapLRT

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], 50, axis=0) ^ (np.random.default_rng(0).random((100, 4)) < 0.1)
    >>> one, two = (LatentClassAnalysis(K, prior_strength=0, n_init=2, random_state=0).fit(X) for K in (1, 2))
    >>> diagnostics.bootstrap_lrt(one, two, X, n_replicates=19).p
    0.05
    """
    if n_replicates < 1:
        raise ValueError(
            f"n={n_replicates}: simulate at least one table, and 99 or more for a p-value that you publish."
        )
    table = open_for(smaller, X)
    statistic = 2.0 * (_log_likelihood(larger, table) - _log_likelihood(smaller, table))
    if larger.n_parameters_ <= smaller.n_parameters_ or statistic < 0.0:
        raise ValueError(
            f"The larger model has {larger.n_parameters_} parameters and the smaller {smaller.n_parameters_}, and its "
            f"statistic is {statistic:.4g}. Give the smaller one first; if the larger one fits worse, raise its n_init."
        )
    simulated = table_simulator(smaller, table, random_state, STREAM)

    def replicate(number: int) -> float:
        rows = simulated(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = smaller._refit(rows), clone(larger).fit(rows)
        of_smaller, of_larger = (_log_likelihood(fit, rows) for fit in fits)
        return max(0.0, 2.0 * (of_larger - of_smaller))

    replicates = np.array(list(map_fits(replicate, range(n_replicates), table)))
    return BootstrapLRT(statistic, float(1 + (replicates >= statistic).sum()) / (n_replicates + 1), replicates)


def _log_likelihood(model: Any, X: Any) -> float:
    """Return ln L at maximum likelihood; AIC raises for a fit with a prior, or without an exact likelihood."""
    if not hasattr(model, "aic"):
        raise TypeError(f"{type(model).__name__} has no exact likelihood to compare.")
    return float(model.n_parameters_) - float(model.aic(X)) / 2.0

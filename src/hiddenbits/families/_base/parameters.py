"""Hyperparameters that every estimator has, with the values they may take."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Literal

from sklearn.utils._param_validation import Interval, StrOptions

MOST_NODES = 1_000_000  # of a grid: a table of them with the columns is held in memory
DRAWS = [Interval(Integral, 2, 100_000, closed="both")]  # draws for each row, all held at once

N_INIT: list[object] = [
    Interval(Integral, 1, None, closed="left"),
    StrOptions({"auto"}),
]  # where restarts have short runs

COMMON: dict[str, list[object]] = {
    "online_passes": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "accelerate": ["boolean"],
    "threshold": [Interval(Real, None, None, closed="neither"), None],
    "random_state": ["random_state"],
}


# `ClosedForm`: estimators whose fit is no search, so that there is nothing to set about one.


class ClosedForm:
    """What the engine asks of every estimator, at values that mean nothing here."""

    online_passes = 0
    n_init: int | Literal["auto"] = 1
    max_iter = 100
    tol = 1e-6
    accelerate = True

    _constraints_in_common: ClassVar[dict[str, list[object]]] = {
        name: COMMON[name] for name in ("threshold", "random_state")
    }

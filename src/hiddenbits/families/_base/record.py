"""The fitted attributes that all estimators have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.engine import Restart, Running, StopReason
from hiddenbits.model_api import P


def fit_record(
    params: P,
    weight: float,
    reason: str,
    *,
    trace: Floats | Sequence[float] = (),
    n_iter: int | None = None,
    restarts: Sequence[Restart] = (),
    running: Running | None = None,
) -> dict[str, object]:
    """Return the attributes that a fit sets, by name.

    Parameters
    ----------
    params : Params
        The fitted parameters.
    weight : float
        Weight of the rows of the fit.
    reason : str
        Why the fit stopped, "online" after `partial_fit`.
    trace : array
        Objective after each iteration.
    n_iter : int, optional
        Iterations, if they are not those of the trace.
    restarts : sequence of Restart
        Objective, iterations and stop reason of each restart.
    running : Running, optional
        State of online EM.
    """
    return {
        "_params": params,
        "trace_": np.asarray(trace, np.float64),
        "n_iter_": len(trace) if n_iter is None else n_iter,
        "stop_reason_": str(reason),
        "converged_": reason == StopReason.CONVERGED,
        "restarts_": tuple(restarts),
        "_fit_weight": weight,
        "_running": running,
    }

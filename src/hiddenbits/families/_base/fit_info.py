"""The description of a fit in `summary()`, notebooks and warnings: its course, fit statistics and criteria."""

from __future__ import annotations

from typing import Any

from hiddenbits.engine import StopReason
from hiddenbits.families._base.inputs import as_table, total_weight
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.maths.numerics import bic
from hiddenbits.quoting import name_of

NOT_CONVERGED = {  # completes "the fit stopped because ..."
    StopReason.MAX_ITER: "it reached max_iter iterations. Increase max_iter or tol",
    StopReason.TIME: "it reached the max_time of run_on. Increase max_time or tol",
    StopReason.CALLBACK: "a callback stopped it",
    StopReason.FELL: "the objective decreased, which is an error in hiddenbits: please report it with this table",
    StopReason.NOT_FINITE: "the objective was not a finite number: lower the learning_rate of chains, if "
    "there are any; otherwise please report it with this table",
}
LIKELIHOOD = "log-likelihood plus log prior"  # the objective of most models
STOP_PHRASES = {
    StopReason.CONVERGED: "converged",
    StopReason.MAX_ITER: "stopped at max_iter",
    StopReason.SCHEDULE: "completed its schedule",
    StopReason.TIME: "stopped at max_time",
    StopReason.CALLBACK: "stopped by a callback",
    StopReason.FELL: "stopped: the objective decreased",
    StopReason.NOT_FINITE: "stopped: the objective was not finite",
    "online": "updated in batches (partial_fit)",
}


def convergence_warnings(estimator: Estimator) -> list[str]:
    """Return a sentence about why the fit stopped before it converged; an empty list if it converged."""
    reason: Any = estimator.stop_reason_
    if reason not in NOT_CONVERGED:
        return []
    return [f"{type(estimator).__name__} did not converge; the fit stopped because {NOT_CONVERGED[reason]}."]


def fit_info(estimator: Estimator) -> dict[str, str]:
    """Return a description of the data, the iterations, the result and warnings of the fit, and recoded columns."""
    total, n = estimator._fit_weight, len(estimator.restarts_)
    rows = f"{total:,.0f}" if total.is_integer() else f"weight {total:,.6g}"
    n_agreeing = getattr(estimator, "_n_agreeing", None)
    agreement = "" if n_agreeing is None else f"; {n_agreeing} of them reached this maximum"
    info = {
        "rows": f"{rows} x {estimator.n_features_in_:,} columns",
        "iterations": f"{estimator.n_iter_:,}" + (f", in the best of {n} restarts{agreement}" if n > 1 else ""),
        "stop": STOP_PHRASES[estimator.stop_reason_],
    }
    if estimator._objective_name and len(estimator.trace_):
        baseline = (
            "" if estimator._independent_score is None else f"; independent columns {estimator._independent_score:.4f}"
        )
        info["score"] = f"{estimator.trace_[-1] / total:.4f} nats per row ({estimator._objective_name}){baseline}"
        has_criteria = estimator._objective_name == LIKELIHOOD and estimator._prior_settings is not None
        if has_criteria and not prior_of(estimator):
            info["fit"] = _criteria(float(estimator.trace_[-1]), estimator.n_parameters_, total)
    if messages := estimator._fit_warnings():
        info["warning"] = " ".join(messages)
    if coding := estimator._coding and estimator._coding.sentence(lambda text: repr(name_of(text))):
        info["coding"] = coding
    return info


def prior_of(estimator: Estimator) -> list[str]:
    """Return the hyperparameters of the prior that are not 0; without any, the fit is maximum likelihood."""
    return [name for name in estimator._prior_settings or () if getattr(estimator, name) != 0.0]


def maximum_likelihood(estimator: Estimator, X: object, criterion: str) -> tuple[float, float]:
    """Return the log-likelihood of X and the weight of its rows; refuse a fit with a prior, or no exact likelihood."""
    table = as_table(estimator, X, reset=False)
    if prior := prior_of(estimator):
        zeros = ", ".join(f"{name}=0" for name in prior)
        raise ValueError(f"{criterion} is defined for maximum likelihood, but the model has a prior. Fit with {zeros}.")
    if (kind := estimator._likelihood_kind) != "exact":
        raise ValueError(f"{criterion} needs an exact likelihood, but that of {estimator} is not exact ({kind}).")
    weight = total_weight(table)
    return estimator.score(table) * weight, weight


def _criteria(log_likelihood: float, p: int, N: float) -> str:
    """Return the log-likelihood, the number of parameters and the information criteria, as in a paper's table."""
    criteria = {
        "AIC": 2.0 * p - 2.0 * log_likelihood,
        "BIC": bic(log_likelihood, p, N),
        "adjusted BIC": bic(log_likelihood, p, (N + 2.0) / 24.0),
    }
    shown = "; ".join(f"{name} {value:,.2f}" for name, value in criteria.items())
    return f"log-likelihood {log_likelihood:,.2f}; {p:,} parameters; {shown}"

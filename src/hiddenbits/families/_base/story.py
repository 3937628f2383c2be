"""How a fit went, in words for `summary()`, notebooks and warnings, and the figures of a paper's table."""

from __future__ import annotations

from typing import Any

from hiddenbits.engine import StopReason
from hiddenbits.families._base.inputs import as_table, total_weight
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.maths.numerics import bic
from hiddenbits.quoting import name_of

EXPLANATIONS = {
    StopReason.MAX_ITER: "it used all of its max_iter passes. Raise max_iter or tol",
    StopReason.TIME: "the max_time of run_on was over. Raise it, or tol",
    StopReason.CALLBACK: "a callback asked it to",
    StopReason.FELL: "the objective fell, which it must not do: please report this table as a bug",
    StopReason.NOT_FINITE: "the objective was not a finite number: lower the learning_rate of chains, if "
    "there are any, otherwise please report this table as a bug",
}
LIKELIHOOD = "log-likelihood plus log prior"  # what most traces say
STOPPED = {
    StopReason.CONVERGED: "converged",
    StopReason.MAX_ITER: "stopped at max_iter",
    StopReason.SCHEDULE: "came to its planned end",
    StopReason.TIME: "stopped at max_time",
    StopReason.CALLBACK: "stopped by a callback",
    StopReason.FELL: "stopped: the objective fell",
    StopReason.NOT_FINITE: "stopped: the objective was not finite",
    "online": "learns in pieces (partial_fit)",
}


def not_converged(estimator: Estimator) -> list[str]:
    """Return a sentence on why a fit stopped before it had converged, or none."""
    reason: Any = estimator.stop_reason_
    if reason not in EXPLANATIONS:
        return []
    return [f"{type(estimator).__name__} did not converge; the fit stopped because {EXPLANATIONS[reason]}."]


def story(estimator: Estimator) -> dict[str, str]:
    """Return how a fit went, and which values of the user's table are 1."""
    total, n = estimator._fit_weight, len(estimator.restarts_)
    rows = f"{total:,.0f}" if total.is_integer() else f"weight {total:,.6g}"
    agreeing = getattr(estimator, "_n_agreeing", None)
    agree = "" if agreeing is None else f", of which {agreeing} found this maximum"
    said = {
        "rows": f"{rows} x {estimator.n_features_in_:,} columns",
        "passes": f"{estimator.n_iter_:,}" + (f", in the best of {n} restarts{agree}" if n > 1 else ""),
        "stop": STOPPED[estimator.stop_reason_],
    }
    if estimator._score_is and len(estimator.trace_):
        apart = estimator._independent
        beside = "" if apart is None else f"; independent columns {apart:.4f}"
        said["score"] = f"{estimator.trace_[-1] / total:.4f} nats per row ({estimator._score_is}){beside}"
        if estimator._score_is == LIKELIHOOD and estimator._prior_settings is not None and not prior_of(estimator):
            said["fit"] = _criteria(float(estimator.trace_[-1]), estimator.n_parameters_, total)
    if cautions := estimator._cautions():
        said["warning"] = " ".join(cautions)
    if coding := estimator._coding and estimator._coding.sentence(lambda text: repr(name_of(text))):
        said["coding"] = coding
    return said


def prior_of(estimator: Estimator) -> list[str]:
    """Return the settings of a prior that keep a fit from being one of maximum likelihood."""
    return [name for name in estimator._prior_settings or () if getattr(estimator, name) != 0.0]


def maximum_likelihood(estimator: Estimator, X: object, criterion: str) -> tuple[float, float]:
    """Return the log-likelihood of X and the rows it has; refuse a fit that has a prior, or no exact likelihood."""
    table = as_table(estimator, X, reset=False)
    if given := prior_of(estimator):
        wanted = ", ".join(f"{name}=0" for name in given)
        raise ValueError(
            f"{criterion} is defined for maximum likelihood, but this model was fitted with a prior. Fit with {wanted}."
        )
    if (kind := estimator._likelihood_kind) != "exact":
        raise ValueError(f"{criterion} needs an exact likelihood, but that of {estimator} is not exact ({kind}).")
    weight = total_weight(table)
    return estimator.score(table) * weight, weight


def _criteria(log_likelihood: float, p: int, N: float) -> str:
    """Return the line of a paper's table."""
    figures = {
        "AIC": 2.0 * p - 2.0 * log_likelihood,
        "BIC": bic(log_likelihood, p, N),
        "adjusted BIC": bic(log_likelihood, p, (N + 2.0) / 24.0),
    }
    shown = "; ".join(f"{name} {value:,.2f}" for name, value in figures.items())
    return f"log-likelihood {log_likelihood:,.2f}; {p:,} parameters; {shown}"

"""Annealed importance sampling (Neal 2001): sums over too many states to enumerate, with a reliability check.

Rows start from a base with known sum Z_0 and pass through 0 = beta_0 < ... < beta_K = 1. The weight of a row,

    ln w = Sum_k [ ln p*_{beta_k}(x_k) - ln p*_{beta_(k-1)}(x_k) ],   x_(k+1) by a transition that preserves p_{beta_k},

has mean E[w] = Z / Z_0. The weights do not show a mode that no row reaches: with a single base, the estimate may be far
off although its standard error is small. So there are always two bases, and there is a result only if they agree
(`Partition`).

The sampler does not depend on the model: a `Path` has its three functions, `machine_path` those of a combination
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.maths.tempering import (
    Numbers,
    Run,
    Tempered,
    base_bias,
    generators,
    groups_of,
)

S = TypeVar("S")

GROUP_CHAINS = 50  # run together: enough for efficient matrix products, few enough for the cache
FEWEST_EFFECTIVE = 30.0  # rows; with fewer, the standard error of an estimate is unreliable
MOST_ERRORS_APART = 3.0  # largest difference of estimates that agree, in standard errors
ROUNDING_SHARE = 1e-5  # of ln Z: rounding in float32, by which estimates may differ even without any spread
LEAST_BASE_DISTANCE = 1.0  # in nats; closer bases count as one


@dataclass(frozen=True)
class Path(Generic[S]):
    """The functions that lead from one base to one model; their state, of several rows, may be of any type.

    Attributes
    ----------
    log_base : float
        ln Z_0.
    start : callable (n, rng) -> state
        n independent rows of the base.
    log_ratio : callable (state, low, high) -> ndarray of shape (n,)
        ln p*_high(x) - ln p*_low(x) of each row, low < high.
    move : callable (state, beta, rng) -> state
        A transition that preserves p_beta. It may reuse the state's memory.
    """

    log_base: float
    start: Callable[[int, np.random.Generator], S]
    log_ratio: Callable[[S, float, float], Floats]
    move: Callable[[S, float, np.random.Generator], S]


@dataclass(frozen=True)
class PartitionEstimate:
    """An estimate of ln Z from one base, its standard error, and the effective number of rows."""

    log_z: float
    standard_error: float
    ess: float


@dataclass(frozen=True)
class Partition:
    """The combined estimate of ln Z, if it is reliable.

    Attributes
    ----------
    log_z, standard_error : float
        The precision-weighted mean of the estimates; NaN if it is not reliable.
    estimates : dict of str to PartitionEstimate
        The estimate from each base.
    agree : bool
        The estimates lie within three standard errors of each other.
    trustworthy : bool
        They agree, each has at least 30 effective rows, and their bases differ.
    why : str
        The reason, in a sentence.
    """

    log_z: float
    standard_error: float
    estimates: dict[str, PartitionEstimate]
    agree: bool
    trustworthy: bool
    why: str

    @property
    def ess(self) -> dict[str, float]:
        """The effective number of rows of each estimate."""
        return {name: estimate.ess for name, estimate in self.estimates.items()}


def anneal(path: Path[S], state: S, betas: Sequence[float], rng: np.random.Generator) -> Floats:
    """Take rows of the base through all temperatures and return ln w of each."""
    total: Floats | float = 0.0
    last = len(betas) - 1
    for k, (low, high) in enumerate(pairwise(betas), start=1):
        total = total + path.log_ratio(state, low, high)
        if k < last:
            state = path.move(state, high, rng)
    return np.asarray(total)


def effective_size(log_weights: Floats) -> float:
    """Return the effective sample size (Sum w)^2 / Sum w^2.

    Examples
    --------
    >>> import numpy as np
    >>> round(effective_size(np.log([1.0, 1.0, 2.0])), 6)
    2.666667
    """
    return float(np.exp(2.0 * logsumexp(log_weights) - logsumexp(2.0 * log_weights)))


def estimate(log_weights: Floats, log_base: float) -> PartitionEstimate:
    """Return ln Z = ln Z_0 + ln mean w, with the standard error sqrt[ var(w) / n ] / mean(w).

    var(w) / mean(w)^2 is n / ESS - 1 (times n / (n - 1)).

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(estimate(np.log([1.0, 3.0]), 0.0).log_z)), 6)
    2.0
    """
    n = len(log_weights)
    log_mean = float(logsumexp(log_weights)) - float(np.log(n))
    ess = effective_size(log_weights)
    error = float(np.sqrt(max(n / ess - 1.0, 0.0) / (n - 1))) if n > 1 else np.inf
    return PartitionEstimate(log_base + log_mean, error, ess)


def verdict(estimates: dict[str, PartitionEstimate], alike: str | None = None) -> Partition:
    """Combine the estimates if they are reliable and agree.

    Parameters
    ----------
    estimates : dict of str to PartitionEstimate
        Two or more, by name.
    alike : str, optional
        Why agreement would prove nothing, as a sentence.

    Examples
    --------
    >>> verdict({"uniform": PartitionEstimate(10.0, 0.1, 80.0), "means": PartitionEstimate(12.0, 0.1, 80.0)}).why
    'The estimates of ln Z disagree: uniform 10.00 (s.e. 0.10), means 12.00 (s.e. 0.10). Some of the rows missed modes.'
    """
    listed = ", ".join(f"{name} {e.log_z:.2f} (s.e. {e.standard_error:.2f})" for name, e in estimates.items())
    errors = np.array([max(e.standard_error, ROUNDING_SHARE * max(1.0, abs(e.log_z))) for e in estimates.values()])
    values = np.array([e.log_z for e in estimates.values()])
    finite = bool(np.isfinite(values).all() and np.isfinite(errors).all())
    distances = np.abs(values[:, None] - values) / np.hypot(errors[:, None], errors) if finite else np.array([np.inf])
    agree = len(estimates) > 1 and bool(distances.max() <= MOST_ERRORS_APART)
    poor = [f"{name} {e.ess:.1f}" for name, e in estimates.items() if not e.ess >= FEWEST_EFFECTIVE]
    if len(estimates) < 2:
        why = "There is only one estimate, and nothing to check it against."
    elif not finite:
        why = f"An estimate of ln Z is not finite: {listed}."
    elif poor:
        why = (
            f"Too few effective rows ({', '.join(poor)}; at least {FEWEST_EFFECTIVE:g} are needed): "
            "use more temperatures or more chains."
        )
    elif not agree:
        why = f"The estimates of ln Z disagree: {listed}. Some of the rows missed modes."
    elif alike is not None:
        why = alike
    else:
        precision = 1.0 / errors**2
        log_z = float(precision @ values / precision.sum())
        # If estimates differ by more than a standard error, their errors are too small: widen them.
        error = float(max(1.0, distances.max()) / np.sqrt(precision.sum()))
        return Partition(log_z, error, estimates, agree, True, f"The estimates of ln Z agree: {listed}.")
    return Partition(np.nan, np.nan, estimates, agree, False, why)


def estimates_of(
    paths: dict[str, Path[Any]],
    betas: Sequence[float],
    n_chains: int,
    rng: np.random.Generator,
    run: Run = map,
) -> dict[str, PartitionEstimate]:
    """Return an estimate by each path, from `n_chains` rows in groups that `run` may process in parallel."""
    tasks = [(name, path, g.stop - g.start) for name, path in paths.items() for g in groups_of(n_chains, GROUP_CHAINS)]

    def log_weights(task: tuple[tuple[str, Path[Any], int], np.random.Generator]) -> Floats:
        (_, path, n), group_rng = task
        return anneal(path, path.start(n, group_rng), betas, group_rng)

    weights: dict[str, list[Floats]] = {}
    seeded = zip(tasks, generators(rng, len(tasks)), strict=True)
    for (name, *_), log_w in zip(tasks, run(log_weights, seeded), strict=True):
        weights.setdefault(name, []).append(log_w)
    return {name: estimate(np.concatenate(parts), paths[name].log_base) for name, parts in weights.items()}


def machine_path(machine: Tempered) -> Path[tuple[Numbers, Numbers]]:
    """Return the path from the machine's base to the machine; a state is the rows x and their activations a."""

    def start(n: int, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        x = machine.base_rows(n, rng)
        return x, machine.activations(x)

    def log_ratio(state: tuple[Numbers, Numbers], low: float, high: float) -> Floats:
        return machine.log_ratio(*state, low, high)

    def move(state: tuple[Numbers, Numbers], beta: float, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        x, a = state
        machine.sweep(x, a, beta, rng)
        return x, machine.activations(x, out=a)

    return Path(machine.log_base_sum, start, log_ratio, move)


def log_partition(
    weights: ArrayLike,
    thresholds: ArrayLike,
    bias: ArrayLike,
    means: ArrayLike,
    rng: np.random.Generator,
    *,
    n_chains: int = 100,
    n_temperatures: int = 10_000,
    run: Run = map,
) -> Partition:
    """Estimate ln Z of a combination machine from two bases, fair coins and the data's column means.

    Parameters
    ----------
    weights, thresholds, bias : array-like of shapes (d, m), (m,), (d,)
    means : array-like of shape (d,)
        Share of 1s in each column of the data.
    rng : Generator
    n_chains : int
        Rows from each base.
    n_temperatures : int
        Number of temperature steps, evenly spaced.
    run : callable
        `map`, or the `map` of a thread pool. It does not change the result.

    Returns
    -------
    Partition

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> result = log_partition(0.3 * np.ones((4, 2)), np.zeros(2), np.zeros(4), [0.1, 0.1, 0.9, 0.9], rng,
    ...                        n_temperatures=200)
    >>> result.trustworthy, round(result.log_z, 1)
    (True, 4.4)
    """
    if n_temperatures < 1:
        raise ValueError(f"n_temperatures={n_temperatures}: the climb needs at least one step.")
    steps: list[float] = np.linspace(0.0, 1.0, n_temperatures + 1).tolist()
    b0 = base_bias(means)
    paths = {
        "uniform": machine_path(Tempered.of(weights, thresholds, bias)),
        "means": machine_path(Tempered.of(weights, thresholds, bias, b0)),
    }
    estimates = estimates_of(paths, steps, n_chains, rng, run)
    # KL(means || uniform) = Sum_j [ b0 tanh b0 - ln cosh b0 ]: agreement of two equal bases would prove nothing.
    distance = float((b0 * np.tanh(b0) - np.logaddexp(b0, -b0) + np.log(2.0)).sum())
    alike = None
    if distance < LEAST_BASE_DISTANCE:
        alike = f"The column means are so near to 1/2 ({distance:.2f} nats) that both bases are one."
    return verdict(estimates, alike)

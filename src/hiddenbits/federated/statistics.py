"""`Statistics`: the sums that a site hands out instead of its rows, and how those of several sites are merged.

Everything that comes from elsewhere is checked before it is added: a negative count or a NaN would vanish in a sum.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiddenbits.data import Arrays
from hiddenbits.data.arrays import plain, prefixed, unprefixed
from hiddenbits.data.summary import Summary
from hiddenbits.families.registry import ESTIMATORS, unfitted, without_dropped
from hiddenbits.quoting import PrintableError
from hiddenbits.store import StoreError, read, write
from hiddenbits.store.validation import (
    VERSION,
    WRITTEN_BY,
    exactly,
    is_count,
    refusal,
    require,
    require_finite,
    require_moderate,
    require_names,
)

ROUNDING = 1e-9  # processors differ in the last digits of a logarithm; sites within this are at the same parameters


class StatisticsError(PrintableError):
    """Statistics that cannot be handed out, merged or used: which, why, and what to do."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What statistics must have in common to be added; see `Statistics`."""

    estimator: str
    hyperparameters: Mapping[str, Any]
    n_features: int
    names: tuple[str, ...] | None
    params: Any


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Terms):
    """Sums over the rows of one or more sites: all that leaves a site in a federated fit.

    Made by an estimator's `stats`, added by `merge`, used by its `update`. The first ones, to start from, are the
    ones and observed cells of each column; later ones are the model's own, computed with `params`.

    Attributes
    ----------
    estimator : str
        Name of the estimator.
    hyperparameters : mapping
        Its hyperparameters.
    n_features : int
        Number of columns.
    names : tuple of str or None
        Column names, where there are any.
    params : Arrays or None
        The parameters that the sums were computed with; None for the first ones.
    sites : tuple of str
        The sites whose rows are in the sums.
    rows : int
        Number of rows with a weight above 0.
    sums : Arrays
        The sums; ``sums.to_arrays()`` returns them by name.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentBits
    >>> X = np.repeat([[0, 1], [1, 1], [0, 0]], 20, axis=0)
    >>> statistics = IndependentBits(random_state=0).stats(X, site="north")
    >>> statistics
    <Statistics of IndependentBits to start from: 60 rows, 2 columns, site 'north'>
    >>> statistics.sums.ones
    array([20., 40.])
    """

    sites: tuple[str, ...]
    rows: int
    sums: Any

    @property
    def weight(self) -> float:
        """Sum of the row weights."""
        return float(self.sums.weight)

    @property
    def log_likelihood(self) -> float | None:
        """Log-likelihood (or bound) of the rows at `params`, in nats; None for the first statistics and for counts."""
        bound = None if self.params is None else self.sums.to_arrays().get("bound")
        return None if bound is None else float(bound)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics to a file that holds no code, in one step.

        Parameters
        ----------
        path : path
            The file.
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Statistics:
        """Read statistics from a file; whatever `stats` and `merge` could not have written is refused.

        Parameters
        ----------
        path : path
            The file, from anyone: nothing in it is run, and everything in it is checked.
        """
        return load(path)

    def __repr__(self) -> str:
        what = "to start from" if self.params is None else "to fit"
        if self.log_likelihood is not None:
            what = f"at log-likelihood {self.log_likelihood:.6g}"
        who = f"site {self.sites[0]!r}" if len(self.sites) == 1 else f"{len(self.sites)} sites"
        return f"<Statistics of {self.estimator} {what}: {self.rows} rows, {self.n_features} columns, {who}>"


def merge(statistics: Iterable[Statistics]) -> Statistics:
    """Add up the statistics of several sites, after checking each of them.

    All must be of the same estimator with the same hyperparameters and columns, computed with the same parameters, and
    no site may be in there twice. The order does not matter, not even to the last bit: sites are added by name.

    Parameters
    ----------
    statistics : iterable of Statistics
        Those of the sites, or of groups of sites that were merged before.

    Returns
    -------
    merged : Statistics

    Raises
    ------
    StatisticsError
        If they cannot be added: which, why, and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import BernoulliMixture, merge
    >>> rng = np.random.default_rng(0)
    >>> hospitals = {"north": rng.integers(0, 2, (200, 5)), "south": rng.integers(0, 2, (300, 5))}
    >>> model = BernoulliMixture(2, random_state=0)
    >>> merge(model.stats(X, site=site) for site, X in hospitals.items())
    <Statistics of BernoulliMixture to start from: 500 rows, 5 columns, 2 sites>
    """
    several = list(statistics)
    if not several:
        raise StatisticsError("There are no statistics to merge. Give those of at least one site.")
    for one in several:
        refuse_unlawful(one)
    several.sort(key=lambda one: one.sites)
    first, *others = several
    seen = set(first.sites)
    total = first.sums.scaled(1.0)  # a copy: sums add in place
    for other in others:
        difference = terms_differ(first, other, f"site {first.sites[0]!r}", f"site {other.sites[0]!r}")
        if difference:
            raise StatisticsError(f"These statistics cannot be merged: {difference}")
        twice = seen.intersection(other.sites)
        if twice:
            raise StatisticsError(
                f"Site {min(twice)!r} appears twice, so its rows would count twice. Remove one of the two; if they "
                "are different sites, give each its own name, as in stats(X, site='north')."
            )
        seen.update(other.sites)
        with np.errstate(over="ignore"):  # refused below
            total += other.sums
    merged = replace(first, sites=tuple(sorted(seen)), rows=sum(one.rows for one in several), sums=total)
    refuse_unlawful(merged)
    return merged


def terms_differ(first: Terms, other: Terms, us: str, them: str) -> str | None:
    """Return what keeps statistics from being added, and what to do; None where nothing does."""
    if other.estimator != first.estimator:
        return f"{us} has a {first.estimator}, {them} a {other.estimator}. Every site must use the same estimator."
    for name, value in first.hyperparameters.items():
        if other.hyperparameters[name] != value:
            theirs = other.hyperparameters[name]
            return f"{us} has {name}={value!r}, {them} {theirs!r}. Every site must use the same hyperparameters."
    if other.n_features != first.n_features:
        return f"{us} has {first.n_features} columns, {them} {other.n_features}. Every site must use the same columns."
    if other.names != first.names:
        remedy = "Every site must use the same columns in the same order, and all or none of them with names."
        if first.names is None or other.names is None:
            return f"{us if other.names is None else them} has column names, the other has none. {remedy}"
        at = next(i for i, (a, b) in enumerate(zip(first.names, other.names, strict=True)) if a != b)
        return f"column {at} is {first.names[at]!r} at {us}, {other.names[at]!r} at {them}. {remedy}"
    if (first.params is None) != (other.params is None):
        return (
            f"{us if first.params is None else them} is at the start, the other is not. Repeat the updates it missed."
        )
    if first.params is not None and not _agree(first.params, other.params):
        return (
            f"{us} and {them} computed with different parameters. One of them missed an update or made another one: "
            "give every site the same merged statistics, in the same order, and compute again."
        )
    return None


def refuse_unlawful(statistics: Statistics) -> None:
    """Raise a StatisticsError for statistics that no table could have given."""
    if not isinstance(statistics, Statistics):
        raise TypeError(f"Expected Statistics, got {type(statistics).__name__}. Use `stats` or `Statistics.load`.")
    try:
        check(statistics)
    except ValueError as error:
        who = ", ".join(repr(site) for site in statistics.sites[:3])
        raise StatisticsError(
            f"The statistics of {who} are not valid: {error}. Ask the site to compute and send them again."
        ) from error


def check(statistics: Statistics) -> None:
    """Raise a ValueError that says why no table could have given these statistics."""
    require(statistics.estimator in ESTIMATORS, f"{str(statistics.estimator)[:80]!r} is not an estimator")
    estimator = unfitted(statistics.estimator, statistics.hyperparameters)
    model, params, sums = estimator._model(), statistics.params, statistics.sums
    sites, rows, n_columns = statistics.sites, statistics.rows, statistics.n_features
    require(bool(sites) and all(map(is_site, sites)), "a site's name is not a short printable text")
    require(list(sites) == sorted(set(sites)), "its sites are not in order, or one is there twice")
    require(is_count(rows) and rows >= 1, "it has no rows, or more than there can be")
    require_moderate(sums.to_arrays().values())
    require_finite(({} if params is None else params.to_arrays()).values())
    with np.errstate(over="ignore"):  # finite, but absurdly large
        if params is None:
            require(isinstance(sums, Summary), "its sums are not those of a start")
            flaw = _summary_flaw(sums, n_columns, rows)
        else:
            require(
                isinstance(sums, model.stats_type) and isinstance(params, model.params_type),
                "its sums are those of another model",
            )
            flaw = params.flaw() or model.stats_flaw(sums, params)
            require(flaw is not None or params.n_columns == n_columns, "the number of columns does not fit its sums")
    require(flaw is None, str(flaw))
    require_names(None if statistics.names is None else list(statistics.names), n_columns)


def _summary_flaw(summary: Summary, n_columns: int, rows: int) -> str | None:
    """Return what makes the counts of columns invalid, or None."""
    if summary.ones.shape != (n_columns,) or summary.observed.shape != (n_columns,) or n_columns == 0:
        return "the sums have the wrong shapes"
    if summary.weight.shape != () or summary.rows.shape != () or summary.weight <= 0 or summary.rows != rows:
        return "the sums have no weight, or not the rows that are declared"
    if summary.fingerprint.shape != (2,) or summary.fingerprint.any():
        return "a fingerprint of the rows is among the sums"
    slack = ROUNDING * float(summary.weight)
    counts = [summary.ones, summary.observed - summary.ones, summary.weight - summary.observed]
    return "the sums are not counts" if any((count < -slack).any() for count in counts) else None


def is_site(name: Any) -> bool:
    """Whether this can be the name of a site."""
    return isinstance(name, str) and 0 < len(name) <= 128 and name.isprintable()


def _agree(first: Arrays, other: Arrays) -> bool:
    """Whether parameters are the same but for the rounding of another processor."""
    ours, theirs = first.to_arrays(), other.to_arrays()
    return all(
        array.shape == theirs[name].shape and np.allclose(array, theirs[name], rtol=ROUNDING, atol=1e-12)
        for name, array in ours.items()
    )


KIND = "statistics"
META_KEYS = {"estimator", "hyperparameters", "n_features_in", "feature_names_in", "sites", "rows"}


def save(statistics: Statistics, path: str | os.PathLike[str]) -> None:
    """Write statistics to `path`, atomically: a reader sees the whole file or none."""
    refuse_unlawful(statistics)
    meta = {
        "estimator": statistics.estimator,
        "hyperparameters": plain(statistics.hyperparameters),
        "n_features_in": statistics.n_features,
        "feature_names_in": None if statistics.names is None else list(statistics.names),
        "sites": list(statistics.sites),
        "rows": statistics.rows,
        WRITTEN_BY: VERSION,
    }
    write(path, KIND, meta, {**prefixed("params", statistics.params), **prefixed("sums", statistics.sums)})


def load(path: str | os.PathLike[str]) -> Statistics:
    """Read statistics; whatever is not valid is refused with a StoreError."""
    stored = read(path)
    if stored.kind != KIND:
        raise StoreError(f"{path} holds a {stored.kind}, not statistics. Pass a file written by `Statistics.save`.")
    written_by = stored.meta.pop(WRITTEN_BY, None)
    try:
        statistics = _restore(stored.meta, stored.arrays)
        check(statistics)
    except MemoryError:  # of the machine, which says nothing about the file
        raise
    except Exception as error:
        what, remedy = "does not hold valid statistics", "Ask the site to send them again."
        raise StoreError(refusal(path, what, error, written_by, remedy)) from error
    return statistics


def _restore(meta: Any, arrays: Any) -> Statistics:
    """Build statistics of exactly what a file says; `check` judges their values."""
    require(set(meta) == META_KEYS, "its description is not complete")
    name, sites, names = meta["estimator"], meta["sites"], meta["feature_names_in"]
    require(isinstance(name, str) and name in ESTIMATORS, f"{str(name)[:80]!r} is not an estimator")
    require(isinstance(sites, list), "its sites are not a list")
    require(is_count(meta["n_features_in"]), "the number of columns is not a number")
    require_names(names, meta["n_features_in"])
    estimator, arrays = unfitted(name, meta["hyperparameters"]), without_dropped(name, arrays)
    model = estimator._model()
    of_params, of_sums = unprefixed("params", arrays), unprefixed("sums", arrays)
    params = exactly(model.params_type, of_params, "parameters") if of_params else None
    sums = exactly(Summary if params is None else model.stats_type, of_sums, "sums")
    require(len(of_params) + len(of_sums) == len(arrays), "it holds arrays that do not belong to statistics")
    return Statistics(
        estimator=name,
        hyperparameters=plain(estimator.get_params(deep=False)),
        n_features=meta["n_features_in"],
        names=None if names is None else tuple(names),
        params=params,
        sites=tuple(sites),
        rows=meta["rows"],
        sums=sums,
    )

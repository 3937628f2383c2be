"""Federated fits: `stats` at every site, `merge`, `update`; rows stay where they are and only sums travel."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from hiddenbits.array_types import Floats
from hiddenbits.data import Table
from hiddenbits.data.arrays import plain
from hiddenbits.data.mixed.cells import MixedTable
from hiddenbits.data.summary import Summary, summarise
from hiddenbits.engine import Key, Position, current, one_blas_thread
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.families._base.inputs import as_table, with_sample_weight
from hiddenbits.families.registry import hyperparameters_of, name_of
from hiddenbits.federated.disclosure import (
    MINIMUM_COUNT,
    Crowd,
    crowd,
    groups_of,
    refuse_small,
    refuse_unknown,
    relative,
)
from hiddenbits.federated.rounds import Federation, one_round
from hiddenbits.federated.statistics import (
    ROUNDING,
    Statistics,
    StatisticsError,
    Terms,
    is_site,
    refuse_unlawful,
    terms_differ,
)
from hiddenbits.store.validation import is_count

UNFINISHED = "unfinished"  # the stop reason of a federated fit that has not stopped


class FederatedVerbs:
    """The verbs of federated fits, for every estimator."""

    _federation: Federation | None = None
    _site: str | None = None
    _handed_out: dict[str, Summary] | None = None  # the counts of each site's table; they stay here

    def stats(
        self,
        X: object,
        sample_weight: ArrayLike | None = None,
        *,
        site: str | None = None,
        minimum_count: int = MINIMUM_COUNT,
    ) -> Statistics:
        """Return the sums over the rows of X that a federated fit needs next, at the current parameters.

        Before the first `update` they are the ones and observed cells of each column, for a start that all sites
        share; afterwards the model's statistics, one pass over the table. Small counts are refused, because they may
        speak of single people; what the statistics give away all the same is in ``docs/federated.md``.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; the same rows in every round.
        sample_weight : array of shape (rows,), optional
            Weight of each row.
        site : str, optional
            Name of this site, the same in every round; by default random and kept by this estimator.
        minimum_count : int, default=10
            Refuse where a column has a one, a zero or a blank in fewer rows than this but not in none, or where a
            class has fewer expected rows. With weights effective rows count, (Sum w)^2 / Sum w^2. 0 hands out
            everything.

        Returns
        -------
        statistics : Statistics
        """
        return _stats(self, X, sample_weight, site, minimum_count)

    def update(self, statistics: Statistics) -> Self:
        """Make the next step of a federated fit from the merged statistics of all its sites.

        The first ones make the start, all others a step of EM: the start, the steps and the stop of a `fit` to all
        rows together. `unfinished_` says whether there are further rounds; `stop_reason_` and `converged_` say how
        the fit ended. Statistics that are refused change nothing.

        Parameters
        ----------
        statistics : Statistics
            As `merge` returns them; the same at every site.

        Returns
        -------
        self
        """
        _update(self, statistics)
        return self

    @property
    def unfinished_(self) -> bool:
        """Whether a federated fit has further rounds to go, the first one included."""
        return bool(getattr(self, "stop_reason_", UNFINISHED) == UNFINISHED)


# ---------------------------------------------------------------------------------------------------- at a site


def _stats(
    estimator: Any, X: object, sample_weight: ArrayLike | None, site: str | None, minimum_count: int
) -> Statistics:
    hyperparameters = _hyperparameters(estimator)
    if not is_count(minimum_count):
        raise ValueError(f"minimum_count={minimum_count!r}: give a number of rows, or 0 to release everything.")
    if site is None:
        site = estimator._site = estimator._site or secrets.token_hex(8)
    if not is_site(site):
        raise ValueError(f"site={site!r:.80}: give a printable name of 1 to 128 characters.")
    params = _looking_at(estimator)
    columns_of = clone(estimator) if params is None else estimator  # before the start there is nothing to compare with
    # sites could guess differently what the values of a column are
    table = with_sample_weight(as_table(columns_of, X, reset=params is None, guess=False), sample_weight)
    if isinstance(table, MixedTable):
        raise ValueError("Federated fits are for tables of bits: sums of real numbers may reveal single rows.")
    names = _names(columns_of)
    summary, sums = _walk(estimator, params, table)
    _refuse_other_rows(estimator, site, summary)
    if minimum_count:
        refuse_unknown(type(estimator).__name__)
        refuse_small(minimum_count, *_counted(estimator, params, table, summary, sums), names)
    rows = table.shape[0] if table.weights is None else int(np.count_nonzero(table.weights))
    if params is None:
        # The fingerprint tells tables with the same counts apart, so it says more than counts: it stays here.
        sums = replace(summary, rows=np.asarray(float(rows)), fingerprint=np.zeros(2))
    estimator._handed_out = {**(estimator._handed_out or {}), site: summary}
    return Statistics(
        estimator=name_of(estimator),
        hyperparameters=hyperparameters,
        n_features=table.shape[1],
        names=names,
        params=params,
        sites=(site,),
        rows=rows,
        sums=sums,
    )


def _walk(estimator: Any, params: Any, table: Table) -> tuple[Summary, Any]:
    """Return the counts of a table, and its statistics at `params` where there are any."""
    model, executor = estimator._model(), current().executor
    grid = table.grid(estimator._pass_height(model, table))
    with one_blas_thread():
        summary = executor.reduce(summarise, grid)
        if params is None:
            return summary, None
        position = Position() if estimator._federation is None else estimator._federation.position
        key = Key(int(estimator.random_state), position.restart, len(position.trace))
        return summary, executor.reduce(
            partial(block_statistics, model, params, model.prepare(params), key, None), grid
        )


def _counted(estimator: Any, params: Any, table: Table, summary: Summary, sums: Any) -> tuple[Crowd, dict[str, Floats]]:
    """Return what small counts are looked for in: effective rows of columns, and of groups such as classes."""
    name = type(estimator).__name__
    if table.weights is None:
        return Crowd.of(summary), groups_of(name, sums, sums, 1.0)
    weights = relative(table.weights)
    grid = table.with_weights(weights).grid(estimator._pass_height(estimator._model(), table))
    counted = current().executor.reduce(crowd, grid)
    squares = None if params is None else _walk(estimator, params, table.with_weights(weights**2))[1]
    return counted, groups_of(name, sums, squares, float(table.weights.max()))


def _refuse_other_rows(estimator: Any, site: str, summary: Summary) -> None:
    """Refuse a table that is not that of the earlier rounds."""
    before = (estimator._handed_out or {}).get(site)
    if before is None:
        return
    ours, theirs = summary.to_arrays(), before.to_arrays()
    if not all(
        ours[name].shape == theirs[name].shape and np.allclose(ours[name], theirs[name], rtol=ROUNDING, atol=0.0)
        for name in ours
    ):
        raise StatisticsError(
            f"X is not the table that site {site!r} started with. Its rows must be the same in every round: otherwise "
            "the fit belongs to no table, and the difference of two sums reveals the changed rows. Start a new fit "
            "with a new estimator; or, if several sites share this estimator, name them, as in stats(X, "
            "site='north')."
        )


# ---------------------------------------------------------------------------------------------------- everywhere


def _update(estimator: Any, statistics: Statistics) -> None:
    hyperparameters = _hyperparameters(estimator)
    refuse_unlawful(statistics)
    if estimator._federation is not None and not estimator.unfinished_:
        raise StatisticsError(
            f"This fit has stopped ({estimator.stop_reason_}): there is nothing left to update. For another fit, use "
            "a new estimator (sklearn.base.clone)."
        )
    params = _looking_at(estimator)
    mine = Terms(
        estimator=name_of(estimator),
        hyperparameters=hyperparameters,
        n_features=statistics.n_features if params is None else estimator.n_features_in_,
        names=statistics.names if params is None else _names(estimator),
        params=params,
    )
    if difference := terms_differ(mine, statistics, "this estimator", f"site {statistics.sites[0]!r}"):
        raise StatisticsError(f"These statistics are not for this estimator: {difference}")
    if estimator._federation is None:
        federation = _begun(statistics, estimator._n_restarts)
    else:
        federation = _continued(estimator._federation, statistics)
    settings = replace(estimator._settings(), n_init=federation.n_init)
    sums = None if statistics.params is None else statistics.sums
    position, outcome = one_round(estimator._model(), settings, federation, sums)
    estimator.n_features_in_ = statistics.n_features
    if statistics.names is not None:
        estimator.feature_names_in_ = np.array(statistics.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):  # of a fit that failed
        del estimator.feature_names_in_
    estimator._federation = replace(federation, position=position)
    if outcome is not None:
        estimator._keep(outcome, statistics.weight)
    else:
        attributes = estimator._attributes_at(statistics.weight, position)
        vars(estimator).update({**attributes, "stop_reason_": UNFINISHED})


def _begun(statistics: Statistics, n_init: int) -> Federation:
    """Return a federated fit before its first step: from nothing, or from fitted parameters."""
    if statistics.params is None:
        return Federation(Position(), statistics.sums, statistics.sites, n_init)
    # No start will be made, so that of the counts only the weight is asked for.
    summary = Summary(
        np.asarray(statistics.weight), np.asarray(float(statistics.rows)), np.zeros(0), np.zeros(0), np.zeros(2)
    )
    at = Position(params=statistics.params, safe=statistics.params)
    return Federation(at, summary, statistics.sites, n_init=1)


def _continued(federation: Federation, statistics: Statistics) -> Federation:
    """Return a federated fit before its next step, having seen that the sites and their rows are the same."""
    if statistics.sites != federation.sites:
        missing, new = set(federation.sites) - set(statistics.sites), set(statistics.sites) - set(federation.sites)
        what = [f"{min(missing)!r} is missing"] if missing else []
        what += [f"{min(new)!r} was not there at the start"] if new else []
        raise StatisticsError(
            f"The sites differ from those at the start of the fit: {', '.join(what)}. Merge the same sites in every "
            "round; a site that may restart needs a name, as in stats(X, site='north')."
        )
    before = federation.summary
    if abs(statistics.weight - before.weight) > ROUNDING * before.weight or statistics.rows != before.rows:
        raise StatisticsError(
            f"The sites have {statistics.rows} rows of weight {statistics.weight:.12g}, but the fit started with "
            f"{before.rows:.0f} of weight {before.weight:.12g}. The rows must be the same in every round: find the "
            "site whose rows changed, and start a new fit."
        )
    # Within rounding they are this estimator's own parameters; where all take those that came, nobody drifts away.
    at = federation.position
    safe = statistics.params if at.safe is at.params else at.safe
    return replace(federation, position=replace(at, params=statistics.params, safe=safe))


def _hyperparameters(estimator: Any) -> dict[str, Any]:
    """Return the hyperparameters, all of which the sites share; refuse those that a federated fit cannot use."""
    estimator._validate_params()
    if not isinstance(estimator.random_state, (int, np.integer)):
        raise ValueError(
            "A federated fit needs an integer random_state=, the same at every site, so that all start alike."
        )
    if estimator.online_passes:
        raise ValueError("Federated fits have no online passes: set online_passes=0.")
    if isinstance(getattr(estimator, "start_rows", None), Integral):
        raise ValueError("A federated fit starts with all rows: remove start_rows.")
    return plain(hyperparameters_of(estimator))


def _names(estimator: Any) -> tuple[str, ...] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def _looking_at(estimator: Any) -> Any:
    """Return the parameters that the next pass looks at; None before the start."""
    if estimator._federation is not None and estimator.unfinished_:
        return estimator._federation.position.params
    return getattr(estimator, "params_", None)

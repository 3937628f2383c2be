"""`select`: how many classes, dimensions, units or causes a family should have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from hiddenbits import run_on
from hiddenbits.display import DisplayedTable, as_frame, with_error
from hiddenbits.evaluate.catalog import BY_NAME, Family
from hiddenbits.evaluate.compare import fit_cache, refuse_checkpoint
from hiddenbits.evaluate.comparison import SIZE_TIE, TriedSize, seconds
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.fit_runner import Runner, Sheets, Sized, Tell, choose_size, reporting
from hiddenbits.evaluate.measures import table_of
from hiddenbits.evaluate.same_models import Contender
from hiddenbits.evaluate.splits import group_numbers, splits
from hiddenbits.evaluate.trial import sized
from hiddenbits.tables import Table

UNITS = {"rows": "nats per row", "cells": "nats per hidden cell", "bic": "BIC", "aic": "AIC"}
CRITERIA = ("bic", "aic")


@dataclass(frozen=True, eq=False, repr=False)
class Selection(DisplayedTable):
    """A size and the evidence for it: what `select` returns.

    Attributes
    ----------
    size : object
        The chosen size.
    estimator : fitted estimator
        Of that size, fitted to all rows.
    figures : tuple of TriedSize
        One for each size.
    by : str
        "rows", "cells", "bic" or "aic".
    one_standard_error : bool
        Whether the smallest size within one standard error of the best was chosen, or the best.

    Examples
    --------
    >>> from hiddenbits import LatentClassAnalysis, evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 12, 3, random_state=0).X
    >>> evaluate.select(LatentClassAnalysis(random_state=0), X, [2, 3, 4], cv=2).estimator
    LatentClassAnalysis(n_components=3, random_state=0)
    """

    size: Any
    estimator: BaseEstimator
    figures: tuple[TriedSize, ...]
    by: str
    one_standard_error: bool

    def records(self) -> list[dict[str, Any]]:
        """Return the table as a list of dicts."""
        return [asdict(figure) for figure in self.figures]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return the table as a frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; by default the first that is installed.
        """
        records = self.records()
        return as_frame({name: [record[name] for record in records] for name in records[0]}, backend)

    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        best = next((f for f in self.figures if f.difference == 0.0), None)  # with it the others are compared
        if self.by in CRITERIA:
            rule = f"the smallest {UNITS[self.by]}"
            both = [(_bare(f.value), "best" if f is best else _bare(f.difference)) for f in self.figures]
        else:
            rule = "the smallest within one standard error of the best" if self.one_standard_error else "the best"
            both = [(with_error(f.value, f.standard_error), "best" if f is best else _behind(f)) for f in self.figures]
        lines = [
            [f.size + (" *" if f.chosen else ""), _count(f.n_parameters), *shown, f.kind, seconds(f.seconds)]
            for f, shown in zip(self.figures, both, strict=True)
        ]
        below = [f"* {rule}.", *(f"{f.size}: {f.note}." for f in self.figures if f.note)]
        return [], ["size", "parameters", UNITS[self.by], "behind the best", "", "fits"], lines, below


def select(
    estimator: BaseEstimator,
    X: object,
    sizes: Sequence[Any] | None = None,
    *,
    by: Literal["rows", "cells", "bic", "aic"] = "rows",
    one_standard_error: bool = True,
    cv: object = None,
    groups: ArrayLike | None = None,
    held_out_share: float = 0.1,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | Tell = True,
) -> Selection:
    """Choose the number of classes, dimensions, units or causes of one family, and fit it to all rows.

    All sizes are scored on the same rows or cells, so their differences are paired. `compare` uses the same rule and
    the same rows: with the same settings and seed it chooses the same size. Runs on the executor set by `run_on`.

    Parameters
    ----------
    estimator : estimator or str
        An estimator, which is not modified, or the name of a family, for its default settings.
    X : table of shape (rows, columns)
        As for its `fit`.
    sizes : list, optional
        Values of n_components, the smallest first; all are tried. By default the sizes that `compare` tries.
    by : {"rows", "cells", "bic", "aic"}, default="rows"
        Score sizes by the likelihood of held-out rows, by the log-loss of cells hidden at random, or by the Bayesian or
        Akaike information criterion, which need an exact likelihood. The criteria are defined for maximum likelihood,
        so with them the sizes are fitted without the estimator's prior.
    one_standard_error : bool, default=True
        Choose the smallest size whose difference from the best is within one standard error of that difference:
        held-out data cannot distinguish such sizes, and the smaller is simpler. False takes the best.
    cv : None, float, int, splitter or list of pairs, default=None
        Held-out rows, as for `compare`.
    groups : array of shape (rows,), optional
        Rows with the same label are held out together, or have the same cells hidden.
    held_out_share : float, default=0.1
        With ``by="cells"``: share of the cells to hide.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.
    random_state : int, default=0
        Random seed for splits and hidden cells, and for an estimator whose `random_state` is None.
    folder : path, optional
        Save every finished fit there, as for `compare`.
    progress : bool or function, default=True
        As for `compare`.

    Returns
    -------
    selection : Selection

    Warns
    -----
    DuplicateRowsWarning
        If equal rows look like copies and no `groups` were given.

    Examples
    --------
    >>> from hiddenbits import LatentClassAnalysis, evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 12, 3, random_state=0).X
    >>> found = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2, 3, 4, 5])
    >>> found.size, found.estimator.weights_.shape
    (3, (3,))
    >>> evaluate.select("LatentClassAnalysis", X, [2, 3, 4], by="bic").size
    3
    """
    if by not in UNITS:
        raise ValueError(f"by={by!r} is not one of {', '.join(map(repr, UNITS))}.")
    if isinstance(estimator, str):
        if estimator not in BY_NAME:
            raise ValueError(f"Unknown model {estimator!r}. Choose from {', '.join(BY_NAME)}, or give an estimator.")
        estimator = BY_NAME[estimator].estimator(random_state)
    if not hasattr(type(estimator), "_likelihood_kind"):
        raise ValueError(f"{type(estimator).__name__} is not a hiddenbits estimator. Use scikit-learn's GridSearchCV.")
    table = table_of(estimator, X, sample_weight, fitted=False)
    wanted = tuple(sizes) if sizes is not None else _usual(estimator, table)
    if not wanted:
        raise ValueError("sizes= is empty. Give the values of n_components to choose from.")
    judged = _without_prior(estimator, by) if by in CRITERIA else estimator
    name = type(estimator).__name__
    contender = Contender(name, BY_NAME.get(name, Family(name=name, hidden="")), judged, wanted, sizes is not None)
    if groups is None and by not in CRITERIA:
        warn_of_copies(table)
    with run_on() as engine, reporting(progress) as tell:
        refuse_checkpoint(engine)
        if by == "rows":
            sheets = Sheets.by_rows(table, splits(table, cv, random_state, groups))
        elif by == "cells":
            numbers = None if groups is None else group_numbers(groups, table.shape[0])
            sheets = Sheets.by_cells(table, held_out_share, random_state, numbers)
        else:
            sheets = Sheets.whole(table)
        runner = Runner(fit_cache(folder, table), tell, len(wanted) * len(sheets.sheets) + 1, random_state)
        found = choose_size(contender, sheets, runner, SIZE_TIE if one_standard_error else 0.0)
        if found.at is None:
            raise ValueError(f"No size could be fitted and scored. {found.steps[0].trials[-1].note}")
        at, figures = _by_criterion(found, sheets, by) if by in CRITERIA else (found.at, tuple(found.tried))
        size = found.steps[at].size
        model = sized(estimator, size, random_state).fit(table)
    return Selection(size, model, figures, by, one_standard_error)


def _usual(estimator: BaseEstimator, table: Table) -> tuple[Any, ...]:
    family = BY_NAME.get(type(estimator).__name__)
    if family is None or not family.sizes:
        raise ValueError(f"{type(estimator).__name__} has no default sizes. Give sizes= to choose from.")
    return family.sizes_for(table)


def _without_prior(estimator: BaseEstimator, by: str) -> Any:
    """Return the estimator set to fit by maximum likelihood; raise if it cannot."""
    if not hasattr(estimator, "_without_prior"):
        raise ValueError(
            f'by="{by}" needs maximum-likelihood fits, which {type(estimator).__name__} does not do. Use by="rows".'
        )
    return estimator._without_prior()


def _by_criterion(found: Sized, sheets: Sheets, by: str) -> tuple[int, tuple[TriedSize, ...]]:
    """Return the index of the size with the smallest criterion, and the figures of all sizes."""
    values = []
    for step in found.steps:
        if step.scores is not None and step.scores.kind != "exact":
            model = step.trials[0].model
            raise ValueError(
                f'by="{by}" needs an exact likelihood, and that of {model} is not ({step.scores.kind}). Use by="rows".'
            )
        penalty = 2.0 if by == "aic" else np.log(sheets.weights.sum())
        values.append(
            np.inf
            if step.scores is None
            else -2.0 * float(sheets.weights @ step.scores.values) + penalty * step.n_parameters
        )
    at = int(np.argmin(values))
    figures = [
        one
        if np.isinf(value)
        else replace(one, value=value, standard_error=None, difference=value - values[at], difference_error=None)
        for one, value in zip(found.tried, values, strict=True)
    ]
    return at, tuple(replace(one, chosen=place == at) for place, one in enumerate(figures))


def _behind(tried: TriedSize) -> str:
    """Return how far a size is behind the best."""
    return with_error(None if tried.difference is None else abs(tried.difference), tried.difference_error)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number}"


def _bare(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"

"""`select`: how many classes, dimensions, units or causes a family should have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Table, run_on, take_rows
from hiddenbits.evaluate.compare import kept_in, refuse_checkpoint, weighted
from hiddenbits.evaluate.families import BY_NAME
from hiddenbits.evaluate.frames import Shown, as_frame, seconds, with_error
from hiddenbits.evaluate.measures import table_of
from hiddenbits.evaluate.progress import Tell, reporting
from hiddenbits.evaluate.runs import Runner, held, per_cell, rows_digest, weights_of
from hiddenbits.evaluate.scores import RowScores, apart_from_best, chosen, joined, mean_of
from hiddenbits.evaluate.splits import Split, splits
from hiddenbits.evaluate.trial import Trial, on_rows, sized

Floats = NDArray[np.float64]
UNITS = {"rows": "nats a row", "cells": "nats a hidden cell", "bic": "BIC"}


@dataclass(frozen=True)
class SizeFigure:
    """One size.

    Attributes
    ----------
    size : str
    value : float or None
        Mean log-likelihood of a held-out row, minus the log-loss of a hidden cell, or BIC; None where it was refused.
    standard_error : float or None
        Over rows. BIC has none.
    difference, difference_error : float or None
        To the best size on the same rows, and its standard error: at most 0; of BIC at least 0.
    kind : str
        "exact", "bound" or "estimate".
    seconds : float
        Of its fits.
    chosen : bool
    note : str

    Examples
    --------
    >>> from hiddenbits.evaluate.select import SizeFigure
    >>> SizeFigure("2", -6.0, 0.1, 0.0, 0.0, "exact", 0.5, True, "").chosen
    True
    """

    size: str
    value: float | None
    standard_error: float | None
    difference: float | None
    difference_error: float | None
    kind: str
    seconds: float
    chosen: bool
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Shown):
    """A size and the evidence for it: what `select` returns.

    Attributes
    ----------
    size : object
        The size that was chosen.
    estimator : fitted estimator
        Of that size, fitted to all rows.
    figures : tuple of SizeFigure
        One for each size.
    by : str
        "rows", "cells" or "bic".
    one_standard_error : bool
        Whether the smallest size within one standard error of the best was chosen, or the best.

    Examples
    --------
    >>> from hiddenbits import BernoulliMixture, evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 12, 3, seed=0).X
    >>> evaluate.select(BernoulliMixture(random_state=0), X, [2, 3, 4], cv=2).estimator
    BernoulliMixture(n_components=3, random_state=0)
    """

    size: Any
    estimator: Any
    figures: tuple[SizeFigure, ...]
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
            Whose frame; by default of the first that is installed.
        """
        records = self.records()
        return as_frame({name: [record[name] for record in records] for name in records[0]}, backend)

    def _shown(self) -> tuple[list[str], list[list[str]], list[str]]:
        digits = 1 if self.by == "bic" else 4
        lines = [
            [
                f.size + (" *" if f.chosen else ""),
                with_error(f.value, f.standard_error, digits) if self.by != "bic" else _bare(f.value),
                with_error(f.difference, f.difference_error, digits) if self.by != "bic" else _bare(f.difference),
                f.kind,
                seconds(f.seconds),
            ]
            for f in self.figures
        ]
        rule = "the smallest within one standard error of the best" if self.one_standard_error else "the best"
        rule = "the smallest BIC" if self.by == "bic" else rule
        below = [f"* {rule}.", *(f"{f.size}: {f.note}." for f in self.figures if f.note)]
        return ["size", UNITS[self.by], "to the best", "", "fits"], lines, below


def select(
    estimator: Any,
    X: Any,
    sizes: Sequence[Any] | None = None,
    *,
    by: Literal["rows", "cells", "bic"] = "rows",
    one_standard_error: bool = True,
    cv: Any = 5,
    hidden_share: float = 0.1,
    sample_weight: Any = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | Tell = True,
) -> Selection:
    """Choose the number of classes, dimensions, units or causes of one family, and fit it to all rows.

    All sizes are judged on the same rows or cells, so that differences between them are sharp. Runs where `run_on`
    says.

    Parameters
    ----------
    estimator : estimator
        Its settings are used; it stays as it is.
    X : table of shape (rows, columns)
        As for its `fit`.
    sizes : list, optional
        Values of n_components, the smallest first; by default those that `compare` tries.
    by : {"rows", "cells", "bic"}, default="rows"
        Judge by the likelihood of held-out rows; by the log-loss of cells that are hidden at random; or by the
        Bayesian information criterion, where the likelihood is exact and the fit is one of maximum likelihood.
    one_standard_error : bool, default=True
        Choose the smallest size whose difference to the best is within one standard error of that difference. Held-out
        data cannot tell such sizes apart, and the smaller is the simpler picture. False takes the best.
    cv : float, int, splitter or list of pairs, default=5
        Held-out rows, as for `compare`.
    hidden_share : float, default=0.1
        With ``by="cells"``: share of the cells that are hidden.
    sample_weight : array of shape (rows,), optional
        Weight of each row.
    seed : int, default=0
        Of splits and hidden cells, and of an estimator without a seed of its own.
    folder : path, optional
        Keep every finished fit there, as for `compare`.
    progress : bool or function, default=True
        As for `compare`.

    Returns
    -------
    selection : Selection

    Examples
    --------
    >>> from hiddenbits import BernoulliMixture, evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 12, 3, seed=0).X
    >>> found = evaluate.select(BernoulliMixture(random_state=0), X, [1, 2, 3, 4, 5], cv=2)
    >>> found.size, found.estimator.weights_.shape
    (3, (3,))
    >>> evaluate.select(BernoulliMixture(random_state=0), X, [2, 3, 4], by="bic").size
    3
    """
    if by not in UNITS:
        raise ValueError(f"by={by!r} is not one of {', '.join(map(repr, UNITS))}.")
    if not hasattr(type(estimator), "likelihood_"):
        raise ValueError(f"{type(estimator).__name__} is none of this library's. Use scikit-learn's GridSearchCV.")
    table = weighted(table_of(estimator, X, fitted=False), sample_weight)
    wanted = tuple(sizes) if sizes is not None else _usual(estimator, table)
    if not wanted:
        raise ValueError("sizes= is empty. Give the values of n_components to choose from.")
    if by == "bic":
        _need_maximum_likelihood(estimator)
    everything = np.arange(table.shape[0])
    dealt = splits(table, cv, seed) if by == "rows" else [Split(everything, everything)]
    name = type(estimator).__name__
    with run_on() as engine, reporting(progress) as tell:
        refuse_checkpoint(engine)
        runner = Runner(kept_in(folder, table), tell, len(wanted) * len(dealt) + 1, seed)
        trials: list[list[Trial]] = [[] for _ in wanted]
        for split in dealt:
            if by == "bic":
                train, judge, job = table, on_rows(table), {"by": by, "rows": rows_digest(everything)}
            else:
                train, judge, job = held(table, by, split, everything, hidden_share, seed)
            for size, found in zip(wanted, trials, strict=True):
                found.append(runner.run(name, estimator, size, train, judge, job, keep=by == "bic"))
        weights = np.concatenate([weights_of(take_rows(table, split.test)) for split in dealt])
        at, figures = _judged(wanted, trials, weights, by, one_standard_error=one_standard_error)
        model = trials[at][0].model if by == "bic" else sized(estimator, wanted[at], seed).fit(table)
    return Selection(wanted[at], model, figures, by, one_standard_error)


def _usual(estimator: Any, table: Table) -> tuple[Any, ...]:
    family = BY_NAME.get(type(estimator).__name__)
    if family is None or not family.sizes:
        raise ValueError(f"{type(estimator).__name__} has no usual sizes. Give sizes= to choose from.")
    return family.sizes_for(table)


def _need_maximum_likelihood(estimator: Any) -> None:
    """Refuse BIC for fits of which it says nothing."""
    name = type(estimator).__name__
    if not hasattr(type(estimator), "n_parameters_"):
        raise ValueError(f'by="bic" needs the number of free parameters, which {name} does not tell. Use by="rows".')
    if name == "ClippedPCA":
        raise ValueError('by="bic" is for fits of maximum likelihood, and ClippedPCA goes by pairs. Use by="rows".')


def _judged(
    sizes: Sequence[Any], trials: list[list[Trial]], weights: Floats, by: str, *, one_standard_error: bool
) -> tuple[int, tuple[SizeFigure, ...]]:
    """Return the place of the chosen size, and the figures of all."""
    scores: list[RowScores | None] = [_joined(found) for found in trials]
    if all(one is None for one in scores):
        raise ValueError(f"No size could be judged. {trials[0][0].note}")
    if by == "bic":
        values = [_bic(one, found[0], weights) for one, found in zip(scores, trials, strict=True)]
        at = int(np.argmin(values))
        rows: list[Any] = [(v, None, v - values[at], None) if np.isfinite(v) else (None,) * 4 for v in values]
    else:
        per = next(per_cell(found[0]) for found, one in zip(trials, scores, strict=True) if one is not None)
        means = [None if one is None else mean_of(one, weights, per) for one in scores]
        differences = apart_from_best(scores, weights, per)
        at = chosen(differences, one_standard_error=one_standard_error)  # type: ignore[assignment]
        rows = [
            (None,) * 4 if mean is None or apart is None else (mean.value, mean.standard_error, *apart)
            for mean, apart in zip(means, differences, strict=True)
        ]
    figures = []
    for place, (size, (value, spread, apart, error), one, found) in enumerate(
        zip(sizes, rows, scores, trials, strict=True)
    ):
        kind = "" if one is None else one.kind
        note = "; ".join(dict.fromkeys(trial.note for trial in found if trial.note))
        time = sum(trial.seconds for trial in found)
        figures.append(SizeFigure(str(size), value, spread, apart, error, kind, time, place == at, note))
    return at, tuple(figures)


def _joined(found: list[Trial]) -> RowScores | None:
    """Return the rows of all splits; None where a split was refused."""
    parts = [trial.scores for trial in found if trial.scores is not None]
    return joined(parts) if len(parts) == len(found) else None


def _bic(scores: RowScores | None, trial: Trial, weights: Floats) -> float:
    """Return -2 ln L + parameters * ln rows; refuse a likelihood that is not exact."""
    if scores is None:
        return np.inf
    if scores.kind != "exact":
        raise ValueError(f'by="bic" needs exact likelihoods, and {trial.model} has an {scores.kind}. Use by="rows".')
    return float(-2.0 * weights @ scores.values + trial.model.n_parameters_ * np.log(weights.sum()))


def _bare(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"

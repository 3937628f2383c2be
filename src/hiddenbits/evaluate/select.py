"""`select`: the number of classes, dimensions, units or causes of a family."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from hiddenbits import diagnostics, run_on
from hiddenbits.display import DisplayedTable, as_frame, number, percent, with_error
from hiddenbits.evaluate.catalog import BY_NAME, Family
from hiddenbits.evaluate.compare import fit_cache, refuse_checkpoint
from hiddenbits.evaluate.comparison import SIZE_TIE_ERRORS, TriedSize, seconds
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.fit_runner import Runner, ScoringPlan, SizeSearch, choose_size
from hiddenbits.evaluate.measures import table_of
from hiddenbits.evaluate.progress import OnProgress, progress_reporter
from hiddenbits.evaluate.same_models import Contender
from hiddenbits.evaluate.splits import group_numbers, splits
from hiddenbits.quoting import message_of, printable
from hiddenbits.tables import Table

UNITS = {"rows": "nats per row", "cells": "nats per held-out cell", "bic": "BIC", "aic": "AIC"}
CRITERIA = ("bic", "aic")


@dataclass(frozen=True)
class ClassesFit:
    """What papers report about a number of classes; of `select` by a criterion, for families of classes.

    Attributes
    ----------
    size : object
        Number of classes, K.
    log_likelihood : float
        ln L of all rows, at maximum likelihood.
    n_parameters : int
        Free parameters, p.
    aic, bic, sabic : float
        -2 ln L + 2 p, + p ln N, and, adjusted for the sample size, + p ln((N + 2) / 24).
    icl : float
        Integrated completed likelihood, BIC + 2 EN, where EN is the sum of the entropies of all rows' posteriors
        (McLachlan and Peel's ICL-BIC): it prefers classes that lie apart.
    entropy : float or None
        Relative entropy, 1 - EN / (N ln K): 1 if the class of every row is certain; None for one class.
    smallest_class : float
        Share of the smallest class.
    replicated_starts : int or None
        Starts that reached the best log-likelihood; None if the family does not count them.
    starts : int
        Starts of the fit.
    lrt_p : float or None
        p-value of the bootstrap likelihood-ratio test against one class fewer; None if it was not made.
    chosen : bool
        Whether this size was chosen.
    note : str
        A remark, such as that the fit did not converge.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(500, 6, 2, random_state=0).X
    >>> evaluate.select("LatentClassAnalysis", X, [1, 2], by="bic").classes[0].n_parameters
    6
    """

    size: Any
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    sabic: float
    icl: float
    entropy: float | None
    smallest_class: float
    replicated_starts: int | None
    starts: int
    lrt_p: float | None
    chosen: bool
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Selection(DisplayedTable):
    """The result of `select`: a size, and the scores of all sizes.

    Attributes
    ----------
    size : object
        The chosen size.
    estimator : fitted estimator
        The estimator of that size, fitted to all rows.
    figures : tuple of TriedSize
        The score of each size.
    by : str
        "rows", "cells", "bic" or "aic".
    one_standard_error : bool
        Whether the smallest size within one standard error of the best was chosen, and not the best.
    classes : tuple of ClassesFit
        By a criterion, for a family of classes: the table that papers report, which is printed and is the data frame.

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
    classes: tuple[ClassesFit, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return the table as a list of dicts."""
        return [asdict(size) for size in self.classes or self.figures]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame; by default the first that is installed.
        """
        records = self.records()
        return as_frame({name: [record[name] for record in records] for name in records[0]}, backend)

    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        if self.classes:
            failed = [f"{size.size}: {size.note.rstrip('.')}." for size in self.figures if size.value is None]
            head, lines, footnotes = _table_of_classes(self.classes, UNITS[self.by])
            return [], head, lines, footnotes + failed
        sizes = self.figures
        best = next((s for s in sizes if s.difference == 0.0), None)  # the others are compared with it
        if self.by in CRITERIA:
            rule = f"the smallest {UNITS[self.by]}"
            scores = [(_one_decimal(s.value), "best" if s is best else _one_decimal(s.difference)) for s in sizes]
        else:
            rule = "the smallest within one standard error of the best" if self.one_standard_error else "the best"
            scores = [(with_error(s.value, s.standard_error), "best" if s is best else _difference(s)) for s in sizes]
        lines = [
            [s.size + (" *" if s.chosen else ""), _count(s.n_parameters), *score, s.kind, seconds(s.seconds)]
            for s, score in zip(sizes, scores, strict=True)
        ]
        footnotes = [f"* {rule}.", *(f"{s.size}: {s.note}." for s in sizes if s.note)]
        return [], ["size", "parameters", UNITS[self.by], "from the best", "", "fits"], lines, footnotes


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
    lrt_replicates: int = 0,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | OnProgress = True,
) -> Selection:
    """Choose the number of classes, dimensions, units or causes of one family, and fit it to all rows.

    All sizes are scored on the same rows or cells, so their differences are paired. `compare` uses the same rule and
    the same rows: with the same settings and seed it chooses the same size. By a criterion, the result for a family of
    classes is the table that papers report (`ClassesFit`). Runs on the executor set by `run_on`, many fits at once.

    Parameters
    ----------
    estimator : estimator or str
        An estimator, which is not modified, or the name of a family, for its default settings.
    X : table of shape (rows, columns)
        As for `fit`.
    sizes : list, optional
        Values of n_components, the smallest first; all are tried. By default the sizes that `compare` tries.
    by : {"rows", "cells", "bic", "aic"}, default="rows"
        Score sizes by the likelihood of held-out rows, by the log-loss of cells held out at random, or by the Bayesian
        or Akaike information criterion, which need an exact likelihood. The criteria are defined for maximum
        likelihood, so the sizes are then fitted without the estimator's prior.
    one_standard_error : bool, default=True
        Choose the smallest size whose difference from the best is within one standard error of that difference:
        held-out data cannot distinguish such sizes, and the smaller is simpler. False takes the best.
    cv : None, float, int, splitter or list of pairs, default=None
        Held-out rows, as for `compare`.
    groups : array of shape (rows,), optional
        Rows with the same label are held out together, or have the same cells held out.
    held_out_share : float, default=0.1
        With ``by="cells"``: share of the cells to hold out.
    lrt_replicates : int, default=0
        With a criterion, for families of classes: test each size against one class fewer, if that is among `sizes`, by
        a bootstrap likelihood-ratio test with so many simulated tables (`diagnostics.bootstrap_lrt`); 99 or more for
        p-values that you publish. The test does not affect the choice.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.
    random_state : int, default=0
        Random seed for splits and held-out cells, and for an estimator whose `random_state` is None.
    folder : path, optional
        Save every finished fit in this folder, as for `compare`.
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
    >>> selection = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2, 3, 4, 5])
    >>> selection.size, selection.estimator.weights_.shape
    (3, (3,))

    How many classes explain seven pathologists' ratings of 118 slides? The table that papers report: BIC prefers three
    classes; by the tests, one and two are too few, and a fourth is not needed.

    >>> from hiddenbits import datasets, open_table, run_on, tables
    >>> slides = datasets.load_carcinoma()
    >>> X = tables.repeat_rows(open_table(slides.X, sample_weight=slides.sample_weight))
    >>> model = LatentClassAnalysis(n_init=10, random_state=0)
    >>> with run_on(n_jobs=2):
    ...     print(evaluate.select(model, X, [1, 2, 3, 4], by="bic", lrt_replicates=19))
    classes     ln L  par.     AIC     BIC    aBIC     ICL  entropy  smallest    starts  LRT p
    1        -524.46     7  1062.9  1082.3  1060.2  1082.3        -    100.0%  10 of 10      -
    2        -317.26    15   664.5   706.1   658.7   708.4    0.986     49.9%  10 of 10  0.050
    3 *      -293.70    23   633.4   697.1   624.4   716.4    0.926     18.2%   9 of 10  0.050
    4        -289.29    31   640.6   726.5   628.5   760.5    0.896      9.7%   5 of 10  0.200
    * the smallest BIC.
    par.: free parameters; aBIC: adjusted BIC; smallest: share of the smallest class;
    starts: those that reached the best log-likelihood;
    LRT p: bootstrap likelihood-ratio test against one class fewer.
    """
    if by not in UNITS:
        raise ValueError(f"by={by!r} is not one of {', '.join(map(repr, UNITS))}.")
    if lrt_replicates and by not in CRITERIA:
        raise ValueError(f'lrt_replicates={lrt_replicates} needs maximum-likelihood fits: give by="bic" or by="aic".')
    if isinstance(estimator, str):
        if estimator not in BY_NAME:
            raise ValueError(f"Unknown model {estimator!r}. Choose from {', '.join(BY_NAME)}, or give an estimator.")
        estimator = BY_NAME[estimator].estimator(random_state)
    if not hasattr(type(estimator), "_likelihood_kind"):
        raise ValueError(f"{type(estimator).__name__} is not a hiddenbits estimator. Use scikit-learn's GridSearchCV.")
    table = table_of(estimator, X, sample_weight, fitted=False)
    if lrt_replicates and table.weights is not None:
        raise ValueError(
            "lrt_replicates= simulates tables, whose rows have no weights. Weights that count equal rows can be "
            "expanded: hiddenbits.tables.repeat_rows."
        )
    all_sizes = tuple(sizes) if sizes is not None else _default_sizes(estimator, table)
    if not all_sizes:
        raise ValueError("sizes= is empty. Give the values of n_components to choose from.")
    scored = _without_prior(estimator, by) if by in CRITERIA else estimator
    name = type(estimator).__name__
    contender = Contender(name, BY_NAME.get(name, Family(name=name, hidden="")), scored, all_sizes, sizes is not None)
    if groups is None and by not in CRITERIA:
        warn_of_copies(table)
    with run_on() as engine, progress_reporter(progress) as on_progress:
        refuse_checkpoint(engine)
        if by == "rows":
            plan = ScoringPlan.by_rows(table, splits(table, cv, random_state, groups))
        elif by == "cells":
            numbers = None if groups is None else group_numbers(groups, table.shape[0])
            plan = ScoringPlan.by_cells(table, held_out_share, random_state, numbers)
        else:
            plan = ScoringPlan.by_criterion(table)
        runner = Runner(fit_cache(folder, table), on_progress, len(all_sizes) * len(plan.splits) + 1, random_state)
        search = choose_size(contender, plan, runner, SIZE_TIE_ERRORS if one_standard_error else 0.0)
        if search.chosen is None:
            raise ValueError(f"No size could be fitted and scored. {search.results[0].trials[-1].note}")
        chosen, tried = _by_criterion(search, plan, by) if by in CRITERIA else (search.chosen, tuple(search.tried))
        size = search.results[chosen].size
        model = runner.clone_at_size(estimator, size).fit(table)
        fits = _classes_fits(search, tried, table, lrt_replicates, random_state) if by in CRITERIA else ()
    return Selection(size, model, tried, by, one_standard_error, fits)


def _default_sizes(estimator: BaseEstimator, table: Table) -> tuple[Any, ...]:
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


def _by_criterion(search: SizeSearch, plan: ScoringPlan, by: str) -> tuple[int, tuple[TriedSize, ...]]:
    """Return the index of the size with the smallest criterion, and the criteria of all sizes."""
    values = []
    for result in search.results:
        if result.scores is not None and result.scores.kind != "exact":
            model, kind = result.trials[0].model, result.scores.kind
            raise ValueError(
                f'by="{by}" needs an exact likelihood, and that of {model} is not ({kind}). Use by="rows".'
            )
        penalty = 2.0 if by == "aic" else np.log(plan.weights.sum())
        values.append(
            np.inf
            if result.scores is None
            else -2.0 * float(plan.weights @ result.scores.values) + penalty * result.n_parameters
        )
    best = int(np.argmin(values))
    tried = [
        size
        if np.isinf(value)
        else replace(size, value=value, standard_error=None, difference=value - values[best], difference_error=None)
        for size, value in zip(search.tried, values, strict=True)
    ]
    return best, tuple(replace(size, chosen=i == best) for i, size in enumerate(tried))


def _classes_fits(
    search: SizeSearch, tried: Sequence[TriedSize], table: Table, lrt_replicates: int, seed: int
) -> tuple[ClassesFit, ...]:
    """Return what papers report about each size that could be fitted; nothing for a family without classes."""
    fitted: list[tuple[Any, Any, TriedSize]] = [
        (result.size, result.trials[0].model, size)
        for result, size in zip(search.results, tried, strict=True)
        if result.scores is not None
    ]
    if not all(hasattr(model, "weights_") and hasattr(model, "predict_proba") for _, model, _ in fitted):
        if lrt_replicates:
            raise ValueError("lrt_replicates= needs a family of classes, such as LatentClassAnalysis.")
        return ()
    by_size: dict[Any, Any] = {n_classes: model for n_classes, model, _ in fitted}
    fits = []
    for n_classes, model, size in fitted:
        fit, K = diagnostics.fit_statistics(model, table), len(model.weights_)
        entropy = diagnostics.entropy(model, table) if K > 1 else None
        uncertain = 0.0 if entropy is None else (1.0 - entropy) * fit.rows * np.log(K)
        p, note = None, size.note
        if lrt_replicates and n_classes - 1 in by_size:
            smaller = by_size[n_classes - 1]
            try:
                p = diagnostics.bootstrap_lrt(smaller, model, table, n_replicates=lrt_replicates, random_state=seed).p
            except ValueError as error:  # such as a larger model that ended below the smaller one
                note = "; ".join(filter(None, [note, f"not tested: {printable(message_of(error)).rstrip('.')}"]))
        fits.append(
            ClassesFit(
                size=n_classes,
                **{name: getattr(fit, name) for name in ("log_likelihood", "n_parameters", "aic", "bic", "sabic")},
                icl=float(fit.bic + 2.0 * uncertain),
                entropy=entropy,
                smallest_class=float(np.min(model.weights_)),
                replicated_starts=diagnostics.replicated_starts(model) if hasattr(model, "_n_agreeing") else None,
                starts=len(model.restarts_),
                lrt_p=p,
                chosen=size.chosen,
                note=note,
            )
        )
    return tuple(fits)


def _table_of_classes(fits: Sequence[ClassesFit], unit: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head, the lines and the sentences below of the table that papers report."""
    head = ["classes", "ln L", "par.", "AIC", "BIC", "aBIC", "ICL", "entropy", "smallest", "starts"]
    lines = [
        [
            f"{fit.size}{' *' if fit.chosen else ''}",
            *(f"{fit.log_likelihood:.2f}", str(fit.n_parameters)),
            *(f"{value:.1f}" for value in (fit.aic, fit.bic, fit.sabic, fit.icl)),
            *(number(fit.entropy, 3), percent(fit.smallest_class)),
            f"{'-' if fit.replicated_starts is None else fit.replicated_starts} of {fit.starts}",
            *([number(fit.lrt_p, 3)] if tested else []),
        ]
        for tested in [any(fit.lrt_p is not None for fit in fits)]
        for fit in fits
    ]
    footnotes = [
        f"* the smallest {unit}.",
        "par.: free parameters; aBIC: adjusted BIC; smallest: share of the smallest class;",
        "starts: those that reached the best log-likelihood.",
    ]
    if len(lines[0]) > len(head):
        head.append("LRT p")
        footnotes[-1] = footnotes[-1][:-1] + ";"
        footnotes.append("LRT p: bootstrap likelihood-ratio test against one class fewer.")
    return head, lines, footnotes + [f"{fit.size}: {fit.note}." for fit in fits if fit.note]


def _difference(tried: TriedSize) -> str:
    """Return the difference of a size from the best, without its sign."""
    return with_error(None if tried.difference is None else abs(tried.difference), tried.difference_error)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number}"


def _one_decimal(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"

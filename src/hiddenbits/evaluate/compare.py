"""`compare`: the family of models that fits a table best, by the likelihood of held-out rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits import open_table, run_on
from hiddenbits.array_types import Floats
from hiddenbits.evaluate.comparison import SIZE_TIE_ERRORS, TIE_ERRORS, Comparison, ComparisonEntry, TriedSize
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.fit_runner import Runner, ScoringPlan, SizeResult, SizeSearch, choose_size
from hiddenbits.evaluate.held_out_cells import calibration_error
from hiddenbits.evaluate.measures import PIECE_CELLS, cells_of_rows
from hiddenbits.evaluate.progress import OnProgress, progress_reporter
from hiddenbits.evaluate.row_scores import RowLogLikelihoods, concat_rows, difference, error_and_bias, mean_of, simplest
from hiddenbits.evaluate.same_models import Contender, chosen_families, equivalent_models
from hiddenbits.evaluate.splits import group_numbers, splits
from hiddenbits.evaluate.trial import ExtraMeasures, Trial
from hiddenbits.fit_cache import FitCache, table_digest, versions
from hiddenbits.tables import Table, map_pieces, take_rows

ALL_MEASURES = ("leave_one_out_error", "code_length", "calibration")


def compare(
    X: object,
    models: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    cv: object = None,
    groups: ArrayLike | None = None,
    sizes: Mapping[str, Sequence[Any]] | None = None,
    by: Literal["rows", "cells"] = "rows",
    one_standard_error: bool = True,
    held_out_share: float = 0.1,
    measures: Sequence[str] = ALL_MEASURES,
    n_measured: int = 2000,
    reals: bool = False,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | OnProgress = True,
) -> Comparison:
    """Fit every family at several sizes, score the fits on held-out rows, and choose the simplest of the best.

    Every family is fitted at larger and larger sizes, until two sizes in a row score worse than the best on the
    held-out rows, one is clearly worse, or larger ones cannot catch up with another family even if every unit gained as
    much as the last one. Within a family, the smallest size within one standard error of the best is chosen; among the
    families, the one with the fewest free parameters within two standard errors of the highest. `select`, the command
    line and the report use the same rule on the same rows. Runs on the executor set by `run_on`.

    Where families coincide, the model is fitted and listed once, by its best-known name: a combination machine of one
    unit is two classes. `left_out` then has the other family.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Binary data, or real numbers with `reals`: array, sparse array, data frame, path or Table.
    models : list of names or estimators, or dict, optional
        The families; by default those that suit the columns, except a few (see `left_out` of the result). An estimator
        is fitted with its own settings, at the sizes of its family. The keys of a dict are the names in the result.
    cv : None, float, int, splitter or list of pairs, default=None
        Which rows are held out. A share of the rows; a number of folds, each held out once; a scikit-learn splitter; or
        pairs of arrays (training rows, test rows). None holds out one quarter of the rows after the other until 1,000
        rows have been scored: all rows of a small table, one quarter of a table with 4,000 rows or more. A table
        with more than 40,000 rows is sampled at random to 40,000 rows; 0.25 uses all rows.
    groups : array of shape (rows,), optional
        Rows with the same label are held out together, such as rows of one respondent, or copies of one row.
    sizes : dict, optional
        Sizes to try for each name, the smallest first; all are tried. An empty list keeps the size of the estimator.
    by : {"rows", "cells"}, default="rows"
        Choose sizes on held-out rows, or on held-out cells.
    one_standard_error : bool, default=True
        Take the smallest size whose difference from the best is within one standard error of that difference; False
        takes the best.
    held_out_share : float, default=0.1
        Share of the cells to hold out, for ``by="cells"`` and for the calibration of imputed cells.
    measures : list, default=("leave_one_out_error", "code_length", "calibration")
        Measures in addition to the likelihood, for binary data; they do not affect the choice.
    n_measured : int, default=2000
        Maximum number of test rows per split for these measures, sampled at random, the same for all families.
    reals : bool, default=False
        Whether the columns are real numbers, as for `open_table`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.
    random_state : int, default=0
        Random seed for splits, held-out cells, and estimators whose `random_state` is None.
    folder : path, optional
        Save every finished fit in this folder: the same call after a crash repeats none of them. A fit is identified by
        its rows, settings and package versions, so several comparisons can share a folder.
    progress : bool or function, default=True
        Show a progress bar in a terminal (by rich, if installed); or call progress(text, done, total).

    Returns
    -------
    comparison : Comparison

    Warns
    -----
    DuplicateRowsWarning
        If equal rows look like copies and no `groups` were given.

    See Also
    --------
    select : choose the size of one family.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 10, 3, random_state=0).X
    >>> comparison = evaluate.compare(X, ["IndependentColumns", "LatentClassAnalysis", "BinarySparseCoding"])
    >>> comparison.best, comparison.size
    ('LatentClassAnalysis', '3')
    >>> comparison.left_out["BinarySparseCoding"]
    'it models real numbers, and these columns are binary: a density cannot be compared with a probability'
    """
    if by not in ("rows", "cells"):
        raise ValueError(f"by={by!r} is not one of 'rows', 'cells'.")
    if unknown := set(measures) - set(ALL_MEASURES):
        raise ValueError(f"measures= has unknown names {sorted(unknown)!r}. Choose from {', '.join(ALL_MEASURES)}.")
    table = open_table(X, reals=reals, sample_weight=sample_weight)
    contenders, excluded = chosen_families(models, sizes or {}, table, random_state)
    if not contenders:
        raise ValueError(f"No family is left to compare. {_sentences(excluded)}")
    row_splits = splits(table, cv, random_state, groups)
    if groups is None:
        warn_of_copies(table)
    rng = np.random.default_rng([random_state, 13])
    samples = [np.sort(rng.permutation(split.test)[:n_measured]) for split in row_splits]
    with run_on() as engine, progress_reporter(progress) as on_progress:
        refuse_checkpoint(engine)
        by_rows = plan = ScoringPlan.by_rows(table, row_splits)
        if by == "cells":
            plan = ScoringPlan.by_cells(table, held_out_share, random_state, _group_numbers(groups, table))
        n_fits = sum(max(1, len(c.sizes)) for c in contenders) * len(plan.splits)
        n_fits += len(contenders) * len(row_splits) * (by == "cells")
        runner = Runner(fit_cache(folder, table), on_progress, n_fits, random_state)
        searches, tried = _search_sizes(contenders, plan, runner, SIZE_TIE_ERRORS if one_standard_error else 0.0, table)
        excluded |= _failed(searches) | _same_as_others(searches)
        chosen: dict[str, _ScoredFamily] = {}
        for name, (contender, search) in searches.items():
            if name in excluded or search.chosen is None:
                continue
            result = search.results[search.chosen]
            trials = result.trials
            if by == "cells" or result.equivalent is not None:
                trials = runner.run(name, contender.estimator, result.size, by_rows)
            if trials[-1].scores is None:
                excluded[name] = trials[-1].note.rstrip(".")
                continue
            extra = [
                runner.measure(
                    name, trial.model, split, take_rows(table, sample), sample, tuple(measures), held_out_share
                )
                for trial, split, sample in zip(trials, by_rows.splits, samples, strict=True)
                if measures
            ]
            chosen[name] = _ScoredFamily(contender, search, result, trials, extra)
        if not chosen:
            raise ValueError(f"No family could be fitted and scored. {_sentences(excluded)}")
        cells = np.concatenate([_cells(take_rows(table, split.test)) for split in row_splits])
    entries = _entries(chosen, by_rows.weights, cells)
    by_name = {entry.model: entry for entry in entries}
    differences = [(by_name[name].difference, by_name[name].difference_error) for name in chosen]
    best = simplest(differences, [family.result.n_parameters for family in chosen.values()], TIE_ERRORS)
    models = {name: family.trials[0].model for name, family in chosen.items()}
    return Comparison(
        list(chosen)[best or 0],
        entries,
        excluded,
        tried,
        {name: model for name, model in models.items() if hasattr(model, "_likelihood_kind")},
        len(row_splits[0].train),
        len(by_rows.weights),
        len(row_splits),
        sum(map(len, samples)),
    )


class _ScoredFamily(NamedTuple):
    """A family at its chosen size: the search for this size, the scored fits, and their further measures."""

    contender: Contender
    search: SizeSearch
    result: SizeResult
    trials: list[Trial]
    extra: list[ExtraMeasures]


_Searches = dict[str, tuple[Contender, SizeSearch]]  # by name of the contender


def _search_sizes(
    contenders: Sequence[Contender], plan: ScoringPlan, runner: Runner, n_errors: float, table: Table
) -> tuple[_Searches, tuple[TriedSize, ...]]:
    """Choose a size of each family; return the searches, and every size that was tried."""
    equivalents = equivalent_models(contenders, table)
    searches: _Searches = {}
    tried: list[TriedSize] = []
    leader, highest = None, -np.inf
    for contender in contenders:
        search = choose_size(contender, plan, runner, n_errors, leader, equivalents)
        if search.highest > highest:
            leader, highest = search.best, search.highest
        tried += search.tried if contender.sizes else []
        searches[contender.name] = contender, search
    return searches, tuple(tried)


def _failed(searches: _Searches) -> dict[str, str]:
    """Return the families that could not be fitted and scored at any size, and why."""
    return {
        name: search.results[0].trials[-1].note.rstrip(".")
        for name, (_, search) in searches.items()
        if search.chosen is None
    }


def _same_as_others(searches: _Searches) -> dict[str, str]:
    """Return the families whose model, at the chosen size, is the same as one of another family that was tried.

    If the other family was not tried at that size, the model is listed under its own name.
    """
    same = {}
    for name, (_, search) in searches.items():
        result = None if search.chosen is None else search.results[search.chosen]
        if result is None or result.equivalent is None:
            continue
        other = searches[result.equivalent.contender.name][1]
        sizes = [other_result.size for other_result in other.results]
        if result.equivalent.size in sizes:
            is_listed = other.chosen is not None and sizes[other.chosen] == result.equivalent.size
            size = "" if result.size is None else f" ({result.size})"
            same[name] = f"at its chosen size{size} it is the same model as {result.equivalent}, " + (
                "which is listed" if is_listed else "a size that was tried and not chosen"
            )
    return same


def _group_numbers(groups: ArrayLike | None, table: Table) -> Any:
    return None if groups is None else group_numbers(groups, table.shape[0])


def refuse_checkpoint(engine: Any) -> None:
    """Raise if a checkpoint is set: it can hold only one fit."""
    if engine.checkpoint is not None:
        raise ValueError("run_on(checkpoint=...) saves one fit, and this runs many. Use folder= instead.")


def fit_cache(folder: str | os.PathLike[str] | None, table: Table) -> FitCache:
    """Return the folder of finished fits of a table."""
    return FitCache(folder, {} if folder is None else {"table": table_digest(table), "versions": versions()})


def _sentences(reasons: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {reason}." for name, reason in reasons.items())


def _cells(table: Table) -> Floats:
    """Return the number of observed cells of each row."""
    return np.concatenate(list(map_pieces(cells_of_rows, table, max(1, PIECE_CELLS // table.row_size))))


def _entries(chosen: dict[str, _ScoredFamily], weights: Floats, cells: Floats) -> tuple[ComparisonEntry, ...]:
    """Return the entries of the comparison, the highest likelihood first."""
    scores = {
        name: concat_rows([trial.scores for trial in family.trials if trial.scores is not None])
        for name, family in chosen.items()
    }
    means = {name: mean_of(rows, weights) for name, rows in scores.items()}
    order = sorted(chosen, key=lambda name: -means[name].value)
    highest = scores[order[0]]
    entries = []
    for name in order:
        contender, search, result, trials, extra = chosen[name]
        mean, monte_carlo = means[name], error_and_bias(scores[name], weights)
        bits = RowLogLikelihoods(-scores[name].values / np.log(2.0), scores[name].errors, 0.0, mean.kind)
        per_cell = mean_of(bits, weights, cells)
        gap_and_error = (0.0, 0.0) if name == order[0] else difference(scores[name], highest, weights)
        notes = [note for note in (*(trial.note for trial in trials), *(split.note for split in extra)) if note]
        notes += search.notes
        bins = [split.bins for split in extra if split.bins is not None]
        calibration = calibration_error(np.sum(bins, axis=0)) if bins else None
        other_seconds = 0.0 if result.trials is trials else sum(trial.seconds for trial in trials)
        entries.append(
            ComparisonEntry(
                name,
                contender.family.hidden,
                "" if result.size is None else str(result.size),
                None if np.isinf(result.n_parameters) else int(result.n_parameters),
                mean.value,
                mean.standard_error,
                mean.kind,
                *monte_carlo,
                *gap_and_error,
                per_cell.value,
                per_cell.standard_error,
                *_averaged(extra, "leave_one_out_error"),
                *_averaged(extra, "code_length"),
                None if calibration is None else calibration.value,
                None if calibration is None else calibration.by_chance,
                float(np.mean([trial.seconds for trial in trials])),
                sum(size.seconds for size in search.tried) + other_seconds,
                max(trial.memory for trial in trials),
                "; ".join(dict.fromkeys(notes)),
            )
        )
    return tuple(entries)


def _averaged(extra: list[ExtraMeasures], name: str) -> tuple[float | None, float | None]:
    """Return a measure over the test rows of all splits, and its standard error."""
    parts = np.array([split.estimates[name] for split in extra if name in split.estimates])
    if not len(parts):
        return None, None
    shares = parts[:, 2] / parts[:, 2].sum()
    return float(shares @ parts[:, 0]), float(np.sqrt(shares**2 @ parts[:, 1] ** 2))

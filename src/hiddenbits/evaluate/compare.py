"""`compare`: which family of models fits a table best, on held-out rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits import open_table, run_on
from hiddenbits.array_types import Floats
from hiddenbits.evaluate.comparison import SIZE_TIE, TIE, Comparison, ComparisonEntry, TriedSize
from hiddenbits.evaluate.copies import warn_of_copies
from hiddenbits.evaluate.fit_runner import BEHIND, EDGE, Runner, Sheets, Sized, Step, Tell, choose_size, reporting
from hiddenbits.evaluate.held_out_cells import calibrated
from hiddenbits.evaluate.measures import PIECE_CELLS, cells_of_rows
from hiddenbits.evaluate.row_scores import RowScores, chance, difference, joined, mean_of, simplest
from hiddenbits.evaluate.same_models import Contender, chosen_families, stands_for
from hiddenbits.evaluate.splits import group_numbers, splits
from hiddenbits.evaluate.trial import Measured, Trial
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
    progress: bool | Tell = True,
) -> Comparison:
    """Fit every family at several sizes, score them on held-out rows, and choose the simplest of the best.

    Every family is fitted at larger and larger sizes, until two sizes in a row score worse than the best on the
    held-out rows, one is clearly worse, or larger ones cannot catch up with another family even if every unit gained as
    much as the last one. Then one rule chooses: within a family, the smallest size within one
    standard error of the best; among the families, the one with the fewest free parameters within two standard errors
    of the highest. `select`, the command line and the report use the same rule on the same rows. Runs on the executor
    set by `run_on`.

    Where families coincide, the model is fitted and listed once, by the name that people know best: a combination
    machine of one unit is two classes. `left_out` then names the other family.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Bits, or with `reals` real numbers: array, sparse array, frame, path or Table.
    models : list of names or estimators, or dict, optional
        The families; by default those that suit the columns, less a few (see `left_out` of the result). An estimator is
        fitted with its own settings, at the sizes of its family. A dict gives each a name.
    cv : None, float, int, splitter or list of pairs, default=None
        Which rows are held out. A share of the rows; a number of folds, each held out once; a scikit-learn splitter; or
        pairs of arrays (training rows, test rows). None holds out one quarter of the rows after the other until 1,000
        rows have been scored: all rows of a small table, one quarter of a table with 4,000 rows or more. Of a table
        with more than 40,000 rows, 40,000 drawn at random take part; 0.25 uses all of them.
    groups : array of shape (rows,), optional
        Rows with the same label are held out together: answers of one person, copies of one row.
    sizes : dict, optional
        Sizes to try for each name, the smallest first; all are tried. With an empty list the estimator keeps its size.
    by : {"rows", "cells"}, default="rows"
        Choose sizes on held-out rows, or on hidden cells.
    one_standard_error : bool, default=True
        Take the smallest size whose difference from the best is within one standard error of that difference; False
        takes the best.
    held_out_share : float, default=0.1
        Share of the cells to hide, for ``by="cells"`` and for the calibration of completed cells.
    measures : list, default=("leave_one_out_error", "code_length", "calibration")
        What to measure in addition to the likelihood, for bits; these do not affect the choice.
    n_measured : int, default=2000
        Maximum number of test rows per split for these measures, drawn at random, the same for all families.
    reals : bool, default=False
        Whether the columns are real numbers, as for `open_table`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.
    random_state : int, default=0
        Random seed for splits, hidden cells, and estimators whose `random_state` is None.
    folder : path, optional
        Save every finished fit there: the same call after a crash repeats none of them. A fit is identified by its
        rows, settings and package versions, so several comparisons can share a folder.
    progress : bool or function, default=True
        Show a progress bar in a terminal (by rich, if installed); or call progress(words, done, most).

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
    >>> found = evaluate.compare(X, ["IndependentColumns", "LatentClassAnalysis", "BinarySparseCoding"])
    >>> found.best, found.size
    ('LatentClassAnalysis', '3')
    >>> found.left_out["BinarySparseCoding"]
    'it models real numbers, and these columns are bits: a density cannot be compared with a probability'
    """
    if by not in ("rows", "cells"):
        raise ValueError(f"by={by!r} is not one of 'rows', 'cells'.")
    if unknown := set(measures) - set(ALL_MEASURES):
        raise ValueError(f"measures= has unknown names {sorted(unknown)!r}. Choose from {', '.join(ALL_MEASURES)}.")
    table = open_table(X, reals=reals, sample_weight=sample_weight)
    contenders, left_out = chosen_families(models, sizes or {}, table, random_state)
    if not contenders:
        raise ValueError(f"No family is left to compare. {_sentences(left_out)}")
    dealt = splits(table, cv, random_state, groups)
    if groups is None:
        warn_of_copies(table)
    rng = np.random.default_rng([random_state, 13])
    samples = [np.sort(rng.permutation(split.test)[:n_measured]) for split in dealt]
    with run_on() as engine, reporting(progress) as tell:
        refuse_checkpoint(engine)
        rows = choosing = Sheets.by_rows(table, dealt)
        if by == "cells":
            choosing = Sheets.by_cells(table, held_out_share, random_state, _numbers(groups, table))
        many = sum(max(1, len(c.sizes)) for c in contenders) * len(choosing.sheets)
        runner = Runner(
            fit_cache(folder, table), tell, many + len(contenders) * len(dealt) * (by == "cells"), random_state
        )
        at_sizes, tried = _sized(contenders, choosing, runner, SIZE_TIE if one_standard_error else 0.0, table)
        left_out |= _not_scored(at_sizes) | _known_by_another_name(at_sizes)
        found: dict[str, _Found] = {}
        for contender, sized in at_sizes.values():
            if contender.name in left_out or sized.at is None:
                continue
            step = sized.steps[sized.at]
            trials = step.trials
            if by == "cells" or step.stand is not None:
                trials = runner.run(contender.name, contender.estimator, step.size, rows)
            if trials[-1].scores is None:
                left_out[contender.name] = trials[-1].note.rstrip(".")
                continue
            extra = [
                runner.measure(
                    contender.name,
                    trial.model,
                    sheet,
                    take_rows(table, sample),
                    sample,
                    tuple(measures),
                    held_out_share,
                )
                for trial, sheet, sample in zip(trials, rows.sheets, samples, strict=True)
                if measures
            ]
            found[contender.name] = _Found(contender, sized, step, trials, extra)
        if not found:
            raise ValueError(f"No family could be fitted and scored. {_sentences(left_out)}")
        cells = np.concatenate([_cells(take_rows(table, split.test)) for split in dealt])
    entries = _entries(found, rows.weights, cells)
    by_name = {entry.model: entry for entry in entries}
    apart = [(by_name[name].difference, by_name[name].difference_error) for name in found]
    at = simplest(apart, [one.step.n_parameters for one in found.values()], TIE)
    return Comparison(
        list(found)[at or 0],
        entries,
        left_out,
        tried,
        {name: one.trials[0].model for name, one in found.items() if hasattr(one.trials[0].model, "_likelihood_kind")},
        len(dealt[0].train),
        len(rows.weights),
        len(dealt),
        sum(map(len, samples)),
    )


class _Found(NamedTuple):
    """A family at its chosen size: every size tried, the scored fits, and further measures of them."""

    contender: Contender
    sized: Sized
    step: Step
    trials: list[Trial]
    extra: list[Measured]


_AtSizes = dict[str, tuple[Contender, Sized]]  # by name: a family, and the sizes that were tried


def _sized(
    contenders: Sequence[Contender], sheets: Sheets, runner: Runner, n_errors: float, table: Table
) -> tuple[_AtSizes, tuple[TriedSize, ...]]:
    """Choose a size of each family; return them, and every size that was tried."""
    stands = stands_for(contenders, table)
    at_sizes: _AtSizes = {}
    tried: list[TriedSize] = []
    ahead, highest = None, -np.inf
    for contender in contenders:
        sized = choose_size(contender, sheets, runner, n_errors, ahead, stands)
        if sized.highest > highest:
            ahead, highest = sized.best, sized.highest
        tried += sized.tried if contender.sizes else []
        at_sizes[contender.name] = contender, sized
    return at_sizes, tuple(tried)


def _not_scored(at_sizes: _AtSizes) -> dict[str, str]:
    """Return the families of which no size could be fitted and scored, and why."""
    return {
        name: sized.steps[0].trials[-1].note.rstrip(".") for name, (_, sized) in at_sizes.items() if sized.at is None
    }


def _known_by_another_name(at_sizes: _AtSizes) -> dict[str, str]:
    """Return the families that are at their chosen size the same model as one of another, which was tried there.

    Where the other family was never tried at that size, nothing else stands for the model: it keeps its name.
    """
    same = {}
    for name, (_, sized) in at_sizes.items():
        step = None if sized.at is None else sized.steps[sized.at]
        if step is None or step.stand is None:
            continue
        other = at_sizes[step.stand.contender.name][1]
        sizes = [one.size for one in other.steps]
        if step.stand.size in sizes:
            chosen = other.at is not None and sizes[other.at] == step.stand.size
            size = "" if step.size is None else f" ({step.size})"
            same[name] = f"at its chosen size{size} it is the same model as {step.stand}, " + (
                "which is listed" if chosen else "a size that was tried and not chosen"
            )
    return same


def _numbers(groups: ArrayLike | None, table: Table) -> Any:
    return None if groups is None else group_numbers(groups, table.shape[0])


def refuse_checkpoint(engine: Any) -> None:
    """Raise if a checkpoint is set: it can hold only one fit."""
    if engine.checkpoint is not None:
        raise ValueError("run_on(checkpoint=...) saves one fit, and this runs many. Use folder= instead.")


def fit_cache(folder: str | os.PathLike[str] | None, table: Table) -> FitCache:
    """Return the folder of finished fits of a table."""
    return FitCache(folder, {} if folder is None else {"table": table_digest(table), "versions": versions()})


def _sentences(reasons: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {why}." for name, why in reasons.items())


def _cells(table: Table) -> Floats:
    """Return the number of recorded cells of each row."""
    return np.concatenate(list(map_pieces(cells_of_rows, table, max(1, PIECE_CELLS // table.shape[1]))))


def _entries(found: dict[str, _Found], weights: Floats, cells: Floats) -> tuple[ComparisonEntry, ...]:
    """Return the lines of the table, the highest likelihood first."""
    scores: dict[str, RowScores] = {
        name: joined([trial.scores for trial in one.trials if trial.scores is not None]) for name, one in found.items()
    }
    means = {name: mean_of(one, weights) for name, one in scores.items()}
    order = sorted(found, key=lambda name: -means[name].value)
    highest = scores[order[0]]
    entries = []
    for name in order:
        contender, sized, step, trials, extra = found[name]
        mean, error_and_bias = means[name], chance(scores[name], weights)
        bits = RowScores(-scores[name].values / np.log(2.0), scores[name].errors, 0.0, mean.kind)
        per_cell = mean_of(bits, weights, cells)
        apart = (0.0, 0.0) if name == order[0] else difference(scores[name], highest, weights)
        notes = [note for note in (*(one.note for one in trials), *(one.note for one in extra)) if note]
        if len(contender.sizes) > 1 and step.size == contender.sizes[-1]:
            notes.append(EDGE)
        if sized.behind:
            notes.append(BEHIND)
        counts = [one.bins for one in extra if one.bins is not None]
        right = calibrated(np.sum(counts, axis=0)) if counts else None
        others = 0.0 if step.trials is trials else sum(trial.seconds for trial in trials)
        entries.append(
            ComparisonEntry(
                name,
                contender.family.hidden,
                "" if step.size is None else str(step.size),
                None if np.isinf(step.n_parameters) else int(step.n_parameters),
                mean.value,
                mean.standard_error,
                mean.kind,
                *error_and_bias,
                *apart,
                per_cell.value,
                per_cell.standard_error,
                *_averaged(extra, "leave_one_out_error"),
                *_averaged(extra, "code_length"),
                None if right is None else right.value,
                None if right is None else right.by_chance,
                float(np.mean([trial.seconds for trial in trials])),
                sum(one.seconds for one in sized.tried) + others,
                max(trial.memory for trial in trials),
                "; ".join(dict.fromkeys(notes)),
            )
        )
    return tuple(entries)


def _averaged(extra: list[Measured], name: str) -> tuple[float | None, float | None]:
    """Return a measure over the test rows of all splits, and its standard error."""
    parts = np.array([one.figures[name] for one in extra if name in one.figures])
    if not len(parts):
        return None, None
    share = parts[:, 2] / parts[:, 2].sum()
    return float(share @ parts[:, 0]), float(np.sqrt(share**2 @ parts[:, 1] ** 2))

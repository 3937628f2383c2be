"""The fits of a comparison: each is done once, or read from the folder of finished fits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import digest
from hiddenbits.evaluate.comparison import TriedSize
from hiddenbits.evaluate.row_scores import RowScores, apart_from_best, difference, joined, mean_of, simplest
from hiddenbits.evaluate.same_models import Contender, Stand, Stands
from hiddenbits.evaluate.splits import Split
from hiddenbits.evaluate.trial import Judge, Measured, Trial, attempt, measured, on_cells, on_rows, sized
from hiddenbits.fit_cache import FitCache
from hiddenbits.tables import Table, hide_cells, take_rows

Rows = NDArray[np.int64]
PATIENCE = 2  # stop trying larger sizes after this many in a row are worse than the best so far,
CLEARLY = 2.0  # or after one that is worse by more than this many standard errors
EDGE = "the largest size tried fits best; a larger one may fit better"
BEHIND = "larger sizes were not tried: they would gain too little to catch up with another model"


class Sheet(NamedTuple):
    """What is fitted, how it is scored, and a name for both in the folder of finished fits."""

    train: Table
    judge: Judge
    job: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Sheets:
    """Everything that a size of a family is scored on, and the weights of the scored rows."""

    sheets: tuple[Sheet, ...]
    weights: Floats

    @classmethod
    def by_rows(cls, table: Table, dealt: Sequence[Split]) -> Sheets:
        """Score on the test rows of each split."""
        tests = [take_rows(table, split.test) for split in dealt]
        return cls(
            tuple(
                Sheet(take_rows(table, split.train), on_rows(test), {"by": "rows", "rows": rows_digest(*split)})
                for split, test in zip(dealt, tests, strict=True)
            ),
            np.concatenate([weights_of(test) for test in tests]),
        )

    @classmethod
    def by_cells(cls, table: Table, share: float, seed: int, groups: Rows | None) -> Sheets:
        """Score on cells hidden in all rows."""
        job = {"by": "cells", "hidden": [share, seed], "groups": None if groups is None else rows_digest(groups)}
        train = hide_cells(table, share, random_state=seed, groups=groups)
        return cls((Sheet(train, on_cells(table, share, seed, groups), job),), weights_of(table))

    @classmethod
    def whole(cls, table: Table) -> Sheets:
        """Score on the training rows, as information criteria do."""
        return cls((Sheet(table, on_rows(table), {"by": "criterion"}),), weights_of(table))


class Runner:
    """Runs a fit, or reads it from the finished ones, and reports progress."""

    def __init__(self, cache: FitCache, tell: Tell, most: int, seed: int) -> None:
        self.cache, self.tell, self.most, self.seed, self.done = cache, tell, most, seed, 0
        self._made: dict[tuple[str, str, int], list[Trial]] = {}  # by model, size and what it is scored on

    def run(self, name: str, estimator: BaseEstimator, size: Any, sheets: Sheets) -> list[Trial]:
        """Return the result of an estimator at a size, on each sheet; asked for again, it is not fitted again."""
        made = (name, repr(size), id(sheets))
        if made in self._made:
            self.done += len(sheets.sheets)
            return self._made[made]
        self._made[made] = trials = []
        for sheet in sheets.sheets:
            model = sized(estimator, size, self.seed)
            key = self._key(name, model, sheet.job)
            self.tell(name if size is None else f"{name}({size})", self.done, self.most)
            if (found := self.cache.get(key)) is not None:
                trial = Trial.unpacked(*found)
            else:
                trial = attempt(model, sheet.train, sheet.judge)
                self.cache.put(key, *trial.packed(), trial.model)
            self.done += 1
            trials.append(trial)
            if trial.scores is None:
                break  # one failure rules out the size
        return trials

    def measure(
        self,
        name: str,
        model: BaseEstimator,
        sheet: Sheet,
        sample: Table,
        rows: Rows,
        measures: tuple[str, ...],
        share: float,
    ) -> Measured:
        """Return further measures of the model that was fitted for a sheet, on some of its test rows."""
        job = {"measures": list(measures), "sample": rows_digest(rows), "hidden": [share, self.seed]}
        key = self._key(name, model, {**sheet.job, **job})
        if (found := self.cache.get(key)) is not None:
            figures, arrays, _ = found
            return Measured(figures["figures"], arrays.get("bins"), figures["note"])
        made = measured(model, sample, measures, share, self.seed)
        arrays = {} if made.bins is None else {"bins": made.bins}
        self.cache.put(key, {"figures": made.figures, "note": made.note}, arrays, None)
        return made

    def _key(self, name: str, model: BaseEstimator, job: dict[str, Any]) -> str:
        fit = {"name": name, "class": type(model).__name__, "settings": repr(sorted(model.get_params().items()))}
        return self.cache.key({**fit, **job})


class Step(NamedTuple):
    """A size and its result; no scores if it failed."""

    size: object
    trials: list[Trial]
    scores: RowScores | None
    stand: Stand | None = None  # the same model of another family, which was fitted in its place

    @property
    def n_parameters(self) -> float:
        """Free parameters, the largest number of any split: a fit may drop unused ones."""
        return max(trial.n_parameters for trial in self.trials)


class Sized(NamedTuple):
    """The sizes of a family that were tried, the index of the chosen one (None if all failed), and the figures.

    `best` are the scores of the size with the highest mean, `highest`, and `behind` says that larger ones could not
    catch up with another family.
    """

    steps: list[Step]
    at: int | None
    tried: list[TriedSize]
    best: RowScores | None
    highest: float
    behind: bool


def choose_size(
    contender: Contender,
    sheets: Sheets,
    runner: Runner,
    n_errors: float,
    ahead: RowScores | None = None,
    stands: Stands | None = None,
) -> Sized:
    """Score a family at one size after the other, and choose.

    Default sizes are tried from the smallest until two in a row are worse than the best, one is clearly worse, or they
    cannot catch up with `ahead`, the scores of another family; sizes given by the caller are all tried. The simplest of
    those within `n_errors` standard errors of the best is chosen. A size at which the model is the same as one of
    another family takes the scores of that one (`stands`).
    """
    steps: list[Step] = []
    best: RowScores | None = None
    highest, worse, behind = -np.inf, 0, False
    sizes = contender.sizes or (None,)
    for size in sizes:
        stand = (stands or {}).get((contender.name, size))
        fitted, at_size = (contender, size) if stand is None else stand
        trials = runner.run(fitted.name, fitted.estimator, at_size, sheets)
        scores = _joined(trials, len(sheets.sheets))
        steps.append(Step(size, trials, scores, stand))
        value = -np.inf if scores is None else mean_of(scores, sheets.weights, trials[0].cells).value
        if value > highest:
            best, highest, worse = scores, value, 0
            behind = not contender.given and _behind(steps, sizes, ahead, sheets.weights)
            if behind:
                break
            continue
        worse += 1
        clearly = False
        if scores is not None and best is not None:
            apart, error = difference(scores, best, sheets.weights, trials[0].cells)
            clearly = -apart > CLEARLY * error
        if not contender.given and (worse >= PATIENCE or clearly):
            break
    runner.done += (len(sizes) - len(steps)) * len(sheets.sheets)
    scores_of = [step.scores for step in steps]
    per = next((step.trials[0].cells for step in steps if step.scores is not None), None)
    apart_of = apart_from_best(scores_of, sheets.weights, per)
    at = simplest(apart_of, [step.n_parameters for step in steps], n_errors)
    tried = []
    for place, (step, found) in enumerate(zip(steps, apart_of, strict=True)):
        mean = None if step.scores is None else mean_of(step.scores, sheets.weights, per)
        tried.append(
            TriedSize(
                contender.name,
                "" if step.size is None else str(step.size),
                None if np.isinf(step.n_parameters) else int(step.n_parameters),
                None if mean is None else mean.value,
                None if mean is None else mean.standard_error,
                None if found is None else found[0],
                None if found is None else found[1],
                "" if step.scores is None else step.scores.kind,
                0.0 if step.stand else sum(trial.seconds for trial in step.trials),
                place == at,
                "; ".join(dict.fromkeys(_notes(step))),
            )
        )
    return Sized(steps, at, tried, best, highest, behind)


def _notes(step: Step) -> list[str]:
    """Return what is to be noted about a size."""
    notes = [trial.note for trial in step.trials if trial.note]
    return notes if step.stand is None else [f"the same model as {step.stand}, which was fitted in its place", *notes]


def _behind(steps: list[Step], sizes: Sequence[Any], ahead: RowScores | None, weights: Floats) -> bool:
    """Whether all larger sizes stay clearly behind the scores of another family.

    A unit, class or dimension gains at most what one gained in the last step: gains fall as a model grows.
    """
    if ahead is None or len(steps) < 2 or len(steps) == len(sizes):
        return False
    before, last = steps[-2], steps[-1]
    if before.scores is None or last.scores is None:
        return False
    per = last.trials[0].cells
    gain, _ = difference(last.scores, before.scores, weights, per)
    apart, error = difference(last.scores, ahead, weights, per)
    at = len(steps) - 1
    most = gain * (sizes[-1] - sizes[at]) / (sizes[at] - sizes[at - 1])
    return bool(apart + most < -CLEARLY * error)


def _joined(trials: list[Trial], wanted: int) -> RowScores | None:
    """Return the rows of all sheets; None if one failed."""
    parts = [trial.scores for trial in trials if trial.scores is not None]
    return joined(parts) if len(parts) == wanted else None


def weights_of(table: Table) -> Floats:
    """Return the weight of each row."""
    return np.ones(table.shape[0]) if table.weights is None else table.weights


def rows_digest(*rows: Rows) -> str:
    """Return a digest of lists of row numbers."""
    return digest(*(f"{len(one)}:".encode() + np.ascontiguousarray(one, np.int64).tobytes() for one in rows))[:32]


# Progress of a long run: a bar in a terminal (by rich, if installed), or the caller's own function.

Tell = Callable[[str, int, int], None]  # the current step; number of finished fits; largest possible number of fits


@contextmanager
def reporting(progress: bool | Tell) -> Iterator[Tell]:
    """Yield a function to call at every step: tell(words, done, most)."""
    if callable(progress):
        yield progress
    elif not progress or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield _silent
    else:
        yield from _shown()


def _silent(words: str, done: int, most: int) -> None:
    """Say nothing."""


def _shown() -> Iterator[Tell]:
    """Yield a function that draws a bar; without rich, one that writes a line for each step."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda words, done, most: print(f"[{done}/{most}] {words}", file=sys.stderr, flush=True)
        return
    columns: list[Any] = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=None)
        yield lambda words, done, most: bars.update(bar, description=words, completed=done, total=most)

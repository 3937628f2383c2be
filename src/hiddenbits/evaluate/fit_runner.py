"""The fits of a comparison: each done once, or taken from the folder of finished ones."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Table, hide_cells, take_rows
from hiddenbits.evaluate.candidates import Contender
from hiddenbits.evaluate.comparison import Tried
from hiddenbits.evaluate.fit_cache import Kept
from hiddenbits.evaluate.progress import Tell
from hiddenbits.evaluate.row_scores import RowScores, apart_from_best, difference, joined, mean_of, simplest
from hiddenbits.evaluate.splits import Split
from hiddenbits.evaluate.trial import Judge, Measured, Trial, attempt, measured, on_cells, on_rows, sized

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
PATIENCE = 2  # sizes in a row that are worse than the best so far, after which larger ones are not tried
CLEARLY = 2.0  # nor are they after one that is worse by more than so many standard errors
EDGE = "the largest size that was tried fits best: larger ones may fit better"


class Sheet(NamedTuple):
    """What is fitted, how it is judged, and the name of both for the folder of finished fits."""

    train: Table
    judge: Judge
    job: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Sheets:
    """All that a size of a family is judged on, and the weights of the judged rows."""

    sheets: tuple[Sheet, ...]
    weights: Floats

    @classmethod
    def by_rows(cls, table: Table, dealt: Sequence[Split]) -> Sheets:
        """Judge by the test rows of each split."""
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
        """Judge by cells that are hidden from all rows."""
        job = {"by": "cells", "hidden": [share, seed], "groups": None if groups is None else rows_digest(groups)}
        train = hide_cells(table, share, seed=seed, groups=groups)
        return cls((Sheet(train, on_cells(table, share, seed, groups), job),), weights_of(table))

    @classmethod
    def whole(cls, table: Table) -> Sheets:
        """Judge by the rows that were fitted, as criteria do."""
        return cls((Sheet(table, on_rows(table), {"by": "criterion"}),), weights_of(table))


class Runner:
    """Does a fit, or finds it among those that are finished; says so."""

    def __init__(self, kept: Kept, tell: Tell, most: int, seed: int) -> None:
        self.kept, self.tell, self.most, self.seed, self.done = kept, tell, most, seed, 0

    def run(self, name: str, estimator: Any, size: Any, sheets: Sheets) -> list[Trial]:
        """Return what came of an estimator at a size, on each sheet."""
        trials = []
        for sheet in sheets.sheets:
            model = sized(estimator, size, self.seed)
            key = self._key(name, model, sheet.job)
            self.tell(name if size is None else f"{name}({size})", self.done, self.most)
            if (found := self.kept.get(key)) is not None:
                trial = Trial.unpacked(*found)
            else:
                trial = attempt(model, sheet.train, sheet.judge)
                self.kept.put(key, *trial.packed(), trial.model)
            self.done += 1
            trials.append(trial)
            if trial.scores is None:
                break  # refused once is refused
        return trials

    def measure(
        self, name: str, model: Any, sheet: Sheet, sample: Table, rows: Rows, measures: tuple[str, ...], share: float
    ) -> Measured:
        """Return further measures of the model that was fitted for a sheet, on some of its test rows."""
        told = {"measures": list(measures), "sample": rows_digest(rows), "hidden": [share, self.seed]}
        key = self._key(name, model, {**sheet.job, **told})
        if (found := self.kept.get(key)) is not None:
            figures, arrays, _ = found
            return Measured(figures["figures"], arrays.get("bins"), figures["note"])
        made = measured(model, sample, measures, share, self.seed)
        arrays = {} if made.bins is None else {"bins": made.bins}
        self.kept.put(key, {"figures": made.figures, "note": made.note}, arrays, None)
        return made

    def _key(self, name: str, model: Any, job: dict[str, Any]) -> str:
        told = {"name": name, "class": type(model).__name__, "settings": repr(sorted(model.get_params().items()))}
        return self.kept.key({**told, **job})


class Step(NamedTuple):
    """A size and what came of it; no scores where it was refused."""

    size: Any
    trials: list[Trial]
    scores: RowScores | None

    @property
    def n_parameters(self) -> float:
        """Free parameters, the most of any split: a fit may drop what it does not need."""
        return max(trial.n_parameters for trial in self.trials)


class Sized(NamedTuple):
    """The sizes of a family that were tried, the place of the chosen one (None if all were refused), and figures."""

    steps: list[Step]
    at: int | None
    tried: list[Tried]


def choose_size(contender: Contender, sheets: Sheets, runner: Runner, n_errors: float) -> Sized:
    """Judge a family at one size after the other, and choose.

    Usual sizes are tried from the smallest on until two in a row are worse than the best or one is clearly worse; sizes
    that somebody asked for are all tried. Of those within `n_errors` standard errors of the best the simplest stands.
    """
    steps: list[Step] = []
    best: RowScores | None = None
    highest, worse = -np.inf, 0
    sizes = contender.sizes or (None,)
    for size in sizes:
        trials = runner.run(contender.name, contender.estimator, size, sheets)
        scores = _joined(trials, len(sheets.sheets))
        steps.append(Step(size, trials, scores))
        value = -np.inf if scores is None else mean_of(scores, sheets.weights, trials[0].cells).value
        if value > highest:
            best, highest, worse = scores, value, 0
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
            Tried(
                contender.name,
                "" if step.size is None else str(step.size),
                None if np.isinf(step.n_parameters) else int(step.n_parameters),
                None if mean is None else mean.value,
                None if mean is None else mean.standard_error,
                None if found is None else found[0],
                None if found is None else found[1],
                "" if step.scores is None else step.scores.kind,
                sum(trial.seconds for trial in step.trials),
                place == at,
                "; ".join(dict.fromkeys(trial.note for trial in step.trials if trial.note)),
            )
        )
    return Sized(steps, at, tried)


def _joined(trials: list[Trial], wanted: int) -> RowScores | None:
    """Return the rows of all sheets; None where one was refused."""
    parts = [trial.scores for trial in trials if trial.scores is not None]
    return joined(parts) if len(parts) == wanted else None


def weights_of(table: Table) -> Floats:
    """Return the weight of each row."""
    return np.ones(table.shape[0]) if table.weights is None else table.weights


def rows_digest(*rows: Rows) -> str:
    """Return a name for some lists of row numbers."""
    hashed = hashlib.sha256()
    for one in rows:
        hashed.update(f"{len(one)}:".encode())
        hashed.update(np.ascontiguousarray(one, np.int64).tobytes())
    return hashed.hexdigest()[:32]

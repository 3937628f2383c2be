"""The fits of a comparison: each done once, or taken from the folder of finished ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Table, hide_cells, take_rows
from hiddenbits.evaluate.comparison import Tried
from hiddenbits.evaluate.contenders import Contender
from hiddenbits.evaluate.figures import Figure
from hiddenbits.evaluate.kept import Kept
from hiddenbits.evaluate.progress import Tell
from hiddenbits.evaluate.scores import apart_from_best, chosen, mean_of
from hiddenbits.evaluate.splits import Split, held_out
from hiddenbits.evaluate.trial import Judge, Trial, attempt, on_cells, on_rows, sized

Rows = NDArray[np.int64]
PATIENCE = 2  # sizes in a row that are worse than the best so far, after which larger ones are not tried
EDGE = "the largest size that was tried fits best: larger ones may fit better"


@dataclass(frozen=True)
class Plan:
    """How rows are held out and what is measured; as `compare` has them."""

    by: str
    one_standard_error: bool
    validation: float
    hidden_share: float
    measures: tuple[str, ...]
    n_measured: int
    seed: int


class Step(NamedTuple):
    """A size, what came of it, and its mean; None where it was refused."""

    size: Any
    trial: Trial
    figure: Figure | None


class Runner:
    """Does a fit, or finds it among those that are finished; says so."""

    def __init__(self, kept: Kept, tell: Tell, most: int, seed: int) -> None:
        self.kept, self.tell, self.most, self.seed, self.done = kept, tell, most, seed, 0

    def run(
        self, name: str, estimator: Any, size: Any, train: Table, judge: Judge, job: dict[str, Any], *, keep: bool
    ) -> Trial:
        """Return the trial of an estimator at a size. `job` says which rows it is fitted to and judged on, and how."""
        model = sized(estimator, size, self.seed)
        told = {"name": name, "class": type(model).__name__, "settings": repr(sorted(model.get_params().items()))}
        key = self.kept.key({**told, **job})
        self.tell(name if size is None else f"{name}({size})", self.done, self.most)
        if (found := self.kept.get(key)) is not None:
            trial = Trial.unpacked(*found)
        else:
            trial = attempt(model, train, judge, keep=keep)
            self.kept.put(key, *trial.packed(), trial.model)
        self.done += 1
        return trial


class Runs:
    """All fits of a comparison."""

    def __init__(self, table: Table, plan: Plan, runner: Runner, dealt: list[Split]) -> None:
        self.table, self.plan, self.runner, self.dealt = table, plan, runner, dealt
        rng = np.random.default_rng([plan.seed, 13])
        self.measured: list[Rows] = [np.sort(rng.permutation(split.test)[: plan.n_measured]) for split in dealt]

    def family(self, contender: Contender) -> tuple[list[Trial], list[Tried]]:
        """Return the trial of each split's test rows, and the sizes that were tried on the way."""
        trials: list[Trial] = []
        tried: list[Tried] = []
        for number, split in enumerate(self.dealt):
            steps, at = self._search(contender, split) if len(contender.sizes) > 1 else ([], None)
            tried += [
                Tried(
                    contender.name,
                    str(step.size),
                    number,
                    None if step.figure is None else step.figure.value,
                    None if step.figure is None else step.figure.standard_error,
                    step.trial.seconds,
                    place == at,
                    step.trial.note,
                )
                for place, step in enumerate(steps)
            ]
            if steps and at is None:
                return [steps[0].trial], tried
            size = steps[at].size if at is not None else next(iter(contender.sizes), None)
            trials.append(self._judged(contender, size, split, self.measured[number]))
        return trials, tried

    def _search(self, contender: Contender, split: Split) -> tuple[list[Step], int | None]:
        """Try sizes from the smallest on, until two in a row are worse than the best; return them and the choice."""
        plan, runner = self.plan, self.runner
        inner = held_out(split.train, plan.validation, plan.seed, key=14)
        train, judge, job = held(self.table, plan.by, inner, split.train, plan.hidden_share, plan.seed)
        job["role"] = "choose"
        weights = weights_of(train if plan.by == "cells" else take_rows(self.table, inner.test))
        steps: list[Step] = []
        best, worse = -np.inf, 0
        for size in contender.sizes:
            trial = runner.run(contender.name, contender.estimator, size, train, judge, job, keep=False)
            figure = None if trial.scores is None else mean_of(trial.scores, weights, per_cell(trial))
            steps.append(Step(size, trial, figure))
            value = -np.inf if figure is None else figure.value
            worse, best = (0 if value > best else worse + 1), max(best, value)
            if worse >= PATIENCE:
                break
        runner.done += len(contender.sizes) - len(steps)
        per = next((per_cell(step.trial) for step in steps if step.figure is not None), None)
        apart = apart_from_best([step.trial.scores for step in steps], weights, per)
        return steps, chosen(apart, one_standard_error=plan.one_standard_error)

    def _judged(self, contender: Contender, size: Any, split: Split, sample: Rows) -> Trial:
        """Fit all training rows at a size, and judge on the test rows."""
        plan = self.plan
        judge = on_rows(
            take_rows(self.table, split.test),
            plan.measures,
            take_rows(self.table, sample),
            share=plan.hidden_share,
            seed=plan.seed,
        )
        job = {
            "role": "judge",
            "rows": rows_digest(split.train, split.test, sample),
            "measures": list(plan.measures),
            "hidden": [plan.hidden_share, plan.seed],
        }
        train = take_rows(self.table, split.train)
        return self.runner.run(contender.name, contender.estimator, size, train, judge, job, keep=True)


def held(
    table: Table, by: str, rows: Split, whole: Rows, share: float, seed: int
) -> tuple[Table, Judge, dict[str, Any]]:
    """Return what to fit and how to judge: by held-out rows, or by hidden cells of the whole; and the job's name."""
    if by == "rows":
        judge = on_rows(take_rows(table, rows.test))
        return take_rows(table, rows.train), judge, {"by": by, "rows": rows_digest(*rows)}
    full = take_rows(table, whole)
    job = {"by": by, "rows": rows_digest(whole), "hidden": [share, seed]}
    return hide_cells(full, share, seed=seed), on_cells(full, share, seed), job


def per_cell(trial: Trial) -> NDArray[np.float64] | None:
    """Return the hidden cells of each row that a trial was judged on; None where it was judged on whole rows."""
    return trial.counts if trial.counts is not None and trial.counts.ndim == 1 else None


def weights_of(table: Table) -> NDArray[np.float64]:
    """Return the weight of each row."""
    return np.ones(table.shape[0]) if table.weights is None else table.weights


def rows_digest(*rows: Rows) -> str:
    """Return a name for some lists of row numbers."""
    hashed = hashlib.sha256()
    for one in rows:
        hashed.update(f"{len(one)}:".encode())
        hashed.update(np.ascontiguousarray(one, np.int64).tobytes())
    return hashed.hexdigest()[:32]

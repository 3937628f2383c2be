"""The fits of a comparison: each is run once, or read from the folder of finished fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import digest
from hiddenbits.evaluate.comparison import TriedSize
from hiddenbits.evaluate.progress import OnProgress
from hiddenbits.evaluate.row_scores import RowLogLikelihoods, concat_rows, difference, gaps_to_best, mean_of, simplest
from hiddenbits.evaluate.same_models import Contender, EquivalentModel, EquivalentModels
from hiddenbits.evaluate.splits import Split
from hiddenbits.evaluate.trial import ExtraMeasures, Scorer, Trial, cell_scorer, extra_measures, row_scorer, run_trial
from hiddenbits.fit_cache import FitCache
from hiddenbits.tables import Table, hide_cells, map_fits, take_rows

Rows = NDArray[np.int64]
# Stop trying larger sizes after PATIENCE in a row are worse than the best so far, or after one that is worse by more
# than CLEARLY_WORSE standard errors.
PATIENCE, CLEARLY_WORSE = 2, 2.0
LARGEST_FITS_BEST = "the largest size tried fits best; a larger one may fit better"
CANNOT_CATCH_UP = "larger sizes were not tried: they would gain too little to catch up with another model"


class ScoredSplit(NamedTuple):
    """A training table, a function that scores a fit, and what identifies both in the folder of finished fits."""

    train: Table
    scorer: Scorer
    job: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ScoringPlan:
    """The splits on which each size of a family is fitted and scored, and the weights of the scored rows."""

    splits: tuple[ScoredSplit, ...]
    weights: Floats

    @classmethod
    def by_rows(cls, table: Table, splits: Sequence[Split]) -> ScoringPlan:
        """Score on the test rows of each split."""
        tests = [take_rows(table, split.test) for split in splits]
        return cls(
            tuple(
                ScoredSplit(
                    take_rows(table, split.train), row_scorer(test), {"by": "rows", "rows": rows_digest(*split)}
                )
                for split, test in zip(splits, tests, strict=True)
            ),
            np.concatenate([weights_of(test) for test in tests]),
        )

    @classmethod
    def by_cells(cls, table: Table, share: float, seed: int, groups: Rows | None) -> ScoringPlan:
        """Score on cells held out in all rows."""
        job = {"by": "cells", "hidden": [share, seed], "groups": None if groups is None else rows_digest(groups)}
        train = hide_cells(table, share, random_state=seed, groups=groups)
        return cls((ScoredSplit(train, cell_scorer(table, share, seed, groups), job),), weights_of(table))

    @classmethod
    def by_criterion(cls, table: Table) -> ScoringPlan:
        """Score on the training rows, as information criteria do."""
        return cls((ScoredSplit(table, row_scorer(table), {"by": "criterion"}),), weights_of(table))


class Runner:
    """Runs fits, or reads finished ones from a folder, and reports progress."""

    def __init__(self, cache: FitCache, on_progress: OnProgress, total: int, seed: int) -> None:
        self.cache, self.on_progress, self.total, self.seed, self.done = cache, on_progress, total, seed, 0
        self._trials: dict[tuple[str, str, int], list[Trial]] = {}  # by model, size and plan

    def run(self, name: str, estimator: BaseEstimator, size: Any, plan: ScoringPlan) -> list[Trial]:
        """Return the result of an estimator at a size on each split; each is fitted once only."""
        return next(self.run_sizes(name, estimator, [size], plan))

    def run_sizes(
        self, name: str, estimator: BaseEstimator, sizes: Sequence[Any], plan: ScoringPlan
    ) -> Iterator[list[Trial]]:
        """Yield the results of each size on each split; sizes and splits are fitted at once if `run_on` allows it."""
        known = self._trials
        trials_keys = [(name, repr(size), id(plan)) for size in sizes]
        models = [self.clone_at_size(estimator, size) for size in sizes]
        keys = [[self._key(name, model, split.job) for split in plan.splits] for model in models]
        saved = [
            [None if trials_key in known else self.cache.get(key) for key in of_size]
            for trials_key, of_size in zip(trials_keys, keys, strict=True)
        ]

        def fit(job: tuple[int, int]) -> Trial:
            i, number = job
            return run_trial(clone(models[i]), plan.splits[number].train, plan.splits[number].scorer)

        new = [i for i, trials_key in enumerate(trials_keys) if trials_key not in known]
        missing = [(i, number) for i in new for number, entry in enumerate(saved[i]) if entry is None]
        fits = map_fits(fit, missing, *(split.train for split in plan.splits))
        for i, size in enumerate(sizes):
            trials = list[Trial]()
            for key, entry in zip(keys[i], saved[i], strict=True) if i in new else ():
                self.on_progress(name if size is None else f"{name}({size})", self.done, self.total)
                trial = next(fits) if entry is None else Trial.from_saved(*entry)
                if entry is None:
                    self.cache.put(key, *trial.to_saved(), trial.model)
                if not trials or trials[-1].scores is not None:  # one failure rules out the size
                    trials.append(trial)
                self.done += 1
            if i not in new:
                self.done += len(plan.splits)
            yield known.setdefault(trials_keys[i], trials)

    def measure(
        self,
        name: str,
        model: BaseEstimator,
        split: ScoredSplit,
        sample: Table,
        rows: Rows,
        measures: tuple[str, ...],
        share: float,
    ) -> ExtraMeasures:
        """Return further measures of the model that was fitted to a split, on some of its test rows."""
        job = {"measures": list(measures), "sample": rows_digest(rows), "hidden": [share, self.seed]}
        key = self._key(name, model, {**split.job, **job})
        if (saved := self.cache.get(key)) is not None:
            values, arrays, _ = saved
            return ExtraMeasures(values["figures"], arrays.get("bins"), values["note"])
        extra = extra_measures(model, sample, measures, share, self.seed)
        arrays = {} if extra.bins is None else {"bins": extra.bins}
        self.cache.put(key, {"figures": extra.estimates, "note": extra.note}, arrays, None)
        return extra

    def clone_at_size(self, estimator: BaseEstimator, size: Any) -> Any:
        """Return a copy of an estimator with this size, and with the seed if it has none."""
        copy = clone(estimator)
        if size is not None:
            copy.set_params(n_components=size)
        if getattr(copy, "random_state", 0) is None:
            copy.set_params(random_state=self.seed)
        return copy

    def _key(self, name: str, model: BaseEstimator, job: dict[str, Any]) -> str:
        fit = {"name": name, "class": type(model).__name__, "settings": repr(sorted(model.get_params().items()))}
        return self.cache.key({**fit, **job})


class SizeResult(NamedTuple):
    """A size and its result; no scores if a fit failed."""

    size: object
    trials: list[Trial]
    scores: RowLogLikelihoods | None
    equivalent: EquivalentModel | None = None  # the same model of another family, which was fitted instead

    @property
    def n_parameters(self) -> float:
        """Number of free parameters, the largest of all splits: a fit may drop unused parameters."""
        return max(trial.n_parameters for trial in self.trials)


class SizeSearch(NamedTuple):
    """The sizes of a family that were tried: their results, and the index of the chosen size (None if all failed).

    `best` are the scores of the size with the highest mean, `highest`; `notes` are remarks on the end of the search.
    """

    results: list[SizeResult]
    chosen: int | None
    tried: list[TriedSize]
    best: RowLogLikelihoods | None
    highest: float
    notes: list[str]


def choose_size(
    contender: Contender,
    plan: ScoringPlan,
    runner: Runner,
    n_errors: float,
    leader: RowLogLikelihoods | None = None,
    equivalents: EquivalentModels | None = None,
) -> SizeSearch:
    """Score a family at one size after the other, and choose a size.

    Default sizes are tried from the smallest until two in a row are worse than the best, one is clearly worse, or
    larger ones cannot catch up with `leader`, the scores of another family. Sizes given by the caller are all tried.
    The simplest of the sizes within `n_errors` standard errors of the best is chosen. If the model is the same as one
    of another family, the scores of that model are used (`equivalents`).
    """
    results: list[SizeResult] = []
    best: RowLogLikelihoods | None = None
    highest, n_worse, cannot_catch_up = -np.inf, 0, False
    sizes = contender.sizes or (None,)
    same = {size: twin for size in sizes if (twin := (equivalents or {}).get((contender.name, size)))}
    all_own = [size for size in sizes if size not in same] if contender.all_sizes else []
    own_trials = runner.run_sizes(contender.name, contender.estimator, all_own, plan)
    for size in sizes:
        equivalent = same.get(size)
        if equivalent is None and all_own:
            trials = next(own_trials)
        else:
            fitted, fitted_size = (contender, size) if equivalent is None else equivalent
            trials = runner.run(fitted.name, fitted.estimator, fitted_size, plan)
        scores = _scores_of_all_splits(trials, len(plan.splits))
        results.append(SizeResult(size, trials, scores, equivalent))
        value = -np.inf if scores is None else mean_of(scores, plan.weights, trials[0].cells).value
        if value > highest:
            best, highest, n_worse = scores, value, 0
            cannot_catch_up = not contender.all_sizes and _cannot_catch_up(results, sizes, leader, plan.weights)
            if cannot_catch_up:
                break
            continue
        n_worse += 1
        clearly_worse = False
        if scores is not None and best is not None:
            gap, error = difference(scores, best, plan.weights, trials[0].cells)
            clearly_worse = -gap > CLEARLY_WORSE * error
        if not contender.all_sizes and (n_worse >= PATIENCE or clearly_worse):
            break
    runner.done += (len(sizes) - len(results)) * len(plan.splits)
    cells = next((result.trials[0].cells for result in results if result.scores is not None), None)
    differences = gaps_to_best([result.scores for result in results], plan.weights, cells)
    chosen = simplest(differences, [result.n_parameters for result in results], n_errors)
    tried = []
    for i, (result, gap_and_error) in enumerate(zip(results, differences, strict=True)):
        mean = None if result.scores is None else mean_of(result.scores, plan.weights, cells)
        tried.append(
            TriedSize(
                contender.name,
                "" if result.size is None else str(result.size),
                None if np.isinf(result.n_parameters) else int(result.n_parameters),
                None if mean is None else mean.value,
                None if mean is None else mean.standard_error,
                None if gap_and_error is None else gap_and_error[0],
                None if gap_and_error is None else gap_and_error[1],
                "" if result.scores is None else result.scores.kind,
                0.0 if result.equivalent else sum(trial.seconds for trial in result.trials),
                i == chosen,
                "; ".join(dict.fromkeys(_notes(result))),
            )
        )
    notes = [CANNOT_CATCH_UP] if cannot_catch_up else []
    notes += [LARGEST_FITS_BEST] if chosen is not None and len(sizes) - 1 == chosen > 0 else []
    return SizeSearch(results, chosen, tried, best, highest, notes)


def _notes(result: SizeResult) -> list[str]:
    """Return remarks about a size."""
    same = [] if result.equivalent is None else [f"the same model as {result.equivalent}, which was fitted instead"]
    return [*same, *(trial.note for trial in result.trials if trial.note)]


def _cannot_catch_up(
    results: list[SizeResult], sizes: Sequence[Any], leader: RowLogLikelihoods | None, weights: Floats
) -> bool:
    """Whether all larger sizes would stay clearly below the scores of another family.

    We assume that each further unit, class or dimension gains at most as much as the last one did.
    """
    if leader is None or len(results) < 2 or len(results) == len(sizes):
        return False
    before, last = results[-2], results[-1]
    if before.scores is None or last.scores is None:
        return False
    cells = last.trials[0].cells
    gain, _ = difference(last.scores, before.scores, weights, cells)
    gap, error = difference(last.scores, leader, weights, cells)
    i = len(results) - 1
    largest_gain = gain * (sizes[-1] - sizes[i]) / (sizes[i] - sizes[i - 1])
    return bool(gap + largest_gain < -CLEARLY_WORSE * error)


def _scores_of_all_splits(trials: list[Trial], n_splits: int) -> RowLogLikelihoods | None:
    """Return the scores of the rows of all splits; None if a fit failed."""
    parts = [trial.scores for trial in trials if trial.scores is not None]
    return concat_rows(parts) if len(parts) == n_splits else None


def weights_of(table: Table) -> Floats:
    """Return the weight of each row."""
    return np.ones(table.shape[0]) if table.weights is None else table.weights


def rows_digest(*rows: Rows) -> str:
    """Return a digest of lists of row numbers."""
    return digest(*(f"{len(part)}:".encode() + np.ascontiguousarray(part, np.int64).tobytes() for part in rows))[:32]

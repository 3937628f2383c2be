"""One fit of a comparison: its time, memory and warnings, and its scores on held-out rows."""

from __future__ import annotations

import contextlib
import ctypes
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from hiddenbits.array_types import Floats
from hiddenbits.evaluate.catalog import SKLEARN_FAMILIES
from hiddenbits.evaluate.held_out_cells import calibration_bins, cell_losses
from hiddenbits.evaluate.measures import code_length, leave_one_out_error
from hiddenbits.evaluate.row_scores import RowLogLikelihoods, log_likelihoods
from hiddenbits.exceptions import ClusterError
from hiddenbits.quoting import message_of, printable
from hiddenbits.tables import Table

Scores = tuple[RowLogLikelihoods, Floats | None]  # of rows; number of held-out cells in each row, if there are any
Scorer = Callable[[Any], Scores]  # scores a fitted model
MEASURES: dict[str, Callable[..., Any]] = {"leave_one_out_error": leave_one_out_error, "code_length": code_length}


@dataclass(frozen=True, eq=False)
class Trial:
    """The result of one fit.

    Attributes
    ----------
    scores : RowLogLikelihoods or None
        Scores of the test rows; None if the fit or its likelihood failed.
    seconds, memory : float
        Wall-clock time of the fit, and its peak memory in bytes (NaN if not measured).
    note : str
        A remark, such as that the fit did not converge, or why it failed.
    n_parameters : float
        Free parameters; infinite if unknown.
    cells : ndarray or None
        Number of held-out cells in each row, if cells were held out.
    model : fitted estimator or None
    """

    scores: RowLogLikelihoods | None
    seconds: float
    memory: float
    note: str
    n_parameters: float
    cells: Floats | None
    model: BaseEstimator

    def to_saved(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return (values, arrays), from which `from_saved` restores the trial."""
        values = {
            "seconds": self.seconds,
            "memory": None if math.isnan(self.memory) else self.memory,
            "note": self.note,
            "n_parameters": None if math.isinf(self.n_parameters) else self.n_parameters,
            "kind": None if self.scores is None else self.scores.kind,
            "common": 0.0 if self.scores is None else self.scores.common,
        }
        arrays = {} if self.scores is None else {"values": self.scores.values, "errors": self.scores.errors}
        return values, arrays if self.cells is None else {**arrays, "cells": self.cells}

    @classmethod
    def from_saved(cls, values: dict[str, Any], arrays: dict[str, Floats], model: BaseEstimator) -> Trial:
        """Restore a trial from what `to_saved` returned."""
        scores = None
        if values["kind"] is not None:
            scores = RowLogLikelihoods(arrays["values"], arrays["errors"], values["common"], values["kind"])
        memory = math.nan if values["memory"] is None else values["memory"]
        n_parameters = math.inf if values["n_parameters"] is None else values["n_parameters"]
        return cls(scores, values["seconds"], memory, values["note"], n_parameters, arrays.get("cells"), model)


def run_trial(estimator: BaseEstimator, train: Table, scorer: Scorer) -> Trial:
    """Fit, then score. Errors and warnings of the estimator become the note of the trial."""
    caught: list[warnings.WarningMessage] = []
    model, start_time, seconds = estimator, time.perf_counter(), math.nan
    scores: tuple[RowLogLikelihoods | None, Floats | None] = (None, None)
    failure = ""
    with peak() as memory:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                start_time = time.perf_counter()
                model = estimator.fit(train if _accepts_tables(estimator) else train.to_float())
                seconds = time.perf_counter() - start_time
        except ClusterError:
            raise  # not an error of the model
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            failure = f"the fit failed: {printable(message_of(error))}"
            seconds = time.perf_counter() - start_time
    if not failure:
        try:
            scores = scorer(model)
        except ClusterError:
            raise
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            failure = f"the likelihood failed: {printable(message_of(error))}"
    n_parameters, model = (math.inf, None) if failure else (_free_parameters(model), model)
    return Trial(scores[0], seconds, memory.bytes, failure or _note(caught), n_parameters, scores[1], model)


def _free_parameters(model: BaseEstimator) -> float:
    """Return the number of free parameters of a fitted model; infinite if unknown."""
    if type(model).__name__ in SKLEARN_FAMILIES and not _accepts_tables(model):
        # A rotation of the dimensions does not change the distribution.
        q, d = model.components_.shape
        return float(d * (q + 1) - q * (q - 1) // 2 + np.size(model.noise_variance_))
    return float(getattr(model, "n_parameters_", math.inf))


def _accepts_tables(estimator: BaseEstimator) -> bool:
    """Whether an estimator accepts tables; those of scikit-learn need arrays."""
    return type(estimator).__module__.partition(".")[0] != "sklearn"


def _note(caught: list[warnings.WarningMessage]) -> str:
    """Return the warnings of a fit as text, each once."""
    texts = []
    for warning in caught:
        unfinished = issubclass(warning.category, ConvergenceWarning)
        texts.append("did not converge" if unfinished else f"{warning.category.__name__}: {warning.message}")
    return "; ".join(dict.fromkeys(texts))


def row_scorer(table: Table) -> Scorer:
    """Return a function that scores a model on held-out rows."""
    return lambda model: (log_likelihoods(model, table), None)


def cell_scorer(table: Table, share: float, seed: int, groups: Any = None) -> Scorer:
    """Return a function that scores a model on held-out cells: minus the log-loss of each row, and its cells."""

    def score(model: BaseEstimator) -> Scores:
        losses, cells = cell_losses(model, table, share=share, seed=seed, groups=groups)
        return RowLogLikelihoods(-losses, np.zeros(len(losses))), cells

    return score


@dataclass(frozen=True, eq=False)
class ExtraMeasures:
    """Further measures of one fit: value, standard error and rows of each, and the calibration bins, (10, 4)."""

    estimates: dict[str, list[float]]
    bins: Floats | None
    note: str = ""


def extra_measures(model: Any, sample: Table, measures: tuple[str, ...], share: float, seed: int) -> ExtraMeasures:
    """Return further measures of a fitted model on some of its test rows."""
    estimates: dict[str, list[float]] = {}
    if not sample.only_bits or sample.coding_of_levels is not None or model is None:
        return ExtraMeasures(estimates, None)
    try:
        for name, measure in MEASURES.items():
            if name in measures:
                estimate = measure(model, sample)
                estimates[name] = [estimate.value, estimate.standard_error, float(estimate.n_rows)]
        bins = calibration_bins(model, sample, share, seed) if "calibration" in measures else None
        return ExtraMeasures(estimates, bins)
    except ClusterError:
        raise
    except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return ExtraMeasures(estimates, None, f"not measured: {message_of(error)}")


# Memory of a fit: the peak of this process, as reported by the operating system.
#
# Tracing every allocation (`tracemalloc`) would be more exact, but it slows down fits of small blocks by up to a half,
# and the same table reports times. A separate process for each fit would need a copy of the table, and could not use
# the caller's cluster. Linux can reset the recorded peak of a process and report the next one. Memory freed by earlier
# fits is returned first; memory that Python keeps makes the result too small.

STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """Peak memory in a `peak` block, above what the process used at its start; NaN if the system does not report it."""

    bytes: float = math.nan


@contextlib.contextmanager
def peak() -> Iterator[Peak]:
    """Measure the peak memory of the work inside the block.

    Examples
    --------
    >>> import numpy as np
    >>> with peak() as memory:
    ...     array = np.ones(10_000_000)
    >>> bool(np.isnan(memory.bytes) or 70e6 < memory.bytes < 200e6)
    True
    """
    memory = Peak()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = _memory("VmRSS") if _reset_peak() else math.nan
    try:
        yield memory
    finally:
        memory.bytes = max(_memory("VmHWM") - before, 0.0) if not math.isnan(before) else math.nan


def _reset_peak() -> bool:
    """Reset the recorded peak of the process; return whether the system supports it."""
    try:
        CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return True


def _memory(name: str) -> float:
    """Return a memory value of the process, in bytes."""
    try:
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return math.nan
    return float(line.split()[1]) * 1024.0

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
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits.array_types import Floats
from hiddenbits.evaluate.catalog import THEIRS
from hiddenbits.evaluate.held_out_cells import bins, cell_losses
from hiddenbits.evaluate.measures import code_length, leave_one_out_error
from hiddenbits.evaluate.row_scores import RowScores, row_scores
from hiddenbits.exceptions import ClusterError
from hiddenbits.quoting import message_of, printable
from hiddenbits.tables import Table

Judged = tuple[RowScores, Floats | None]  # scores of the rows; with hidden cells, also their number in each row
Judge = Callable[[Any], Judged]
MEASURES: dict[str, Callable[..., Any]] = {"leave_one_out_error": leave_one_out_error, "code_length": code_length}


@dataclass(frozen=True, eq=False)
class Trial:
    """The result of one fit.

    Attributes
    ----------
    scores : RowScores or None
        Scores of the test rows; None if the fit or its likelihood failed.
    seconds, memory : float
        Of the fit: wall-clock time, and peak memory in bytes (NaN if not measured).
    note : str
        A remark: that it did not converge, or why it failed.
    n_parameters : float
        Free parameters; infinite if unknown.
    cells : ndarray or None
        With hidden cells, their number in each row.
    model : fitted estimator or None
    """

    scores: RowScores | None
    seconds: float
    memory: float
    note: str
    n_parameters: float
    cells: Floats | None
    model: BaseEstimator

    def packed(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return (figures, arrays), from which `unpacked` makes the same trial again."""
        figures = {
            "seconds": self.seconds,
            "memory": None if math.isnan(self.memory) else self.memory,
            "note": self.note,
            "n_parameters": None if math.isinf(self.n_parameters) else self.n_parameters,
            "kind": None if self.scores is None else self.scores.kind,
            "common": 0.0 if self.scores is None else self.scores.common,
        }
        arrays = {} if self.scores is None else {"values": self.scores.values, "errors": self.scores.errors}
        return figures, arrays if self.cells is None else {**arrays, "cells": self.cells}

    @classmethod
    def unpacked(cls, figures: dict[str, Any], arrays: dict[str, Floats], model: BaseEstimator) -> Trial:
        """Return a trial from what `packed` returned."""
        scores = None
        if figures["kind"] is not None:
            scores = RowScores(arrays["values"], arrays["errors"], figures["common"], figures["kind"])
        memory = math.nan if figures["memory"] is None else figures["memory"]
        free = math.inf if figures["n_parameters"] is None else figures["n_parameters"]
        return cls(scores, figures["seconds"], memory, figures["note"], free, arrays.get("cells"), model)


def sized(estimator: BaseEstimator, size: Any, seed: int) -> Any:
    """Return a copy of an estimator with this size, and with this seed if it has none."""
    made = clone(estimator)
    if size is not None:
        made.set_params(n_components=size)
    if getattr(made, "random_state", 0) is None:
        made.set_params(random_state=seed)
    return made


def attempt(estimator: BaseEstimator, train: Table, judge: Judge) -> Trial:
    """Fit, then score. Errors and warnings of the estimator become the note of the trial."""
    said: list[warnings.WarningMessage] = []
    model, begun, seconds = estimator, time.perf_counter(), math.nan
    found: tuple[RowScores | None, Floats | None] = (None, None)
    refused = ""
    with peak() as memory:
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                begun = time.perf_counter()
                model = estimator.fit(train if _ours(estimator) else train.to_float())
                seconds = time.perf_counter() - begun
        except ClusterError:
            raise  # not the model's fault
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            refused = f"the fit failed: {printable(message_of(error))}"
            seconds = time.perf_counter() - begun
    if not refused:
        try:
            found = judge(model)
        except ClusterError:
            raise
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            refused = f"the likelihood failed: {printable(message_of(error))}"
    free, model = (math.inf, None) if refused else (_free_parameters(model), model)
    return Trial(found[0], seconds, memory.bytes, refused or _noted(said), free, found[1], model)


def _free_parameters(model: BaseEstimator) -> float:
    """Return the number of free parameters of a fitted model; infinite if unknown."""
    if type(model).__name__ in THEIRS and not _ours(model):  # a rotation of the dimensions changes nothing
        q, d = model.components_.shape
        return float(d * (q + 1) - q * (q - 1) // 2 + np.size(model.noise_variance_))
    return float(getattr(model, "n_parameters_", math.inf))


def _ours(estimator: BaseEstimator) -> bool:
    """Whether an estimator takes tables; scikit-learn's own take arrays."""
    return type(estimator).__module__.partition(".")[0] != "sklearn"


def _noted(said: list[warnings.WarningMessage]) -> str:
    """Return the warnings of a fit as text, each once."""
    words = []
    for warning in said:
        unfinished = issubclass(warning.category, ConvergenceWarning)
        words.append("did not converge" if unfinished else f"{warning.category.__name__}: {warning.message}")
    return "; ".join(dict.fromkeys(words))


def on_rows(table: Table) -> Judge:
    """Return a function that scores a model on held-out rows."""
    return lambda model: (row_scores(model, table), None)


def on_cells(table: Table, share: float, seed: int, groups: Any = None) -> Judge:
    """Return a function that scores a model on hidden cells: minus the log-loss of each row, and its cells."""

    def judge(model: BaseEstimator) -> Judged:
        losses, cells = cell_losses(model, table, share=share, seed=seed, groups=groups)
        return RowScores(-losses, np.zeros(len(losses))), cells

    return judge


@dataclass(frozen=True, eq=False)
class Measured:
    """Further measures of one fit: value, standard error and rows of each, and bins of completed cells, (10, 4)."""

    figures: dict[str, list[float]]
    bins: Floats | None
    note: str = ""


def measured(model: BaseEstimator, sample: Table, measures: tuple[str, ...], share: float, seed: int) -> Measured:
    """Return further measures of a fitted model on some of its test rows."""
    figures: dict[str, list[float]] = {}
    if not sample.only_bits or model is None:
        return Measured(figures, None)
    try:
        for name, measure in MEASURES.items():
            if name in measures:
                figure = measure(model, sample)
                figures[name] = [figure.value, figure.standard_error, float(figure.n_rows)]
        return Measured(figures, bins(model, sample, share, seed) if "calibration" in measures else None)
    except ClusterError:
        raise
    except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return Measured(figures, None, f"not measured: {message_of(error)}")


# How much memory a fit takes: the peak of this process, from the operating system.
#
# Tracing every allocation (`tracemalloc`) would be more exact, but it slows fits of small blocks by up to a half, and
# the same table reports times. A separate process for each fit would need a copy of the table, and could not use the
# caller's cluster. So we ask the system: Linux can reset the peak of a process and report the next one. Memory freed
# by earlier fits is returned first; what Python keeps nevertheless makes the figure too small.

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """Peak memory of a `peak` block, above what the process held at its start; NaN if the system does not report it."""

    bytes: float = math.nan


@contextlib.contextmanager
def peak() -> Iterator[Peak]:
    """Measure the work inside the block.

    Examples
    --------
    >>> import numpy as np
    >>> with peak() as found:
    ...     many = np.ones(10_000_000)
    >>> bool(np.isnan(found.bytes) or 70e6 < found.bytes < 200e6)
    True
    """
    found = Peak()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = _held("VmRSS") if _forget() else math.nan
    try:
        yield found
    finally:
        found.bytes = max(_held("VmHWM") - before, 0.0) if not math.isnan(before) else math.nan


def _forget() -> bool:
    """Reset the system's record of the peak; return whether that is supported."""
    try:
        FORGET.write_text("5")
    except OSError:
        return False
    return True


def _held(name: str) -> float:
    """Return a figure of the process's memory, in bytes."""
    try:
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return math.nan
    return float(line.split()[1]) * 1024.0

"""One fit of a comparison: fitted with time, memory and warnings written down, and judged on rows it has not seen."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import ClusterError, Table
from hiddenbits.evaluate.calibration import bins
from hiddenbits.evaluate.cells import cell_losses
from hiddenbits.evaluate.measures import code_length, single_bit_error
from hiddenbits.evaluate.memory import Peak, peak
from hiddenbits.evaluate.scores import RowScores, row_scores
from hiddenbits.quoting import printable

Floats = NDArray[np.float64]
Judged = tuple[RowScores, dict[str, list[float]], Floats | None]  # of the rows; further measures; bins or cells
Judge = Callable[[Any], Judged]
MEASURES: dict[str, Callable[..., Any]] = {"single_bit_error": single_bit_error, "code_length": code_length}


@dataclass(frozen=True, eq=False)
class Trial:
    """What came of one fit.

    Attributes
    ----------
    scores : RowScores or None
        Of the rows it was judged on; None where the fit or its likelihood was refused.
    seconds, memory : float
        Of the fit: wall-clock time, and bytes at its peak (NaN where not measured).
    note : str
        What there is to say: that it did not converge, or why it was refused.
    measures : dict
        Value, standard error and rows of each further measure.
    counts : ndarray or None
        Bins of completed cells, (10, 4); where hidden cells were judged, their number in each row.
    model : fitted estimator or None
    """

    scores: RowScores | None
    seconds: float
    memory: float
    note: str
    measures: dict[str, list[float]]
    counts: Floats | None
    model: Any

    def packed(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return (figures, arrays), from which `unpacked` makes the same trial again."""
        figures = {
            "seconds": self.seconds,
            "memory": None if math.isnan(self.memory) else self.memory,
            "note": self.note,
            "measures": self.measures,
            "kind": None if self.scores is None else self.scores.kind,
            "common": 0.0 if self.scores is None else self.scores.common,
        }
        arrays = {} if self.scores is None else {"values": self.scores.values, "errors": self.scores.errors}
        return figures, arrays if self.counts is None else {**arrays, "counts": self.counts}

    @classmethod
    def unpacked(cls, figures: dict[str, Any], arrays: dict[str, Floats], model: Any) -> Trial:
        """Return a trial as it was kept."""
        scores = None
        if figures["kind"] is not None:
            scores = RowScores(arrays["values"], arrays["errors"], figures["common"], figures["kind"])
        memory = math.nan if figures["memory"] is None else figures["memory"]
        kept = (figures["seconds"], memory, figures["note"], figures["measures"], arrays.get("counts"))
        return cls(scores, *kept, model)


def sized(estimator: Any, size: Any, seed: int) -> Any:
    """Return an estimator like this one with a size and a seed of its own."""
    made = clone(estimator)
    if size is not None:
        made.set_params(n_components=size)
    if getattr(made, "random_state", 0) is None:
        made.set_params(random_state=seed)
    return made


def attempt(
    estimator: Any,
    train: Table,
    judge: Judge,
    *,
    keep: bool,
) -> Trial:
    """Fit, then judge. What the estimator refuses is written down; what it warns of as well."""
    said: list[warnings.WarningMessage] = []
    model, begun, seconds = estimator, time.perf_counter(), math.nan
    found: tuple[RowScores | None, dict[str, list[float]], Floats | None] = (None, {}, None)
    refused = ""
    with peak() if keep else nullcontext(Peak()) as memory:
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                begun = time.perf_counter()
                model = estimator.fit(train if _ours(estimator) else train.to_float())
                seconds = time.perf_counter() - begun
        except ClusterError:
            raise  # no fault of the model
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            refused = f"fit refused: {printable(error)}"
            seconds = time.perf_counter() - begun
    if not refused:
        try:
            found = judge(model)
        except ClusterError:
            raise
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            refused = f"likelihood refused: {printable(error)}"
    note = refused or _noted(said)
    return Trial(found[0], seconds, memory.bytes, note, found[1], found[2], model if keep and not refused else None)


def _ours(estimator: Any) -> bool:
    """Whether an estimator takes tables; scikit-learn's own take arrays."""
    return type(estimator).__module__.partition(".")[0] != "sklearn"


def _noted(said: list[warnings.WarningMessage]) -> str:
    """Return what a fit warned of, each thing once."""
    words = []
    for warning in said:
        unfinished = issubclass(warning.category, ConvergenceWarning)
        words.append("did not converge" if unfinished else f"{warning.category.__name__}: {warning.message}")
    return "; ".join(dict.fromkeys(words))


def on_rows(
    table: Table, measures: tuple[str, ...] = (), sample: Table | None = None, *, share: float = 0.1, seed: int = 0
) -> Judge:
    """Return a judge by held-out rows, with further measures on a sample of them."""

    def judge(model: Any) -> Judged:
        scores, extra, counts = row_scores(model, table), {}, None
        if sample is not None and sample.only_bits:
            for name, measure in MEASURES.items():
                if name in measures:
                    figure = measure(model, sample)
                    extra[name] = [figure.value, figure.standard_error, float(figure.n_rows)]
            if "calibration" in measures:
                counts = bins(model, sample, share, seed)
        return scores, extra, counts

    return judge


def on_cells(table: Table, share: float, seed: int) -> Judge:
    """Return a judge by the cells that `hide_cells` hides: minus the log-loss of each row's, and their number."""

    def judge(model: Any) -> Judged:
        losses, cells = cell_losses(model, table, share=share, seed=seed)
        return RowScores(-losses, np.zeros(len(losses))), {}, cells

    return judge

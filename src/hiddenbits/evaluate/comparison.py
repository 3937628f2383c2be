"""What `compare` returns: a table of families with their scores, and which families are tied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hiddenbits.display import DisplayedTable, as_frame, number, with_error

TIE_ERRORS = 2.0  # families are tied if the paired difference is within this many standard errors
SIZE_TIE_ERRORS = 1.0  # the same for the sizes of one family


@dataclass(frozen=True)
class ComparisonEntry:
    """The scores of one family on the test rows.

    Attributes
    ----------
    model : str
        The family, or its name in `models=`.
    hidden : str
        The hidden structure that the family assumes.
    size : str
        Number of classes, dimensions, units or causes.
    n_parameters : int or None
        Free parameters at that size; None if unknown.
    log_likelihood, log_likelihood_error : float
        Mean log-likelihood of a test row in nats, and its standard error over rows.
    kind : str
        "exact", "bound" or "estimate".
    estimate_error, estimate_bias : float
        Monte-Carlo standard error of that mean if it is an estimate, and how much too low it is on average.
    difference, difference_error : float
        Difference of the log-likelihood from the highest family's, paired by row, in nats per row, and its standard
        error. Both are 0, by definition, for the highest family itself.
    bits_per_cell, bits_per_cell_error : float
        The same likelihood in bits per observed cell.
    leave_one_out_error, single_bit_error_error : float or None
        Error rate when each cell is predicted from the other cells of its row, and its standard error.
    code_length, code_length_error : float or None
        Bits per cell, given the most probable hidden code of the row, and its standard error.
    calibration, calibration_chance : float or None
        Calibration error of imputed cells, and what perfectly calibrated probabilities would show by chance.
    fit_seconds, all_seconds : float
        Time of one fit at that size, and of all fits of the family at all sizes.
    peak_memory : float
        Bytes of a fit at that size, above what the process used before; NaN if not measured.
    note : str
        A remark, such as that the fit did not converge.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(400, 6, 2, random_state=0).X
    >>> evaluate.compare(X, ["IndependentColumns"]).entries[0].kind
    'exact'
    """

    model: str
    hidden: str
    size: str
    n_parameters: int | None
    log_likelihood: float
    log_likelihood_error: float
    kind: str
    estimate_error: float
    estimate_bias: float
    difference: float
    difference_error: float
    bits_per_cell: float
    bits_per_cell_error: float
    leave_one_out_error: float | None
    single_bit_error_error: float | None
    code_length: float | None
    code_length_error: float | None
    calibration: float | None
    calibration_chance: float | None
    fit_seconds: float
    all_seconds: float
    peak_memory: float
    note: str


@dataclass(frozen=True)
class TriedSize:
    """The score of one size of one family, on held-out rows or cells.

    Attributes
    ----------
    model, size : str
    n_parameters : int or None
        Free parameters; None if unknown.
    value, standard_error : float or None
        Mean log-likelihood of a held-out row, or minus the log-loss of a held-out cell, or an information criterion;
        and its standard error over rows (None for a criterion). None if the fit failed.
    difference, difference_error : float or None
        Difference from the best size on the same rows, at most 0 (at least 0 for a criterion), and its standard error.
        Both are 0 for the best size.
    kind : str
        "exact", "bound" or "estimate".
    seconds : float
        Time of its fits.
    chosen : bool
        Whether this size was chosen.
    note : str

    Examples
    --------
    >>> from hiddenbits.evaluate import TriedSize
    >>> TriedSize("LatentClassAnalysis", "2", 17, -6.0, 0.1, 0.0, 0.0, "exact", 0.5, True, "").chosen
    True
    """

    model: str
    size: str
    n_parameters: int | None
    value: float | None
    standard_error: float | None
    difference: float | None
    difference_error: float | None
    kind: str
    seconds: float
    chosen: bool
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(DisplayedTable):
    """The result of `compare`: which family fits a table best.

    It is shown as a table when printed, and in a notebook.

    Attributes
    ----------
    best : str
        The chosen family: the one with the fewest free parameters among those that cannot be distinguished from the
        highest (`ties`); if these are equal, the first in `models=`.
    entries : tuple of ComparisonEntry
        One for each family, the highest log-likelihood first.
    left_out : dict
        Excluded families, and why.
    tried : tuple of TriedSize
        Every size of every family.
    models : dict
        Families of this library at their chosen sizes, fitted to the training rows of the first split.
    n_train, n_test, n_splits : int
        Training rows of the first split, test rows of all splits together, and number of splits.
    n_measured : int
        Test rows for the leave-one-out error, the code length and the calibration.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1200, 8, 2, random_state=0).X
    >>> names = ["IndependentColumns", "LatentClassAnalysis"]
    >>> comparison = evaluate.compare(X, names, sizes={"LatentClassAnalysis": [2, 3]})
    >>> comparison.best, comparison.size, comparison.ties()
    ('LatentClassAnalysis', '2', ['LatentClassAnalysis'])
    >>> comparison.verdict
    'LatentClassAnalysis(2) fits best.'
    """

    best: str
    entries: tuple[ComparisonEntry, ...]
    left_out: Mapping[str, str]
    tried: tuple[TriedSize, ...]
    models: Mapping[str, Any]
    n_train: int
    n_test: int
    n_splits: int
    n_measured: int

    @property
    def size(self) -> str:
        """The size of the chosen family; empty if it has none."""
        return self.entry(self.best).size

    @property
    def verdict(self) -> str:
        """A sentence with the chosen family and size, and the families that are tied with it."""
        best, ties = _labeled(self.entry(self.best)), self.ties()
        if len(ties) == 1:
            return f"{best} fits best."
        n = self.entry(self.best).n_parameters
        return (
            f"A tie: {', '.join(_labeled(self.entry(model)) for model in ties)} are within {TIE_ERRORS:g} standard "
            f"errors of the highest. {best} is the simplest of them{'' if n is None else f' ({n} free parameters)'}."
        )

    def entry(self, model: str) -> ComparisonEntry:
        """Return the scores of a family.

        Parameters
        ----------
        model : str
            One of the families in `entries`.
        """
        return next(entry for entry in self.entries if entry.model == model)

    def ties(self, n_errors: float = TIE_ERRORS) -> list[str]:
        """Return the families that cannot be distinguished from the highest.

        Parameters
        ----------
        n_errors : float, default=2.0
            A family is tied with the highest if the paired difference is within this many standard errors.
        """
        return [e.model for e in self.entries if -e.difference <= n_errors * e.difference_error]

    def records(self, what: Literal["models", "sizes"] = "models") -> list[dict[str, Any]]:
        """Return the table as a list of dicts.

        Parameters
        ----------
        what : {"models", "sizes"}
            The chosen size of each family, or every size that was tried.
        """
        return [asdict(entry) for entry in (self.entries if what == "models" else self.tried)]

    def to_frame(self, what: Literal["models", "sizes"] = "models", *, backend: str | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        what : {"models", "sizes"}
            The chosen size of each family, or every size that was tried.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame; by default the first that is installed.
        """
        records = self.records(what)
        return as_frame({name: [record[name] for record in records] for name in records[0]}, backend)

    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        head = ["model", "size", "parameters", "nats per row", "", "below the highest", "bits per cell", "error rate"]
        head += ["code length", "calibration", "fit", "memory"]
        ties, lines = self.ties(), []
        for e in self.entries:
            difference = "highest" if e is self.entries[0] else with_error(abs(e.difference), e.difference_error, 3)
            if e is not self.entries[0] and e.model in ties:
                difference += " (tied)"
            calibration = "-" if e.calibration is None else f"{e.calibration:.4f} ({number(e.calibration_chance)})"
            lines.append(
                [
                    e.model + (" *" if e.model == self.best else ""),
                    e.size,
                    "-" if e.n_parameters is None else f"{e.n_parameters}",
                    with_error(e.log_likelihood, e.log_likelihood_error, 3),
                    e.kind,
                    difference,
                    number(e.bits_per_cell),
                    number(e.leave_one_out_error),
                    number(e.code_length),
                    calibration,
                    seconds(e.fit_seconds),
                    megabytes(e.peak_memory),
                ]
            )
        return [self.verdict], head, lines, self._footnotes()

    def _footnotes(self) -> list[str]:
        splits = "" if self.n_splits == 1 else f" in {self.n_splits} splits"
        rows = f"{self.n_train} training rows, {self.n_test} test rows{splits}"
        footnotes = [f"{rows}; no fit is scored on rows it was trained on."]
        inexact = [e.model for e in self.entries if e.kind != "exact" and not math.isnan(e.estimate_error)]
        if inexact:
            footnotes.append(
                f"Likelihood not exact: {', '.join(inexact)}. Monte-Carlo errors and biases are in `records()`."
            )
        footnotes += [f"{e.model}: {e.note}." for e in self.entries if e.note]
        return footnotes + [f"Excluded: {name}: {reason}." for name, reason in self.left_out.items()]


def _labeled(entry: ComparisonEntry) -> str:
    return f"{entry.model}({entry.size})" if entry.size else entry.model


# Formats of times and memory in the tables of `compare` and `select`.


def seconds(value: float) -> str:
    """Format a time."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def megabytes(value: float) -> str:
    """Format an amount of memory."""
    return "-" if math.isnan(value) else f"{value / 2**20:.1f} MB"

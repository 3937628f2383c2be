"""What `compare` returns: a table of families, the best first, with what is and is not to be read into it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hiddenbits.evaluate.frames import Shown, as_frame, megabytes, number, seconds, with_error

TIE = 2.0  # standard errors of the paired difference within which two families are said to be even


@dataclass(frozen=True)
class Entry:
    """One family on the test rows.

    Attributes
    ----------
    model : str
        The family, or the name that it was given in `models=`.
    hidden : str
        What it says is hidden.
    size : str
        Number of classes, dimensions, units or causes, chosen without the test rows; of several splits one for each.
    log_likelihood, log_likelihood_error : float
        Mean of a test row in nats, and its standard error over rows.
    kind : str
        "exact", "bound" or "estimate".
    estimate_error, estimate_bias : float
        Of an estimate: the Monte-Carlo standard error of that mean, and how much too low it is on average.
    difference, difference_error : float
        Log-likelihood less that of the best family, row by row, in nats a row, and its standard error.
    bits_per_cell, bits_per_cell_error : float
        The same likelihood as bits an observed cell.
    single_bit_error, single_bit_error_error : float or None
        How often the more probable value of a bit, given the rest of its row, is wrong.
    code_length, code_length_error : float or None
        Bits a cell once the row's most probable code is known.
    calibration, calibration_chance : float or None
        How far completed cells are from their probabilities, and what right probabilities would show.
    fit_seconds, all_seconds : float
        The fit that was judged, and all fits of the family, those of other sizes too.
    peak_memory : float
        Bytes of the fit that was judged, above what the process held; NaN where not measured.
    note : str
        That it did not converge, for example.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(400, 6, 2, seed=0).X
    >>> evaluate.compare(X, ["IndependentBits"]).entries[0].kind
    'exact'
    """

    model: str
    hidden: str
    size: str
    log_likelihood: float
    log_likelihood_error: float
    kind: str
    estimate_error: float
    estimate_bias: float
    difference: float
    difference_error: float
    bits_per_cell: float
    bits_per_cell_error: float
    single_bit_error: float | None
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
class Tried:
    """One size of one family, on rows or cells that were held out of the training rows.

    Attributes
    ----------
    model, size : str
    split : int
        Which split of `cv=`.
    value, standard_error : float or None
        Mean log-likelihood of a held-out row, or minus the loss of a hidden cell; None where it was refused.
    seconds : float
    chosen : bool
    note : str

    Examples
    --------
    >>> from hiddenbits.evaluate import Tried
    >>> Tried("BernoulliMixture", "2", 0, -6.0, 0.1, 0.5, True, "").chosen
    True
    """

    model: str
    size: str
    split: int
    value: float | None
    standard_error: float | None
    seconds: float
    chosen: bool
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Which family fits a table, the best first: what `compare` returns.

    Printing it shows the table, and so does a notebook.

    Attributes
    ----------
    entries : tuple of Entry
        One for each family, in order of falling log-likelihood.
    left_out : dict
        Why a family is not among them.
    tried : tuple of Tried
        Every size of every family.
    models : dict
        Families of this library, fitted to the training rows of the first split.
    n_train, n_test, n_splits : int
        Rows of the first split that were fitted, rows that were judged in all splits, and splits.
    n_measured : int
        Test rows for the single-bit error, the code length and the calibration.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1200, 8, 2, seed=0).X
    >>> found = evaluate.compare(X, ["IndependentBits", "BernoulliMixture"], sizes={"BernoulliMixture": [2, 3]})
    >>> found.best, found.ties()
    ('BernoulliMixture', ['BernoulliMixture'])
    """

    entries: tuple[Entry, ...]
    left_out: Mapping[str, str]
    tried: tuple[Tried, ...]
    models: Mapping[str, Any]
    n_train: int
    n_test: int
    n_splits: int
    n_measured: int

    @property
    def best(self) -> str:
        """The family with the highest log-likelihood on the test rows; see `ties` before you call it the winner."""
        return self.entries[0].model

    def ties(self, n_errors: float = TIE) -> list[str]:
        """Return the families that cannot be told from the best: within so many standard errors of the difference.

        Parameters
        ----------
        n_errors : float, default=2.0
            Standard errors of the paired difference.
        """
        return [e.model for e in self.entries if -e.difference <= n_errors * e.difference_error or e.difference == 0.0]

    def records(self, what: Literal["models", "sizes"] = "models") -> list[dict[str, Any]]:
        """Return the table as a list of dicts.

        Parameters
        ----------
        what : {"models", "sizes"}
            The families, or every size that was tried.
        """
        return [asdict(entry) for entry in (self.entries if what == "models" else self.tried)]

    def to_frame(self, what: Literal["models", "sizes"] = "models", *, backend: str | None = None) -> Any:
        """Return the table as a frame.

        Parameters
        ----------
        what : {"models", "sizes"}
            The families, or every size that was tried.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Whose frame; by default of the first that is installed.
        """
        records = self.records(what)
        return as_frame({name: [record[name] for record in records] for name in records[0]}, backend)

    def _shown(self) -> tuple[list[str], list[list[str]], list[str]]:
        head = [
            "model",
            "size",
            "nats a row",
            "",
            "behind the best",
            "bits a cell",
            "bit errors",
            "code",
            "calibration",
        ]
        head += ["fit", "memory"]
        even, lines = self.ties(), []
        for e in self.entries:
            behind = "best" if e is self.entries[0] else with_error(-e.difference, e.difference_error, 3)
            if e is not self.entries[0] and e.model in even:
                behind += " (even)"
            calibration = "-" if e.calibration is None else f"{e.calibration:.4f} ({number(e.calibration_chance)})"
            lines.append(
                [
                    e.model,
                    e.size,
                    with_error(e.log_likelihood, e.log_likelihood_error, 3),
                    e.kind,
                    behind,
                    number(e.bits_per_cell),
                    number(e.single_bit_error),
                    number(e.code_length),
                    calibration,
                    seconds(e.fit_seconds),
                    megabytes(e.peak_memory),
                ]
            )
        return head, lines, self._below(even)

    def _below(self, even: list[str]) -> list[str]:
        splits = "" if self.n_splits == 1 else f" in {self.n_splits} splits"
        below = [f"{self.n_test} test rows{splits}, never used to fit or to choose a size."]
        if len(even) > 1:
            below.append(f"Even within {TIE:g} standard errors of the difference: {', '.join(even)}.")
        unsure = [e.model for e in self.entries if e.kind != "exact" and not math.isnan(e.estimate_error)]
        if unsure:
            below.append(
                f"No exact likelihoods: {', '.join(unsure)}. Their Monte-Carlo error and bias are in `records()`."
            )
        below += [f"{e.model}: {e.note}." for e in self.entries if e.note]
        return below + [f"Left out: {name}: {reason}." for name, reason in self.left_out.items()]

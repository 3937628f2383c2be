"""What a fitted estimator shows of itself: how its fit went, and the tables of its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.layout import Layout
from hiddenbits.engine import StopReason
from hiddenbits.families._base.parameters import bit_labels, column_sizes
from hiddenbits.maths.numerics import bic
from hiddenbits.quoting import name_of
from hiddenbits.shown import as_frame, as_html, html, plain

DOWN, ACROSS = 20, 9  # lines of a table that are printed, and its columns
LISTED, NAME = 4, 24  # names in a list of the strongest, and their letters

EXPLANATIONS = {
    StopReason.MAX_ITER: "it used all of its max_iter passes. Raise max_iter or tol",
    StopReason.TIME: "the max_time of run_on was over. Raise it, or tol",
    StopReason.CALLBACK: "a callback asked it to",
    StopReason.FELL: "the objective fell, which it must not do: please report this table as a bug",
    StopReason.NOT_FINITE: "the objective was not a finite number: lower the learning_rate of chains, if "
    "there are any, otherwise please report this table as a bug",
}
LIKELIHOOD = "log-likelihood plus log prior"  # what most traces say
STOPPED = {
    StopReason.CONVERGED: "converged",
    StopReason.MAX_ITER: "stopped at max_iter",
    StopReason.SCHEDULE: "came to its planned end",
    StopReason.TIME: "stopped at max_time",
    StopReason.CALLBACK: "stopped by a callback",
    StopReason.FELL: "stopped: the objective fell",
    StopReason.NOT_FINITE: "stopped: the objective was not finite",
    "online": "learns in pieces (partial_fit)",
}


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table of a summary.

    Attributes
    ----------
    title : str
        What its numbers are.
    columns : mapping
        Its columns by name, text or numbers; the first one names the lines.
    of : str
        What a line is, in the plural: "columns", "classes".
    weight : ndarray, optional
        Which lines matter most: where there are too many to print, those with the largest are. By default the first.
    """

    title: str
    columns: Mapping[str, Any]
    of: str
    weight: Floats | None = None

    def values(self) -> dict[str, list[Any]]:
        """Return its columns as lists."""
        return {name: np.asarray(cells).tolist() for name, cells in self.columns.items()}

    def shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        """Return title, head, lines and a note of what was left out, for `shown.plain` and `shown.html`."""
        columns = self.values()
        n, head = len(next(iter(columns.values()))), list(columns)[: ACROSS + 1]
        lines, below = list(range(n)), []
        if n > DOWN + 1:  # a note in place of a single line would save nothing
            first = np.arange(n) if self.weight is None else np.argsort(-np.asarray(self.weight), kind="stable")
            kept, shown = first[:DOWN], ""
            if self.weight is not None:
                shown = "; shown are those that matter most"
                whole = kept[self.weight[kept] > self.weight[first[DOWN]]]  # levels of one column have one weight
                kept = whole if len(whole) else kept
            lines = sorted(kept.tolist())
            below.append(f"... {n - len(lines):,} more {self.of}{shown}")
        if len(columns) > len(head):
            below.append(f"... and {len(columns) - len(head)} more across: {', '.join(list(columns)[len(head) :][:3])}")
        cells = [[_cell(columns[name][i]) for name in head] for i in lines]
        return [self.title], [name_of(name) for name in head], cells, below

    def __str__(self) -> str:
        text = [i for i, cells in enumerate(self.values().values()) if not all(isinstance(one, float) for one in cells)]
        return plain(*self.shown(), left=text)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else name_of(value)


class Summary:
    """What `model.summary()` returns: how the fit went and what was found, as named tables.

    Printing it shows all of them, long ones cut, and so does a notebook.

    Attributes
    ----------
    title : str
        The model.
    story : dict of str
        How the fit went: rows, passes, why it stopped, score, warnings; and under "coding", where the fit was to other
        values than 0 and 1, which of them are 1.
    tables : dict of frames
        The tables by name, whole; of pandas, polars or pyarrow, whichever is installed first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> found = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X).summary()
    >>> list(found.tables)
    ['classes', 'profiles']
    >>> found.tables["profiles"].columns.tolist()
    ['column', 'class_1', 'class_2']
    """

    def __init__(self, title: str, story: dict[str, str], tables: dict[str, SummaryTable]) -> None:
        self.title, self.story, self._tables = title, story, tables

    @property
    def tables(self) -> dict[str, Any]:
        """The tables as frames, by name."""
        return {name: as_frame(one.values(), otherwise="print the summary") for name, one in self._tables.items()}

    def __repr__(self) -> str:
        told = "\n".join(f"{name}: {said}" for name, said in self.story.items())
        return "\n\n".join([self.title, told, *map(str, self._tables.values())])

    def _repr_html_(self) -> str:
        tables = "".join(html(*one.shown()) for one in self._tables.values())
        return f"<p><b>{as_html(self.title)}</b></p>{story_html(self.story)}{tables}"


def story_html(story: Mapping[str, str]) -> str:
    """Return how a fit went as a small table; its colours are those of the page."""
    rows = "".join(
        f'<tr><th style="text-align:left">{as_html(name)}</th><td style="text-align:left">{as_html(said)}</td></tr>'
        for name, said in story.items()
    )
    return f'<table class="hiddenbits-fit" style="margin-top:0.5em"><tbody>{rows}</tbody></table>'


def spectrum_table(eigenvalues: Floats, by_chance: Floats | None = None) -> SummaryTable:
    """Return the table of the eigenvalues of correlations of hidden variables, largest first."""
    columns: dict[str, Any] = {"number": [str(k + 1) for k in range(len(eigenvalues))], "eigenvalue": eigenvalues}
    columns["share"] = eigenvalues / max(len(eigenvalues), 1)
    if by_chance is not None:
        columns["by chance"] = by_chance
    return SummaryTable("Spectrum of the correlations of the hidden variables", columns, "eigenvalues")


def strongest(values: Floats, names: Sequence[str]) -> str:
    """Return the largest of some numbers that are above 0.05, as a list of names: "bread 0.61, milk 0.43"."""
    order = [j for j in np.argsort(-values, kind="stable")[:LISTED] if values[j] >= 0.05]
    return ", ".join(f"{_short(names[j])} {values[j]:.2f}" for j in order) or "-"


def _short(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME - 3]}..."


def strongest_each_way(W: Floats, names: Sequence[str], up: str, down: str) -> dict[str, list[str]]:
    """Return for each line of numbers its largest, and the largest of those below 0, by these words."""
    return {up: [strongest(row, names) for row in W], down: [strongest(-row, names) for row in W]}


class ShowsItself:
    """`summary`, and how the fit went below scikit-learn's own box in a notebook.

    A family says which tables its summary has with `_tables`.
    """

    _independent: float | None = None  # mean log-likelihood of a row of the fit under independent columns, where known

    def _tables(self) -> dict[str, SummaryTable]:
        """Return the tables of the summary by name."""
        return {}

    @property
    def _score_is(self) -> str | None:
        """What the trace says of all rows, where it can stand next to independent columns; else None."""
        return LIKELIHOOD

    def _cautions(self) -> list[str]:
        """Return what a fit warns of, as sentences."""
        reason: Any = self.stop_reason_  # type: ignore[attr-defined]
        if reason not in EXPLANATIONS:
            return []
        return [f"{type(self).__name__} did not converge; the fit stopped because {EXPLANATIONS[reason]}."]

    def _story(self) -> dict[str, str]:
        """Return how the fit went, in words."""
        me: Any = self
        weight = f"{me.weight_seen_:,.0f}" if float(me.weight_seen_).is_integer() else f"weight {me.weight_seen_:,.6g}"
        n = len(me.restarts_)
        agree = f", of which {me.n_agreeing_} found this maximum" if n > 1 and hasattr(me, "n_agreeing_") else ""
        passes = f"{me.n_iter_:,}" + (f", in the best of {n} restarts{agree}" if n > 1 else "")
        said = {"rows": f"{weight} x {me.n_features_in_:,} columns", "passes": passes}
        said["stop"] = STOPPED[me.stop_reason_]
        if self._score_is and len(me.trace_):
            score = f"{me.trace_[-1] / me.weight_seen_:.4f} nats per row ({self._score_is})"
            beside = "" if self._independent is None else f"; independent columns {self._independent:.4f}"
            said["score"] = score + beside
            said |= {"fit": fit} if (fit := self._criteria()) else {}
        said |= {"warning": " ".join(self._cautions())} if self._cautions() else {}
        return said

    def _criteria(self) -> str:
        """Return the line of a paper's table, where the fit is of maximum likelihood and its trace the likelihood."""
        me: Any = self
        priors = getattr(self, "_prior_settings", None)
        if priors is None or self._score_is != LIKELIHOOD or any(getattr(self, name) != 0.0 for name in priors):
            return ""
        log_likelihood, p, N = float(me.trace_[-1]), me.n_parameters_, float(me.weight_seen_)
        adjusted = bic(log_likelihood, p, (N + 2.0) / 24.0)
        figures = {"AIC": 2.0 * p - 2.0 * log_likelihood, "BIC": bic(log_likelihood, p, N), "adjusted BIC": adjusted}
        shown = "; ".join(f"{name} {value:,.2f}" for name, value in figures.items())
        return f"log-likelihood {log_likelihood:,.2f}; {p:,} parameters; {shown}"

    def summary(self) -> Summary:
        """Return how the fit went and what was found, as named tables that print themselves.

        Returns
        -------
        summary : Summary
            `tables` has the tables as frames, by name; print it, or show it in a notebook.
        """
        check_is_fitted(self)
        return Summary(repr(self), self._whole_story(), self._tables())

    def _whole_story(self) -> dict[str, str]:
        """Return how the fit went, and which values of the user's table are 1."""
        coding: Coding | None = getattr(self, "coding_", None)
        said = "" if coding is None else coding.sentence(lambda text: repr(name_of(text)))
        return {**self._story(), **({"coding": said} if said else {})}

    def _column_names(self) -> list[str]:
        """Return the names of the columns of the fit."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]  # type: ignore[attr-defined]

    def _by_column(self, title: str, values: Mapping[str, AnyArray], weight: Floats | None = None) -> SummaryTable:
        """Return a table with a line for each column of the fit, or for each of its levels."""
        labels = bit_labels(self)
        return SummaryTable(title, {**labels, **values}, "levels" if "level" in labels else "columns", weight)

    def _classes(self, weights: Floats, probabilities: Floats, names: Sequence[str]) -> dict[str, SummaryTable]:
        """Return the tables of classes: their shares, and P(bit = 1) or P(level) in each, (classes, bits)."""
        spread, sizes = np.ptp(probabilities, axis=0), column_sizes(self)
        title = "Profiles: P(bit = 1) in each class"
        if sizes is not None:  # levels of a column stay together
            title = "Profiles: share of each level in each class"
            layout = Layout(sizes)
            spread = np.maximum.reduceat(spread, layout.starts)[layout.columns]
        profiles = dict(zip(names, probabilities, strict=True))
        return {
            "classes": SummaryTable("Classes and their shares", {"class": names, "share": weights}, "classes"),
            "profiles": self._by_column(title, profiles, spread),
        }

    def _loadings(self, components: Floats, more: Mapping[str, AnyArray], names: Sequence[str]) -> SummaryTable:
        """Return the table of loadings, (dimensions, columns)."""
        size = np.sqrt((components**2).sum(axis=0))
        return self._by_column("Loadings", {**dict(zip(names, components, strict=True)), **more}, size)

    # ------------------------------------------------------------------------------------------------ in notebooks

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._story_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return {kind: text + self._story_html() if kind == "text/html" else text for kind, text in bundle.items()}

    def _story_html(self) -> str:
        return story_html(self._whole_story()) if hasattr(self, "converged_") else ""

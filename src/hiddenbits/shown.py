"""Results as frames, HTML and plain text: one way to show a table in a terminal and in a notebook."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

from hiddenbits.quoting import printable

BACKENDS = ("pandas", "polars", "pyarrow")

Lines = Sequence[Sequence[str]]


def library(backend: Any = None, *, otherwise: str = "use records()") -> Any:
    """Return the library of frames that was asked for, or the first that is installed."""
    chosen = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if chosen is None:
        raise ImportError(f"A frame needs one of {', '.join(BACKENDS)}. Install one, or {otherwise}.")
    return chosen


def names_of(model: Any, table: Any) -> list[str]:
    """Return the names of the columns: the table's, the model's, or x0, x1, ...; of a column of levels one for each."""
    names = table.names or getattr(model, "level_names_", None) or getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(table.shape[1])] if names is None else [str(name) for name in names]


def as_frame(
    columns: dict[str, list[Any]],
    backend: str | None = None,
    *,
    otherwise: str = "use records()",
    if_empty: Mapping[str, type] | None = None,
) -> Any:
    """Return columns as a frame of the given library, or of the first that is installed.

    `if_empty` has the types of columns in which there may be no value.
    """
    import narwhals.stable.v2 as nw

    chosen = library(backend, otherwise=otherwise)
    kinds: dict[str, Any] = {}
    for name, values in columns.items():
        types = {type(value) for value in values if value is not None} or {(if_empty or {}).get(name, float)}
        kinds[name] = nw.Float64() if types <= {float, int} and types != {int} else nw.String()
        if types == {int}:
            kinds[name] = nw.Int64()
        elif types == {bool}:
            kinds[name] = nw.Boolean()
    filled = {
        name: [math.nan if value is None and kinds[name] == nw.Float64() else value for value in values]
        for name, values in columns.items()
    }
    return nw.from_dict(filled, schema=kinds, backend=chosen).to_native()


def plain(
    above: Sequence[str], head: Sequence[str], lines: Lines, below: Sequence[str], left: Sequence[int] = (0,)
) -> str:
    """Return a table in plain text, with sentences above and below it; the `left` columns are aligned there."""
    head, lines = [printable(cell) for cell in head], [[printable(cell) for cell in line] for line in lines]
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    rows = [
        "  ".join(cell.ljust(widths[i]) if i in left else cell.rjust(widths[i]) for i, cell in enumerate(line)).rstrip()
        for line in (head, *lines)
    ]
    return printable("\n".join([*above, *rows, *below]), keep="\n")


def html(above: Sequence[str], head: Sequence[str], lines: Lines, below: Sequence[str]) -> str:
    """Return the same as HTML; all content is escaped."""
    ths = "".join(f"<th>{as_html(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{as_html(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    first, notes = ("".join(f"<p>{as_html(sentence)}</p>" for sentence in some) for some in (above, below))
    return f"{first}<table><thead><tr>{ths}</tr></thead><tbody>{body}</tbody></table>{notes}"


def as_html(text: str) -> str:
    """Return a text as HTML shows it, whatever it holds."""
    return escape(printable(text))


def percent(share: float) -> str:
    """Return a share in percent; a tiny share is not shown as 0.

    Examples
    --------
    >>> from hiddenbits.shown import percent
    >>> percent(0.25), percent(0.0001), percent(0.0)
    ('25.0%', '<0.1%', '0.0%')
    """
    return "<0.1%" if 0.0 < share < 0.0005 else f"{share:.1%}"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number; a dash if there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def with_error(value: float | None, error: float | None, digits: int = 4) -> str:
    """Format a number and its standard error; an error that rounds to 0 is not shown as 0."""
    if value is None or math.isnan(value):
        return "-"
    least = 10.0**-digits
    small = error is not None and error < 0.5 * least
    return f"{value:.{digits}f} ± {f'<{least:.{digits}f}' if small else number(error, digits)}"


class Shown(ABC):
    """A result that shows itself as a table, in a terminal and in a notebook."""

    @abstractmethod
    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        """Return the sentences above, head, lines and the sentences below."""

    def __str__(self) -> str:
        return plain(*self._shown())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(*self._shown())

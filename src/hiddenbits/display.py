"""Results as data frames, HTML and plain text, for terminals and notebooks."""

from __future__ import annotations

import io
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.quoting import name_of, printable

BACKENDS = ("pandas", "polars", "pyarrow")

Lines = Sequence[Sequence[str]]


def library(backend: Any = None, *, otherwise: str = "use records()") -> Any:
    """Return the requested library of data frames, or the first that is installed."""
    name = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if name is None:
        raise ImportError(f"A frame needs one of {', '.join(BACKENDS)}. Install one, or {otherwise}.")
    return name


def names_of(model: Any, table: Any) -> list[str]:
    """Return the names of the columns: the table's, the model's, or x0, x1, ...; a nominal column has one per level."""
    names = table.names or getattr(model, "level_names_", None) or getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(table.shape[1])] if names is None else [str(name) for name in names]


def axis_names(model: Any, table: Any) -> dict[str, list[str]]:
    """Return the names along the axes of parameters: columns and levels, numbers, answers of items, dimensions."""
    names = {"column": names_of(model, table), "continuous": list[str](), "count": list[str]()}
    for column in () if table.coding is None else table.coding.number_columns:
        names[column.how].append(column.name if table.coding.named else f"x{column.name}")
    names["number"] = names["continuous"] + names["count"]
    if hasattr(model, "get_feature_names_out"):
        names["dimension"] = [str(name) for name in model.get_feature_names_out()]
    if hasattr(model, "answer_names_"):
        names["answer"] = model.answer_names_
        columns = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
        names["guessing item"] = [str(columns[j]) for j in np.flatnonzero(model.guessing_)]
        dimensions = names["dimension"]
        names["pair of dimensions"] = [f"{a} with {b}" for j, b in enumerate(dimensions) for a in dimensions[:j]]
    return names


def as_frame(
    columns: dict[str, list[Any]],
    backend: str | None = None,
    *,
    otherwise: str = "use records()",
    if_empty: Mapping[str, type] | None = None,
) -> Any:
    """Return columns as a frame of the requested library, or of the first that is installed.

    `if_empty` has the types of columns that may have no values.
    """
    import narwhals.stable.v2 as nw

    frame_library = library(backend, otherwise=otherwise)
    schema: dict[str, Any] = {}
    for name, values in columns.items():
        types = {type(value) for value in values if value is not None} or {(if_empty or {}).get(name, float)}
        schema[name] = nw.Float64() if types <= {float, int} and types != {int} else nw.String()
        if types == {int}:
            schema[name] = nw.Int64()
        elif types == {bool}:
            schema[name] = nw.Boolean()
    filled = {
        name: [math.nan if value is None and schema[name] == nw.Float64() else value for value in values]
        for name, values in columns.items()
    }
    return nw.from_dict(filled, schema=schema, backend=frame_library).to_native()


def plain(
    above: Sequence[str], head: Sequence[str], lines: Lines, below: Sequence[str], left: Sequence[int] = (0,)
) -> str:
    """Return a table in plain text, with sentences above and below it; the columns in `left` are left-aligned."""
    head, lines = [printable(cell) for cell in head], [[printable(cell) for cell in line] for line in lines]
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    rows = [
        "  ".join(cell.ljust(widths[i]) if i in left else cell.rjust(widths[i]) for i, cell in enumerate(line)).rstrip()
        for line in (head, *lines)
    ]
    return printable("\n".join([*above, *rows, *below]), keep="\n")


def html(above: Sequence[str], head: Sequence[str], lines: Lines, below: Sequence[str]) -> str:
    """Return a table as HTML, with sentences above and below it; all content is escaped."""
    ths = "".join(f"<th>{as_html(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{as_html(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    first, notes = ("".join(f"<p>{as_html(sentence)}</p>" for sentence in group) for group in (above, below))
    return f"{first}<table><thead><tr>{ths}</tr></thead><tbody>{body}</tbody></table>{notes}"


def as_html(text: str) -> str:
    """Return a text escaped for HTML."""
    return escape(printable(text))


def percent(share: float) -> str:
    """Return a share in percent; a tiny share is not shown as 0.

    Examples
    --------
    >>> from hiddenbits.display import percent
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
    smallest = 10.0**-digits
    small = error is not None and error < 0.5 * smallest
    return f"{value:.{digits}f} ± {f'<{smallest:.{digits}f}' if small else number(error, digits)}"


class DisplayedTable(ABC):
    """A result that is displayed as a table in a terminal and in a notebook."""

    @abstractmethod
    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        """Return the sentences above, the head, the lines and the sentences below."""

    def __str__(self) -> str:
        return plain(*self._shown())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(*self._shown())


# Summaries of fitted models: how the fit went, and named tables.

MAX_WIDTH = 60  # characters of a column of an Excel sheet
MAX_LINES, MAX_COLUMNS = 20, 9  # of a table that is printed; the first column has the names


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table of a summary.

    Attributes
    ----------
    title : str
        The title.
    columns : mapping
        The columns by name, text or numbers; the first column has the names of the lines.
    of : str
        The plural of what a line describes, such as "columns" or "classes".
    weight : ndarray, optional
        Weights of the lines: if there are too many to print, the lines with the largest weights are printed, by
        default the first.
    """

    title: str
    columns: Mapping[str, Any]
    of: str
    weight: NDArray[np.float64] | None = None

    def values(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: np.asarray(cells).tolist() for name, cells in self.columns.items()}

    def shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        """Return title, head, lines and notes on what is not shown, for `plain` and `html`."""
        columns = self.values()
        n, head = len(next(iter(columns.values()))), list(columns)[: MAX_COLUMNS + 1]
        lines, below = list(range(n)), []
        if n > MAX_LINES + 1:  # a note that replaces a single line would save nothing
            first = np.arange(n) if self.weight is None else np.argsort(-np.asarray(self.weight), kind="stable")
            chosen, note = first[:MAX_LINES], ""
            if self.weight is not None:
                note = "; shown are those that matter most"
                complete = chosen[self.weight[chosen] > self.weight[first[MAX_LINES]]]  # levels of a column tie
                chosen = complete if len(complete) else chosen
            lines = sorted(chosen.tolist())
            below.append(f"... {n - len(lines):,} more {self.of}{note}")
        if len(columns) > len(head):
            below.append(f"... and {len(columns) - len(head)} more across: {', '.join(list(columns)[len(head) :][:3])}")
        cells = [[_cell(columns[name][i]) for name in head] for i in lines]
        return [self.title], [name_of(name) for name in head], cells, below

    def __str__(self) -> str:
        columns = self.values().values()
        text = [i for i, cells in enumerate(columns) if not all(isinstance(cell, float) for cell in cells)]
        return plain(*self.shown(), left=text)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else name_of(value)


class Summary:
    """The result of `model.summary()`: how the fit went, and the estimates as named tables.

    Printing it, or displaying it in a notebook, shows all tables; long ones are shortened.

    Attributes
    ----------
    title : str
        The model.
    story : dict of str
        How the fit went: rows, passes, why it stopped, score, warnings; and under "coding", if the data had values
        other than 0 and 1, which of them count as 1.
    tables : dict of frames
        The complete tables as data frames, by name, of the first installed library: pandas, polars or
        pyarrow.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> summary = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X).summary()
    >>> list(summary.tables)
    ['classes', 'profiles']
    >>> summary.tables["profiles"].columns.tolist()
    ['column', 'class_1', 'class_2']
    """

    def __init__(self, title: str, story: dict[str, str], tables: dict[str, SummaryTable]) -> None:
        self.title, self.story, self._tables = title, story, tables

    @property
    def tables(self) -> dict[str, Any]:
        """The tables as frames, by name."""
        return {name: as_frame(table.values(), otherwise="print the summary") for name, table in self._tables.items()}

    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """Write an Excel workbook: a sheet about the fit, and a sheet for each table.

        Needs openpyxl (``pip install 'hiddenbits[tables]'``).

        Parameters
        ----------
        path : path
            The file, ending in ``.xlsx``. A file that exists is replaced.

        Examples
        --------
        >>> import tempfile, openpyxl
        >>> import numpy as np
        >>> from hiddenbits import LatentClassAnalysis
        >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
        >>> with tempfile.NamedTemporaryFile(suffix=".xlsx") as file:
        ...     LatentClassAnalysis(2, random_state=0).fit(X).summary().to_excel(file.name)
        ...     openpyxl.load_workbook(file.name).sheetnames
        ['fit', 'classes', 'profiles']
        """
        fit = {"topic": ["model", *self.story], "description": [self.title, *self.story.values()]}
        write_excel(path, {"fit": fit, **{name: table.values() for name, table in self._tables.items()}})

    def __repr__(self) -> str:
        story = "\n".join(f"{name}: {text}" for name, text in self.story.items())
        return "\n\n".join([self.title, story, *map(str, self._tables.values())])

    def _repr_html_(self) -> str:
        tables = "".join(html(*table.shown()) for table in self._tables.values())
        return f"<p><b>{as_html(self.title)}</b></p>{story_html(self.story)}{tables}"


def write_excel(path: str | os.PathLike[str], sheets: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
    """Write tables as the sheets of an Excel workbook, with numbers as numbers and a header that stays in view."""
    try:
        import openpyxl
        from openpyxl.styles import Alignment, Font
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install 'hiddenbits[tables]'.") from error
    if not os.fspath(path).endswith(".xlsx"):
        raise ValueError(f"{os.fspath(path)!r} does not end in .xlsx. Choose a name that does, such as 'summary.xlsx'.")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, columns in sheets.items():
        sheet = book.create_sheet(name)
        sheet.freeze_panes = "B2"
        for j, (head, values) in enumerate(columns.items(), 1):
            cells = [_excel_value(value) for value in (head, *values)]
            width = max(len(_cell(value)) for value in cells) + 2
            sheet.column_dimensions[openpyxl.utils.get_column_letter(j)].width = min(width, MAX_WIDTH)
            for i, value in enumerate(cells, 1):
                cell = sheet.cell(i, j, value)
                cell.font, cell.alignment = Font(bold=i == 1), Alignment(wrap_text=True, vertical="top")
                if isinstance(value, str):
                    cell.data_type = "s"  # a name such as "=A1" is text, not a formula
                elif isinstance(value, float):
                    cell.number_format = "0.000"
    file = io.BytesIO()
    book.save(file)
    Path(path).write_bytes(file.getvalue())


def _excel_value(value: Any) -> Any:
    """Return a number as it is; None for NaN, which Excel does not have; anything else as text."""
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return value if is_number else None if value is None or value != value else printable(value)


def story_html(story: Mapping[str, str]) -> str:
    """Return how a fit went as a small HTML table, in the colors of the page."""
    rows = "".join(
        f'<tr><th style="text-align:left">{as_html(name)}</th><td style="text-align:left">{as_html(text)}</td></tr>'
        for name, text in story.items()
    )
    return f'<table class="hiddenbits-fit" style="margin-top:0.5em"><tbody>{rows}</tbody></table>'

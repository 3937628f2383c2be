"""`report`: a table in, its findings and one HTML page out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hiddenbits import open_table
from hiddenbits.commands import path_shown
from hiddenbits.display import BACKENDS
from hiddenbits.exceptions import AmbiguousColumnsError
from hiddenbits.reporting.origin import Origin, of_python
from hiddenbits.reporting.result import Report
from hiddenbits.tables import Table, repeat_rows, without_ambiguous

Tell = Callable[[str, float, float], None]  # the current step, how much is done, and the total
COMPARING, DRAWING = 14.0, 4.0  # weights of comparing models and of the rest in the progress, a look being 1


def report(
    X: object,
    *,
    by: str | Sequence[object] | None = None,
    beside: Mapping[str, Sequence[object]] | None = None,
    rows: bool = True,
    color: str | None = None,
    curved: bool = False,
    groups: Sequence[object] | None = None,
    title: str | None = None,
    random_state: int = 0,
    on_progress: Tell | None = None,
) -> Report:
    """Report what is hidden in a table of bits: the findings, and one HTML page that works offline.

    The page says first what was found, in sentences: which picture fits the table and how sure that is, kinds of rows,
    directions, causes, what does not fit and what is missing; then it shows the evidence, folded. Models are fitted to
    at most 20,000 rows and 400,000 cells, sampled with `random_state`; the page says so. Runs on the executor set by `run_on`.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Anything that `open_table` opens. Row weights must be counts of equal rows.
    by : str or sequence, optional
        A column whose groups are compared, such as a party or a region, which then does not enter the models; or a
        label for each row.
    beside : dict, optional
        Other columns by name, one value per row: to color the map and to identify rows. Of the columns that did not
        enter a table from `open_table`, the report shows those that ``id=`` named, `by` and `color`.
    rows : bool, default=True
        Whether the page may contain individual rows. If not, the map shows squares that count rows, and there are no
        lists of odd rows or single cells. Totals stay, such as the number of ones in a column.
    color : str, optional
        The column that colors the map when the page opens, by default `by`; the reader can choose another.
    curved : bool, default=False
        Draw a curved map (`TopographicMap`) in place of a flat one (`LogisticPCA`): clusters and bends lie apart on it.
    groups : sequence, optional
        A label for each row. Rows with the same label, such as the answers of one person, are held out together.
    title : str, optional
        Name of the table; by default the name of its file.
    random_state : int, default=0
        Random seed. The same seed and versions give the same page except for the date.
    on_progress : function, optional
        Progress callback, called as tell(words, done, most) before each step: the step, how much is done, the total.

    Returns
    -------
    report : Report
        It shows itself in a notebook; `findings` is a frame, and `save` writes the page.

    Examples
    --------
    >>> import tempfile, pathlib, hiddenbits
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(60, 5, 2, random_state=0).X
    >>> found = hiddenbits.report(X, title="Two kinds")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = found.save(pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> page[:15], "Two kinds" in page
    ('<!doctype html>', True)
    """
    _check_jinja2()
    options: dict[str, Any] = {}
    table = X
    if not isinstance(X, Table):
        table, out = _opened(X, by if isinstance(by, str) else None)
        options = {"drop": list(out)} if out else {}
    settings: dict[str, Any] = {"by": by, "beside": beside, "rows": rows, "color": color, "curved": curved}
    settings |= {"groups": groups, "title": title, "seed": random_state}
    if title is None:
        title = Path(path_shown(X)).name if isinstance(X, (str, os.PathLike)) else "A table of bits"
    package = type(X).__module__.partition(".")[0]
    return report_of(
        table,
        of_python(X, settings, options),
        **settings | {"title": title},
        tell=on_progress,
        library=package if package in BACKENDS else None,
    )


def report_of(
    table: Any,
    origin: Origin,
    *,
    by: str | Sequence[object] | None,
    beside: Mapping[str, Sequence[object]] | None = None,
    rows: bool,
    color: str | None,
    curved: bool,
    groups: Sequence[object] | None,
    title: str,
    seed: int,
    tell: Tell | None,
    library: str | None = None,
) -> Report:
    """Report what is hidden in an open table that came from `origin`; the other parameters are those of `report`.

    `library` is that of the frame that the table was.
    """
    _check_jinja2()
    from hiddenbits.reporting.render import page
    from hiddenbits.reporting.sections import made
    from hiddenbits.reporting.text import plain

    named = by if isinstance(by, str) else None
    other = {} if beside is None else dict(beside)
    if by is not None and named is None:
        named = str(getattr(by, "name", None) or "group")
        other[named] = by
    color = named if color is None else color
    columns = _checked(table, _asked_for(table, named, color) | other, named, color)
    if groups is not None and len(groups) != table.shape[0]:
        raise ValueError(f"groups= has {len(groups)} labels for {table.shape[0]} rows. Give one per row.")
    labels = None if groups is None else np.asarray([str(label) for label in groups])
    if table.weights is not None:
        rows_of = np.repeat(np.arange(table.shape[0]), table.weights.astype(np.int64))
        table, columns = repeat_rows(table), {key: [cells[i] for i in rows_of] for key, cells in columns.items()}
        labels = None if labels is None else labels[rows_of]
    context = replace(
        _context(table, columns, labels, rows, color, named, curved, seed, tell or _silent), origin=origin
    )
    found, sections = made(context, _steps(tell or _silent))
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    title = plain(title, 120)
    return Report(page(title, date, found, sections, context), title, found, library)


def _check_jinja2() -> None:
    """Raise, before any work, if pages cannot be made."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'hiddenbits[report]'.") from error


def _opened(X: object, by: str | None) -> tuple[Table, tuple[str, ...]]:
    """Open a table without the column of groups, and without columns that need a decision before they are bits.

    Returns the table, and the names of these columns.
    """
    left = () if by is None else (by,)

    def opened(more: tuple[str, ...] = ()) -> Table:
        return open_table(X, drop=[*left, *more] or None)

    try:
        return opened(), left
    except AmbiguousColumnsError as error:
        return without_ambiguous(error, opened), (*left, *error.ambiguous)


def _asked_for(table: Table, *names: str | None) -> dict[str, Sequence[object]]:
    """Return the columns of the table that did not enter and were asked for, by name or as the names of rows."""
    ids = () if table.coding is None else table.coding.ids
    return {name: cells for name, cells in table.beside.items() if name in (*ids, *names)}


def _silent(words: str, done: float, most: float) -> None:
    """Say nothing."""


def _steps(tell: Tell) -> Callable[[str, float], None]:
    """Return what tells of the steps after the comparison: its words, and the share of them that is done."""

    def said(words: str, share: float) -> None:
        tell(f"3 of 3: {words}", 1.0 + COMPARING + DRAWING * share, 1.0 + COMPARING + DRAWING)

    return said


def _checked(
    table: Table, beside: Mapping[str, Sequence[object]], by: str | None, color: str | None
) -> dict[str, list[str]]:
    """Return the other columns as text; raise if the arguments do not fit the table."""
    if not table.only_bits:
        raise ValueError("A report needs a table of bits, and this one has other columns. Pass those as beside=.")
    if table.coding_of_levels is not None:
        raise ValueError(
            "A report is about binary columns, and this table has nominal or ordinal ones. Fit LatentClassAnalysis to "
            "it: summary(), diagnostics.residual_pairs and plots.profiles show its classes. Or say with recode= which "
            "values are 1."
        )
    for key, values in beside.items():
        if len(values) != table.shape[0]:
            raise ValueError(f"beside[{key!r}] has {len(values)} values for {table.shape[0]} rows. Give one per row.")
    known = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
    for name, words in ((by, "group by"), (color, "color the map by")):
        if name is not None and name not in beside and name not in known:
            raise ValueError(f"There is no column {name!r} to {words}.")
    return {str(key): [_text(value) for value in values] for key, values in beside.items()}


def _text(value: object) -> str:
    """Return a value as text; a missing value of a frame becomes an empty text."""
    text = str(value)
    return "" if not isinstance(value, str) and text in ("None", "nan", "<NA>", "NaT") else text


def _context(
    table: Table,
    beside: dict[str, list[str]],
    groups: Any,
    rows: bool,
    color: str | None,
    by: str | None,
    curved: bool,
    seed: int,
    tell: Tell,
) -> Any:
    """Return what every section receives."""
    from hiddenbits.reporting.context import Context
    from hiddenbits.reporting.fits import Fits
    from hiddenbits.reporting.sample import drawn

    def comparing(words: str, done: float, fits: float) -> None:
        tell(f"2 of 3: comparing models, {words}", 1.0 + COMPARING * done / fits, 1.0 + COMPARING + DRAWING)

    tell("1 of 3: looking at the table", 0.0, 1.0 + COMPARING + DRAWING)
    sample = drawn(table, beside, seed, groups)
    for name, words in ((by, "Group"), (color, "Color")):
        if name is not None and name not in beside and name not in sample.own_names:
            raise ValueError(f"Column {name!r} is constant in the rows that the models use. {words} by another.")
    return Context(sample, Fits(sample, comparing, curved=curved), rows, color, table, by)

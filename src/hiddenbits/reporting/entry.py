"""`report`: make the findings and one HTML page from a table."""

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

OnProgress = Callable[[str, float, float], None]  # called with the current step, the work done, and the total work
COMPARING, DRAWING = 14.0, 4.0  # duration in units of the time to read the table


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
    on_progress: OnProgress | None = None,
) -> Report:
    """Report the latent structure of a binary table: the findings, and one HTML page that works offline.

    The page begins with findings, in sentences: which model fits the table and how certain that is, latent classes,
    dimensions or causes, outliers, possible data errors and missing values. The evidence follows, folded. Models are
    fitted to at most 20,000 rows and 400,000 cells, sampled with `random_state`. Runs on the executor set by `run_on`.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Anything that `open_table` opens. Row weights must be counts of equal rows.
    by : str or sequence, optional
        A column whose groups are compared, such as a party or a region, which no model then uses; or a label for
        each row.
    beside : dict, optional
        Other columns by name, one value per row: to color the map and to identify rows. Of the metadata columns of a
        table from `open_table`, the report shows those of ``id=``, `by` and `color`.
    rows : bool, default=True
        Whether the page may contain individual rows. If not, the map shows squares that count rows, and outliers and
        single cells are not listed. Totals stay, such as the number of 1s in a column.
    color : str, optional
        The column that colors the map when the page opens, by default `by`; the reader can choose another.
    curved : bool, default=False
        Plot a curved map (`TopographicMap`) instead of a flat one (`LogisticPCA`): it separates clusters and curves.
    groups : sequence, optional
        A label for each row. Rows with the same label, such as the answers of one person, are held out together.
    title : str, optional
        Name of the table; by default the name of its file.
    random_state : int, default=0
        Random seed. The same seed and versions give the same page except for the date.
    on_progress : function, optional
        Progress callback, called as on_progress(step, done, total) before each step.

    Returns
    -------
    report : Report
        It shows itself in a notebook; `findings` is a frame, and `save` writes the page.

    Examples
    --------
    >>> import tempfile, pathlib, hiddenbits
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(60, 5, 2, random_state=0).X
    >>> report = hiddenbits.report(X, title="Two classes")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.save(pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> page[:15], "Two classes" in page
    ('<!doctype html>', True)
    """
    _check_jinja2()
    options: dict[str, Any] = {}
    table = X
    if not isinstance(X, Table):
        table, out = _open_binary(X, by if isinstance(by, str) else None)
        options = {"drop": list(out)} if out else {}
    settings: dict[str, Any] = {"by": by, "beside": beside, "rows": rows, "color": color, "curved": curved}
    settings |= {"groups": groups, "title": title, "random_state": random_state}
    if title is None:
        title = Path(path_shown(X)).name if isinstance(X, (str, os.PathLike)) else "A binary table"
    package = type(X).__module__.partition(".")[0]
    return report_of(
        table,
        of_python(X, settings, options),
        **settings | {"title": title},
        on_progress=on_progress,
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
    random_state: int,
    on_progress: OnProgress | None,
    library: str | None = None,
) -> Report:
    """Report on an open table that came from `origin`; the other parameters are those of `report`.

    `library` is the library of the frame that was passed as the table, if any.
    """
    _check_jinja2()
    from hiddenbits.reporting.render import page
    from hiddenbits.reporting.sections import make_sections
    from hiddenbits.reporting.text import plain

    named = by if isinstance(by, str) else None
    other = {} if beside is None else dict(beside)
    if by is not None and named is None:
        named = str(getattr(by, "name", None) or "group")
        other[named] = by
    color = named if color is None else color
    columns = _checked(table, _requested_columns(table, named, color) | other, named, color)
    if groups is not None and len(groups) != table.shape[0]:
        raise ValueError(f"groups= has {len(groups)} labels for {table.shape[0]} rows. Give one per row.")
    labels = None if groups is None else np.asarray([str(label) for label in groups])
    if table.weights is not None:
        rows_of = np.repeat(np.arange(table.shape[0]), table.weights.astype(np.int64))
        table, columns = repeat_rows(table), {key: [cells[i] for i in rows_of] for key, cells in columns.items()}
        labels = None if labels is None else labels[rows_of]
    context = replace(
        _context(table, columns, labels, rows, color, named, curved, random_state, on_progress or _no_progress),
        origin=origin,
    )
    findings, sections = make_sections(context, _step_callback(on_progress or _no_progress))
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    title = plain(title, 120)
    return Report(page(title, date, findings, sections, context), title, findings, library)


def _check_jinja2() -> None:
    """Raise, before any work, if jinja2 is not installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'hiddenbits[report]'.") from error


def _open_binary(X: object, by: str | None) -> tuple[Table, tuple[str, ...]]:
    """Open a table without the column of groups and without ambiguous columns.

    Returns the table, and the names of these columns.
    """
    dropped = () if by is None else (by,)

    def open_without(more: tuple[str, ...] = ()) -> Table:
        return open_table(X, drop=[*dropped, *more] or None)

    try:
        return open_without(), dropped
    except AmbiguousColumnsError as error:
        return without_ambiguous(error, open_without), (*dropped, *error.ambiguous)


def _requested_columns(table: Table, *names: str | None) -> dict[str, Sequence[object]]:
    """Return the metadata columns with these names, and the columns of row names."""
    ids = () if table.coding is None else table.coding.ids
    return {name: cells for name, cells in table.beside.items() if name in (*ids, *names)}


def _no_progress(words: str, done: float, most: float) -> None:
    """Report no progress."""


def _step_callback(on_progress: OnProgress) -> Callable[[str, float], None]:
    """Return the callback of the steps after the comparison; it takes the step and the share done."""

    def report_step(words: str, share: float) -> None:
        on_progress(f"3 of 3: {words}", 1.0 + COMPARING + DRAWING * share, 1.0 + COMPARING + DRAWING)

    return report_step


def _checked(
    table: Table, beside: Mapping[str, Sequence[object]], by: str | None, color: str | None
) -> dict[str, list[str]]:
    """Return the other columns as text; raise if the arguments do not fit the table."""
    if not table.only_bits:
        raise ValueError("A report needs binary data, but this table has other columns. Pass those as beside=.")
    if table.coding_of_levels is not None:
        raise ValueError(
            "A report needs binary columns, but this table has nominal or ordinal ones. Fit LatentClassAnalysis to it: "
            "summary(), diagnostics.residual_pairs and plots.profiles show its classes. Or specify with recode= which "
            "values are 1."
        )
    for key, values in beside.items():
        if len(values) != table.shape[0]:
            raise ValueError(f"beside[{key!r}] has {len(values)} values for {table.shape[0]} rows. Give one per row.")
    known = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
    for name, words in ((by, "group by"), (color, "color the map by")):
        if name is not None and name not in beside and name not in known:
            raise ValueError(f"There is no column {name!r} to {words}.")
    return {str(key): [_as_text(value) for value in values] for key, values in beside.items()}


def _as_text(value: object) -> str:
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
    random_state: int,
    on_progress: OnProgress,
) -> Any:
    """Return the context that all sections receive."""
    from hiddenbits.reporting.context import Context
    from hiddenbits.reporting.fits import Fits
    from hiddenbits.reporting.sample import drawn

    def comparing(words: str, done: float, fits: float) -> None:
        on_progress(f"2 of 3: comparing models, {words}", 1.0 + COMPARING * done / fits, 1.0 + COMPARING + DRAWING)

    on_progress("1 of 3: reading the table", 0.0, 1.0 + COMPARING + DRAWING)
    sample = drawn(table, beside, random_state, groups)
    for name, words in ((by, "Group"), (color, "Color")):
        if name is not None and name not in beside and name not in sample.own_names:
            raise ValueError(f"Column {name!r} is constant in the rows that the models use. {words} by another column.")
    return Context(sample, Fits(sample, comparing, curved=curved), rows, color, table, by)

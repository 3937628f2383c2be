"""`write`: a table in, one HTML file out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hiddenbits import Table, open_table
from hiddenbits.store import check_target, whole_file

Tell = Callable[[str, float, float], None]  # the current step, how much is done, and the total
COMPARING = 14  # weight of the comparison in the progress, another section being 1: it makes about as many fits


def write(
    X: object,
    path: str | os.PathLike[str],
    *,
    beside: Mapping[str, Sequence[object]] | None = None,
    rows: bool = True,
    colour: str | None = None,
    groups: Sequence[object] | None = None,
    title: str | None = None,
    seed: int = 0,
    tell: Tell | None = None,
) -> Path:
    """Write a report about a table of bits: one HTML file that works offline and makes no network requests.

    The report summarizes the table and shows a map of its rows, which model best predicts held-out rows, hidden kinds
    and causes with the bits they switch on, the spectrum, odd rows, cells that may be wrong, filled blanks, rows drawn
    from the model next to real ones, and how each figure was computed. Models are fitted to at most 20,000 rows and
    400,000 cells, sampled with `seed`; the report says so. Runs on the executor set by `run_on`.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Anything that `open_table` opens. Row weights are not supported.
    path : path
        The file to write; an existing one is replaced when the new one is complete.
    beside : dict, optional
        Other columns by name, one value per row: to colour the map and to identify rows. Of the columns that did not
        enter a table from `open_table`, the report shows those that ``id=`` named, and `colour`.
    rows : bool, default=True
        Whether the file may contain individual rows. If not, the map shows squares that count rows, and there are no
        lists of odd rows or single cells and no drawn rows. Totals stay, such as the number of ones in a column.
    colour : str, optional
        The column that colours the map when the report opens; the reader can choose another.
    groups : sequence, optional
        A label for each row. Rows with the same label, such as the answers of one person, are held out together.
    title : str, optional
        Name of the table; by default the name of its file.
    seed : int, default=0
        Random seed. The same seed and versions give the same file except for the date.
    tell : function, optional
        Progress callback, called as tell(words, done, most) before each step: the step, how much is done, the total.

    Returns
    -------
    path : Path
        The file that was written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hiddenbits import reporting
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(60, 5, 2, seed=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = reporting.write(X, pathlib.Path(folder) / "report.html", title="Two kinds")
    ...     page = path.read_text(encoding="utf-8")
    >>> page[:15], "Two kinds" in page
    ('<!doctype html>', True)
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'hiddenbits[report]'.") from error
    from hiddenbits.reporting.render import page
    from hiddenbits.reporting.text import plain

    target = Path(path)
    check_target(target)
    table = X if isinstance(X, Table) else open_table(X)
    columns = _checked(table, _asked_for(table, colour) | ({} if beside is None else dict(beside)), colour)
    if groups is not None and len(groups) != table.shape[0]:
        raise ValueError(f"groups= has {len(groups)} labels for {table.shape[0]} rows. Give one per row.")
    if title is None:
        title = Path(X).name if isinstance(X, (str, os.PathLike)) else "A table of bits"
    labels = None if groups is None else np.asarray([str(label) for label in groups])
    made = _sections(table, columns, labels, rows, colour, seed, tell or _silent)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    text = page(plain(title, 120), date, made, rows=rows)
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))
    return target


def _asked_for(table: Table, colour: str | None) -> dict[str, Sequence[object]]:
    """Return the columns of the table that did not enter and were asked for: those that name rows, and the colour."""
    ids = () if table.coding is None else table.coding.ids
    return {name: cells for name, cells in table.beside.items() if name in (*ids, colour)}


def _silent(words: str, done: float, most: float) -> None:
    """Say nothing."""


def _checked(table: Table, beside: Mapping[str, Sequence[object]], colour: str | None) -> dict[str, list[str]]:
    """Return the other columns as text; raise if the arguments do not fit the table."""
    if not table.only_bits:
        raise ValueError("A report needs a table of bits, and this one has other columns. Pass those as beside=.")
    if table.weights is not None:
        raise ValueError("A report does not support row weights. Remove them with table.with_weights(None).")
    for key, values in beside.items():
        if len(values) != table.shape[0]:
            raise ValueError(f"beside[{key!r}] has {len(values)} values for {table.shape[0]} rows. Give one per row.")
    known = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
    if colour is not None and colour not in beside and colour not in known:
        raise ValueError(f"There is no column {colour!r} to colour the map by.")
    return {str(key): [_text(value) for value in values] for key, values in beside.items()}


def _text(value: object) -> str:
    """Return a value as text; a missing value of a frame becomes an empty text."""
    text = str(value)
    return "" if not isinstance(value, str) and text in ("None", "nan", "<NA>", "NaT") else text


def _sections(
    table: Table,
    beside: dict[str, list[str]],
    groups: Any,
    rows: bool,
    colour: str | None,
    seed: int,
    tell: Tell,
) -> list[Any]:
    """Return the sections of the report."""
    from hiddenbits.reporting.about import about
    from hiddenbits.reporting.anomalies import doubtful_cells, filled_blanks, odd_rows
    from hiddenbits.reporting.causes import causes, classes
    from hiddenbits.reporting.comparison import comparison
    from hiddenbits.reporting.context import Context
    from hiddenbits.reporting.fits import Fits
    from hiddenbits.reporting.methods import methods
    from hiddenbits.reporting.row_map import chart
    from hiddenbits.reporting.sample import drawn
    from hiddenbits.reporting.spectrum import spectrum
    from hiddenbits.reporting.synthetic import synthetic

    steps = [
        ("drawing the map", chart),
        ("finding kinds of rows", classes),
        ("finding causes", causes),
        ("counting scales", spectrum),
        ("looking for odd rows", odd_rows),
        ("looking for doubtful cells", doubtful_cells),
        ("filling blanks", filled_blanks),
        ("drawing rows", synthetic),
    ]
    number, most = len(steps) + 2, len(steps) + 1.0 + COMPARING

    def comparing(words: str, done: float, fits: float) -> None:
        tell(f"2 of {number}: comparing models, {words}", 1.0 + COMPARING * done / fits, most)

    tell(f"1 of {number}: looking at the table", 0.0, most)
    sample = drawn(table, beside, seed, groups)
    if colour is not None and colour not in beside and colour not in sample.own_names:
        raise ValueError(f"Column {colour!r} is constant in the rows that the map shows. Colour by another.")
    context = Context(sample, Fits(sample, comparing), rows, colour, table)
    made = [about(context)]
    if sample.worth_it:
        made.append(comparison(context))
    for at, (words, section) in enumerate(steps if sample.worth_it else [], 3):
        tell(f"{at} of {number}: {words}", at - 2.0 + COMPARING, most)
        made.append(section(context))
    if sample.worth_it:
        made[1], made[2] = made[2], made[1]  # the map is shown first, but needs the classes of the comparison
    return [*made, methods(context, made)]

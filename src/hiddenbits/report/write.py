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

Tell = Callable[[str, float, float], None]  # what is being done; how much of all is done; how much there is at most
COMPARING = 14  # how much the comparison of pictures counts beside other sections: about as many fits


def write(
    X: Any,
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
    """Write a report of a table of bits: one HTML file that opens offline and asks nothing of the network.

    What the table is; a map of its rows; which model fits rows that it has not seen; hidden kinds and causes, and the
    bits they switch on; the spectrum; odd rows, cells that may be wrong, blanks filled in; drawn rows beside real ones;
    and how each figure was computed. Models are fitted to at most 20,000 rows and 400,000 cells, drawn with `seed`; the
    report says so. Runs where `run_on` says.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Anything that `open_table` opens. Row weights are refused.
    path : path
        The file to write; an existing one is replaced when the new one is complete.
    beside : dict, optional
        Further columns by name, a value for each row: to colour the map by, and to name rows.
    rows : bool, default=True
        Whether the contents of single rows may be in the file. Without them the map is squares that count rows, and
        there are no odd rows, single cells or drawn rows. Sums over all rows stay: the ones of a column, for example.
    colour : str, optional
        The column that colours the map at first; the reader can choose another.
    groups : sequence, optional
        A label for each row. Rows with equal labels, such as answers of one person, are held out together.
    title : str, optional
        Name of the table; by default that of its file.
    seed : int, default=0
        Of all that is random. The same seed and versions give the same file but for the date.
    tell : function, optional
        Called as tell(words, done, most) before each part of the work: what comes now, and how much of all is done.

    Returns
    -------
    path : Path
        Where the report is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hiddenbits import report
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(60, 5, 2, seed=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.write(X, pathlib.Path(folder) / "report.html", title="Two kinds").read_text(encoding="utf-8")
    >>> page[:15], "Two kinds" in page
    ('<!doctype html>', True)
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'hiddenbits[report]'.") from error
    from hiddenbits.report.render import page
    from hiddenbits.report.text import plain

    target = Path(path)
    check_target(target)
    table = X if isinstance(X, Table) else open_table(X)
    columns = _checked(table, {} if beside is None else beside, colour)
    if groups is not None and len(groups) != table.shape[0]:
        raise ValueError(f"groups= has {len(groups)} labels for {table.shape[0]} rows. Give one for each.")
    if title is None:
        title = Path(X).name if isinstance(X, (str, os.PathLike)) else "A table of bits"
    labels = None if groups is None else np.asarray([str(label) for label in groups])
    made = _sections(table, columns, labels, rows, colour, seed, tell or _silent)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    text = page(plain(title, 120), date, made, rows=rows)
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))
    return target


def _silent(words: str, done: float, most: float) -> None:
    """Say nothing."""


def _checked(table: Table, beside: Mapping[str, Sequence[object]], colour: str | None) -> dict[str, list[str]]:
    """Return the columns beside the table as text, or say what is wrong with what was asked."""
    if not table.only_bits:
        raise ValueError("A report is for tables of bits, and this one has other columns. Hand them in as beside=.")
    if table.weights is not None:
        raise ValueError("A report counts every row once, and these have weights. Leave them out: with_weights(None).")
    for key, values in beside.items():
        if len(values) != table.shape[0]:
            raise ValueError(f"beside[{key!r}] has {len(values)} values for {table.shape[0]} rows. Give one for each.")
    known = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
    if colour is not None and colour not in beside and colour not in known:
        raise ValueError(f"There is no column {colour!r} to colour the map by.")
    return {str(key): [_text(value) for value in values] for key, values in beside.items()}


def _text(value: object) -> str:
    """Return a value as text, nothing for what frames have in place of a missing one."""
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
    """Return the sections, each a sentence and its parts."""
    from hiddenbits.report.about import about
    from hiddenbits.report.anomalies import doubtful_cells, filled_blanks, odd_rows
    from hiddenbits.report.causes import causes, classes
    from hiddenbits.report.comparison import which
    from hiddenbits.report.context import Context
    from hiddenbits.report.fits import Fits
    from hiddenbits.report.methods import how
    from hiddenbits.report.row_map import chart
    from hiddenbits.report.sample import drawn
    from hiddenbits.report.spectrum import spectrum
    from hiddenbits.report.synthetic import synthetic

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
        tell(f"2 of {number}: comparing pictures, {words}", 1.0 + COMPARING * done / fits, most)

    tell(f"1 of {number}: looking at the table", 0.0, most)
    sample = drawn(table, beside, seed, groups)
    if colour is not None and colour not in beside and colour not in sample.own_names:
        raise ValueError(f"Column {colour!r} is the same in every row that the map shows: colour by another.")
    context = Context(sample, Fits(sample, comparing), rows, colour)
    made = [about(context)]
    if sample.worth_it:
        made.append(which(context))
    for at, (words, section) in enumerate(steps if sample.worth_it else [], 3):
        tell(f"{at} of {number}: {words}", at - 2.0 + COMPARING, most)
        made.append(section(context))
    if sample.worth_it:
        made[1], made[2] = made[2], made[1]  # the map comes first to the eye, the comparison decides its kinds
    return [*made, how(context, made)]

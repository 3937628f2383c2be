"""Several codes in a cell, such as ``E11.9;I10``: a column for each code, 1 where a row has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.rows import RowsOf, TextRows
from hiddenbits.quoting import quoted

BLANKS = ("", "na", "n/a", "nan", "null", "?")


class SplitRows:
    """Rows of text in which cells of some columns are cut into codes; the files are looked through once for the codes.

    Parameters
    ----------
    files : sequence of Place
        The files.
    rows_of : function
        Returns the rows of a file, the first of which has the names.
    split : str or dict
        What is between codes: in all cells, or by the name of the column.
    blank_is_missing : bool
        Whether a blank cell says nothing of its codes; otherwise there are none.
    max_columns : int
        The most codes that there may be.
    """

    def __init__(
        self, files: Sequence[Place], rows_of: RowsOf, split: Any, blank_is_missing: bool, max_columns: int
    ) -> None:
        self._rows_of, self._blank = rows_of, "" if blank_is_missing else "0"
        marks = dict(split) if isinstance(split, Mapping) else split
        for mark in marks.values() if isinstance(marks, dict) else [marks]:
            if not isinstance(mark, str) or not mark:
                raise TableError(f"split={split!r}: give what is between codes, such as ';', or a dict by column.")
        self._marks: dict[int, str] = {}
        self._codes: dict[int, dict[str, int]] = {}
        self._names: list[str] = []
        for path in files:
            self._look(path, marks, max_columns)
        if not self._marks:
            raise TableError(f"split={split!r}: no cell has it. Leave split= out.")
        for j in self._marks:
            self._codes[j] = {code: at for at, code in enumerate(sorted(self._codes[j]))}
        self._width = len(self.names(self._names))

    def _look(self, path: Place, marks: Any, max_columns: int) -> None:
        rows = self._rows_of(path)
        try:
            names = [name.strip() for name in next(rows, [])]
            self._names = self._names or names
            if isinstance(marks, dict):
                for name, mark in marks.items():
                    if name not in names:
                        raise TableError(
                            f"split= names {name!r}, but the columns are {', '.join(map(repr, names[:10]))}."
                        )
                    self._marks[names.index(name)] = mark
            counts: dict[int, dict[str, int]] = self._codes
            for row in rows:
                for j, cell in enumerate(row[: len(names)]):
                    mark = self._marks.get(j) if isinstance(marks, dict) else marks
                    if mark is None:
                        continue
                    if not isinstance(marks, dict) and mark in cell:
                        self._marks[j] = mark
                    found = counts.setdefault(j, {})
                    if len(found) > max_columns:
                        if j not in self._marks:
                            continue  # a column of texts that is never cut
                        raise TableError(f"column {names[j]!r} has more than max_columns={max_columns} codes.")
                    for code in _cut(cell, mark):
                        found[code] = 0
        finally:
            rows.close()

    def open(self, path: Place) -> TextRows:
        """Return the rows of a file, cut."""
        return _Cut(self._rows_of(path), self)

    def names(self, first: Sequence[str]) -> list[str]:
        """Return the names of all columns: a code's own where one column is cut and no name is taken."""
        others = {name.strip() for j, name in enumerate(first) if j not in self._marks}
        alone = len(self._marks) == 1 and not others & set(next(iter(self._codes.values()), {}))
        out: list[str] = []
        for j, name in enumerate(first):
            if j in self._marks:
                out += [code if alone else f"{name.strip()}={code}" for code in self._codes[j]]
            else:
                out.append(name)
        return out

    def cut(self, row: list[str]) -> list[str]:
        """Return a row with 0 and 1 for its codes; an empty row stays empty."""
        out: list[str] = []
        if not any(map(str.strip, row)):
            return [""] * self._width if row else row
        for j, cell in enumerate(row):
            mark = self._marks.get(j)
            if mark is None:
                out.append(cell)
                continue
            known = self._codes[j]
            codes = _cut(cell, mark)
            bits = [self._blank if not codes else "0"] * len(known)
            for code in codes:
                if code not in known:
                    raise TableError(f"{quoted(code)} was not there when the file was looked through. Open it again.")
                bits[known[code]] = "1"
            out += bits
        return out


class _Cut(Iterator[list[str]]):
    """The rows of one file, cut."""

    def __init__(self, rows: TextRows, split: SplitRows) -> None:
        self._rows, self._split, self._first = rows, split, True
        self.close = rows.close

    @property
    def number(self) -> int:
        """Number of the line that was read last, from 1."""
        return self._rows.number

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where that is not known."""
        return self._rows.share

    def __next__(self) -> list[str]:
        row = next(self._rows)
        if self._first:
            self._first = False
            return self._split.names(row)
        return self._split.cut(row)


def _cut(cell: str, mark: str) -> list[str]:
    """Return the codes of a cell."""
    if cell.strip().lower() in BLANKS:
        return []
    return [code.strip() for code in cell.split(mark) if code.strip()]

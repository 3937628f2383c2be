"""Comma-separated tables, parsed in chunks into one byte a cell."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, ByteArray, Dense
from hiddenbits.data.cell_checks import MAX_BYTES, check_distinct, observed_from_missing
from hiddenbits.data.readers.csv_lines import BLANKS, Lines, full_rows, line_of, reading_csv
from hiddenbits.data.readers.csv_mixed import open_mixed_csv
from hiddenbits.data.readers.csv_others import Others
from hiddenbits.data.readers.locations import Place
from hiddenbits.data.readers.request import FileRequest, choose
from hiddenbits.data.table import MemorySource, Table, TableError
from hiddenbits.quoting import quoted

BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
BLANK, BAD = 2, 3  # codes of a cell besides 0 and 1
CHUNK_CELLS = 1 << 19
CACHED = 1 << 16


def open_csv(
    request: FileRequest,
    *,
    header: bool | None = None,
    delimiter: str = ",",
    columns: Sequence[str | int] | Literal["bits"] | None = None,
    drop: Sequence[str | int] | None = None,
    others: dict[str, list[str]] | None = None,
    max_bytes: int = MAX_BYTES,
    tell: Callable[[int, float | None], None] | None = None,
) -> Table:
    """Open ``.csv`` files (also gzipped), UTF-8, with a header line or without.

    Cells are 0, 1, 0.0, 1.0, true or false. Blanks are empty cells, NA, N/A, NaN, null, None and ``?``. Upper
    and lower case are one, and spaces around a cell do not count. Numbers are accepted with `threshold`.

    With ``kinds=`` columns of numbers, and of true and false, are told from columns of words by their cells, and the
    first line holds names, unless ``header=False``.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    header : bool, optional
        Whether the first line holds names. By default it does when it has words and no bits, or when its
        numbers count columns (0, 1, 2, ...). One that mixes words and bits is refused until `header` decides.
    delimiter : str, default=","
        The character between cells.
    columns, drop : sequence of str or int, optional
        The columns to keep, or to leave out, by name or number. ``columns="bits"`` keeps those that hold nothing but
        bits and blanks; the names of the table say which they are.
    others : dict, optional
        With ``columns="bits"``: is given the cells of the columns that were left out for what they hold, as text, by
        name.
    max_bytes : int, default=4 GiB
        The most that the text may come to, unpacked; it is read into memory.
    tell : function, optional
        Called now and then with the number of rows read so far, and the share of the files that they are; None where
        that is not known.
    """
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(f"delimiter={delimiter!r} is not one character that can stand between cells.")
    only_bits = isinstance(columns, str) and columns == "bits"
    asked = None if only_bits else columns
    if request.kinds is not None:
        mixed = open_mixed_csv(request, header, delimiter, asked, drop, max_bytes)
        if mixed is not None:
            return mixed
    cells, found = (
        _Cells(request.threshold),
        _Found(request.blank != "zero", only_bits, only_bits and others is not None),
    )
    for number, path in enumerate(request.files):
        with reading_csv(path, delimiter, max_bytes) as (lines, rows):
            layout, first = _lay_out(rows, cells, header, asked, drop, mixed=only_bits)
            found.begin_file(layout, request.files[0].name)
            for codes, chunk in _chunks(chain(first, rows), bool(first), lines, layout, cells, only_bits):
                found.add(codes, chunk)
                if tell is not None:
                    tell(found.n_rows, None if lines.share is None else (number + lines.share) / len(request.files))
    if found.layout is None or not found.n_rows:
        raise TableError(f"{request.files[0]}: the file holds no rows. A table needs at least one.")
    if others is not None:
        others |= found.texts_by_name(request.files, delimiter, max_bytes)
    names, bits = found.bits(request.files[0])
    return Table(MemorySource(*bits), names if request.names is None else request.names)


class _Found:
    """What the files hold, gathered chunk by chunk."""

    def __init__(self, with_blanks: bool, only_bits: bool, with_texts: bool) -> None:
        self.layout: _Layout | None = None
        self.n_rows = 0
        self._with_blanks, self._only_bits, self._with_texts = with_blanks, only_bits, with_texts
        self._xs: list[ByteArray] = []
        self._blanks: list[ByteArray | None] = []
        self._other: Any = False  # of each column: whether it holds something else than bits
        self._texts: Others | None = None

    def begin_file(self, layout: _Layout, first_file: str) -> None:
        """Take the layout of the first file; refuse one of a further file that is not the same."""
        if self.layout is None:
            self.layout = layout
            self._texts = Others(layout.keep) if self._with_texts else None
        if layout != self.layout:
            raise TableError(f"the columns are not those of {first_file}. Give every file the same.")

    def add(self, codes: ByteArray, chunk: list[list[str]]) -> None:
        """Take the codes of some more rows, and the rows as they were read."""
        if self._only_bits:
            bad = (codes == BAD).any(axis=0)
            self._other |= bad
            if self._texts is not None:
                self._texts.add(chunk, bad)
        blank = codes == BLANK
        some = bool(blank.any())
        codes[blank] = 0
        self._xs.append(codes)
        self._blanks.append(blank.view(np.uint8) if some and self._with_blanks else None)
        self.n_rows += len(codes)

    def texts_by_name(self, files: Sequence[Place], delimiter: str, max_bytes: int) -> dict[str, list[str]]:
        """Return the cells of the columns that hold more than bits; reads again those that had passed by then."""
        layout, texts, passed = self.layout, self._texts, 0
        if layout is None or texts is None:
            return {}
        for path in files if texts.late else ():
            with closing(Lines(path, max_bytes)) as lines:
                passed = texts.first_cells(lines, delimiter, layout.named, passed)
        return {layout.fields[layout.keep[j]]: cells for j, cells in sorted(texts.cells.items())}

    def bits(self, first_file: Place) -> tuple[tuple[str, ...] | None, tuple[Bits, Bits]]:
        """Return names, and (x, observed), of the columns that hold bits alone."""
        layout, xs, blanks = self.layout, self._xs, self._blanks
        assert layout is not None  # noqa: S101
        if np.any(self._other):
            keep = np.flatnonzero(~self._other)
            if not len(keep):
                raise TableError(f"{first_file}: no column holds bits alone. Recode the columns, or give threshold=.")
            layout = replace(layout, keep=tuple(layout.keep[j] for j in keep))
            xs = [np.ascontiguousarray(x[:, keep]) for x in xs]
            blanks = [None if blank is None else np.ascontiguousarray(blank[:, keep]) for blank in blanks]
        return layout.names, _join(xs, blanks)


@dataclass(frozen=True)
class _Layout:
    """The fields of a line, and which of them are columns of the table."""

    fields: tuple[str, ...]
    named: bool
    keep: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...] | None:
        return tuple(self.fields[j] for j in self.keep) if self.named else None


class _Cells(dict[str, int]):
    """Code of a cell by its text; unusual spellings are worked out once and remembered."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold

    def __missing__(self, text: str) -> int:
        word = text.strip().lower()
        code = BLANK if word in BLANKS else BITS.get(word, BAD)
        if self.threshold is not None and code != BLANK:
            code = self._above(word, self.threshold)
        if code != BAD and len(self) < CACHED:
            self[text] = code
        return code

    @staticmethod
    def _above(word: str, threshold: float) -> int:
        if word in ("true", "false"):
            return int((word == "true") > threshold)
        try:
            number = float(word)
        except ValueError:
            return BAD
        return int(number > threshold) if math.isfinite(number) and "_" not in word else BAD


def _lay_out(
    rows: Iterator[list[str]],
    cells: _Cells,
    header: bool | None,
    columns: Sequence[str | int] | None,
    drop: Sequence[str | int] | None,
    *,
    mixed: bool = False,
) -> tuple[_Layout, list[list[str]]]:
    """Read the first line; return the layout, and the line if it is not a header.

    In a `mixed` file of bits and words a line of both is a row, unless its numbers count columns.
    """
    first = next(rows, None)
    if first is None:
        raise TableError("the file is empty. A table needs at least one row.")
    first = first or [""]
    named = _is_header(first, cells, mixed) if header is None else header
    fields = tuple(field.strip() for field in first) if named else tuple(str(j) for j in range(len(first)))
    if named:
        check_distinct(fields)
    return _Layout(fields, named, choose(fields, columns, drop)), [] if named else [first]


def _is_header(first: list[str], cells: _Cells, mixed: bool) -> bool:
    """Whether the first line holds names; see `open_csv`."""
    words = [cell.strip() for cell in first if cells[cell] == BAD]
    bits = [cell.strip() for cell in first if cells[cell] < BLANK]
    if not words or not bits:
        return bool(words)
    numbers = [int(cell) for cell in first if re.fullmatch(r"\s*[0-9]{1,9}\s*", cell)]
    if numbers[-1:] > [1] and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return True  # columns that count: 0, 1, 2, ...
    if mixed:
        return False
    raise TableError(
        f"line 1 holds both bits ({quoted(bits[0])}) and other words ({quoted(words[0])}). Say whether it is a "
        "line of names with header=True or header=False."
    )


def _chunks(
    rows: Iterator[list[str]], from_top: bool, lines: Lines, layout: _Layout, cells: _Cells, any_cells: bool = False
) -> Iterator[tuple[ByteArray, list[list[str]]]]:
    """Yield the codes of the columns to keep, a few rows at a time, and the rows as they were read."""
    width, keep = len(layout.fields), layout.keep
    height = max(1, CHUNK_CELLS // width)
    pick = itemgetter(*keep) if len(keep) > 1 else None
    line = 1 if from_top else lines.number + 1  # where the next chunk starts, for messages
    while chunk := list(islice(rows, height)):
        chunk = full_rows(chunk, width, line)
        if len(keep) == width and keep == tuple(range(width)):
            flat = chain.from_iterable(chunk)
        elif pick is not None:
            flat = chain.from_iterable(map(pick, chunk))
        else:
            flat = chain.from_iterable([row[keep[0]]] for row in chunk)
        codes = np.frombuffer(bytearray(map(cells.__getitem__, flat)), np.uint8).reshape(len(chunk), len(keep))
        if not any_cells and codes.max() == BAD:
            row, column = (int(i) for i in np.argwhere(codes == BAD)[0])
            raise _bad_cell(chunk[row][keep[column]], line_of(chunk, row, line), keep[column], layout, cells)
        line = lines.number + 1
        yield codes, chunk


def _bad_cell(text: str, line: int, column: int, layout: _Layout, cells: _Cells) -> TableError:
    """Return the error for a cell that is not a bit: what, where, and what to do."""
    shown = quoted(text)
    name = layout.fields[column] if layout.named else column
    where = f"line {line}, column {column}" + (f" ({name!r})" if layout.named else "")
    if cells.threshold is not None:
        return TableError(
            f"{where}: {shown} is not a finite number. Mend it, or leave the column out with drop=[{name!r}]."
        )
    number = re.fullmatch(r"\s*[-+0-9.eE]+\s*", text) is not None
    return TableError(
        f"{where}: {shown} is not a bit. Cells must be 0, 1, true, false or blank. Recode the column, or "
        f"leave it out with drop=[{name!r}]"
        + ("; threshold= turns numbers into bits" if number else "")
        + ". LogisticPCA also takes other columns: open the table with kinds='auto'."
    )


def _join(xs: list[ByteArray], blanks: list[ByteArray | None]) -> tuple[Bits, Bits]:
    """Return (x, observed) of all chunks."""
    x = np.concatenate(xs)
    if all(blank is None for blank in blanks):
        return Dense(x), AllOnes((x.shape[0], x.shape[1]))
    missing = [np.zeros_like(part) if blank is None else blank for part, blank in zip(xs, blanks, strict=True)]
    return Dense(x), observed_from_missing(np.concatenate(missing))

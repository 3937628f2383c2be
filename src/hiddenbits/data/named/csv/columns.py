"""Rows of text gathered into columns: the distinct cells of each, and which of them a row has.

Rows come as lists of cells, or as blocks that are cut already, which gives the same columns and is quicker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Dense
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.coding.cells import ColumnCells, keys_of, small
from hiddenbits.data.coding.coded_columns import MISSING, UNKNOWN
from hiddenbits.data.columns.open import may_be_plain, plain_column
from hiddenbits.data.named.csv.blocks import FEW, TextBlock
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource

HEAD = 1 << 8  # rows that most often have all of the few values of a column
TOGETHER = 8  # distinct cells of all columns, up to which they have numbers in common

Rows = list[list[str]]


class _Numbered(dict[str, int]):
    """The number of each distinct text, in the order in which they came."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class TextColumns:
    """Columns of any values, gathered some rows at a time.

    As long as all columns together have few distinct cells, such as 0 and 1, these have one number in all columns: the
    cells of a block are then numbered at once, and the numbers of a table of bits are its bits. Of some columns alone,
    those at `places`, each has its own from the beginning.
    """

    def __init__(self, width: int, places: Sequence[int] | None = None) -> None:
        self._width, self._together = width, places is None
        self._places = range(width) if places is None else places
        self._texts = [_Numbered({"0": 0, "1": 1})]  # those of all columns, or later of each
        self._parts: list[list[AnyArray]] = [[]]
        if places is not None:
            self._texts, self._parts = [_Numbered() for _ in places], [[] for _ in places]

    def take(self, rows: Rows | TextBlock) -> None:
        """Take some rows."""
        if self._together:
            number_of = self._texts[0].__getitem__
            if isinstance(rows, TextBlock):
                codes = rows.codes(number_of, most=TOGETHER)
            else:
                codes = np.fromiter(map(number_of, chain.from_iterable(rows)), np.int32).reshape(-1, self._width)
            if codes is not None and len(self._texts[0]) <= TOGETHER:
                self._parts[0].append(codes.astype(np.uint8, copy=False))
                return
            self._separate()
        for j, texts, parts in zip(self._places, self._texts, self._parts, strict=True):
            number_of, codes = texts.__getitem__, None
            if isinstance(rows, TextBlock):
                codes = rows.codes(number_of, j) if len(texts) <= FEW else None
                codes = rows.many_codes(number_of, j) if codes is None else codes
            if codes is None:
                cells = rows.texts(j) if isinstance(rows, TextBlock) else map(itemgetter(j), rows)
                codes = np.fromiter(map(number_of, cells), np.int32, len(rows))
            parts.append(small(codes, len(texts)))

    def filled(self, start: int, stop: int) -> int:
        """Return the row after the last of some rows that has a cell with something in it."""
        if start == stop or (start < stop - 1 and self.filled(stop - 1, stop) == stop):
            return stop
        last = start
        for texts, codes in zip(self._texts, self._whole(), strict=True):
            has_text = np.array([bool(text.strip()) for text in texts])
            rows = np.flatnonzero(has_text[codes[start:stop]].reshape(stop - start, -1).any(axis=1))
            last = max(last, start + int(rows[-1]) + 1) if len(rows) else last
        return last

    def keep(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Keep some ranges of rows, and no others."""
        self._separate()
        kept = [np.concatenate([codes[start:stop] for start, stop in ranges]) for codes in self._whole()]
        self._renumber(zip(self._texts, kept, strict=True))

    def plain_rows(self, request: Request) -> MemorySource | None:
        """Return the rows of a table of nothing but bits; None of any other, and where it cannot be told at once."""
        if not self._together or not may_be_plain(request):
            return None
        how = plain_column("", request)
        bit_of = np.array([how.code_of(key) for key in keys_of(list(self._texts[0]))], np.uint8)
        if UNKNOWN in bit_of:
            return None
        (bits,) = self._whole()
        if bit_of.tolist() != [0, 1]:
            bits = bit_of[bits]
        missing = (bits == MISSING) if MISSING in bit_of else np.zeros(0, bool)
        if not missing.any():
            return MemorySource(Dense(bits), AllOnes((len(bits), self._width)))
        bits[missing] = 0
        observed = AllOnes((len(bits), self._width)) if request.empty == "zero" else None
        return MemorySource(Dense(bits), observed or observed_from_missing(missing.view(np.uint8)))

    def cells(self, names: Sequence[str]) -> list[ColumnCells]:
        """Return the columns; cells stay as they are written, without the spaces around them."""
        self._separate()
        columns = []
        for name, texts, parts in zip(names, self._texts, self._parts, strict=True):
            values = [text.strip() or None for text in texts]
            columns.append(ColumnCells(name, values, small(np.concatenate(parts), len(values))))
            parts.clear()
        return columns

    def _whole(self) -> list[AnyArray]:
        """Return the numbers of all rows."""
        self._parts = [[np.concatenate(parts)] for parts in self._parts]
        return [parts[0] for parts in self._parts]

    def _separate(self) -> None:
        """Give each column numbers of its own."""
        if self._together:
            self._together = False
            codes = np.concatenate([np.zeros((0, self._width), np.uint8), *self._parts[0]])
            texts = list(self._texts[0])
            if codes.min(initial=2) == 2:  # neither 0 nor 1 is there
                texts, codes = texts[2:], codes - np.uint8(2)
            self._renumber((texts, np.ascontiguousarray(column)) for column in codes.T)

    def _renumber(self, columns: Iterable[tuple[Iterable[str], AnyArray]]) -> None:
        """Give the texts of each column that occur numbers in the order in which they come."""
        new: list[tuple[_Numbered, list[AnyArray]]] = []
        for every, codes in columns:
            texts = list(every)
            for some in (codes[:HEAD], codes):
                first = np.full(len(texts), len(some))
                first[some[::-1]] = np.arange(len(some))[::-1]  # the last that is written stays
                order = np.argsort(first)[: np.count_nonzero(first < len(some))]
                if len(order) == len(texts):
                    break
            if order.tolist() != list(range(len(texts))):
                number = np.zeros(len(texts), codes.dtype)
                number[order] = np.arange(len(order))
                texts, codes = [texts[k] for k in order.tolist()], number[codes]
            new.append((_Numbered(zip(texts, range(len(texts)), strict=True)), [codes]))
        self._texts, self._parts = [texts for texts, _ in new], [parts for _, parts in new]

"""Rows of text gathered into columns: the distinct cells of each column, and a code for each row.

Rows are lists of cells, or blocks that are already cut; both give the same columns, blocks faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Dense
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.coding.cells import ColumnCells, compact, keys_of
from hiddenbits.data.coding.coded_columns import MISSING, UNKNOWN
from hiddenbits.data.columns.open import may_be_plain, plain_column
from hiddenbits.data.named.csv.blocks import MAX_COMPARED, TextBlock
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource

HEAD_ROWS = 1 << 8  # if a column has few values, this number of rows usually has all of them
MAX_SHARED = 8  # columns share their codes if all together have at most this number of distinct cells

Rows = list[list[str]]


class _TextNumbers(dict[str, int]):
    """The code of each distinct text, in order of appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class TextColumns:
    """Columns of any values, gathered some rows at a time.

    As long as all columns together have few distinct cells, such as 0 and 1, they share their codes: the cells of a
    block are coded together, and the codes of binary data are 0 and 1. If only the columns at some `positions` are
    gathered, each column has its own codes from the beginning.
    """

    def __init__(self, width: int, positions: Sequence[int] | None = None) -> None:
        self._width, self._is_shared = width, positions is None
        self._positions = range(width) if positions is None else positions
        self._texts = [_TextNumbers({"0": 0, "1": 1})]  # one for all columns, or one for each
        self._parts: list[list[AnyArray]] = [[]]
        if positions is not None:
            self._texts, self._parts = [_TextNumbers() for _ in positions], [[] for _ in positions]

    def add(self, rows: Rows | TextBlock) -> None:
        """Add some rows."""
        if self._is_shared:
            number_of = self._texts[0].__getitem__
            if isinstance(rows, TextBlock):
                codes = rows.codes(number_of, limit=MAX_SHARED)
            else:
                codes = np.fromiter(map(number_of, chain.from_iterable(rows)), np.int32).reshape(-1, self._width)
            if codes is not None and len(self._texts[0]) <= MAX_SHARED:
                self._parts[0].append(codes.astype(np.uint8, copy=False))
                return
            self._separate_codes()
        for j, texts, parts in zip(self._positions, self._texts, self._parts, strict=True):
            number_of, codes = texts.__getitem__, None
            if isinstance(rows, TextBlock):
                codes = rows.codes(number_of, j) if len(texts) <= MAX_COMPARED else None
                codes = rows.many_codes(number_of, j) if codes is None else codes
            if codes is None:
                cells = rows.texts(j) if isinstance(rows, TextBlock) else map(itemgetter(j), rows)
                codes = np.fromiter(map(number_of, cells), np.int32, len(rows))
            parts.append(compact(codes, len(texts)))

    def end_of_filled_rows(self, start: int, stop: int) -> int:
        """Return the position after the last of some rows that has a non-empty cell."""
        if start == stop or (start < stop - 1 and self.end_of_filled_rows(stop - 1, stop) == stop):
            return stop
        end = start
        for texts, codes in zip(self._texts, self._all_codes(), strict=True):
            has_text = np.array([bool(text.strip()) for text in texts])
            rows = np.flatnonzero(has_text[codes[start:stop]].reshape(stop - start, -1).any(axis=1))
            end = max(end, start + int(rows[-1]) + 1) if len(rows) else end
        return end

    def keep_rows(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Drop the rows outside of these ranges."""
        self._separate_codes()
        kept_codes = [np.concatenate([codes[start:stop] for start, stop in ranges]) for codes in self._all_codes()]
        self._renumber(zip(self._texts, kept_codes, strict=True))

    def plain_rows(self, request: Request) -> MemorySource | None:
        """Return the rows of a table of binary columns; None for other tables, or if columns do not share codes."""
        if not self._is_shared or not may_be_plain(request):
            return None
        coded_column = plain_column("", request)
        bit_of = np.array([coded_column.code_of(key) for key in keys_of(list(self._texts[0]))], np.uint8)
        if UNKNOWN in bit_of:
            return None
        (bits,) = self._all_codes()
        if bit_of.tolist() != [0, 1]:
            bits = bit_of[bits]
        missing = (bits == MISSING) if MISSING in bit_of else np.zeros(0, bool)
        if not missing.any():
            return MemorySource(Dense(bits), AllOnes((len(bits), self._width)))
        bits[missing] = 0
        observed = AllOnes((len(bits), self._width)) if request.empty == "zero" else None
        return MemorySource(Dense(bits), observed or observed_from_missing(missing.view(np.uint8)))

    def cells(self, names: Sequence[str]) -> list[ColumnCells]:
        """Return the columns; cells are not changed except that spaces around them are removed."""
        self._separate_codes()
        columns = []
        for name, texts, parts in zip(names, self._texts, self._parts, strict=True):
            values = [text.strip() or None for text in texts]
            columns.append(ColumnCells(name, values, compact(np.concatenate(parts), len(values))))
            parts.clear()
        return columns

    def _all_codes(self) -> list[AnyArray]:
        """Return the codes of all rows."""
        self._parts = [[np.concatenate(parts)] for parts in self._parts]
        return [parts[0] for parts in self._parts]

    def _separate_codes(self) -> None:
        """Give each column its own codes."""
        if self._is_shared:
            self._is_shared = False
            codes = np.concatenate([np.zeros((0, self._width), np.uint8), *self._parts[0]])
            texts = list(self._texts[0])
            if codes.min(initial=2) == 2:  # neither 0 nor 1 occurs
                texts, codes = texts[2:], codes - np.uint8(2)
            self._renumber((texts, np.ascontiguousarray(column)) for column in codes.T)

    def _renumber(self, columns: Iterable[tuple[Iterable[str], AnyArray]]) -> None:
        """Give the texts that occur in each column new codes, in order of appearance."""
        renumbered: list[tuple[_TextNumbers, list[AnyArray]]] = []
        for old_texts, codes in columns:
            texts = list(old_texts)
            for codes_so_far in (codes[:HEAD_ROWS], codes):
                first = np.full(len(texts), len(codes_so_far))
                first[codes_so_far[::-1]] = np.arange(len(codes_so_far))[::-1]  # the last write stays
                order = np.argsort(first)[: np.count_nonzero(first < len(codes_so_far))]
                if len(order) == len(texts):
                    break
            if order.tolist() != list(range(len(texts))):
                new_codes = np.zeros(len(texts), codes.dtype)
                new_codes[order] = np.arange(len(order))
                texts, codes = [texts[k] for k in order.tolist()], new_codes[codes]
            renumbered.append((_TextNumbers(zip(texts, range(len(texts)), strict=True)), [codes]))
        self._texts, self._parts = [texts for texts, _ in renumbered], [parts for _, parts in renumbered]

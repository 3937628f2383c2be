"""What a Parquet file's footer counts: values, nulls, largest and smallest values of its column chunks.

pyarrow offers the same through ``metadata.row_group(i).column(j)``, but there a damaged footer ends the whole
process (C++ exceptions that nothing catches), and no file may do that. The footer is Thrift in the compact
encoding; a few of its fields are read here and all others skipped. Their numbers are those of
`parquet.thrift` in the Parquet format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from hiddenbits.exceptions import TableError

INTEGERS, BINARY, LIST, STRUCT = (4, 5, 6), 8, 9, 12  # types of the compact encoding
STATISTICS = {3: int, 5: bytes, 6: bytes}  # null_count, max_value, min_value
COLUMN = {5: int, 12: STATISTICS}  # num_values, statistics
ROW_GROUP = {1: [{3: COLUMN}]}  # columns, a list; in each of them meta_data
FILE = {4: [ROW_GROUP]}  # row_groups, a list


class Chunk(NamedTuple):
    """What is told of one column in one row group; None where the footer is silent."""

    num_values: int
    null_count: int | None
    largest: bytes | None
    smallest: bytes | None = None


def read_chunks(file: BinaryIO, n_columns: int) -> list[list[Chunk]]:
    """Return, for each row group, what the footer says of each of its `n_columns` Parquet columns."""
    file.seek(-8, 2)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    file.seek(-8 - length, 2)
    footer = file.read(length)
    groups = []
    for group in _struct(footer, 0, FILE)[0].get(4, []):
        chunks = []
        for column in group.get(1, []):
            counts = column.get(3, {})
            told = counts.get(12, {})
            chunks.append(Chunk(counts.get(5, 0), told.get(3), told.get(5), told.get(6)))
        if len(chunks) != n_columns:
            raise TableError("the metadata is damaged: a row group lacks columns. Write the file again.")
        groups.append(chunks)
    return groups


def _struct(data: bytes, at: int, wanted: Mapping[int, Any]) -> tuple[dict[int, Any], int]:
    """Return (wanted fields by number, position after the struct). A field of another type is skipped."""
    found: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        kind = head & 15
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        want = wanted.get(number)
        if want is int and kind in INTEGERS:
            found[number], at = _integer(data, at)
        elif want is bytes and kind == BINARY:
            size, at = _varint(data, at)
            found[number] = data[at : at + size]
            at += size
        elif isinstance(want, dict) and kind == STRUCT:
            found[number], at = _struct(data, at, want)
        elif isinstance(want, list) and kind == LIST and data[at] & 15 == STRUCT:
            size, _, at = _list_head(data, at)
            found[number] = []
            for _ in range(size):
                struct, at = _struct(data, at, want[0])
                found[number].append(struct)
        else:
            at = _skip(data, at, kind)
    return found, at + 1


def _skip(data: bytes, at: int, kind: int) -> int:
    """Return the position after a value of this type."""
    if kind in (1, 2):  # the type itself says true or false
        return at
    if kind == 3:
        return at + 1
    if kind in INTEGERS:
        while data[at] > 127:
            at += 1
        return at + 1
    if kind == 7:
        return at + 8
    if kind == BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind in (LIST, 10):
        size, kind, at = _list_head(data, at)
        for _ in range(size):
            at = at + 1 if kind <= 2 else _skip(data, at, kind)
        return at
    if kind == 11:
        size, at = _varint(data, at)
        _check_size(size, data)
        kinds, at = (data[at], at + 1) if size else (0, at)
        for _ in range(size):
            for kind in (kinds >> 4, kinds & 15):
                at = at + 1 if kind <= 2 else _skip(data, at, kind)
        return at
    if kind == STRUCT:
        while head := data[at]:
            at += 1
            if not head >> 4:
                _, at = _varint(data, at)
            at = _skip(data, at, head & 15)
        return at + 1
    raise TableError("the metadata is damaged: a field of unknown type. Write the file again.")


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return (length, type of the elements, position of the first)."""
    head, at = data[at], at + 1
    size = head >> 4
    if size == 15:
        size, at = _varint(data, at)
    _check_size(size, data)
    return size, head & 15, at


def _check_size(size: int, data: bytes) -> None:
    """Refuse a length that the data cannot hold, before looping over it."""
    if size > len(data):
        raise TableError("the metadata is damaged: a list is too long. Write the file again.")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return (unsigned integer, position after it)."""
    value = shift = 0
    while (byte := data[at]) > 127:
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if shift > 63:
            raise TableError("the metadata is damaged: a number is too long. Write the file again.")
    return value | byte << shift, at + 1


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return (signed integer, position after it)."""
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at

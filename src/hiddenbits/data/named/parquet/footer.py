"""Counts in a Parquet file's footer: values, nulls, largest and smallest values of its column chunks.

pyarrow offers the same through ``metadata.row_group(i).column(j)``, but there a damaged footer ends the whole
process, by C++ exceptions that nothing catches. The footer is Thrift in the compact encoding; a few of its fields
are read here, all others are skipped. Field numbers are those of `parquet.thrift` in the Parquet format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from hiddenbits.exceptions import TableError

INTEGERS, BINARY, LIST, STRUCT = (4, 5, 6), 8, 9, 12  # types of the compact encoding
STATISTICS = {3: int, 5: bytes, 6: bytes}  # null_count, max_value, min_value
COLUMN = {5: int, 12: STATISTICS}  # num_values, statistics
ROW_GROUP = {1: [{3: COLUMN}]}  # columns, a list, each with meta_data
FILE = {4: [ROW_GROUP]}  # row_groups, a list


class Chunk(NamedTuple):
    """Statistics of one column in one row group; None where the footer has none."""

    num_values: int
    null_count: int | None
    largest: bytes | None
    smallest: bytes | None = None


def read_chunks(file: BinaryIO, n_columns: int) -> list[list[Chunk]]:
    """Return the statistics of each of the `n_columns` Parquet columns, for each row group."""
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
            statistics = counts.get(12, {})
            chunks.append(Chunk(counts.get(5, 0), statistics.get(3), statistics.get(5), statistics.get(6)))
        if len(chunks) != n_columns:
            raise TableError("the metadata is damaged: a row group lacks columns. Write the file again.")
        groups.append(chunks)
    return groups


def _struct(data: bytes, pos: int, expected_fields: Mapping[int, Any]) -> tuple[dict[int, Any], int]:
    """Return (expected fields by number, position after the struct). Fields of other types are skipped."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[pos]:
        pos += 1
        type_code = head & 15
        if head >> 4:
            number += head >> 4
        else:
            number, pos = _integer(data, pos)
        expected = expected_fields.get(number)
        if expected is int and type_code in INTEGERS:
            fields[number], pos = _integer(data, pos)
        elif expected is bytes and type_code == BINARY:
            size, pos = _varint(data, pos)
            fields[number] = data[pos : pos + size]
            pos += size
        elif isinstance(expected, dict) and type_code == STRUCT:
            fields[number], pos = _struct(data, pos, expected)
        elif isinstance(expected, list) and type_code == LIST and data[pos] & 15 == STRUCT:
            size, _, pos = _list_head(data, pos)
            fields[number] = []
            for _ in range(size):
                struct, pos = _struct(data, pos, expected[0])
                fields[number].append(struct)
        else:
            pos = _skip(data, pos, type_code)
    return fields, pos + 1


def _skip(data: bytes, pos: int, type_code: int) -> int:
    """Return the position after a value of this type."""
    if type_code in (1, 2):  # the type is the value: true or false
        return pos
    if type_code == 3:
        return pos + 1
    if type_code in INTEGERS:
        while data[pos] > 127:
            pos += 1
        return pos + 1
    if type_code == 7:
        return pos + 8
    if type_code == BINARY:
        size, pos = _varint(data, pos)
        return pos + size
    if type_code in (LIST, 10):
        size, type_code, pos = _list_head(data, pos)
        for _ in range(size):
            pos = pos + 1 if type_code <= 2 else _skip(data, pos, type_code)
        return pos
    if type_code == 11:
        size, pos = _varint(data, pos)
        _check_size(size, data)
        type_codes, pos = (data[pos], pos + 1) if size else (0, pos)
        for _ in range(size):
            for type_code in (type_codes >> 4, type_codes & 15):
                pos = pos + 1 if type_code <= 2 else _skip(data, pos, type_code)
        return pos
    if type_code == STRUCT:
        while head := data[pos]:
            pos += 1
            if not head >> 4:
                _, pos = _varint(data, pos)
            pos = _skip(data, pos, head & 15)
        return pos + 1
    raise TableError("the metadata is damaged: a field of unknown type. Write the file again.")


def _list_head(data: bytes, pos: int) -> tuple[int, int, int]:
    """Return (length, type of the elements, position of the first)."""
    head, pos = data[pos], pos + 1
    size = head >> 4
    if size == 15:
        size, pos = _varint(data, pos)
    _check_size(size, data)
    return size, head & 15, pos


def _check_size(size: int, data: bytes) -> None:
    """Refuse a length that the data cannot hold, before looping over it."""
    if size > len(data):
        raise TableError("the metadata is damaged: a list is too long. Write the file again.")


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    """Return (unsigned integer, position after it)."""
    value = shift = 0
    while (byte := data[pos]) > 127:
        value |= (byte & 127) << shift
        shift += 7
        pos += 1
        if shift > 63:
            raise TableError("the metadata is damaged: a number is too long. Write the file again.")
    return value | byte << shift, pos + 1


def _integer(data: bytes, pos: int) -> tuple[int, int]:
    """Return (signed integer, position after it)."""
    value, pos = _varint(data, pos)
    return (value >> 1) ^ -(value & 1), pos

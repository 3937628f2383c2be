"""What the metadata of Parquet files tell of their columns: whether they are bits, and how much is missing."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from hiddenbits.data.columns.protocol import Columns
from hiddenbits.data.masks import Mask, mask_for
from hiddenbits.data.named.parquet.files import FileInfo, pyarrow
from hiddenbits.data.named.parquet.footer import Chunk

FIRST_ROWS = 1 << 16  # of columns of floats between 0 and 1 that are looked at before they are taken for bits


def can_be_bits(kind: Any) -> bool:
    """Whether a column of this type may hold bits, and nothing else."""
    types = pyarrow().types
    return any(test(kind) for test in (types.is_boolean, types.is_integer, types.is_floating, types.is_null))


def hold_bits(columns: Columns, infos: Sequence[FileInfo]) -> bool:
    """Whether all columns hold nothing but 0, 1 and missing values, as far as can be told without reading all rows.

    The metadata tell it of whole numbers, and of floats that they lie between 0 and 1; then some rows are looked at.
    Columns of which the metadata tell nothing are read. A cell that turns out to be no bit later is refused.
    """
    silent: dict[str, None] = {}
    floats: dict[str, None] = {}
    for info in infos:
        places = {leaf: j for j, leaf in enumerate(info.leaves)}
        for name, field in zip(columns.names, info.schema, strict=True):
            if not can_be_bits(field.type):
                return False
            told = {_within_bits(group[places[field.name]], field.type) for group in info.chunks}
            if False in told:
                return False
            if None in told:
                silent[name] = None
            elif pyarrow().types.is_floating(field.type):
                floats[name] = None
    return _are_bits(columns, list(floats), FIRST_ROWS) and _are_bits(columns, list(silent), columns.n_rows)


def _within_bits(chunk: Chunk, kind: Any) -> bool | None:
    """Whether the metadata say that values lie between 0 and 1; None where they do not tell."""
    types = pyarrow().types
    if types.is_boolean(kind) or types.is_null(kind) or chunk.null_count == chunk.num_values:
        return True
    if chunk.smallest is None or chunk.largest is None:
        return None
    ends = chunk.smallest, chunk.largest
    if types.is_integer(kind):  # a negative one reads as a large one
        return all(int.from_bytes(end, "little") <= 1 for end in ends)
    form = {4: "<f", 8: "<d"}.get(len(chunk.smallest))
    if form is None or len(chunk.smallest) != len(chunk.largest):
        return None
    return all(struct.unpack(form, end)[0] in (0.0, 1.0) for end in ends)


def _are_bits(columns: Columns, names: Sequence[str], n_rows: int) -> bool:
    """Whether the first rows of some columns are bits."""
    for batch in columns.batches(0, min(n_rows, columns.n_rows), names) if names else ():
        with batch.reading():
            if any(value not in (0, 1, None) for name in names for value in batch.cells(name).values):
                return False
    return True


def mask_of_bits(infos: Sequence[FileInfo], n_rows: int) -> tuple[Mask, float]:
    """Decide, from metadata only and for the whole table, how the observed-mask of columns of bits is stored.

    Every part must have the same storage, or sums over parts would depend on where parts begin. The share of
    missing cells only guides the choice: NaNs are not in the metadata, and where it is silent the mask is dense.
    """
    counts = [chunk.null_count for info in infos for group in info.chunks for chunk in group]
    maybe_nan = any(pyarrow().types.is_floating(kind) for info in infos for kind in info.schema.types)
    share = sum(count or 0 for count in counts) / (n_rows * len(infos[0].schema))
    if None in counts or not 0 <= share <= 1:
        return "dense", 0.5
    if not any(counts) and not maybe_nan:
        return "none", 0.0
    return mask_for(share), share

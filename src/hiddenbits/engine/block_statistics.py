"""The E-step of one block: what every loop adds up over a table."""

from __future__ import annotations

from typing import Any

from hiddenbits.data import Block
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.model_api import Key, Model, P, S


def block_statistics(
    model: Model[P, S], params: P, shared: Any, key: Key, row_memory: RowMemory | None, block: Block
) -> S:
    """Return the statistics of a block; what its rows remember is taken from the row memory and put back there."""
    before = None if row_memory is None else row_memory.get(block.number)
    stats, after = model.expect(params, shared, block, before, key.at(block=block.number))
    if row_memory is not None:
        row_memory.put(block.number, after)
    return stats

"""The E-step of one block: what every loop adds up over a table."""

from __future__ import annotations

from typing import Any

from hiddenbits.data import Block
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.model_api import Footprint, Key, Model, P, S


def block_statistics(
    model: Model[P, S], params: P, shared: Any, key: Key, row_memory: RowMemory | None, block: Block
) -> S:
    """Return the statistics of a block; what its rows remember is taken from the row memory and put back there."""
    before = None if row_memory is None else row_memory.get(block.number)
    stats, after = model.expect(
        params, shared, block, before, Key(key.seed, key.restart, key.pass_number, block.number)
    )
    if row_memory is not None:
        row_memory.put(block.number, after)
    return stats


# How many rows make a block: chosen from the model and the table's width alone, never from the machine.

# The working arrays of a block stay within about three megabytes, a core's second-level cache and a little more: with
# smaller blocks threads wait for the interpreter.
CACHE_NUMBERS = 3 * 2**20 // 8
SHORTEST, TALLEST = 256, 65536


def block_height(footprint: Footprint) -> int:
    """Return the height, a power of two.

    The working arrays should fit in a core's cache; and the arithmetic of a block should be at least 40 times the
    size of its statistics, or writing those would cost more than making them.
    """
    in_cache = CACHE_NUMBERS / max(footprint.working, 1.0)
    worth_its_statistics = 40.0 * footprint.statistics / max(footprint.flops, 1.0)
    height = SHORTEST
    while height < TALLEST and (2 * height <= in_cache or height < worth_its_statistics):
        height *= 2
    return height

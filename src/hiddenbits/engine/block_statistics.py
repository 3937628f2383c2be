"""The E-step of one block, which every loop adds up over the table, and the number of rows in a block.

A loop binds all arguments of `block_statistics` but the last, and passes the function to `Executor.reduce`. That
applies it to every block and adds the results (`tree_sum.py`).
"""

from __future__ import annotations

from typing import Any

from hiddenbits.data import Block
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.model_api import Footprint, Key, Model, P, S


def block_statistics(
    model: Model[P, S], params: P, shared: Any, key: Key, row_memory: RowMemory | None, block: Block
) -> S:
    """Return the statistics of a block; the memory of its rows is read from `row_memory`, and the new one stored."""
    before = None if row_memory is None else row_memory.get(block.number)
    stats, after = model.expect(
        params, shared, block, before, Key(key.seed, key.restart, key.pass_number, block.number)
    )
    if row_memory is not None:
        row_memory.put(block.number, after)
    return stats


# The height of a block depends on the model and the table's width alone, never on the machine.

# The working arrays of a block stay within about three megabytes, a core's second-level cache and a little more: with
# smaller blocks threads wait for the interpreter.
CACHE_NUMBERS = 3 * 2**20 // 8
SHORTEST, TALLEST = 256, 65536


def block_height(footprint: Footprint) -> int:
    """Return the number of rows in a block, a power of two.

    The working arrays should fit in a core's cache. The arithmetic of a block should be at least 40 times the size of
    its statistics, or writing the statistics would take longer than computing them.
    """
    in_cache = CACHE_NUMBERS / max(footprint.working, 1.0)
    worth_its_statistics = 40.0 * footprint.statistics / max(footprint.flops, 1.0)
    height = SHORTEST
    while height < TALLEST and (2 * height <= in_cache or height < worth_its_statistics):
        height *= 2
    return height

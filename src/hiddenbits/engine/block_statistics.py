"""The E-step of one block, whose results every loop adds up over the table, and the number of rows in a block.

A loop binds all arguments of `block_statistics` but the last, and passes the function to `Executor.reduce`, which
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
    """Return the statistics of a block; `row_memory` returns the memory of its rows, and stores the new one."""
    before = None if row_memory is None else row_memory.get(block.number)
    stats, after = model.expect(
        params, shared, block, before, Key(key.seed, key.restart, key.pass_number, block.number)
    )
    if row_memory is not None:
        row_memory.put(block.number, after)
    return stats


# The height of a block depends on the model, the number of columns and the stored cells per row (so on the storage),
# never on the machine.

# The working arrays of a block take at most about three megabytes, a little more than a core's second-level cache: with
# smaller blocks threads wait for the interpreter.
WORKING_NUMBERS = 3 * 2**20 // 8
MIN_HEIGHT, MAX_HEIGHT = 256, 65536  # rows


def block_height(footprint: Footprint) -> int:
    """Return the number of rows in a block, a power of two.

    The working arrays should fit in a core's cache. The arithmetic of a block should be at least 40 times the size of
    its statistics, or writing the statistics would take longer than computing them.
    """
    rows_in_cache = WORKING_NUMBERS / max(footprint.working, 1.0)
    rows_worth_statistics = 40.0 * footprint.statistics / max(footprint.flops, 1.0)
    height = MIN_HEIGHT
    while height < MAX_HEIGHT and (2 * height <= rows_in_cache or height < rows_worth_statistics):
        height *= 2
    return height

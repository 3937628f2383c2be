"""Whether compiled kernels are used for a block: numba takes most of a second to load, which small tables never earn.

The size of the table decides, and nothing that depends on the process: the same table gives the same bits everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from hiddenbits.data.block import Block

T = TypeVar("T")
_thread = threading.local()


def kernels_pay() -> bool:
    """Return whether compiled kernels are worth loading for the block that this thread works on."""
    return bool(getattr(_thread, "pay", True))


def by_size(function: Callable[[Block], T]) -> Callable[[Block], T]:
    """Return the function of a block with `kernels_pay` as the size of the block's table has it."""

    @wraps(function)
    def at_work(block: Block) -> T:
        before = kernels_pay()
        _thread.pay = block.of_large_table
        try:
            return function(block)
        finally:
            _thread.pay = before

    return at_work

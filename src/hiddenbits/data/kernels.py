"""Compiled twins of functions, and whether they are used for a block: numba takes most of a second to load.

Small tables never earn that. The size of the table decides, and nothing that depends on the process: the same table
gives the same bits everywhere.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hiddenbits.data.block import Block

T = TypeVar("T")
LARGE_CELLS = 1 << 20  # from which on they pay
_thread = threading.local()


def compiled_twin(module: str, name: str | None = None) -> Callable[[], Any]:
    """Return a function that imports a module of compiled functions, or one of these; it returns None without numba."""

    @cache
    def load() -> Any:
        try:
            found = import_module(module)
        except ImportError:
            return None
        return found if name is None else getattr(found, name)

    return load


def kernels_pay(work: float = 1.0) -> bool:
    """Return whether compiled kernels are worth loading for the block that this thread works on.

    `work` is the time for a cell, next to that in a mixture of ten classes.
    """
    return bool(work * getattr(_thread, "table_cells", math.inf) >= LARGE_CELLS)


def by_size(function: Callable[[Block], T]) -> Callable[[Block], T]:
    """Return the function of a block with `kernels_pay` as the size of the block's table has it."""

    def at_work(block: Block) -> T:
        before = getattr(_thread, "table_cells", math.inf)
        _thread.table_cells = block.table_cells
        try:
            return function(block)
        finally:
            _thread.table_cells = before

    return at_work

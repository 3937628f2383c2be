"""Compiled versions of functions, and the decision whether a block uses them.

Loading numba takes most of a second, too long for small tables. Only the size of the table decides, nothing that
depends on the process, so that the same table gives identical results everywhere.
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
LARGE_CELLS = 1 << 20  # tables with at least so many cells use compiled kernels
_thread = threading.local()


def compiled_twin(module: str, name: str | None = None) -> Callable[[], Any]:
    """Return a function that imports a module of compiled functions, or one of them; it returns None without numba."""

    @cache
    def load() -> Any:
        try:
            imported = import_module(module)
        except ImportError:
            return None
        return imported if name is None else getattr(imported, name)

    return load


def kernels_pay(work: float = 1.0) -> bool:
    """Return whether compiled kernels are worth loading for the block that this thread processes.

    `work` is the time per cell, relative to that of a mixture of ten classes.
    """
    return bool(work * getattr(_thread, "table_cells", math.inf) >= LARGE_CELLS)


def by_size(function: Callable[[Block], T]) -> Callable[[Block], T]:
    """Wrap a function of a block so that `kernels_pay` knows the size of the block's table."""

    def sized_function(block: Block) -> T:
        previous = getattr(_thread, "table_cells", math.inf)
        _thread.table_cells = block.table_cells
        try:
            return function(block)
        finally:
            _thread.table_cells = previous

    return sized_function

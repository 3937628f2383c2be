"""Progress of a long run: a bar in a terminal (by rich, if installed), or the caller's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Tell = Callable[[str, int, int], None]  # the current step; number of finished fits; largest possible number of fits


@contextmanager
def reporting(progress: bool | Tell) -> Iterator[Tell]:
    """Yield a function to call at every step: tell(words, done, most)."""
    if callable(progress):
        yield progress
    elif not progress or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield _silent
    else:
        yield from _shown()


def _silent(words: str, done: int, most: int) -> None:
    """Say nothing."""


def _shown() -> Iterator[Tell]:
    """Yield a function that draws a bar; without rich, one that writes a line for each step."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda words, done, most: print(f"[{done}/{most}] {words}", file=sys.stderr, flush=True)
        return
    columns: list[Any] = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=None)
        yield lambda words, done, most: bars.update(bar, description=words, completed=done, total=most)

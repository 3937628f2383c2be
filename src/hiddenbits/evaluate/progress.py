"""Say how far a long run is: a bar where somebody looks on (by rich, if it is installed), or your own function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Tell = Callable[[str, int, int], None]  # what is being done; fits that are done; fits there will be at most


@contextmanager
def reporting(progress: bool | Tell) -> Iterator[Tell]:
    """Yield a function to be told of every step: tell(words, done, most)."""
    if callable(progress):
        yield progress
    elif not progress or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield _silent
    else:
        yield from _shown()


def _silent(words: str, done: int, most: int) -> None:
    """Say nothing."""


def _shown() -> Iterator[Tell]:
    """Yield what draws a bar; without rich, what writes a line for each step."""
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

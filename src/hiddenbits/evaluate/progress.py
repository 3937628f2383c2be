"""Progress of a long run: a bar in a terminal (by rich, if installed), or the caller's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

OnProgress = Callable[[str, int, int], None]  # current step, number of finished fits, largest number of fits


@contextmanager
def progress_reporter(progress: bool | OnProgress) -> Iterator[OnProgress]:
    """Yield a function to call at every step: on_progress(text, done, total)."""
    if callable(progress):
        yield progress
    elif not progress or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield _no_report
    else:
        yield from _progress_bar()


def _no_report(text: str, done: int, total: int) -> None:
    """Report nothing."""


def _progress_bar() -> Iterator[OnProgress]:
    """Yield a function that draws a bar; without rich, one that writes a line for each step."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda text, done, total: print(f"[{done}/{total}] {text}", file=sys.stderr, flush=True)
        return
    columns: list[Any] = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=None)
        yield lambda text, done, total: bars.update(bar, description=text, completed=done, total=total)

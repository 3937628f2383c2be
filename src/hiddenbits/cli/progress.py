"""A progress bar on standard error for work that takes more than two seconds: step, elapsed time, speed, share done.

It does not estimate the remaining time: the number of iterations until convergence is unknown, and the models of a
comparison take from a fraction of a second to minutes, so an estimate would rise during the work.

Without a terminal (a batch job, a pipe, a notebook without ipywidgets) it writes a line every 30 seconds instead.
Nothing is shown with --json or --quiet, or for shorter work, and nothing on standard output.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Lock, Thread, Timer
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.console import print_note, state

if TYPE_CHECKING:
    from rich.console import Console

SLOW = 2.0  # seconds of work after which the bar appears
EVERY = float(os.environ.get("HIDDENBITS_SECONDS_A_LINE", "30"))  # seconds between lines; tests use fewer


class Bar:
    """A progress bar, shown only if the work takes longer than `SLOW` seconds.

    Parameters
    ----------
    step : str
        The current step of the work.
    rows : int, optional
        Total number of rows; the bar then counts rows. Otherwise it follows `set_step`.
    console : rich console, optional
        Where it is shown; by default standard error.
    """

    def __init__(self, step: str, rows: int | None = None, console: Console | None = None) -> None:
        self.step, self.n_rows, self.note = step, rows, ""
        self.start_time = self.step_start_time = time.monotonic()
        self.step_rows = 0  # rows since the step began
        self.done, self.total = 0.0, float(rows or 0)
        self._console, self._lock = console, Lock()
        self._display: Any = None
        self._stop_event = Event()
        self._closed = False
        self._timer = Timer(SLOW, self._show)
        self._timer.daemon = True
        if SLOW > 0.0:
            self._timer.start()
        else:
            self._show()

    def rows(self, number: int) -> None:
        """Count rows that were processed; may be called from any thread."""
        with self._lock:
            self.step_rows += number
            if self.n_rows is not None:
                self.done += number

    def read(self, number: int, share: float | None) -> None:
        """Set how many rows were read, and which share of the file they are, if known."""
        with self._lock:
            self.step_rows, self.done, self.total = number, share or 0.0, 1.0 if share else 0.0

    def set_step(self, step: str, done: float, total: float, note: str = "") -> None:
        """Set the current step, how much of the total is done, and a note to show in place of that share."""
        with self._lock:
            if step != self.step:
                self.step, self.step_rows, self.step_start_time = step, 0, time.monotonic()
            self.done, self.total, self.note = done, total, note

    @property
    def speed(self) -> str:
        """Rows per second of the current step."""
        seconds = time.monotonic() - self.step_start_time
        return f"{self.step_rows / seconds:,.0f} rows/s" if self.step_rows and seconds > 0.0 else ""

    @property
    def share(self) -> str:
        """The share that is done, or the note to show instead."""
        return self.note or (f"{min(1.0, self.done / self.total):.0%} done" if self.total else "")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TimeElapsedColumn
        from rich.text import Text

        bar = self

        class TextColumn(ProgressColumn):
            """A text of the bar; never interpreted as markup."""

            def __init__(self, name: str) -> None:
                self.name = name
                super().__init__()

            def render(self, task: Any) -> Text:
                """Return the text."""
                return Text(getattr(bar, self.name), style="" if self.name == "step" else "cyan")

        class ShareColumn(BarColumn):
            """The bar itself, from the share that is done."""

            def render(self, task: Any) -> Any:
                """Return the bar."""
                task.total, task.completed = bar.total or None, min(bar.done, bar.total)
                return super().render(task)

        console = self._console or Console(stderr=True)
        notebook = console.is_jupyter and find_spec("ipywidgets") is not None  # rich needs these in a notebook
        if not notebook and (not console.is_terminal or console.is_dumb_terminal):
            Thread(target=self._lines, daemon=True).start()
            return
        columns = (TextColumn("step"), ShareColumn(24), TimeElapsedColumn(), TextColumn("speed"), TextColumn("share"))
        display = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        display.add_task("", total=None)
        with self._lock:
            if not self._closed:
                self._display = display
                display.start()

    def _lines(self) -> None:
        """Write a line every `EVERY` seconds until the work is done."""
        while not self._stop_event.wait(EVERY):
            with self._lock:
                parts = [f"{self.step}: {clock(time.monotonic() - self.start_time)}", self.speed, self.share]
            print_note(", ".join(part for part in parts if part))

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        self._stop_event.set()
        with self._lock:
            self._closed, display = True, self._display
        if display is not None:
            display.stop()


class Quiet(Bar):
    """A bar that is never shown."""

    def _show(self) -> None:
        return


@contextmanager
def progress(step: str, rows: int | None = None) -> Iterator[Bar]:
    """Show the progress of the work inside the ``with`` block."""
    bar = (Quiet if state["quiet"] else Bar)(step, rows)
    try:
        yield bar
    finally:
        bar.close()


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, and hours if there are any.

    Examples
    --------
    >>> clock(7.2), clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, left_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{left_seconds:02d}" if hours else f"{minutes}:{left_seconds:02d}"

"""A progress bar on standard error for work that takes more than two seconds: step, time so far, speed, share done.

It does not estimate the time left: one model of a comparison takes a fraction of a second, the next one minutes, and
nobody knows beforehand when a fit converges, so an estimate would rise while one waits.

Without a terminal (a batch job, a pipe, a notebook without ipywidgets) it writes a line every 30 seconds instead.
Nothing is shown with --json or --quiet, or for shorter work. Standard output stays clean.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Lock, Thread, Timer
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.console import say, state

if TYPE_CHECKING:
    from rich.console import Console

SLOW = 2.0  # seconds after which a bar is shown
EVERY = float(os.environ.get("HIDDENBITS_SECONDS_A_LINE", "30"))  # seconds between lines; tests use a smaller value


class Bar:
    """A progress bar, drawn only once the work turns out to be slow.

    Parameters
    ----------
    what : str
        What is being done.
    rows : int, optional
        Total number of rows; the bar then counts rows. Otherwise it follows `at`.
    console : rich console, optional
        Where to draw; by default standard error.
    """

    def __init__(self, what: str, rows: int | None = None, console: Console | None = None) -> None:
        self.what, self.all_rows, self.note = what, rows, ""
        self.begun = self.step_begun = time.monotonic()
        self.walked = 0  # rows since the step began
        self.done, self.most = 0.0, float(rows or 0)
        self._console, self._lock = console, Lock()
        self._drawn: Any = None
        self._over = Event()
        self._closed = False
        self._timer = Timer(SLOW, self._draw)
        self._timer.daemon = True
        if SLOW > 0.0:
            self._timer.start()
        else:
            self._draw()

    def rows(self, number: int) -> None:
        """Count rows that were processed; may be called from any thread."""
        with self._lock:
            self.walked += number
            if self.all_rows is not None:
                self.done += number

    def read(self, number: int, share: float | None) -> None:
        """Set how many rows were read, and which share of the file they are, if known."""
        with self._lock:
            self.walked, self.done, self.most = number, share or 0.0, 1.0 if share else 0.0

    def at(self, words: str, done: float, most: float, note: str = "") -> None:
        """Set the current step, how much of the total is done, and a note to show in place of that share."""
        with self._lock:
            if words != self.what:
                self.what, self.walked, self.step_begun = words, 0, time.monotonic()
            self.done, self.most, self.note = done, most, note

    @property
    def speed(self) -> str:
        """Rows per second of the current step."""
        seconds = time.monotonic() - self.step_begun
        return f"{self.walked / seconds:,.0f} rows/s" if self.walked and seconds > 0.0 else ""

    @property
    def share(self) -> str:
        """The share that is done, or the note to show instead."""
        return self.note or (f"{min(1.0, self.done / self.most):.0%} done" if self.most else "")

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TimeElapsedColumn
        from rich.text import Text

        bar = self

        class Words(ProgressColumn):
            """The bar's current text; never interpreted as markup."""

            def __init__(self, name: str) -> None:
                self.name = name
                super().__init__()

            def render(self, task: Any) -> Text:
                """Return the words."""
                return Text(getattr(bar, self.name), style="" if self.name == "what" else "cyan")

        class Length(BarColumn):
            """The bar itself, drawn from the share that is done."""

            def render(self, task: Any) -> Any:
                """Return the bar."""
                task.total, task.completed = bar.most or None, min(bar.done, bar.most)
                return super().render(task)

        console = self._console or Console(stderr=True)
        notebook = console.is_jupyter and find_spec("ipywidgets") is not None  # rich draws there with these alone
        if not notebook and (not console.is_terminal or console.is_dumb_terminal):
            Thread(target=self._lines, daemon=True).start()
            return
        shown = (Words("what"), Length(24), TimeElapsedColumn(), Words("speed"), Words("share"))
        drawn = Progress(*shown, console=console, transient=True, redirect_stdout=False)
        drawn.add_task("", total=None)
        with self._lock:
            if not self._closed:
                self._drawn = drawn
                drawn.start()

    def _lines(self) -> None:
        """Write a line every `EVERY` seconds until the work is done."""
        while not self._over.wait(EVERY):
            with self._lock:
                said = [f"{self.what}: {clock(time.monotonic() - self.begun)}", self.speed, self.share]
            say(", ".join(words for words in said if words))

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        self._over.set()
        with self._lock:
            self._closed, drawn = True, self._drawn
        if drawn is not None:
            drawn.stop()


class Quiet(Bar):
    """A bar that is never drawn."""

    def _draw(self) -> None:
        return


@contextmanager
def progress(what: str, rows: int | None = None) -> Iterator[Bar]:
    """Show the progress of the work inside the ``with`` block."""
    bar = (Quiet if state["quiet"] else Bar)(what, rows)
    try:
        yield bar
    finally:
        bar.close()


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, and hours where there are some.

    Examples
    --------
    >>> clock(7.2), clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

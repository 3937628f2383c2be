"""Output: results on standard output, notes on standard error, errors as one sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from hiddenbits.cli.words import in_options
from hiddenbits.quoting import json_escaped, message_of, name_of, printable

# Options of this run. debug: print tracebacks. silent: --quiet was given. quiet: this command shows no progress.
state = {"debug": False, "quiet": False, "silent": False}
LOOK = "hiddenbits look TABLE"  # the command in messages of the library
look_command = {"text": LOOK}  # the command for the table that this run reads


def reword(text: str) -> str:
    """Return a message of the library with command-line options, and with the table that this run reads."""
    return in_options(text).replace(LOOK, look_command["text"])


def print_note(text: str, keep: str = "") -> None:
    """Print a note on standard error; standard output is for results only. `keep` are characters not to escape."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(printable(text, keep), markup=False)


class LogLevel(StrEnum):
    """How much is logged: restarts, stages and cluster events (info), and every iteration (debug)."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


def set_output(*, debug: bool = False, quiet: bool = False, log_level: str | None = None) -> None:
    """Set the options of output of every command; the log of hiddenbits goes to standard error, None stops it."""
    import logging

    state["debug"], state["silent"] = debug, quiet
    logger = logging.getLogger("hiddenbits")
    for handler in [handler for handler in logger.handlers if type(handler) is logging.StreamHandler]:
        logger.removeHandler(handler)  # left by an earlier command in this process
    logger.setLevel(logging.NOTSET if log_level is None else log_level.upper())
    if log_level is not None:
        to_screen = logging.StreamHandler()
        to_screen.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(to_screen)


def print_line(text: str) -> None:
    """Print a result. In a text of several lines the caller escapes names, including their line breaks."""
    print(printable(text, keep="\n"), flush=True)


def print_json(value: Any) -> None:
    """Print a result as JSON; NaN and infinity become null."""
    import math

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {str(key): plain(inner) for key, inner in item.items()}
        if isinstance(item, (list, tuple)):
            return [plain(inner) for inner in item]
        return None if isinstance(item, float) and not math.isfinite(item) else item

    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    print_line(json_escaped(text))


def print_table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table, with numbers aligned right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        numeric = all(_is_number(row[number]) for row in rows) and bool(rows)
        grid.add_column(Text(head), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(name_of(cell)) for cell in row))  # text, never markup: names come from files
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(Text(title))  # rich would wrap a table title to the width of the table
    console.print(grid)


def _is_number(text: str) -> bool:
    return text.translate(str.maketrans("", "", ",.-%±<")).strip().isdigit()


@contextmanager
def errors_as_sentences(debug: bool) -> Iterator[None]:
    """Print expected errors as one sentence and exit with status 1; report any other error as a bug.

    Warnings become notes.
    """
    import warnings

    import typer

    if debug:
        yield
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: print_note(
                f"Note: {reword(' '.join(str(message).split()))}"
            )
            yield
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RuntimeError) as error:
        lines = [reword(" ".join(line.split())) for line in message_of(error).splitlines()]
        has_lines = hasattr(error, "looks")  # a message of several lines, in which names are escaped
        text = ("\n" if has_lines else " ").join(lines).strip() or type(error).__name__
        print_note(f"hiddenbits: {text}", keep="\n" if has_lines else "")
        raise typer.Exit(1) from None
    except Exception as error:
        bug = f"{type(error).__name__}: {message_of(error)}"
        print_note(f"hiddenbits: this is a bug, please report it ({bug}). Run again with --debug for the traceback.")
        raise typer.Exit(70) from None

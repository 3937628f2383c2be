"""What the user sees: notes on standard error, results on standard output, errors as one sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from hiddenbits.cli.words import in_options
from hiddenbits.quoting import json_escaped, message_of, name_of, printable

# Options of this run: errors with a traceback; no progress, because of this command or --quiet.
state = {"debug": False, "quiet": False, "silent": False}
LOOK = "hiddenbits look TABLE"  # in the library's messages, for the table that this run reads
printed = {"look": LOOK}


def own_words(text: str) -> str:
    """Return a message of the library in the words of the command line, with the table that this run reads."""
    return in_options(text).replace(LOOK, printed["look"])


def say(text: str, keep: str = "") -> None:
    """Print a note on standard error; standard output is for results only. `keep` are characters not to escape."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(printable(text, keep), markup=False)


class LogLevel(StrEnum):
    """How much is logged: restarts, stages and cluster events (info), and every pass (debug)."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


def log_to_screen(level: str | None) -> None:
    """Write the log of hiddenbits to standard error; None stops it."""
    import logging

    logger = logging.getLogger("hiddenbits")
    for old in [old for old in logger.handlers if type(old) is logging.StreamHandler]:
        logger.removeHandler(old)  # of an earlier command in this process
    logger.setLevel(logging.NOTSET if level is None else level.upper())
    if level is not None:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)


def tell(text: str) -> None:
    """Print a result. In a text of several lines the caller escapes names, including their line breaks."""
    print(printable(text, keep="\n"), flush=True)


def as_json(value: Any) -> None:
    """Print a result as JSON; NaN and infinity become null."""
    import math

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {str(key): plain(inner) for key, inner in item.items()}
        if isinstance(item, (list, tuple)):
            return [plain(inner) for inner in item]
        return None if isinstance(item, float) and not math.isfinite(item) else item

    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    tell(json_escaped(text))


def table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table, with numbers aligned right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        numeric = all(_is_number(row[number]) for row in rows) and bool(rows)
        drawn.add_column(Text(head), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(name_of(cell)) for cell in row))  # text, never markup: names come from files
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(Text(title))  # rich would wrap a table title to the width of the table
    console.print(drawn)


def _is_number(text: str) -> bool:
    return text.translate(str.maketrans("", "", ",.-%±<")).strip().isdigit()


@contextmanager
def sentences(debug: bool) -> Iterator[None]:
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
            warnings.showwarning = lambda message, *_, **__: say(f"Note: {own_words(' '.join(str(message).split()))}")
            yield
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RuntimeError) as error:
        lines = [own_words(" ".join(line.split())) for line in message_of(error).splitlines()]
        own = hasattr(error, "looks")  # a message of several lines, whose names are escaped
        text = ("\n" if own else " ").join(lines).strip() or type(error).__name__
        say(f"hiddenbits: {text}", keep="\n" if own else "")
        raise typer.Exit(1) from None
    except Exception as error:
        bug = f"{type(error).__name__}: {message_of(error)}"
        say(f"hiddenbits: this is a bug, please report it ({bug}). Run again with --debug for the traceback.")
        raise typer.Exit(70) from None

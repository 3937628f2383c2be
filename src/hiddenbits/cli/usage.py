"""Escape usage errors, which repeat what was typed: a file name from a pattern may contain anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from hiddenbits.quoting import printable

UsageError: Any = typer.BadParameter.__mro__[1]  # click's class; later versions of typer include a copy of click


class PrintableGroup(TyperGroup):
    """The group of all commands; its errors are escaped."""

    def make_context(self, *words: Any, **options: Any) -> Any:
        """Parse the arguments before the command."""
        with _printable_errors():
            return super().make_context(*words, **options)

    def invoke(self, *words: Any, **options: Any) -> Any:
        """Run the command."""
        with _printable_errors():
            return super().invoke(*words, **options)


@contextmanager
def _printable_errors() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        error.message = printable(error.message)
        raise

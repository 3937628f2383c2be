"""The error of every table that cannot be read as it is."""

from __future__ import annotations

from hiddenbits.quoting import PrintableError, printable


class TableError(PrintableError):
    """What was wrong with a table, where, and what to do."""

    def at(self, path: object) -> TableError:
        """Return the error with the file before it."""
        return TableError(f"{printable(path)}: {self}")

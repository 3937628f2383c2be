"""The error of every table that cannot be read as it is, and the warnings of those that can."""

from __future__ import annotations

from hiddenbits.quoting import PrintableError, printable


class TableError(PrintableError):
    """What was wrong with a table, where, and what to do."""

    def at(self, path: object) -> TableError:
        """Return the error with the file before it."""
        return TableError(f"{printable(path)}: {self}")


class CellTypeError(TableError, TypeError):
    """A cell of an array is an object that is neither text nor a number, which scikit-learn has a TypeError for."""


class FoundDialectWarning(UserWarning):
    r"""A CSV file is not written with commas and in UTF-8; how it was read was found by looking at it.

    Examples
    --------
    >>> import tempfile, pathlib, warnings, hiddenbits
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("a;b\n0;1\n1;1\n")
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     table = hiddenbits.open_table(path)
    >>> table.names, said[0].category is hiddenbits.FoundDialectWarning
    (('a', 'b'), True)
    """


class SpilledTableWarning(UserWarning):
    """Rows of a query or stream, or many lists or pairs of items, were written to temporary files, which are the table.

    Examples
    --------
    >>> from hiddenbits import SpilledTableWarning
    >>> issubclass(SpilledTableWarning, UserWarning)
    True
    """

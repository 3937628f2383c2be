"""Tables as people have them: bits, and next to them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.console import say
from hiddenbits.cli.progress import progress
from hiddenbits.quoting import name_of, printable

if TYPE_CHECKING:
    from hiddenbits import Table


@dataclass(frozen=True)
class Asked:
    """How the user wants the table to be read."""

    path: str
    blank: str = "auto"
    threshold: float | None = None
    drop: tuple[str, ...] = ()
    names: Path | None = None
    key: str | None = None

    @property
    def files(self) -> list[str | Path]:
        """What is read."""
        return [self.path] if self.names is None else [self.path, self.names]


@dataclass(frozen=True)
class Opened:
    """A table of bits, and the columns of the file that are none."""

    table: Table
    beside: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where the table has none."""
        return list(self.table.names or [f"x{j}" for j in range(self.table.shape[1])])

    def labels(self, column: str | None) -> list[str] | None:
        """Return the column whose labels say which rows belong together; None where none was asked for."""
        if column is None:
            return None
        if column not in self.beside:
            there = f"Columns without bits: {', '.join(self.beside)}." if self.beside else "All columns are bits."
            raise ValueError(
                f"--groups {column}: labels must be a column of a CSV file that does not contain bits. {there}"
            )
        return self.beside[column]


def opened(asked: Asked, guarded: bool = False) -> Opened:
    """Open a table; columns of a CSV file that hold no bits are left out, and named."""
    from hiddenbits import open_table

    options: dict[str, Any] = {"blank": asked.blank, "threshold": asked.threshold}
    options |= {"drop": list(asked.drop)} if asked.drop else {}
    options |= {"key": asked.key} if asked.key else {}
    if asked.names is not None:
        if not asked.names.is_file():
            raise ValueError(f"--names {asked.names}: this is not a file. Give a text file with one name per line.")
        options["names"] = asked.names.read_text(encoding="utf-8").splitlines()
    beside: dict[str, list[str]] = {}
    with progress(f"Reading {printable(Path(asked.path).name)}") as bar:
        if guarded:
            options["guarded"] = True
        if asked.path.lower().endswith((".csv", ".csv.gz")):
            options |= {} if guarded else {"tell": bar.read}  # another process reads, and shows no bar
            options |= {} if asked.names is not None else {"columns": "bits", "others": beside}
        table = open_table(asked.path, **options)
    if beside and table.names is None:
        raise ValueError(f"{asked.path}: line 1 has both bits and text. Add a first line with the column names.")
    if beside:
        say(f"Columns left out, because they contain more than bits: {', '.join(map(name_of, beside))}.")
    return Opened(table, beside)

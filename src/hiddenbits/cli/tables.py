"""Tables as people have them: bits, and beside them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.screen import say

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


@dataclass(frozen=True)
class Opened:
    """A table of bits, and the columns of the file that are none."""

    table: Table
    beside: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where the table has none."""
        return list(self.table.names or [f"x{j}" for j in range(self.table.shape[1])])


def opened(asked: Asked) -> Opened:
    """Open a table; columns of a CSV file that hold no bits are left out, and named."""
    from hiddenbits import TableError, open_table

    options: dict[str, Any] = {"blank": asked.blank, "threshold": asked.threshold}
    options |= {"drop": list(asked.drop)} if asked.drop else {}
    options |= {"key": asked.key} if asked.key else {}
    if asked.names is not None:
        options["names"] = asked.names.read_text(encoding="utf-8").splitlines()
    try:
        return Opened(open_table(asked.path, **options))
    except TableError as error:
        if asked.names is not None or not _is_csv(asked.path):
            raise
        found = open_table(asked.path, columns="bits", **options)
        beside = _cells_beside(asked.path, {*(found.names or ()), *asked.drop})
        if not beside or found.names is None:
            raise error
    say(f"Left out, because they hold more than bits: {', '.join(beside)}.")
    return Opened(found, beside)


def _is_csv(path: str) -> bool:
    return path.lower().endswith((".csv", ".csv.gz")) and "://" not in path and not set("*?[") & set(path)


def _cells_beside(path: str, known: set[str]) -> dict[str, list[str]]:
    """Return the cells of the columns of a CSV file that are not among the known ones."""
    with (gzip.open if path.lower().endswith(".gz") else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        names = [name.strip() for name in next(rows)]
        wanted = [j for j, name in enumerate(names) if name not in known]
        columns: dict[str, list[str]] = {names[j]: [] for j in wanted}
        for row in rows:
            for j in wanted:
                columns[names[j]].append(row[j].strip())
    return columns

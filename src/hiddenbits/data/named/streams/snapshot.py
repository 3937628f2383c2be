"""The rows of a lake or a database as they were when it was asked, as `find_opener` hands them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Snapshot:
    """One version of a Delta table, or the answer to a query.

    Attributes
    ----------
    version : int or None
        The version of a Delta table.
    rows : Any
        The rows, in memory or in temporary files; None where they stay in the files of a Delta table.
    files : tuple of Path
        These files, in order.
    schema : pyarrow.Schema
        The columns.
    given : tuple of dict
        For each file, the values of the columns that name its partition, which it does not hold.
    """

    version: int | None
    rows: Any = None
    files: tuple[Path, ...] = ()
    schema: Any = None
    given: tuple[Mapping[str, Any], ...] = ()

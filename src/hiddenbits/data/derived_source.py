"""What sources have in common that read the rows of another source and change what comes back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from hiddenbits.data.table import Source


@dataclass(frozen=True, eq=False)
class DerivedSource:
    """Rows of another source, made into others as they are read."""

    source: Source

    resident = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.source.n_columns

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches."""
        return self.source.row_cells

    def over(self, start: int, stop: int) -> Self:
        """Return this over what rows start to stop of the other source need and no more."""
        source: Any = self.source
        return replace(self, source=source.only(start, stop)) if hasattr(source, "only") else self

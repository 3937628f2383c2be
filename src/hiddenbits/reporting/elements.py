"""What a section of the report is made of; `page` turns it into HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

# Sections of evidence, in the order of the page; a finding names one of them. Those with nothing to show are left out.
KEYS = ("table", "which", "map", "groups", "classes", "items", "causes", "pairs", "odd", "cells", "blanks", "how")


@dataclass(frozen=True)
class Grid:
    """A table. `numeric` columns are aligned right; a folded table opens when its caption is clicked."""

    caption: str
    heads: Sequence[object]
    rows: Sequence[Sequence[object]]
    numeric: frozenset[int] = frozenset()
    folded: bool = False
    wordy: int = -1  # the column with sentences, which is kept wide
    kind: str = "grid"


@dataclass(frozen=True)
class Figure:
    """A drawing, a caption, and the same data as a table for readers who cannot see it."""

    drawing: Markup
    caption: Markup
    same: Grid | None = None
    kind: str = "figure"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: Markup
    kind: str = "text"


@dataclass(frozen=True)
class Map:
    """The map with its panel; `data` is what the script of the page reads."""

    drawing: Markup
    caption: Markup
    data: dict[str, Any] | None
    choices: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    chosen: str = ""
    same: Grid | None = None
    kind: str = "map"


Part = Grid | Figure | Text | Map


@dataclass(frozen=True)
class Section:
    """A part of the report that can be folded; `opening` is a plain sentence about this table."""

    key: str
    title: str
    opening: Markup
    parts: Sequence[Part] = ()
    how: Sequence[tuple[str, str]] = ()  # what was computed, and the line that computes it again
    every_row: bool = False  # whether the figures are of all rows, although the models use a sample


def cautions(*said: str) -> list[Part]:
    """Return the reasons to read a section with caution, if there are any."""
    found = [one for one in said if one]
    return [Text(Markup("Caution: the fit {}.").format("; ".join(found)))] if found else []

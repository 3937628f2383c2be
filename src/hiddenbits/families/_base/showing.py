"""Tables of summaries that several families have, and lists of the strongest columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.display import SummaryTable

LISTED, NAME = 4, 24  # names in a list of the strongest, and their letters


def spectrum_table(eigenvalues: Floats, by_chance: Floats | None = None) -> SummaryTable:
    """Return the table of the eigenvalues of correlations of hidden variables, largest first."""
    columns: dict[str, Any] = {"number": [str(k + 1) for k in range(len(eigenvalues))], "eigenvalue": eigenvalues}
    columns["share"] = eigenvalues / max(len(eigenvalues), 1)
    if by_chance is not None:
        columns["by chance"] = by_chance
    return SummaryTable("Spectrum of the correlations of the hidden variables", columns, "eigenvalues")


def strongest(values: Floats, names: Sequence[str]) -> str:
    """Return the largest of some numbers that are above 0.05, as a list of names: "bread 0.61, milk 0.43"."""
    order = [j for j in np.argsort(-values, kind="stable")[:LISTED] if values[j] >= 0.05]
    return ", ".join(f"{_short(names[j])} {values[j]:.2f}" for j in order) or "-"


def _short(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME - 3]}..."


def strongest_each_way(W: Floats, names: Sequence[str], up: str, down: str) -> dict[str, list[str]]:
    """Return for each line of numbers its largest, and the largest of those below 0, by these words."""
    return {up: [strongest(row, names) for row in W], down: [strongest(-row, names) for row in W]}

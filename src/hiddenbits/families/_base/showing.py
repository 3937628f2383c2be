"""Summary tables of several families, and lists of the columns with the largest weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.display import SummaryTable

MAX_NAMES, MAX_NAME_LENGTH = 4, 24  # names in a list, and characters of a name


def spectrum_table(eigenvalues: Floats, by_chance: Floats | None = None) -> SummaryTable:
    """Return the table of the eigenvalues of correlations of latent variables, largest first."""
    columns: dict[str, Any] = {"number": [str(k + 1) for k in range(len(eigenvalues))], "eigenvalue": eigenvalues}
    columns["share"] = eigenvalues / max(len(eigenvalues), 1)
    if by_chance is not None:
        columns["by chance"] = by_chance
    return SummaryTable("Spectrum of the correlations of the latent variables", columns, "eigenvalues")


def strongest(values: Floats, names: Sequence[str]) -> str:
    """Return the names of the largest values of at least 0.05, as text: "bread 0.61, milk 0.43"."""
    order = [j for j in np.argsort(-values, kind="stable")[:MAX_NAMES] if values[j] >= 0.05]
    return ", ".join(f"{_short(names[j])} {values[j]:.2f}" for j in order) or "-"


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 3]}..."


def strongest_each_way(W: Floats, names: Sequence[str], up: str, down: str) -> dict[str, list[str]]:
    """Return, for each row of W, the names of its largest and of its most negative values, under two headings."""
    return {up: [strongest(row, names) for row in W], down: [strongest(-row, names) for row in W]}

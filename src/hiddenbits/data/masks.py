"""How the observed-mask of a table is stored: one choice for the whole table, so that all its parts agree."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from hiddenbits.array_types import Bytes
from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Pattern, pattern_of

RARE = 0.1  # a mask whose rarer kind is at most this share of the cells is kept as a pattern

Mask: TypeAlias = Literal["none", "missing", "dense", "observed"]
"""Nothing missing; the pattern of the missing cells; dense; or the pattern of the observed cells."""


def mask_for(share: float) -> Mask:
    """Return the storage for a table of which that share of the cells is missing."""
    return "missing" if share <= RARE else "observed" if share >= 1 - RARE else "dense"


def mask_bytes(mask: Mask, share: float) -> float:
    """Return the bytes that a cell of the table takes in the mask, on average."""
    return {"none": 0.0, "missing": 4.0 * share, "dense": 1.0, "observed": 4.0 * (1.0 - share)}[mask]


def observed_bits(missing: Bytes, mask: Mask) -> Bits:
    """Return the observed-mask of some rows in the storage of their table; overwrites `missing`."""
    if mask == "none":
        return AllOnes((missing.shape[0], missing.shape[1]))
    if mask == "missing":
        return Complement(Pattern(*pattern_of(missing), missing.shape[1]))
    np.subtract(1, missing, out=missing)
    return Dense(missing) if mask == "dense" else Pattern(*pattern_of(missing), missing.shape[1])

"""Tables that are drawn from a fitted model, to which models are fitted again: what a true model would show."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from hiddenbits import Table
from hiddenbits.array_types import AnyArray
from hiddenbits.data.hashing import keyed_rng


def plain(model: Any) -> Any:
    """Return a copy of a fitted model that draws and takes arrays of bits without names."""
    made = copy(model)
    made.coding_ = made.threshold = None  # bits are drawn, not the values that they stand for
    if hasattr(made, "feature_names_in_"):
        del made.feature_names_in_
    return made


def drawn_tables(model: Any, table: Table, n: int, seed: int, stream: int) -> Iterator[AnyArray]:
    """Yield n tables drawn from a model, as large as the table and with its blanks; keyed by their number."""
    if table.weights is not None:
        raise ValueError("Simulated rows are drawn one by one: repeat rows in place of giving them weights.")
    blank = np.isnan(table.to_float()) if table.n_missing else None
    bare = plain(model)
    for number in range(n):
        rows = bare.sample(table.shape[0], random_state=int(keyed_rng(seed, stream, number).integers(2**31 - 1)))
        yield rows if blank is None else np.where(blank, np.nan, rows)

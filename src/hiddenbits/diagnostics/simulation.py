"""Tables that are drawn from a fitted model, to which models are fitted again: what a true model would show."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenbits import Table, open_table
from hiddenbits.data.hashing import keyed_rng


def drawn_tables(model: Any, table: Table, n: int, seed: int, stream: int) -> Iterator[Table]:
    """Yield n tables drawn from a model, as large as the table and with its blanks; keyed by their number."""
    if table.weights is not None:
        raise ValueError("Simulated rows are drawn one by one: repeat rows in place of giving them weights.")
    blank = np.isnan(table.to_float()) if table.n_missing else None
    bare = copy(model)
    bare.coding_ = bare.threshold = None  # bits are drawn, not the values that they stand for
    of_levels = np.repeat(np.array(table.sizes or 1) > 1, table.sizes or table.shape[1])
    for number in range(n):
        rows = bare.sample(table.shape[0], random_state=int(keyed_rng(seed, stream, number).integers(2**31 - 1)))
        if blank is not None:
            rows = np.where(blank, np.where(of_levels, 0.0, np.nan), rows)
        yield replace(open_table(rows), levels=table.coding_of_levels)

"""Online EM: a running average of statistics, and one update for each group of blocks."""

from __future__ import annotations

from functools import partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.row_sampling import RowSampler, SomeRows, rate_for
from hiddenbits.data.subset import take_rows
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.local import Executor
from hiddenbits.engine.state import Running
from hiddenbits.model_api import Key, Model, OnlineForm, P, S

# Rows per update: at first 16,384, later a 64th of the rows so far. A hundred million rows then need hundreds
# of updates, not thousands, and long groups keep many workers busy; their cells must still fit in memory.
GROUP_ROWS, GROUP_SHARE, GROUP_CELLS = 16384, 64, 1 << 23
# Largest number of rows and cells of the fit that online EM begins with on a long table.
FIRST_ROWS, FIRST_CELLS = 4096, 1 << 25
# The weight of a group in the average is (its share of the weight so far) ^ forgetting. With 0.6, for online
# passes that start far from the solution, early statistics are soon forgotten: the k-th of equal groups has weight
# k^-0.6. With 0.8, after a fit, they are forgotten more slowly: an average over few rows is a worse fit. With 1, never.
FORGETTING, FORGETTING_FIT = 0.6, 0.8


def online_form(model: Model[P, S]) -> Model[P, S]:
    """Return the variant of a model for online EM, with the same parameters and type of statistics.

    A model has one if its statistics are valid only at the parameters with which they were computed.
    """
    return model.online() if isinstance(model, OnlineForm) else model


def first_rows(grid: Grid, executor: Executor, seed: int) -> Grid:
    """Return the rows of the fit before online EM: all rows of a short table, a sample in memory of a long one."""
    table = grid.table
    n = table.shape[0]
    rows = min(FIRST_ROWS, max(FIRST_CELLS // table.row_size, 1))
    if n <= 2 * rows:
        return grid
    if not table.only_bits:
        return take_rows(table, np.arange(rows)).grid(grid.height)
    sample: SomeRows = executor.reduce(RowSampler(seed, rate_for(rows, table.weights, n)), grid)
    return sample.table(float(n if table.weights is None else table.weights.sum())).grid(grid.height)


def group_ends(grid: Grid) -> list[int]:
    """Return the block at which each group ends; it depends on the table alone, so that all executors agree."""
    max_rows = max(GROUP_ROWS, int(GROUP_CELLS / max(grid.table.source.row_cells, 1.0)))
    ends: list[int] = [0]
    while ends[-1] < grid.n_blocks:
        rows = min(max(GROUP_ROWS, ends[-1] * grid.height // GROUP_SHARE), max_rows)
        ends.append(min(ends[-1] - (-rows // grid.height), grid.n_blocks))
    return ends[1:]


def online_pass(
    model: Model[P, S],
    params: P,
    running: Running,
    executor: Executor,
    grid: Grid,
    key: Key,
    table_weight: float | None = None,
    forgetting: float = FORGETTING_FIT,
) -> tuple[P, Running]:
    """Make one pass over the table with an update after each group; return the parameters and the running average.

    `table_weight` is the weight of the whole table if it is known; by default the weight so far is used. If the
    statistics do not depend on the parameters, nothing is forgotten, and one update fits all rows so far.
    """
    model = online_form(model)
    if model.promises.closed_form:
        stats = executor.reduce(partial(block_statistics, model, params, model.prepare(params), key, None), grid)
        if stats.weight <= 0.0:
            return params, running
        running = running.with_group(stats, float(stats.weight), forgetting=1.0)
        return model.update(params, running.stats.scaled(running.weight)), running
    for reduce in executor.stream(grid, group_ends(grid)):
        shared = model.prepare(params)
        stats = reduce(partial(block_statistics, model, params, shared, key, None))
        weight = float(stats.weight)
        if weight <= 0.0:
            continue
        running = running.with_group(stats, weight, forgetting)
        params = model.update(params, running.stats.scaled(table_weight or running.weight))
    return params, running

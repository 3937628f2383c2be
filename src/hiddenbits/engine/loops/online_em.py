"""Online EM: a running average of statistics, one update for each group of blocks."""

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

# Rows that one update is made from: at first a few, later a share of the rows seen. A hundred million rows need
# hundreds of updates, not thousands, and long groups keep many hands busy; their cells must still fit in memory.
GROUP_ROWS, GROUP_SHARE, GROUP_CELLS = 16384, 64, 1 << 23
# Rows of a long table that online EM begins with a fit to, and the most cells of them.
FIRST_ROWS, FIRST_CELLS = 4096, 1 << 25
# A group enters with (its share of the weight so far) ^ forgetting: the k-th equal group with k^-.6 where the start was
# far from a fit and its statistics have to be forgotten soon. After a fit rows are forgotten more slowly, because an
# average over few rows is a worse fit than the one before. With an exponent of 1 nothing is ever forgotten.
FORGETTING, FORGETTING_FIT = 0.6, 0.8


def online_form(model: Model[P, S]) -> Model[P, S]:
    """Return the form of a model for online EM; parameters and the kind of statistics are the same.

    A model whose statistics hold only at the parameters that they were computed with has a separate form.
    """
    return model.online() if isinstance(model, OnlineForm) else model


def first_rows(grid: Grid, executor: Executor, seed: int) -> Grid:
    """Return the rows that online EM begins with a fit to: all of a short table, some of a long one, in memory."""
    table = grid.table
    n, d = table.shape
    rows = min(FIRST_ROWS, max(FIRST_CELLS // max(d, 1), 1))
    if n <= 2 * rows:
        return grid
    if not table.only_bits:
        return take_rows(table, np.arange(rows)).grid(grid.height)
    drawn: SomeRows = executor.reduce(RowSampler(seed, rate_for(rows, table.weights, n)), grid)
    return drawn.table(float(n if table.weights is None else table.weights.sum())).grid(grid.height)


def group_ends(grid: Grid) -> list[int]:
    """Return the block at which each group ends; from the table alone, so that all executors walk the same groups."""
    most = max(GROUP_ROWS, int(GROUP_CELLS / max(grid.table.source.row_cells, 1.0)))
    ends: list[int] = [0]
    while ends[-1] < grid.n_blocks:
        rows = min(max(GROUP_ROWS, ends[-1] * grid.height // GROUP_SHARE), most)
        ends.append(min(ends[-1] - (-rows // grid.height), grid.n_blocks))
    return ends[1:]


def online_pass(
    model: Model[P, S],
    params: P,
    running: Running,
    executor: Executor,
    grid: Grid,
    key: Key,
    stands_for: float | None = None,
    forgetting: float = FORGETTING_FIT,
) -> tuple[P, Running]:
    """Walk the table once, updating after each group; return the parameters and the running average.

    `stands_for` is the weight of the whole table where it is known; otherwise the weight seen so far counts. Where the
    statistics do not depend on the parameters nothing fades, and one update is enough: the fit to all rows so far.
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
        params = model.update(params, running.stats.scaled(stands_for or running.weight))
    return params, running

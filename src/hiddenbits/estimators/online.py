"""`partial_fit`: learning from some rows after the other, by online EM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine import (
    Executor,
    Key,
    Local,
    Running,
    current,
    first_rows,
    one_blas_thread,
    online_form,
    online_pass,
)
from hiddenbits.estimators.tables import as_table, seed_of, with_sample_weight

FIRST_RESTARTS = 4  # times as many restarts as a fit has: few rows have more poor maxima, and restarts cost little


class OnlineVerbs:
    """The verb that learns from further rows, for all estimators."""

    _online_seed: int
    running_: Running | None

    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some rows by online EM; can be called again and again with further rows.

        The first call fits the model to its rows (to some of them, where they are many), with restarts and stages, or
        goes on from a `fit`; hundreds of rows are a good beginning, a handful is not. After that each call is one pass
        over its rows. The statistics of earlier rows are kept as a running average, in which old rows fade slowly; the
        rows themselves are not kept. `docs/partial_fit.md` says how near to a `fit` that comes.

        Parameters
        ----------
        X : array, sparse array or matrix, frame or Table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored.
        sample_weight : array of shape (rows,), optional
            Weight of each row.

        Returns
        -------
        self
        """
        self._validate_params()
        begun = hasattr(self, "params_")
        table = with_sample_weight(as_table(self, X, reset=not begun), sample_weight)
        model, executor = self._model(), current().executor
        grid = table.grid(self._pass_height(model, table))
        with one_blas_thread():
            running = self.running_ if begun else Running()
            if running is None or not begun:
                self._online_seed = seed_of(self.random_state)
            params = self.params_ if begun else self._first_fit(model, grid, executor)
            if running is None:  # go on from a fit: its rows count as if they were what the fit expects
                stats = online_form(model).pseudo_statistics(params, self.weight_seen_)
                running = Running(stats.scaled(1.0 / self.weight_seen_), self.n_iter_, self.weight_seen_)
            key = Key(self._online_seed, 0, running.steps)
            self.params_, running = online_pass(model, params, running, executor, grid, key)
        self._federation = self._handed_out = None
        self.running_ = running
        self.weight_seen_ = running.weight
        self.n_iter_ = running.steps
        self.stop_reason_ = "online"
        self.converged_ = False
        self.trace_ = np.zeros(0)
        self.restarts_ = ()
        return self

    def _first_restarts(self: Any) -> int:
        """Return the restarts of the fit that online EM begins with; a family with one start needs no more of them."""
        return int(self.n_init if self.n_init == 1 else FIRST_RESTARTS * self.n_init)

    def _first_fit(self: Any, model: Any, grid: Grid, executor: Executor) -> Any:
        """Return the parameters that online EM begins with: a fit to the first rows, restarts, stages and all."""
        settings = replace(
            self._settings(), n_init=self._first_restarts(), seed=self._online_seed, online_passes=0, start_rows=None
        )
        grid = first_rows(grid, executor, self._online_seed)
        if grid.table.source.resident and not isinstance(executor, Local):
            executor = Local()  # the rows are here, and few
        return self._finished(self._loop(model, grid, executor, settings, None, None).params)

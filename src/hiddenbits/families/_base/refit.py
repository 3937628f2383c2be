"""`refit`: fit again from where the parameters are, for bootstrap replicates and tables that have changed a little."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.data.summary import Summary
from hiddenbits.engine import Outcome, Position, current, fit_closed_form, fit_em
from hiddenbits.families._base.inputs import as_table


@dataclass(frozen=True, eq=False)
class _BeginsAt:
    """Stands for a checkpoint: the fit continues from given parameters, and nothing is kept."""

    position: Position

    def load(self, summary: Summary) -> Position:
        return self.position

    def save(self, position: Position, summary: Summary) -> None:
        return

    def beside(self, name: str) -> _BeginsAt:
        return self

    def drop(self) -> None:
        return


class RefitVerb:
    """Adds `refit` to all estimators."""

    params_: Any

    @property
    @abstractmethod
    def _loop(self) -> Callable[..., Outcome]:
        """The engine's loop that fits go by."""

    def refit(self, X: object, sample_weight: ArrayLike | None = None, *, tol: float | None = None) -> Self:
        """Return a copy that is fitted to X, or to other weights, beginning at the fitted parameters.

        There is one restart and no start: far fewer passes than `fit` needs, but no other maximum is looked for. A
        prior stays centred where it was.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; the same columns.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.
        tol : float, optional
            By default that of the estimator; a fit that begins close to its end needs a smaller one to arrive there.

        Returns
        -------
        refitted : estimator
        """
        check_is_fitted(self, "params_")
        made: Any = copy(self)
        if self._loop not in (fit_em, fit_closed_form) or made._model().promises.scheduled:
            raise ValueError(
                f"refit is for EM until it stands still; {self} learns by a schedule or random steps. Use fit."
            )
        table = as_table(made, X, reset=False, sample_weight=sample_weight)
        model = made._model()
        table = made._arranged(model, table)
        weight = float(table.shape[0] if table.weights is None else table.weights.sum())
        settings = replace(made._settings(), n_init=1, n_repairs=0, online_passes=0, start_rows=None)
        settings = settings if tol is None else replace(settings, tol=tol)
        grid = made._pass_grid(model, table, settings)
        # A model that polishes begins there: its first stage is behind it.
        stages = (0,) if model.promises.speculative else ()
        begin = _BeginsAt(Position(params=self.params_, safe=self.params_, stages=stages))
        made._keep(self._loop(model, grid, current().executor, settings, begin, None), weight)
        return made  # type: ignore[no-any-return]

"""The part of `ModelEstimator` that the functions of this folder use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Grid, Table
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.request import HandleUnknown
from hiddenbits.engine import Outcome, Restart, Running, Settings
from hiddenbits.families._base.parameters import ColumnTypes, HiddenParts
from hiddenbits.model_api import RowModel


class Estimator(Protocol):
    """An estimator, fitted or not; params and models are those of its family."""

    threshold: float | None
    column_types: ColumnTypes | None
    handle_unknown: HandleUnknown
    random_state: Randomness

    _params: Any
    trace_: Floats
    n_iter_: int
    stop_reason_: str
    restarts_: tuple[Restart, ...]
    _fit_weight: float
    _running: Running | None
    n_features_in_: int
    feature_names_in_: AnyArray
    coding_: Coding | None
    _table_version: int | None
    _online_seed: int
    _independent_score: float | None
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]]
    _prior_settings: ClassVar[tuple[str, ...] | None]
    _not_saved: ClassVar[tuple[str, ...]]

    @property
    def _coding(self) -> Coding | None: ...

    @property
    def _takes_reals(self) -> bool: ...

    @property
    def _objective_name(self) -> str | None: ...

    @property
    def _loop(self) -> Callable[..., Outcome]: ...

    @property
    def n_parameters_(self) -> int: ...

    @property
    def _likelihood_kind(self) -> str: ...

    def score(self, X: object) -> float: ...
    def complete(self, X: object) -> Any: ...
    def get_feature_names_out(self) -> AnyArray: ...  # only with latent variables

    def _init_callback_context(self, *, max_subtasks: int) -> Any: ...
    def _validate_params(self) -> None: ...
    def _fit_warnings(self) -> list[str]: ...
    def _extra_meta(self) -> dict[str, object]: ...
    def _begin_fit(self, table: Table, y: object) -> Table: ...
    def _model(self) -> Any: ...
    def _settings(self) -> Settings: ...
    def _online_restarts(self) -> int: ...
    def _ordered_table(self, model: RowModel[Any, Any], table: Table) -> Table: ...
    def _pass_height(self, model: RowModel[Any, Any], table: Table) -> int: ...
    def _pass_grid(self, model: RowModel[Any, Any], table: Table, settings: Settings) -> Grid: ...
    def _canonical_params(self, params: Any) -> Any: ...
    def _set_fitted(self, outcome: Outcome, weight: float) -> None: ...

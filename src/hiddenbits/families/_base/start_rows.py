"""`start_rows`: how many rows a fit begins on, where there are many more."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

START_ROWS: list[Any] = [Interval(Integral, 32, None, closed="left"), StrOptions({"auto"}), None]
FEWEST, ROWS_EACH = 8192, 10  # rows to begin on: so many at least, and so many for each free parameter


def rows_to_begin_on(estimator: Any, n_parameters: int, *, unless: str | None = None) -> int | None:
    """Return the number that `start_rows` of an estimator stands for; `unless` says what keeps it from that."""
    given = int(estimator.start_rows) if isinstance(estimator.start_rows, Integral) else estimator.start_rows
    if unless is None and not estimator.online_passes:
        return max(FEWEST, ROWS_EACH * n_parameters) if given == "auto" else given
    if given in ("auto", None):
        return None
    which = unless or "online_passes"
    raise ValueError(f"start_rows={given} does not apply to {which}, which starts with all rows. Remove start_rows.")

"""`ClosedForm`: estimators whose fit is no search, so that there is nothing to set about one."""

from __future__ import annotations

from typing import ClassVar, Literal

from hiddenbits.families._base.parameters import COMMON


class ClosedForm:
    """What the engine asks of every estimator, at values that mean nothing here."""

    online_passes = 0
    n_init: int | Literal["auto"] = 1
    max_iter = 100
    tol = 1e-6
    accelerate = True

    _constraints_in_common: ClassVar[dict[str, list[object]]] = {
        name: COMMON[name] for name in ("threshold", "random_state")
    }

"""The methods of logistic PCA with their options: `Variational` and `Quadrature`."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar, Literal

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from hiddenbits.families._base.parameters import MOST_NODES


class Variational(BaseEstimator):  # type: ignore[misc]
    """Fit `LogisticPCA` by a variational bound: any number of dimensions.

    Parameters
    ----------
    polish : bool, default=True
        After the variational stage, go on with a tighter bound (the best Gaussian posterior of each row). It closes
        most of the gap to maximum likelihood and makes posteriors as wide as they should be.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the variational stage's work on cells. Sums over rows and the polish are always float64.
    cost : {"auto", "cells", "ones"}, default="auto"
        What the time of a pass grows with: the cells of the table, or its ones, with rows grouped by their place on the
        map: an approximation, for up to three dimensions and tables without blanks. "auto" takes the ones of
        large sparse tables (from 50 million cells, up to 5% ones) where it can; `cost_` says which it took.

    Examples
    --------
    >>> from hiddenbits import LogisticPCA, Variational
    >>> LogisticPCA(2, method=Variational(polish=False, dtype="float32"))
    LogisticPCA(method=Variational(dtype='float32', polish=False))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "polish": ["boolean"],
        "dtype": [StrOptions({"float64", "float32"})],
        "cost": [StrOptions({"auto", "cells", "ones"})],
    }

    def __init__(
        self,
        polish: bool = True,
        dtype: Literal["float64", "float32"] = "float64",
        cost: Literal["auto", "cells", "ones"] = "auto",
    ) -> None:
        self.polish = polish
        self.dtype = dtype
        self.cost = cost


class Quadrature(BaseEstimator):  # type: ignore[misc]
    """Fit `LogisticPCA` by exact EM on a grid in place of the prior, or on draws from it.

    Parameters
    ----------
    n_nodes : int, optional
        Nodes of the grid along each axis, by default 121, 31 and 15 for 1, 2 and 3 dimensions; or the number of draws,
        by default 500.
    nodes : {"grid", "draws"}, default="grid"
        A grid, for 1 to 3 dimensions; or a fixed sample from the prior, for any number: the paper's section 3.

    Examples
    --------
    >>> from hiddenbits import LogisticPCA, Quadrature
    >>> LogisticPCA(1, method=Quadrature(n_nodes=61))
    LogisticPCA(method=Quadrature(n_nodes=61), n_components=1)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_nodes": [Interval(Integral, 2, MOST_NODES, closed="both"), None],
        "nodes": [StrOptions({"grid", "draws"})],
    }

    def __init__(self, n_nodes: int | None = None, nodes: Literal["grid", "draws"] = "grid") -> None:
        self.n_nodes = n_nodes
        self.nodes = nodes

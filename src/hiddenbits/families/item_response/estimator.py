"""`ItemResponseModel`: latent traits behind items of every type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, Options, StrOptions

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.data.coding.coded_columns import MULTI_BIT, NUMBERS
from hiddenbits.data.request import HandleUnknown
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import column_names, column_sizes, level_names, numbers_of_columns
from hiddenbits.families._base.inputs import as_table, seed_of
from hiddenbits.families._base.latent_space import LatentSpaceEstimator
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, HANDLE_UNKNOWN, ColumnTypes, HiddenParts
from hiddenbits.families.item_response.bifactor import Bifactor
from hiddenbits.families.item_response.m_step import DEFAULT_PRIOR, GuessingPrior
from hiddenbits.families.item_response.model import ItemResponse
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.item_response.positions import modes
from hiddenbits.families.item_response.precision import item_precision
from hiddenbits.families.item_response.response import OF_BITS, Kind
from hiddenbits.families.item_response.score_function import ItemScoreFunction
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.maths.packed_symmetric import unpack
from hiddenbits.store.validation import require

MOST_DIMENSIONS = 3
LARGEST_ESTIMABLE = 10.0, 25.0  # slope and intercept: beyond, the likelihood is flat, or without a maximum
LOGISTIC_TO_NORMAL = 1.702  # as in mirt
ALL = "all"  # a dimension on which all columns load


class ItemResponseModel(LatentSpaceEstimator[ItemParams, NodeCounts]):
    """Item response model: one to three latent dimensions (traits, abilities) behind items of every type.

    Each row has a latent position, normally distributed with mean 0 and standard deviation 1, and given it the answers
    are independent. Binary items follow the Rasch, one-, two- or three-parameter logistic model, ordinal items the
    graded response or the (generalized) partial credit model, nominal items Bock's nominal response model, continuous
    items a linear factor model, counts a log-linear one. The model is fitted by marginal maximum likelihood (Bock and
    Aitkin 1981) with as many quadrature nodes as its slopes need, and its likelihood is exact to `quadrature_error_`.
    Missing values are left out of a row's likelihood.

    Parameters
    ----------
    n_components : int, default=1
        Number of dimensions, 1 to 3. With `loadings_pattern` it is that of the pattern.
    column_types : "auto", str or dict, default="auto"
        As for `LatentClassAnalysis`: "binary", "nominal", "ordinal", "continuous", "count" or "quantiles" (numbers as
        five ordered levels), for all columns or by name.
    ordinal : {"graded", "partial_credit"}, default="graded"
        Model of ordinal items and quantiles: Samejima's graded response model, or the generalized partial credit model.
    slopes : {"free", "equal"} or 1, default="free"
        Slopes (discriminations) of binary and ordinal items in one dimension: free (2PL), equal (1PL), or fixed at 1
        (Rasch and partial credit model with a standard normal trait).
    guessing : bool or (float, float), default=False
        Binary items have a probability of guessing (3PL), with a normal prior on its logit, because without one it is
        hardly identified: its mean and standard deviation, or True for (-1.1, 0.5), which has its median at 0.25.
    loadings_pattern : dict, optional
        Which columns load on which dimension: ``{"verbal": ["q1", "q2"], "spatial": ["q3", "q4"]}``. The dimensions
        are named, columns given by name or position, and "all" stands for all columns. With a general dimension of all
        columns and any number of groups without a column in common, uncorrelated, it is a bifactor model, whose
        integrals have two dimensions at a time. By default all columns load on all dimensions.
    correlated : bool, default=False
        Estimate the correlations of the dimensions of a `loadings_pattern`; otherwise they are 0.
    handle_unknown : {"error", "missing"}, default="error"
        What methods over rows do with values of nominal, ordinal and recoded columns that did not occur in the fit.
    online_passes : int, default=0
        Passes of online EM before the iterations over all rows, for tables with very many rows.
    n_init : int, default=1
        Number of restarts: the first from singular vectors of the columns, others from random slopes.
    max_iter : int, default=1000
        Maximum number of iterations per restart.
    tol : float, default=1e-8
        Convergence tolerance: the smallest increase of the log-likelihood in an iteration, in nats per row.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold.
    random_state : int, RandomState or None, default=None
        Seed of restarts and samples.

    Attributes
    ----------
    slopes_ : ndarray of shape (answers, n_components)
        Slopes of the linear predictors: one of a binary item, one for each level but the lowest of others
        (`answer_names_`). With them, P(1) = sigma(slope z + intercept).
    intercepts_ : ndarray of shape (answers,)
        Intercepts of the linear predictors.
    answer_names_ : list of str
        Names of binary items, and "item=level" of the others.
    components_ : ndarray of shape (n_components, columns)
        Discrimination of each column: its slope; of nominal items that of the last level.
    guessing_ : ndarray of shape (columns,)
        Probability of guessing; 0 of items without.
    noise_variances_ : ndarray of shape (continuous columns,)
        Variance of continuous columns that the latent position does not explain, as a share of their variance.
    correlations_ : ndarray of shape (n_components, n_components)
        Correlations of the dimensions.
    n_nodes_ : int
        Number of quadrature nodes.
    quadrature_error_ : float
        Error of the log-likelihood of a row because of the nodes, in nats: a mean of simulated rows.
    trace_, n_iter_, converged_, stop_reason_, restarts_
        As for `LatentClassAnalysis`.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    LogisticPCA : More than three dimensions of binary columns.
    LatentClassAnalysis : Classes instead of dimensions.

    References
    ----------
    Bock and Aitkin (1981), "Marginal maximum likelihood estimation of item parameters". Samejima (1969), "Estimation of
    latent ability using a response pattern of graded scores". Gibbons and Hedeker (1992), "Full-information item
    bi-factor analysis".

    Examples
    --------
    The LSAT (Bock and Lieberman 1970), as a table of counts of answer patterns:

    >>> from hiddenbits import ItemResponseModel
    >>> from hiddenbits.datasets import load_lsat
    >>> model = ItemResponseModel().fit(load_lsat(as_frame=True).frame, sample_weight="count")
    >>> model.summary().tables["items"][["column", "slope", "intercept", "difficulty"]].round(2)
       column  slope  intercept  difficulty
    0  item_1   0.83       2.77       -3.36
    1  item_2   0.72       0.99       -1.37
    2  item_3   0.89       0.25       -0.28
    3  item_4   0.69       1.28       -1.87
    4  item_5   0.66       2.05       -3.13
    """

    _latent_axis = "q"
    _prior_settings = ("guessing",)
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("dimensions", "columns"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "column_types": COLUMN_TYPES,
        "ordinal": [StrOptions({"graded", "partial_credit"})],
        "slopes": [Options(object, {"free", "equal", 1})],
        "guessing": ["boolean", tuple],
        "loadings_pattern": [dict, None],
        "correlated": ["boolean"],
        "handle_unknown": HANDLE_UNKNOWN,
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        column_types: ColumnTypes = "auto",
        ordinal: Literal["graded", "partial_credit"] = "graded",
        slopes: Literal["free", "equal", 1] = "free",
        guessing: bool | tuple[float, float] = False,
        loadings_pattern: Mapping[str, Any] | None = None,
        correlated: bool = False,
        handle_unknown: HandleUnknown = "error",
        online_passes: int = 0,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.column_types = column_types
        self.ordinal = ordinal
        self.slopes = slopes
        self.guessing = guessing
        self.loadings_pattern = loadings_pattern
        self.correlated = correlated
        self.handle_unknown = handle_unknown
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------- the model

    def _model(self) -> ItemResponse:
        q = self._n_dimensions
        if self.loadings_pattern is None and q > MOST_DIMENSIONS:
            raise ValueError(
                f"n_components={q}: quadrature is feasible for at most {MOST_DIMENSIONS} dimensions. Use "
                f"LogisticPCA({q}) for binary columns, or a bifactor loadings_pattern."
            )
        if self.correlated and self.loadings_pattern is None:
            raise ValueError(
                "correlated=True needs a loadings_pattern: axes that may be rotated have no correlations. "
                "rotate('oblimin') gives those of oblique factors."
            )
        if self.slopes != "free" and q > 1:
            raise ValueError(f"slopes={self.slopes!r} needs one dimension, and there are {q}.")
        prior = DEFAULT_PRIOR
        if isinstance(self.guessing, tuple):
            if len(self.guessing) != 2 or not self.guessing[1] > 0.0:
                raise ValueError("guessing must be a mean and a positive standard deviation: (-1.1, 0.5).")
            prior = GuessingPrior(*map(float, self.guessing))
        n_continuous, n_counts = numbers_of_columns(self)
        settings: dict[str, Any] = {
            "n_components": q,
            "kinds": self._kinds(),
            "sizes": column_sizes(self),
            "n_continuous": n_continuous,
            "n_counts": n_counts,
            "slopes": {"free": "free", "equal": "equal"}.get(str(self.slopes), "fixed"),
            "correlated": self.correlated,
            "guessing_prior": prior,
        }
        if self.loadings_pattern is None or not hasattr(self, "n_features_in_"):
            return ItemResponse(**settings)
        loads = self._loads()
        groups = bifactor_groups(loads)
        if groups is not None and not self.correlated and q > 2:
            return Bifactor(**settings, groups=groups)
        if q > MOST_DIMENSIONS:
            raise ValueError(
                f"loadings_pattern has {q} dimensions: quadrature is feasible for at most {MOST_DIMENSIONS}, unless "
                "one has all columns and the others have none in common, without correlations (bifactor)."
            )
        return ItemResponse(**settings, loads=tuple(map(tuple, loads.tolist())))

    @property
    def _n_dimensions(self) -> int:
        return int(self.n_components) if self.loadings_pattern is None else len(self.loadings_pattern)

    def _kinds(self) -> tuple[Kind, ...] | None:
        """Return the kind of each column of bits; None if all are plain binary items."""
        coding = self._coding
        binary: Kind = "guessing" if self.guessing else "binary"
        if coding is None:
            n = getattr(self, "n_features_in_", 0)
            return (binary,) * n if self.guessing else None
        of_levels: dict[str, Kind] = {"nominal": "nominal", "ordinal": self.ordinal, "quantiles": self.ordinal}
        kinds = list[Kind]()
        for column in coding.columns:
            if column.how in of_levels:
                kinds.append(of_levels[column.how] if len(column.ones) > 1 else binary)
            elif column.how not in NUMBERS:
                kinds += [binary] * (len(column.ones) if column.how in MULTI_BIT else 1)
        return tuple(kinds)

    def _loads(self) -> Any:
        """Return which column loads on which dimension, (columns, dimensions)."""
        pattern, names = self.loadings_pattern or {}, column_names(self)
        loads = np.zeros((len(names), len(pattern)), bool)
        for axis, (dimension, columns) in enumerate(pattern.items()):
            if isinstance(columns, str) and columns == ALL:
                loads[:, axis] = True
                continue
            if not isinstance(columns, (list, tuple)):
                raise ValueError(f'loadings_pattern[{dimension!r}] must be a list of columns, or "all".')
            for column in columns:
                by_number = isinstance(column, (int, np.integer)) and 0 <= column < len(names)
                if not by_number and column not in names:
                    raise ValueError(
                        f"loadings_pattern[{dimension!r}] has {column!r}, which is not a column of the table. "
                        f"The columns are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
                    )
                loads[int(column) if by_number else names.index(column), axis] = True
        if not loads.any(axis=1).all():
            lacking = [names[j] for j in np.flatnonzero(~loads.any(axis=1))[:5]]
            raise ValueError(f"loadings_pattern has no dimension for {', '.join(lacking)}. Each column needs one.")
        return loads

    def _begin_fit(self, table: Table, y: object) -> Table:
        self._model()  # refuses what cannot be fitted before any pass
        return table

    def _subsample_rows(self) -> int | None:
        rows = super()._subsample_rows()
        return rows and 2 * rows

    def _canonical_params(self, params: ItemParams) -> ItemParams:
        return self._model().oriented(params)

    def _extra_meta(self) -> dict[str, object]:
        return {} if self.loadings_pattern is None else {"dimensions": [str(name) for name in self.loadings_pattern]}

    def _restore_extra_meta(self, extra: dict[str, Any]) -> None:
        """Restore the order of the dimensions, which a file sorts by name."""
        pattern = dict(self.loadings_pattern or {})
        names = extra.get("dimensions", [])
        require(set(extra) <= {"dimensions"} and isinstance(names, list), "its description is not complete")
        require(len(names) == len(pattern) and set(map(str, names)) == set(pattern), "its dimensions have other names")
        self.loadings_pattern = {name: pattern[name] for name in names} or None

    def _score_function(self) -> ItemScoreFunction:
        return ItemScoreFunction(self._model(), self._params)

    def _standardized(self) -> tuple[Floats, Floats]:
        if self.loadings_pattern is not None:
            raise ValueError("A model with a loadings_pattern has its axes already: a rotation would undo the pattern.")
        slopes, c = self.components_.T, self._params.n_continuous
        unexplained = np.full(len(slopes), LOGISTIC_TO_NORMAL**2)
        first = len(slopes) - self._params.n_numbers
        unexplained[first : first + c] = self._params.noise
        scale = np.sqrt(unexplained + (slopes**2).sum(axis=1))
        return slopes / scale[:, None], scale

    def _latent_names(self) -> list[str]:
        return (
            super()._latent_names() if self.loadings_pattern is None else [str(name) for name in self.loadings_pattern]
        )

    @property
    def _n_features_out(self) -> int:
        return self._n_dimensions

    # --------------------------------------------------------------------------------------------------- results

    @property
    def slopes_(self) -> Floats:
        """Slopes of the linear predictors, (answers, n_components)."""
        return self._by_dimension(self._params.slopes, numbers=False)[self._params.is_answer]

    @property
    def intercepts_(self) -> Floats:
        """Intercepts of the linear predictors, (answers,)."""
        return self._params.intercepts[self._params.is_answer]

    @property
    def answer_names_(self) -> list[str]:
        """Names of binary items, and "item=level" of the others."""
        return [name for name, is_answer in zip(level_names(self), self._params.is_answer, strict=True) if is_answer]

    @property
    def components_(self) -> Floats:
        """Discrimination of each column, (n_components, columns)."""
        params, layout = self._params, self._params.layout
        last = [OF_BITS.index("nominal") == params.types[start] for start in layout.starts]
        steps = [
            0 if size == 1 else size - 1 if nominal else 1 for size, nominal in zip(layout.sizes, last, strict=True)
        ]
        of_bits = self._by_dimension(params.slopes, numbers=False)[layout.starts + np.array(steps, np.intp)]
        return np.concatenate([of_bits, self._by_dimension(params.number_slopes, numbers=True)]).T

    def _by_dimension(self, slopes: Floats, *, numbers: bool) -> Floats:
        """Return slopes by dimension: those of a bifactor model are kept by axis, the general one and the group's."""
        return self._model().by_dimension(slopes, self._params, numbers=numbers)

    @property
    def guessing_(self) -> Floats:
        """Probability of guessing of each column of bits."""
        layout = self._params.layout
        return self._params.guessing()[layout.starts]

    @property
    def noise_variances_(self) -> Floats:
        """Variance of continuous columns that is not explained, as a share of their variance."""
        return self._params.noise

    @property
    def correlations_(self) -> Floats:
        """Correlations of the dimensions."""
        q = self._n_dimensions
        return self._params.correlations if len(self._params.correlations) == q else np.eye(q)

    @property
    def n_nodes_(self) -> int:
        """Number of quadrature nodes."""
        return len(self._params.points)

    @property
    def quadrature_error_(self) -> float:
        """Error of the log-likelihood of a row because of the nodes, in nats: a mean of simulated rows."""
        return self._model().node_error(self._params)

    def _without_estimate(self) -> list[str]:
        """Return the columns whose slopes or intercepts have no finite estimate."""
        params, names = self._params, column_names(self)
        far = (np.abs(params.slopes) > LARGEST_ESTIMABLE[0]).any(axis=1)
        far |= np.abs(params.intercepts) > LARGEST_ESTIMABLE[1]
        return [names[j] for j in np.unique(params.columns[far].astype(np.intp))]

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: a rotation of dimensions without a pattern changes nothing."""
        q = self._n_dimensions
        rotations = q * (q - 1) // 2 if self.loadings_pattern is None else 0
        return self._score_function().n_coordinates - rotations

    def _fit_info(self) -> dict[str, str]:
        nodes = f"{self.n_nodes_:,}; error of the log-likelihood about {self.quadrature_error_:.1g} nats per row"
        info = {**super()._fit_info(), "nodes": nodes}
        if columns := self._without_estimate():
            listed = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
            info["no estimate"] = (
                f"the slopes or intercepts of {listed} are not finite: an answer is given by all rows or none, or the "
                "item determines the position. Exclude such items, merge rare levels, or use fewer dimensions."
            )
        return info

    def _tables(self) -> dict[str, SummaryTable]:
        tables = dict[str, SummaryTable]()
        if len(self._params.columns):
            tables["items"] = self._item_table()
        if self._params.n_numbers:
            tables["numbers"] = self._number_table()
        if self.correlated:
            names = self._latent_names()
            table = {"dimension": names, **dict(zip(names, self.correlations_.T, strict=True))}
            tables["correlations"] = SummaryTable("Correlations of the dimensions", table, "dimensions")
        return tables

    def _item_table(self) -> SummaryTable:
        """Return the table of items: one line per answer with a slope, an intercept and a difficulty."""
        params, names, q = self._params, column_names(self), self._n_dimensions
        is_answer = self._params.is_answer
        of_column = params.columns.astype(np.intp)[is_answer]
        labels = level_names(self)
        table: dict[str, Any] = {"column": [names[j] for j in of_column]}
        if not params.layout.all_binary:
            levels = np.array([label.split("=", 1)[-1] for label in labels], object)
            sizes = np.array(params.layout.sizes)[of_column]
            table["level"] = [level if size > 1 else "" for level, size in zip(levels[is_answer], sizes, strict=True)]
        slopes, b = self.slopes_, self.intercepts_
        slope_names = ["slope"] if q == 1 else [f"slope_{name}" for name in self._latent_names()]
        table |= dict(zip(slope_names, slopes.T, strict=True))
        table["intercept"] = b
        if q == 1:
            table["difficulty"] = self._difficulties()
        if self.guessing:
            table["guessing"] = params.guessing()[is_answer]
        title = "Items: where the position is at the difficulty, P is 1/2; a larger slope makes a steeper step"
        return SummaryTable(title, table, "answers", np.abs(slopes).max(axis=1))

    def _difficulties(self) -> Floats:
        """Return the difficulty of each answer: of graded items of that level or more, of others of the step to it."""
        params, is_answer = self._params, self._params.is_answer
        a, b, kinds = params.slopes[:, 0], params.intercepts, params.types.astype(np.intp)
        steps_a, steps_b = a.copy(), b.copy()
        by_step = np.isin(kinds, [OF_BITS.index("partial_credit"), OF_BITS.index("nominal")]) & is_answer
        steps_a[by_step] = (a - np.roll(a, 1))[by_step]
        steps_b[by_step] = (b - np.roll(b, 1))[by_step]
        with np.errstate(divide="ignore", invalid="ignore"):  # items with slope 0
            return np.asarray((-steps_b / steps_a)[is_answer])

    def _number_table(self) -> SummaryTable:
        params, q = self._params, self._n_dimensions
        c, n = params.n_continuous, params.n_numbers
        slopes = self._by_dimension(params.number_slopes, numbers=True)
        names = ["slope"] if q == 1 else [f"slope_{name}" for name in self._latent_names()]
        scales = np.concatenate([params.scales, np.ones(n - c)])
        centers = np.concatenate([params.centers, np.zeros(n - c)])
        table: dict[str, Any] = {"column": column_names(self)[-n:], "type": ["continuous"] * c + ["count"] * (n - c)}
        table |= dict(zip(names, (slopes * scales[:, None]).T, strict=True))
        table["intercept"] = centers + scales * params.number_intercepts
        table["noise"] = np.concatenate([params.scales * np.sqrt(params.noise), np.full(n - c, np.nan)])
        title = "Columns of numbers: mean (of counts its logarithm) = intercept + slope x position; noise: its sd"
        return SummaryTable(title, table, "columns", np.abs(slopes).max(axis=1))

    def _at_nodes(self) -> tuple[Floats, Floats, Floats]:
        """Return the nodes, (K, q), their weights, and P(x = 1) and P(level) at each, (K, bits), for diagnostics."""
        params = self._params
        if isinstance(self._model(), Bifactor):
            raise ValueError(
                "This statistic is not available for bifactor models. diagnostics.residual_pairs is, and so is bic."
            )
        return params.points, params.weights, params.probabilities.T

    # -------------------------------------------------------------------------------------------- rows

    def _modes(self, X: object) -> Floats:
        q = self._n_dimensions
        return np.ascontiguousarray(self._map_rows(X, partial(modes, self._model_of_modes()))[:, :q])

    def _model_of_modes(self) -> ItemResponse:
        model = self._model()
        if isinstance(model, Bifactor):
            raise ValueError("Most probable positions are not available for bifactor models. Use transform (EAP).")
        return model

    def latent_scores(self, X: object, method: Literal["EAP", "MAP"] = "EAP") -> Any:
        """Return the latent position of each row with its standard error.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        method : {"EAP", "MAP"}, default="EAP"
            Mean and standard deviation of the posterior, or its mode with the inverse information there.

        Returns
        -------
        scores : frame or structured ndarray
            Columns "dimension_1", "se_1", ... (or the names of the pattern); a frame of X's library if X is a frame.

        Examples
        --------
        >>> from hiddenbits import ItemResponseModel
        >>> X = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]] * 25
        >>> scores = ItemResponseModel(slopes=1).fit(X).latent_scores(X[:2])
        >>> scores["dimension_1"].round(2), scores["se_1"].round(2)
        (array([-0.99, -0.33]), array([0.82, 0.81]))
        """
        q = self._n_dimensions
        if method not in ("EAP", "MAP"):
            raise ValueError(f'method={method!r}: give "EAP" or "MAP".')
        model = self._model() if method == "EAP" else self._model_of_modes()
        moments = self._map_rows(X, model.posterior_moments if method == "EAP" else partial(modes, model))
        errors = np.sqrt(np.diagonal(unpack(moments[:, q:], q), axis1=1, axis2=2))
        columns = dict[str, AnyArray]()
        for axis, name in enumerate(self._latent_names()):
            suffix = axis + 1 if self.loadings_pattern is None else name
            columns |= {name: moments[:, axis].copy(), f"se_{suffix}": errors[:, axis].copy()}
        frame: Any = nw.from_native(X, pass_through=True)
        if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
            return nw.from_dict(columns, backend=frame.implementation).to_native()
        out = np.empty(len(moments), [(name, np.float64) for name in columns])
        for name, values in columns.items():
            out[name] = values
        return out

    def plausible_values(self, X: object, n_values: int = 5, *, random_state: Randomness = None) -> Floats:
        """Return samples of each row's latent position from its posterior (plausible values).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        n_values : int, default=5
            Number of samples of each row.
        random_state : int, RandomState or None
            Seed of the samples; by default that of the estimator.

        Returns
        -------
        values : ndarray of shape (n_values, rows, n_components)

        Examples
        --------
        >>> from hiddenbits import ItemResponseModel
        >>> X = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]] * 25
        >>> model = ItemResponseModel(slopes=1, random_state=0).fit(X)
        >>> model.plausible_values(X, 3).shape
        (3, 100, 1)
        """
        seed = seed_of(self.random_state if random_state is None else random_state)
        sampled = self._map_rows(
            as_table(self, X, reset=False), partial(self._model().sampled_positions, n_values, seed)
        )
        return np.ascontiguousarray(sampled.reshape(len(sampled), n_values, -1).transpose(1, 0, 2))

    def item_information(self, positions: ArrayLike) -> Floats:
        """Return Fisher's information of each column at some latent positions.

        Parameters
        ----------
        positions : array of shape (n_positions, n_components)
            Latent positions.

        Returns
        -------
        information : ndarray of shape (n_positions, columns, n_components, n_components)
            Columns of numbers come last.
        """
        points = np.asarray(positions, np.float64)
        if points.ndim != 2 or points.shape[1] != self._params.n_components:
            raise ValueError(f"positions must have shape (number, {self._params.n_components}), got {points.shape}.")
        return item_precision(self._params, points).transpose(1, 0, 2, 3)


def bifactor_groups(loads: AnyArray) -> tuple[int, ...] | None:
    """Return the group of each column (-1: none) of a bifactor pattern; None if it is not one.

    The general dimension is the first that has all columns; no column has two others.
    """
    general = np.flatnonzero(loads.all(axis=0))
    if len(general) != 1 or general[0] != 0 or (loads[:, 1:].sum(axis=1) > 1).any():
        return None
    return tuple(int(row.argmax()) if row.any() else -1 for row in loads[:, 1:])

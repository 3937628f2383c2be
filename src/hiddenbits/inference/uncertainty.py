"""`Uncertainty`: estimates with standard errors and confidence intervals, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri
from sklearn.utils.validation import check_is_fitted

from hiddenbits import open_table
from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.display import library
from hiddenbits.tables import Table


@dataclass(frozen=True, eq=False)
class EstimatedArray:
    """A named array of estimates: its values, axes and scale, and its slice of the covariance."""

    values: Floats
    axes: tuple[str, ...]
    scale: str
    indices: slice


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Estimates with their standard errors, intervals and covariance; from `standard_errors` or `bootstrap`.

    Attributes
    ----------
    method : str
        How the errors were computed, in words for a paper.
    level : float
        Confidence level of the intervals.
    covariance : ndarray of shape (numbers, numbers)
        Covariance of all estimates, in the order of `records`; 0 for those without an error.
    replicates : ndarray of shape (n, numbers) or None
        The estimates of each bootstrap replicate.
    parts : dict
        The named arrays of estimates, and where in the covariance each is.
    columns : dict of str to list of str
        Names along the axes: of columns ("column": binary columns and levels; "answer", "continuous", ...) and of
        dimensions.
    backend : object
        Library of the data frames; None for the first that is installed.
    has_error : ndarray of bool of shape (numbers,) or None
        Which estimates have a standard error; None if all have.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 3))
    >>> one_class = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> uncertainty = inference.standard_errors(one_class, X)
    >>> uncertainty.estimate["probabilities"].shape, uncertainty.se["probabilities"].round(3)
    ((1, 3), array([[0.035, 0.035, 0.035]]))
    >>> lower, upper = uncertainty.interval["probabilities"]
    >>> bool((lower < one_class.probabilities_).all())
    True
    """

    method: str
    level: float
    covariance: Floats
    parts: Mapping[str, EstimatedArray] = field(repr=False)
    columns: Mapping[str, Sequence[str]] = field(repr=False)
    backend: Any = field(default=None, repr=False)
    replicates: Floats | None = field(default=None, repr=False)
    has_error: NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def estimate(self) -> dict[str, Floats]:
        """The estimates, by name, in the shapes of the model's attributes."""
        return {name: part.values for name, part in self.parts.items()}

    @property
    def se(self) -> dict[str, Floats]:
        """Standard errors, by name; NaN if an estimate has none, such as a probability of 0."""
        errors = self._errors()
        return {name: errors[part.indices].reshape(part.values.shape) for name, part in self.parts.items()}

    def _errors(self) -> Floats:
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return errors if self.has_error is None else np.where(self.has_error, errors, np.nan)

    @property
    def interval(self) -> dict[str, tuple[Floats, Floats]]:
        """Lower and upper bounds of the confidence intervals, by name.

        For the bootstrap these are percentiles of the replicates. Otherwise they are the estimate minus and plus z
        standard errors; those of probabilities are computed as logits, those of variances and rates as
        logarithms, so that no bound is outside the possible values.
        """
        return {name: self._bounds(part) for name, part in self.parts.items()}

    def _bounds(self, part: EstimatedArray) -> tuple[Floats, Floats]:
        shape, tail = part.values.shape, (1.0 - self.level) / 2.0
        if self.replicates is not None:
            low, high = np.quantile(self.replicates[:, part.indices], [tail, 1.0 - tail], axis=0, method="weibull")
            return low.reshape(shape), high.reshape(shape)
        margin = -float(ndtri(tail)) * self._errors()[part.indices].reshape(shape)
        if part.scale == "real":
            return part.values - margin, part.values + margin
        if part.scale == "positive":
            factor = np.exp(margin / part.values)
            return part.values / factor, part.values * factor
        with np.errstate(divide="ignore", invalid="ignore"):
            center, margin = logit(part.values), margin / (part.values * (1.0 - part.values))
        return expit(center - margin), expit(center + margin)

    def records(self) -> list[dict[str, object]]:
        """Return a dict for each estimate: quantity, class, dimension or column, estimate, se, lower, upper."""
        out: list[dict[str, object]] = []
        for name, part in self.parts.items():
            error, (low, high) = self.se[name].ravel(), self.interval[name]
            for i, label in enumerate(labels_of(part.values, part.axes, self.columns)):
                numbers = (part.values.flat[i], error[i], low.flat[i], high.flat[i])
                keys = ("estimate", "se", "lower", "upper")
                out.append({"quantity": name, **label, **dict(zip(keys, map(float, numbers), strict=True))})
        return out

    def to_frame(self, backend: str | None = None) -> Any:
        """Return `records` as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame; by default that of the data frame X, otherwise the first that is installed.
        """
        records = self.records()
        keys = list(dict.fromkeys(key for record in records for key in record))
        order = [key for key in keys if key not in ("estimate", "se", "lower", "upper")]
        columns = {key: [record.get(key) for record in records] for key in [*order, "estimate", "se", "lower", "upper"]}
        return as_frame(columns, backend or self.backend)

    def covariance_frame(self, backend: str | None = None) -> Any:
        """Return the covariance as a data frame with names such as "probabilities[0, item]".

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            As for `to_frame`.
        """
        names = [
            f"{name}[{', '.join(map(str, label.values()))}]"
            for name, part in self.parts.items()
            for label in labels_of(part.values, part.axes, self.columns)
        ]
        return square_frame(names, self.covariance, backend or self.backend)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {part.values.shape}" for name, part in self.parts.items())
        return f"Uncertainty of {sizes}; {self.method}; {100 * self.level:g}% intervals"


def with_indices(values: Mapping[str, tuple[Floats, tuple[str, ...], str]]) -> dict[str, EstimatedArray]:
    """Return named arrays, from values, axes and scale of each, with their indices in one long vector."""
    parts, start = {}, 0
    for name, (array, axes, scale) in values.items():
        parts[name] = EstimatedArray(array, axes, scale, slice(start, start + array.size))
        start += array.size
    return parts


def statistic_values(statistic: Any, n_columns: int) -> dict[str, tuple[Floats, tuple[str, ...], str]]:
    """Return the value of a user's statistic, an array or a dict of arrays, as named arrays with axes."""
    named = statistic if isinstance(statistic, Mapping) else {"statistic": statistic}
    out = {}
    for name, values in named.items():
        array = np.asarray(values, np.float64)
        axes = tuple(
            "column" if size == n_columns and axis == array.ndim - 1 else f"axis {axis}"
            for axis, size in enumerate(array.shape)
        )
        out[str(name)] = (array, axes, "real")
    return out


# Tables from the user's data, and results as data frames of the user's library.


def open_for(model: Any, X: object, sample_weight: ArrayLike | None) -> Table:
    """Return X as a table, opened as the fitted model opens it, with weights."""
    check_is_fitted(model)
    table = X if isinstance(X, Table) else open_table(X, threshold=model.threshold, recode=model)
    return table.with_sample_weight(sample_weight)


def codes_of(labels: ArrayLike | None, n_rows: int, name: str) -> Rows | None:
    """Return the labels as codes 0, 1, ...; None if there are no labels."""
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}, but the table has {n_rows} rows. Give one label per row.")
    if array.dtype == object:
        array = array.astype(str)
    return np.asarray(np.unique(array, return_inverse=True)[1])


def backend_of(X: object) -> Any:
    """Return the library of a data frame; None if X is not a data frame."""
    frame = nw.from_native(X, pass_through=True)
    return getattr(frame, "implementation", None)


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Return columns as a data frame of a library, or of the first that is installed."""
    return nw.from_dict(columns, backend=library(backend)).to_native()


def square_frame(names: Sequence[str], values: Floats, backend: Any = None) -> Any:
    """Return a square matrix as a data frame with named columns, in pandas also with named rows."""
    frame = as_frame({name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}, backend)
    if nw.from_native(frame).implementation.is_pandas():
        frame.index = list(names)
    return frame


def labels_of(values: AnyArray, axes: tuple[str, ...], columns: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """Return the label of each element of an array: its class, and the names of its dimensions and columns."""
    labels = []
    for index in np.ndindex(values.shape):
        label: dict[str, object] = {}
        for axis, i in zip(axes, index, strict=True):
            if axis not in columns:
                label[axis] = int(i)
            elif "dimension" in axis:
                label["dimension"] = columns[axis][i]
            else:
                label["column" if "column" not in label else "other column"] = columns[axis][i]
        labels.append(label)
    return labels

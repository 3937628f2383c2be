"""`Uncertainty`: estimates with standard errors and intervals, by name."""

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
class Estimated:
    """One named array of numbers: what it is, and where in the covariance its numbers are."""

    values: Floats
    axes: tuple[str, ...]
    scale: str
    places: slice


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Estimates with their standard errors, intervals and covariance; from `information` or `bootstrap`.

    Attributes
    ----------
    method : str
        How the errors were made, in words for a paper.
    level : float
        Of the intervals.
    covariance : ndarray of shape (numbers, numbers)
        Of all numbers, in the order of `records`; 0 for those without an error.
    replicates : ndarray of shape (n, numbers) or None
        The numbers of each bootstrap replicate.
    parts : dict
        The named arrays, and where in the covariance each is.
    columns : list of str
        Names of the table's columns.
    backend : object
        Library of the frames that are made; None for the first that is installed.
    has_error : ndarray of bool of shape (numbers,) or None
        Which numbers have a standard error; None: all.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 3))
    >>> one_class = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> found = inference.standard_errors(one_class, X)
    >>> found.estimate["probabilities"].shape, found.se["probabilities"].round(3)
    ((1, 3), array([[0.035, 0.035, 0.035]]))
    >>> lower, upper = found.interval["probabilities"]
    >>> bool((lower < one_class.probabilities_).all())
    True
    """

    method: str
    level: float
    covariance: Floats
    parts: Mapping[str, Estimated] = field(repr=False)
    columns: Sequence[str] = field(repr=False)
    backend: Any = field(default=None, repr=False)
    replicates: Floats | None = field(default=None, repr=False)
    has_error: NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def estimate(self) -> dict[str, Floats]:
        """The estimates, by name, in the shapes of the model's attributes."""
        return {name: part.values for name, part in self.parts.items()}

    @property
    def se(self) -> dict[str, Floats]:
        """Standard errors, by name; NaN where there is none, such as for a probability of 0."""
        errors = self._errors()
        return {name: errors[part.places].reshape(part.values.shape) for name, part in self.parts.items()}

    def _errors(self) -> Floats:
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return errors if self.has_error is None else np.where(self.has_error, errors, np.nan)

    @property
    def interval(self) -> dict[str, tuple[Floats, Floats]]:
        """Lower and upper ends at `level`, by name.

        Of bootstrap replicates the percentiles. Otherwise estimate plus and minus z standard errors: of probabilities
        on the scale of their logits, mapped back, so that no end is outside 0 and 1.
        """
        return {name: self._ends(part) for name, part in self.parts.items()}

    def _ends(self, part: Estimated) -> tuple[Floats, Floats]:
        shape, outside = part.values.shape, (1.0 - self.level) / 2.0
        if self.replicates is not None:
            low, high = np.quantile(self.replicates[:, part.places], [outside, 1.0 - outside], axis=0, method="weibull")
            return low.reshape(shape), high.reshape(shape)
        reach = -float(ndtri(outside)) * self._errors()[part.places].reshape(shape)
        if part.scale != "probability":
            return part.values - reach, part.values + reach
        with np.errstate(divide="ignore", invalid="ignore"):
            middle, reach = logit(part.values), reach / (part.values * (1.0 - part.values))
        return expit(middle - reach), expit(middle + reach)

    def records(self) -> list[dict[str, object]]:
        """Return a dict for each number: quantity, class, dimension or column, estimate, se, lower, upper."""
        out: list[dict[str, object]] = []
        for name, part in self.parts.items():
            error, (low, high) = self.se[name].ravel(), self.interval[name]
            for at, label in enumerate(labels_of(part.values, part.axes, self.columns)):
                numbers = (part.values.flat[at], error[at], low.flat[at], high.flat[at])
                keys = ("estimate", "se", "lower", "upper")
                out.append({"quantity": name, **label, **dict(zip(keys, map(float, numbers), strict=True))})
        return out

    def to_frame(self, backend: str | None = None) -> Any:
        """Return `records` as a frame: of the kind that came in, or of the library named.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the library of the table's frame, otherwise the first that is installed.
        """
        records = self.records()
        keys = list(dict.fromkeys(key for record in records for key in record))
        order = [key for key in keys if key not in ("estimate", "se", "lower", "upper")]
        columns = {key: [record.get(key) for record in records] for key in [*order, "estimate", "se", "lower", "upper"]}
        return as_frame(columns, backend or self.backend)

    def covariance_frame(self, backend: str | None = None) -> Any:
        """Return the covariance as a frame with names such as "probabilities[0, item]".

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


def arranged(values: Mapping[str, tuple[Floats, tuple[str, ...], str]]) -> dict[str, Estimated]:
    """Return named arrays with their places in one long vector; values, axes and scale of each are given."""
    parts, start = {}, 0
    for name, (array, axes, scale) in values.items():
        parts[name] = Estimated(array, axes, scale, slice(start, start + array.size))
        start += array.size
    return parts


def statistic_values(found: Any, n_columns: int) -> dict[str, tuple[Floats, tuple[str, ...], str]]:
    """Return what a user's statistic returned, an array or a dict of arrays, as named arrays with axes."""
    named = found if isinstance(found, Mapping) else {"statistic": found}
    out = {}
    for name, values in named.items():
        array = np.asarray(values, np.float64)
        axes = tuple(
            "column" if size == n_columns and at == array.ndim - 1 else f"axis {at}"
            for at, size in enumerate(array.shape)
        )
        out[str(name)] = (array, axes, "real")
    return out


# From what a user hands in to a table, and back to frames of the user's own kind.


def opened(model: Any, X: object, sample_weight: ArrayLike | None) -> Table:
    """Return X as the table that the fitted model would open, with weights."""
    check_is_fitted(model)
    table = X if isinstance(X, Table) else open_table(X, threshold=model.threshold, recode=model)
    return table.with_sample_weight(sample_weight)


def codes_of(labels: ArrayLike | None, n_rows: int, name: str) -> Rows | None:
    """Return a number for each row's label, 0, 1, ...; None where there are no labels."""
    if labels is None:
        return None
    given = np.asarray(labels)
    if given.shape != (n_rows,):
        raise ValueError(f"{name} has shape {given.shape}, but the table has {n_rows} rows. Give one label a row.")
    if given.dtype == object:
        given = given.astype(str)
    return np.asarray(np.unique(given, return_inverse=True)[1])


def backend_of(X: object) -> Any:
    """Return the library of a frame; None where X is no frame."""
    frame = nw.from_native(X, pass_through=True)
    return getattr(frame, "implementation", None)


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Return columns as a frame of a library, or of the first that is installed."""
    return nw.from_dict(columns, backend=library(backend)).to_native()


def square_frame(names: Sequence[str], values: Floats, backend: Any = None) -> Any:
    """Return a square matrix as a frame with named columns; pandas has the names on the rows too."""
    made = as_frame({name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}, backend)
    if nw.from_native(made).implementation.is_pandas():
        made.index = list(names)
    return made


def labels_of(values: AnyArray, axes: tuple[str, ...], columns: Sequence[str]) -> list[dict[str, object]]:
    """Return what each number of an array belongs to: its class or dimension, and the name of its column."""
    return [
        {axis: columns[at] if axis == "column" else int(at) for axis, at in zip(axes, place, strict=True)}
        for place in np.ndindex(values.shape)
    ]

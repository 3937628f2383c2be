"""`tetrachoric`: tetrachoric correlations of binary columns, with their uncertainty."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Table, open_table
from hiddenbits.data.coding.coded_columns import FRAMES
from hiddenbits.display import Summary, SummaryTable
from hiddenbits.engine import current, no_cell_recorded, one_blas_thread
from hiddenbits.exceptions import DegeneratePairsWarning, TableError
from hiddenbits.families._base.showing import spectrum_table
from hiddenbits.maths import nearest_correlation
from hiddenbits.maths.pair_counts import PairCounts, block_rows, count_pairs, refuse_width
from hiddenbits.maths.tetrachoric import Degenerate, PairFit, fit_pairs, independence, interval

HIGHAM_TOL, HIGHAM_ITERATIONS = 1e-7, 1000


@dataclass(frozen=True)
class SquareFrame:
    """Converts square matrices, such as correlations, to frames of the library of an input frame.

    Attributes
    ----------
    names : tuple
        Column names of that frame.
    implementation : narwhals.Implementation
        The frame's library.
    """

    names: tuple[Any, ...]
    implementation: Any

    def __call__(self, values: AnyArray) -> Any:
        """Return a square matrix as a frame; a pandas frame has the names as its index, too."""
        columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(self.names)}
        frame = nw.from_dict(columns, backend=self.implementation).to_native()
        if self.implementation.is_pandas():
            frame.index = frame.columns
        return frame


@dataclass(frozen=True, eq=False, repr=False)
class TetrachoricCorrelations:
    """Tetrachoric correlations from `tetrachoric`: matrices of columns x columns, or frames if the table was one.

    Attributes
    ----------
    fit : PairFit
        The estimates as plain arrays: `fit.correlation`, `fit.standard_error`, `fit.thresholds`.
    counts : PairCounts
        The 2 x 2 tables: the weight of rows in which both columns are 1 (`both`), in which the first is 1 and the
        second is observed (`ones`), and in which both are observed (`seen`).
    names : tuple of str or None
        Column names, if the table has them.
    frame : SquareFrame or None
        Converts matrices to frames, if the table was a frame.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> a, b = np.random.default_rng(0).standard_normal((2, 2000))
    >>> X = np.stack([a > 0.5, 0.6 * a + 0.8 * b > -0.2], axis=1)
    >>> result = hiddenbits.tetrachoric(X)
    >>> result
    <TetrachoricCorrelations of 2 columns: 1 pair, 2000 rows>
    >>> result.table(0, 1)                     # rows: first column 0, 1; columns: second column 0, 1
    array([[767., 628.],
           [ 88., 517.]])
    """

    fit: PairFit
    counts: PairCounts
    names: tuple[str, ...] | None = None
    frame: SquareFrame | None = None

    @cached_property
    def correlation(self) -> Any:
        """Correlations of the latent variables, 1 on the diagonal."""
        return self._in_frame(self.fit.correlation)

    @cached_property
    def standard_error(self) -> Any:
        """Standard errors of the correlations; infinite or above 1 if a pair has no or hardly any information.

        Infinite: one of the two columns does not vary in the rows in which both are observed, so that every correlation
        fits equally well. Rare columns of few rows often do not vary: with P(x = 1) = .02 every eighth column of 100
        rows. Above 1, which exceeds any possible error of a correlation: a cell is empty (rare columns that are never
        both 1), and `pseudo_rows` determine the correlation. The interval is then about (-1, 1); use `p_value`.
        """
        return self._in_frame(self.fit.standard_error)

    @property
    def thresholds(self) -> Floats:
        """Threshold of each column, above which its latent variable gives a 1."""
        return self.fit.thresholds

    @cached_property
    def p_value(self) -> Any:
        """P-value of independence of each pair, by Pearson's chi-squared test; not corrected for multiple tests."""
        return self._in_frame(independence(self.counts))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return confidence intervals of the correlations, by Fisher's z.

        On simulated tables, the coverage of 95% intervals is 94 to 97%, and higher if a cell is empty or nearly so.

        Parameters
        ----------
        level : float, default=0.95
            Nominal coverage.

        Returns
        -------
        lower, upper : ndarray of shape (columns, columns), or frames
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level}: the level of an interval must lie between 0 and 1.")
        low, high = interval(self.fit.correlation, self.fit.standard_error, level)
        return self._in_frame(low), self._in_frame(high)

    def nearest(self, method: Literal["clip", "higham"] = "clip", *, floor: float = 1e-6) -> Any:
        """Return a positive definite correlation matrix near `correlation`, which may not be one.

        Pairs are estimated separately, so that the matrix may have negative eigenvalues, large ones if rows are few.

        Parameters
        ----------
        method : {"clip", "higham"}, default="clip"
            "clip" raises eigenvalues to `floor` and rescales to a unit diagonal: one decomposition. "higham" finds
            the nearest such matrix in the Frobenius norm (Higham 2002): tens or hundreds of decompositions.
        floor : float, default=1e-6
            Smallest eigenvalue; 0 allows singular matrices. With "clip" the scaling changes it a little.

        Returns
        -------
        correlation : ndarray of shape (columns, columns), or a frame

        Examples
        --------
        >>> import numpy as np, hiddenbits
        >>> X = np.random.default_rng(0).integers(0, 2, (12, 8))
        >>> import warnings; warnings.simplefilter("ignore", hiddenbits.exceptions.DegeneratePairsWarning)
        >>> result = hiddenbits.tetrachoric(X)
        >>> bool(np.linalg.eigvalsh(result.correlation).min() < 0 < np.linalg.eigvalsh(result.nearest()).min())
        True
        """
        if not 0.0 <= floor < 1.0:
            raise ValueError(f"floor={floor}: the smallest eigenvalue must lie between 0 and 1.")
        if method not in ("clip", "higham"):
            raise ValueError(f"method={method!r} is not one of 'clip', 'higham'.")
        with one_blas_thread():  # more gain little, and are very slow on busy cores
            if method == "clip":
                return self._in_frame(nearest_correlation.clipped(self.fit.correlation, floor))
            matrix, converged = nearest_correlation.nearest(self.fit.correlation, floor, HIGHAM_TOL, HIGHAM_ITERATIONS)
        if not converged:
            warnings.warn(
                f"The nearest correlation matrix was not reached within {HIGHAM_ITERATIONS} iterations; the result is "
                'close to it. Use method="clip", or a larger floor.',
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._in_frame(matrix)

    def table(self, first: int, second: int) -> Floats:
        """Return the 2 x 2 table of two columns: [[both 0, only second], [only first, both 1]].

        Parameters
        ----------
        first, second : int
            Numbers of the columns.

        Returns
        -------
        table : ndarray of shape (2, 2)
        """
        d = self.counts.n_columns
        first, second = range(d)[first], range(d)[second]
        both, only_first, only_second, neither = self.counts.cells(slice(first, first + 1), slice(second, second + 1))
        return np.array([[neither[0, 0], only_second[0, 0]], [only_first[0, 0], both[0, 0]]])

    def summary(self) -> Summary:
        """Return the spectrum of the correlations and the pairs, as named tables that print themselves.

        Returns
        -------
        summary : Summary
            `tables` has "spectrum" and "pairs" as frames; the largest correlations are printed.

        Examples
        --------
        >>> import numpy as np, hiddenbits
        >>> x = np.random.default_rng(0).standard_normal((2000, 1))
        >>> result = hiddenbits.tetrachoric(x + np.random.default_rng(1).standard_normal((2000, 3)) > 0)
        >>> list(result.summary().tables)
        ['spectrum', 'pairs']
        """
        R, d = self.fit.correlation, self.counts.n_columns
        names = np.array(self.names or [f"x{j}" for j in range(d)], dtype=object)
        first, second = np.triu_indices(d, 1)
        pairs = {
            "first": names[first],
            "second": names[second],
            "correlation": R[first, second],
            "standard error": self.fit.standard_error[first, second],
        }
        weight = np.abs(R[first, second])
        return Summary(
            repr(self)[1:-1],
            {"rows": f"{self.counts.seen.max():,.10g} x {d:,} columns"},
            {
                "spectrum": spectrum_table(np.asarray(np.linalg.eigvalsh(R)[::-1], np.float64)),
                "pairs": SummaryTable("Correlations of pairs", pairs, "pairs", weight),
            },
        )

    def _in_frame(self, values: Floats) -> Any:
        return values if self.frame is None else self.frame(values)

    def __repr__(self) -> str:
        d = self.counts.n_columns
        pairs, rows = d * (d - 1) // 2, f"{self.counts.seen.max():.10g}"
        return f"<{type(self).__name__} of {d} columns: {pairs} pair{'s' * (pairs != 1)}, {rows} rows>"


def tetrachoric(
    X: object,
    *,
    sample_weight: ArrayLike | None = None,
    pseudo_rows: float = 1.0,
    smooth: Literal["empty", "all"] = "empty",
    threshold: float | None = None,
) -> TetrachoricCorrelations:
    """Tetrachoric correlations of all pairs of binary columns, with standard errors.

    Each column is assumed to be 1 if a latent normal variable is above a threshold; the correlation of two latent
    variables is estimated by maximum likelihood from the 2 x 2 table of their columns. The tables of all pairs are
    counted in one pass over the rows, which runs as specified by `run_on`; missing values are excluded pair by pair.

    Parameters
    ----------
    X : array, sparse array or matrix, frame or Table of shape (rows, columns)
        0, 1, and missing values (NaN, None, masked). At most 20,000 columns.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows, for standard errors too.
    pseudo_rows : float, default=1.0
        Pseudo-rows in which the two columns are independent, added to the table of a pair. They preserve the margins
        and keep the correlation from -1 and 1.
    smooth : {"empty", "all"}, default="empty"
        Pairs to which they are added: those with an empty cell, whose likelihood has no maximum inside, or all.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.

    Returns
    -------
    result : TetrachoricCorrelations
        `correlation`, `standard_error`, `p_value`, `thresholds`, `counts`, `interval(level)`, and `nearest(method)`
        for a positive definite matrix.

    Warns
    -----
    DegeneratePairsWarning
        If some pairs have an empty cell, or no information because a column does not vary or the two are never
        observed together. The latter have correlation 0 and an infinite standard error; the former may have one above
        1, which means that they have hardly any information.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> cov = [[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]]
    >>> latent = np.random.default_rng(0).standard_normal((5000, 3)) @ np.linalg.cholesky(cov).T
    >>> X = (latent > [0.5, -0.2, 1.0]).astype(float)
    >>> X[:100, 0] = np.nan                              # missing
    >>> result = hiddenbits.tetrachoric(X)
    >>> result.correlation.round(2)
    array([[1.  , 0.6 , 0.29],
           [0.6 , 1.  , 0.52],
           [0.29, 0.52, 1.  ]])
    >>> result.standard_error.round(3)
    array([[0.   , 0.018, 0.026],
           [0.018, 0.   , 0.023],
           [0.026, 0.023, 0.   ]])
    >>> lower, upper = result.interval(0.95)
    >>> print(f"{lower[0, 1]:.2f} to {upper[0, 1]:.2f}")
    0.57 to 0.64
    """
    if not (np.isfinite(pseudo_rows) and pseudo_rows > 0.0):
        raise ValueError(
            f"pseudo_rows={pseudo_rows}: must be above 0. Without pseudo-rows the correlation of a pair with an "
            "empty cell would be -1 or 1."
        )
    if smooth not in ("empty", "all"):
        raise ValueError(f"smooth={smooth!r} is not one of 'empty', 'all'.")
    table, frame = _open_bits(X, threshold, sample_weight)
    refuse_width(table.shape[1], "tetrachoric")
    executor = current().executor
    height = block_rows(table.shape[1], table.source.row_cells)
    counts: PairCounts = executor.reduce(count_pairs, table.grid(height))
    if not counts.column_seen.any():
        raise no_cell_recorded()
    fit, degenerate = fit_pairs(counts, float(pseudo_rows), smooth == "all", executor.run)
    if degenerate:
        warnings.warn(_degenerate_message(degenerate, table), DegeneratePairsWarning, stacklevel=2)
    return TetrachoricCorrelations(fit, counts, table.names, frame)


def _open_bits(X: object, threshold: float | None, sample_weight: ArrayLike | None) -> tuple[Table, SquareFrame | None]:
    """Return X as a table of binary columns with row weights, and the converter to frames like X."""
    if isinstance(X, Table) and not X.only_bits:
        raise TableError("tetrachoric needs binary columns, but this is a table of real numbers.")
    if isinstance(X, Table) and X.coding_of_levels is not None:
        raise TableError("tetrachoric needs binary columns, but this table has nominal or ordinal ones. Exclude them.")
    table = open_table(X, threshold=threshold, sample_weight=sample_weight)
    frame: Any = nw.from_native(X, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)) or frame.implementation.value not in FRAMES:
        return table, None
    names = tuple(name for name in frame.collect_schema().names() if str(name) in (table.names or ()))
    return table, SquareFrame(names, frame.implementation)


def _degenerate_message(degenerate: Degenerate, table: Table) -> str:
    """Return the warning about columns and pairs without enough information."""
    d, sentences = table.shape[1], []
    if len(degenerate.constant):
        names = [repr(table.names[i]) if table.names else str(i) for i in degenerate.constant[:5]]
        ellipsis = ", ..." if len(degenerate.constant) > 5 else ""
        sentences.append(
            f"{len(degenerate.constant)} of {d} columns do not vary ({', '.join(names)}{ellipsis}): their correlations "
            "are set to 0, with an infinite standard error. Exclude them."
        )
    if degenerate.empty_cells:
        sentences.append(
            f"{degenerate.empty_cells} of {d * (d - 1) // 2} pairs have an empty cell: pseudo_rows= keeps their "
            "correlations from -1 and 1, and determines how far."
        )
    if degenerate.unseen:
        sentences.append(
            f"{degenerate.unseen} of {d * (d - 1) // 2} pairs do not vary in the rows in which both are observed: "
            "their correlations are set to 0, with an infinite standard error."
        )
    return " ".join(sentences)

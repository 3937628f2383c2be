"""`tetrachoric`: correlations of the hidden normal variables behind a table of bits, with their uncertainty."""

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
    """Makes frames of columns x columns, such as correlations, of the kind of a frame that came in.

    Attributes
    ----------
    names : tuple
        Column names, as that frame has them.
    implementation : narwhals.Implementation
        The frame's library.
    """

    names: tuple[Any, ...]
    implementation: Any

    def __call__(self, values: AnyArray) -> Any:
        """Return a square matrix as a frame; pandas has the names on the rows too."""
        columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(self.names)}
        made = nw.from_dict(columns, backend=self.implementation).to_native()
        if self.implementation.is_pandas():
            made.index = made.columns
        return made


@dataclass(frozen=True, eq=False, repr=False)
class TetrachoricCorrelations:
    """What `tetrachoric` returns: matrices of columns x columns, frames where the table was one.

    Attributes
    ----------
    fit : PairFit
        The estimates as plain arrays: `fit.correlation`, `fit.standard_error`, `fit.thresholds`.
    counts : PairCounts
        The 2 x 2 tables: weighted rows in which both columns are 1 (`both`), in which the first is 1 and the second was
        observed (`ones`), and in which both were observed (`seen`).
    names : tuple of str or None
        Column names, where the table has them.
    frame : SquareFrame or None
        What makes frames of matrices, where the table was a frame.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> one, other = np.random.default_rng(0).standard_normal((2, 2000))
    >>> X = np.stack([one > 0.5, 0.6 * one + 0.8 * other > -0.2], axis=1)
    >>> found = hiddenbits.tetrachoric(X)
    >>> found
    <TetrachoricCorrelations of 2 columns: 1 pair, 2000 rows>
    >>> found.table(0, 1)                     # rows: first column 0, 1; columns: second column 0, 1
    array([[767., 628.],
           [ 88., 517.]])
    """

    fit: PairFit
    counts: PairCounts
    names: tuple[str, ...] | None = None
    frame: SquareFrame | None = None

    @cached_property
    def correlation(self) -> Any:
        """Correlations of the hidden variables, 1 on the diagonal."""
        return self._framed(self.fit.correlation)

    @cached_property
    def standard_error(self) -> Any:
        """Their standard errors; infinite where a pair says nothing, and above 1 where it says next to nothing.

        Infinite: one of the two columns does not vary, or not in the rows in which both were observed, so that every
        correlation fits as well. Rare columns of few rows often do not: with P(1) = .02 every eighth column of 100
        rows. Above 1, which is more than a correlation can be off: a cell is empty (rare columns that are never 1
        together), and the correlation is what `pseudo_rows` make it. An interval then reaches from about -1 to 1;
        `p_value` says what the table has to say.
        """
        return self._framed(self.fit.standard_error)

    @property
    def thresholds(self) -> Floats:
        """Threshold of each column: its bit is 1 where its hidden variable is above it."""
        return self.fit.thresholds

    @cached_property
    def p_value(self) -> Any:
        """P-value of independence of each pair, by Pearson's chi-square of its table; not corrected for many tests."""
        return self._framed(independence(self.counts))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return confidence intervals: (lower ends, upper ends).

        By Fisher's z. On simulated tables 95% intervals hold the truth in 94 to 97% of cases, more often where a cell
        is empty or nearly so.

        Parameters
        ----------
        level : float, default=0.95
            How often such an interval should hold the truth.

        Returns
        -------
        lower, upper : ndarray of shape (columns, columns), or frames
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level}: the level of an interval lies between 0 and 1.")
        low, high = interval(self.fit.correlation, self.fit.standard_error, level)
        return self._framed(low), self._framed(high)

    def nearest(self, method: Literal["clip", "higham"] = "clip", *, floor: float = 1e-6) -> Any:
        """Return a positive definite correlation matrix near `correlation`, which need not be one.

        Every pair is estimated on its own, so that the whole may have negative eigenvalues: large ones where rows are
        few.

        Parameters
        ----------
        method : {"clip", "higham"}, default="clip"
            "clip" raises eigenvalues to `floor` and scales back to a unit diagonal: one decomposition. "higham" finds
            the nearest such matrix in the sum of squares (Higham 2002): tens or hundreds of decompositions.
        floor : float, default=1e-6
            Smallest eigenvalue; 0 allows singular matrices. With "clip" the scaling moves it a little.

        Returns
        -------
        correlation : ndarray of shape (columns, columns), or a frame

        Examples
        --------
        >>> import numpy as np, hiddenbits
        >>> X = np.random.default_rng(0).integers(0, 2, (12, 8))
        >>> import warnings; warnings.simplefilter("ignore", hiddenbits.exceptions.DegeneratePairsWarning)
        >>> found = hiddenbits.tetrachoric(X)
        >>> bool(np.linalg.eigvalsh(found.correlation).min() < 0 < np.linalg.eigvalsh(found.nearest()).min())
        True
        """
        if not 0.0 <= floor < 1.0:
            raise ValueError(f"floor={floor}: the smallest eigenvalue of a correlation matrix lies between 0 and 1.")
        if method not in ("clip", "higham"):
            raise ValueError(f"method={method!r} is not one of 'clip', 'higham'.")
        with one_blas_thread():  # more gain little, and wait for each other without end where the cores are busy
            if method == "clip":
                return self._framed(nearest_correlation.clipped(self.fit.correlation, floor))
            found, converged = nearest_correlation.nearest(self.fit.correlation, floor, HIGHAM_TOL, HIGHAM_ITERATIONS)
        if not converged:
            warnings.warn(
                f"The nearest correlation matrix was not found within {HIGHAM_ITERATIONS} iterations; this one is "
                'near. Use method="clip", or a larger floor.',
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._framed(found)

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
        >>> found = hiddenbits.tetrachoric(x + np.random.default_rng(1).standard_normal((2000, 3)) > 0)
        >>> list(found.summary().tables)
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

    def _framed(self, values: Floats) -> Any:
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
    """Estimate the tetrachoric correlations of all pairs of columns, with standard errors.

    Each bit is taken for the sign of a hidden normal variable above its threshold, and the correlation of two hidden
    variables is what the 2 x 2 table of their bits makes most likely. The tables of all pairs come from one pass over
    the rows, which runs where `run_on` says; cells that were not observed are left out pair by pair.

    Parameters
    ----------
    X : array, sparse array or matrix, frame or Table of shape (rows, columns)
        0, 1, and blanks (NaN, None, masked) for cells that were not observed. At most 20,000 columns.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows, for standard errors too.
    pseudo_rows : float, default=1.0
        Rows in which the two columns are independent, added to a pair's table. They keep the margins, and the
        correlation off -1 and 1.
    smooth : {"empty", "all"}, default="empty"
        Which pairs get them: those with an empty cell, whose likelihood has no maximum inside, or all.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.

    Returns
    -------
    found : TetrachoricCorrelations
        `correlation`, `standard_error`, `p_value`, `thresholds`, `counts`, `interval(level)`, and `nearest(method)`
        for a positive definite matrix.

    Warns
    -----
    DegeneratePairsWarning
        If some pairs have an empty cell, or say nothing: a column does not vary, or the two were never observed
        together. The latter have correlation 0 and an infinite standard error; the former may have one above 1, which
        says that they tell next to nothing.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> cov = [[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]]
    >>> hidden = np.random.default_rng(0).standard_normal((5000, 3)) @ np.linalg.cholesky(cov).T
    >>> X = (hidden > [0.5, -0.2, 1.0]).astype(float)
    >>> X[:100, 0] = np.nan                              # not observed
    >>> found = hiddenbits.tetrachoric(X)
    >>> found.correlation.round(2)
    array([[1.  , 0.6 , 0.29],
           [0.6 , 1.  , 0.52],
           [0.29, 0.52, 1.  ]])
    >>> found.standard_error.round(3)
    array([[0.   , 0.018, 0.026],
           [0.018, 0.   , 0.023],
           [0.026, 0.023, 0.   ]])
    >>> lower, upper = found.interval(0.95)
    >>> bool((lower[0, 1] < 0.6 < upper[0, 1]) and found.p_value[0, 2] < 0.001)
    True
    """
    if not (np.isfinite(pseudo_rows) and pseudo_rows > 0.0):
        raise ValueError(
            f"pseudo_rows={pseudo_rows}: give a number above 0. Without pseudo-rows the correlation of a pair with an "
            "empty cell would be -1 or 1."
        )
    if smooth not in ("empty", "all"):
        raise ValueError(f"smooth={smooth!r} is not one of 'empty', 'all'.")
    table, frame = _opened(X, threshold, sample_weight)
    refuse_width(table.shape[1], "tetrachoric")
    executor = current().executor
    height = block_rows(table.shape[1], table.source.row_cells)
    counts: PairCounts = executor.reduce(count_pairs, table.grid(height))
    if not counts.column_seen.any():
        raise no_cell_recorded()
    fit, degenerate = fit_pairs(counts, float(pseudo_rows), smooth == "all", executor.run)
    if degenerate:
        warnings.warn(_said(degenerate, table), DegeneratePairsWarning, stacklevel=2)
    return TetrachoricCorrelations(fit, counts, table.names, frame)


def _opened(X: object, threshold: float | None, sample_weight: ArrayLike | None) -> tuple[Table, SquareFrame | None]:
    """Return X as a table of bits with row weights, and what makes frames like X."""
    if isinstance(X, Table) and not X.only_bits:
        raise TableError("tetrachoric is for bits, but this is a table of real numbers.")
    if isinstance(X, Table) and X.coding_of_levels is not None:
        raise TableError("tetrachoric is for bits, but this table has nominal or ordinal columns. Leave them out.")
    table = open_table(X, threshold=threshold, sample_weight=sample_weight)
    frame: Any = nw.from_native(X, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)) or frame.implementation.value not in FRAMES:
        return table, None
    names = tuple(name for name in frame.collect_schema().names() if str(name) in (table.names or ()))
    return table, SquareFrame(names, frame.implementation)


def _said(degenerate: Degenerate, table: Table) -> str:
    """Return the warning: what was met, how much of it, what was done, and how to have it otherwise."""
    d, said = table.shape[1], []
    if len(degenerate.constant):
        some = [repr(table.names[i]) if table.names else str(i) for i in degenerate.constant[:5]]
        more = ", ..." if len(degenerate.constant) > 5 else ""
        said.append(
            f"{len(degenerate.constant)} of {d} columns do not vary ({', '.join(some)}{more}): their correlations are "
            "set to 0, with an infinite standard error. Leave them out."
        )
    if degenerate.empty_cells:
        said.append(
            f"{degenerate.empty_cells} of {d * (d - 1) // 2} pairs have an empty cell: pseudo_rows= keep them off -1 "
            "and 1, and decide how far."
        )
    if degenerate.unseen:
        said.append(
            f"{degenerate.unseen} of {d * (d - 1) // 2} pairs do not vary in the rows in which both were observed: "
            "their correlations are set to 0, with an infinite standard error."
        )
    return " ".join(said)

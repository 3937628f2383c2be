"""The exact posterior of one row, and its Gaussian approximation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hiddenbits import open_table
from hiddenbits.array_types import Floats
from hiddenbits.plots.style import COLORS, axes_or_new, fills_figure, legend, trim
from hiddenbits.plots.surface import is_curved
from hiddenbits.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POINTS = 241  # grid points along each axis
P_RANGE = 1e-300, 1.0 - 1e-16  # probabilities are clipped to this range, beyond which are rounding errors
PIECE_CELLS = 1 << 20  # cells (points x columns) processed together
HALF_WIDTHS = 10.0, 5.5  # of the first and the second grid, in standard deviations


def posterior_density(model: BaseEstimator, row: Any, *, n_points: int = POINTS) -> tuple[Floats, Floats, Floats]:
    """Return the exact p(x | row) on a regular grid: the product of P(row | x) and the prior, normalized.

    The grid is chosen in two steps: a wide one around the Gaussian posterior gives the moments of the exact posterior,
    and the final grid extends 5.5 of its standard deviations to each side.

    Parameters
    ----------
    model : fitted ItemResponseModel, LogisticPCA or ClippedPCA
        A model of two dimensions, without columns of numbers.
    row : table of one row, or array of shape (columns,)
        The row; missing values are ignored.
    n_points : int
        Number of grid points along each axis.

    Returns
    -------
    x, y : ndarray of shape (n_points,)
        The grid.
    density : ndarray of shape (n_points, n_points)
        At (y, x); it sums to 1 over the grid, times the area of a cell.

    Examples
    --------
    >>> from hiddenbits import LogisticPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)
    >>> model = LogisticPCA(2, random_state=0).fit(rows)
    >>> x, y, density = plots.posterior_density(model, rows[0])
    >>> round(float(density.sum() * (x[1] - x[0]) * (y[1] - y[0])), 6)
    1.0
    """
    table = _one_row(model, row)
    if len(model.components_) != 2:
        raise ValueError(f"Contours need a model of two dimensions; this one has {len(model.components_)}.")
    cells, binary = table.to_float()[0], ~table.layout.is_level
    mean, covariance = model.transform(table, return_cov=True)
    center, sd = mean[0], np.sqrt(np.diagonal(covariance[0]))
    for half_width in HALF_WIDTHS:
        x, y = (np.linspace(c - half_width * s, c + half_width * s, n_points) for c, s in zip(center, sd, strict=True))
        density = _density(model, cells, binary, x, y)
        center, covariance = moments(x, y, density)
        sd = np.sqrt(np.diagonal(covariance))
    return x, y, density


def posterior(
    model: BaseEstimator,
    row: Any,
    *,
    masses: Sequence[float] = (0.5, 0.9, 0.99),
    legends: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the exact posterior of one row in two dimensions, and its Gaussian approximation.

    Each contour is the smallest region that contains the given share of the posterior. Crosses mark the two means.

    Parameters
    ----------
    model : fitted ItemResponseModel, LogisticPCA or ClippedPCA
        A model of two dimensions, without columns of numbers.
    row : table of one row, or array of shape (columns,)
        The row; missing values are ignored.
    masses : sequence of float, default=(0.5, 0.9, 0.99)
        The share of the posterior inside each contour.
    legends : bool, default=True
        Whether to draw a legend; see `map` for its position.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import LogisticPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(random_state=0)
    >>> model = LogisticPCA(2, refine=False, random_state=0).fit(rows)
    >>> plots.posterior(model, rows[0]).get_xlabel()
    'dimension 1'
    """
    from matplotlib.lines import Line2D

    shares = sorted({float(mass) for mass in masses})
    if not shares or not 0.0 < shares[0] <= shares[-1] < 1.0:
        raise ValueError(f"masses={masses!r}: give shares between 0 and 1.")
    table = _one_row(model, row)
    x, y, density = posterior_density(model, table)
    mean, covariance = (array[0] for array in model.transform(table, return_cov=True))
    true_mean, _ = moments(x, y, density)
    own, ax = ax is None, axes_or_new(ax, (5.5, 4.2))
    levels = [level_of(density, mass) for mass in reversed(shares)]
    true = ax.contour(x, y, density, levels=levels, colors=COLORS[0], linewidths=1.4)
    true.set_gid("true")
    centered = np.stack(np.meshgrid(x, y), axis=-1) - mean
    distance = np.einsum("yxa,ab,yxb->yx", centered, np.linalg.inv(covariance), centered)
    radii = [-2.0 * np.log1p(-mass) for mass in shares]  # P(distance < c) = 1 - exp(-c / 2) in two dimensions
    gaussian = ax.contour(x, y, distance, levels=radii, colors=COLORS[1], linewidths=1.2, linestyles="dashed")
    gaussian.set_gid("Gaussian")
    ax.plot(*true_mean, marker="+", ms=9, mew=1.6, ls="", color=COLORS[0], label="_true mean")
    ax.plot(*mean, marker="x", ms=7, mew=1.4, ls="", color=COLORS[1], label="_Gaussian mean")
    ax.set_aspect("equal", adjustable="box")
    _set_limits_to_contours(ax, x, y, (density >= levels[0]) | (distance <= radii[-1]))
    ax.set_xlabel("dimension 1")
    ax.set_ylabel("dimension 2")
    if legends:
        percents = ", ".join(f"{100 * mass:g}" for mass in shares)
        handles = [
            Line2D([], [], color=COLORS[0], marker="+", lw=1.4),
            Line2D([], [], color=COLORS[1], marker="x", lw=1.2, ls="dashed"),
            Line2D([], [], ls=""),
        ]
        legend(ax, handles, ["true", "Gaussian", f"{percents} % inside"], outside=fills_figure(ax), handlelength=2.4)
    if own:
        trim(ax)
    return ax


def moments(x: Floats, y: Floats, density: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of a density on a grid."""
    weights = density / density.sum()
    points = np.stack(np.meshgrid(x, y), axis=-1)
    mean = np.einsum("yx,yxa->a", weights, points)
    centered = points - mean
    return mean, np.einsum("yx,yxa,yxb->ab", weights, centered, centered)


def level_of(density: Floats, mass: float) -> float:
    """Return the level of a density on a grid above which this share of its mass lies."""
    ordered = np.sort(density, axis=None)[::-1]
    inside = np.cumsum(ordered)
    return float(np.interp(mass * inside[-1], inside, ordered))


def _density(model: BaseEstimator, cells: Floats, binary: NDArray[np.bool_], x: Floats, y: Floats) -> Floats:
    """Return p(x | row) on the grid: ln p is Sum ln P(t | x) over the observed cells, minus |x|^2 / 2."""
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    observed = ~np.isnan(cells)
    log_p = -0.5 * (points * points).sum(axis=1)
    step = max(1, PIECE_CELLS // max(1, len(cells)))
    for start in range(0, len(points), step):
        piece = slice(start, start + step)
        p = np.clip(model.inverse_transform(points[piece])[:, observed], *P_RANGE)
        log_p[piece] += np.log(p) @ cells[observed] + np.log1p(-p) @ ((1.0 - cells) * binary)[observed]
    density = np.exp(log_p - log_p.max()).reshape(len(y), len(x))
    return np.asarray(density / (density.sum() * (x[1] - x[0]) * (y[1] - y[0])))


def _one_row(model: BaseEstimator, row: Any) -> Table:
    """Return a table of one row; raise if the posterior of the model is not approximated by a Gaussian."""
    if is_curved(model):
        raise ValueError(
            "The posterior of a TopographicMap is not close to a Gaussian: model.transform(X, return_weights=True) "
            "returns the probability of each of points_, and model.position_summary(X) whether there are two modes."
        )
    if not hasattr(model, "components_"):
        raise ValueError(f"Contours need a fitted model with continuous dimensions; {type(model).__name__} has none.")
    is_vector = not isinstance(row, Table) and not hasattr(row, "columns") and np.ndim(row) == 1
    data = np.asarray(row)[None] if is_vector else row
    coded = model if hasattr(model, "coding_") else None
    table: Table = data if isinstance(data, Table) else open_table(data, threshold=model.threshold, recode=coded)
    if table.n_numbers:
        raise ValueError("Contours need a model without columns of numbers.")
    if table.shape[0] != 1:
        raise ValueError(f"posterior needs one row, got {table.shape[0]}.")
    return table


def _set_limits_to_contours(ax: Axes, x: Floats, y: Floats, inside: NDArray[np.bool_]) -> None:
    """Set the limits to the outermost contours, with a margin."""
    for set_limits, grid, covered in ((ax.set_xlim, x, inside.any(axis=0)), (ax.set_ylim, y, inside.any(axis=1))):
        low, high = grid[covered].min(), grid[covered].max()
        margin = 0.12 * (high - low)
        set_limits(low - margin, high + margin)

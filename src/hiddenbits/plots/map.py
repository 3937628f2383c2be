"""Plot of latent positions: rows with their uncertainty, and the line P(1) = 1/2 of each column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.lines import (
    DEFAULT_ARROWS,
    NamePlacer,
    candidates_around,
    correlations,
    draw_arrows,
    draw_lines,
    name_arrows,
    name_lines,
    points_of_arrows,
)
from hiddenbits.plots.profiles import row_weights
from hiddenbits.plots.rows import Category, Points, areas, categories, distinct_points, is_numeric, size_key, unit_area
from hiddenbits.plots.style import COLORS, GRAY, NUMBERS, SMALL, axes_or_new, fills_figure, legend, note, settle, trim
from hiddenbits.plots.surface import draw_borders, draw_contours, is_curved, n_dimensions, slopes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALF_WIDTH_OF_POINT = 1.5  # of a plot of a single point
HALF_WIDTH_WITHOUT_ROWS = 3.0  # covers nearly all mass of the prior of x
MOST_VECTOR_POINTS = 5000  # more points than this are rasterized in vector files


def map(  # noqa: A001
    model: BaseEstimator,
    X: object = None,
    *,
    color: Any = None,
    labels: Sequence[object] | None = None,
    ellipses: bool | float = False,
    lines: bool | int = False,
    arrows: bool | int = False,
    borders: bool = False,
    names: Sequence[object] | bool = True,
    dims: tuple[int, int] = (0, 1),
    legends: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the latent positions of the rows, on two dimensions of a `LogisticPCA`, `TopographicMap` or similar model.

    The position of a row is its posterior mean. Rows at the same position (mostly equal rows) are drawn once, with an
    area proportional to their number; the legend shows the scale. Points that would be too small are enlarged.

    Parameters
    ----------
    model : fitted estimator
        A model with at least two continuous dimensions.
    X : table of shape (rows, columns), optional
        The rows; the weights of a `Table` count as numbers of rows. Without X only lines and borders are drawn.
    color : array of shape (rows,), optional
        Numbers are drawn on a color scale (rows at the same position have their mean), other values as categories, each
        with a color and a marker. With more than 20 categories the rarest share one gray glyph, with a warning.
    labels : sequence of shape (rows,), optional
        A name for each row, written if there is room; a note reports how many names were omitted.
    ellipses : bool or float, default=False
        Draw ellipses that contain this share of each row's Gaussian posterior; True means 0.9. Not for a
        `TopographicMap`.
    lines : bool or int, default=False
        Draw the lines P(1) = 1/2 of all columns, or of this many: those with the largest loadings whose line crosses
        the plot. Further dimensions of the model are set to 0. For a `TopographicMap` lines are contours, possibly of
        several pieces, and the columns are those whose probability varies most.
    arrows : bool or int, default=False
        Draw a biplot: arrows for at most 8 columns, or this many, in the direction in which P(1) increases. Their
        lengths are correlations of the latent variable of the column with the dimensions, on their own scale. Of arrows
        with nearly the same direction only the longest is drawn, and none for correlations below 0.3. Not for a
        `TopographicMap`.
    borders : bool, default=False
        Shade the plot where the probabilities of the columns change fast with the position. Dark bands are borders
        between groups of rows; in light areas rows are similar even if they are far apart. The shade is the magnitude
        of the change of all probabilities in the direction in which it is largest; further dimensions are set to 0.
    names : sequence or bool, default=True
        Names of the columns, written at the arrows, and next to the lines on the side where P(1) is larger. True uses
        the model's names, False writes none.
    dims : (int, int), default=(0, 1)
        Dimensions to draw.
    legends : bool, default=True
        Whether to draw a legend. It is placed next to axes that are alone in a figure or subfigure with a constrained
        layout, as in the default figure, and inside the axes otherwise.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                 # draw without a screen
    >>> from hiddenbits import LogisticPCA, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, prototype = simulate_prototypes(random_state=0)
    >>> model = LogisticPCA(2, random_state=0).fit(rows)
    >>> ax = plots.map(model, rows, color=prototype.astype(str), lines=5)
    >>> ax.figure.savefig("map.png")          # doctest: +SKIP
    >>> ax.get_xlabel()
    'dimension 1'
    """
    pair = _checked_dims(model, dims)
    _check_model(model, ellipses=bool(ellipses), arrows=bool(arrows))
    if X is None:
        of_rows = color is not None or labels is not None or bool(ellipses or arrows)
        _check_without_rows(of_map=bool(lines or borders), of_rows=of_rows)
    if isinstance(color, str):
        raise ValueError(f"color={color!r} is a name. Give one value per row, such as frame[{color!r}].")
    column_names = _column_names(model, names) if lines or arrows else None
    own, ax = ax is None, axes_or_new(ax)
    positions, sizes = np.zeros((0, 2)), np.zeros(0)
    name_axes(ax, pair)
    notes: list[str] = []
    means = covariances = None
    if X is None:
        corners = HALF_WIDTH_WITHOUT_ROWS * np.array([[-1.0, -1.0], [1.0, 1.0]])
        _set_limits(ax, model.points_[:, pair] if is_curved(model) else corners)
    else:
        means, covariances = _posterior(model, X, pair, covariances=bool(ellipses))
        extents = np.zeros_like(means)
        if covariances is not None:
            extents = _draw_ellipses(ax, means, covariances, 0.9 if ellipses is True else float(ellipses))
        _set_limits(ax, np.concatenate([means - extents, means + extents]))
        positions, sizes = _draw_rows(ax, means, X, color, legends=legends)
    if own:
        trim(ax)
    if borders:
        notes += draw_borders(ax, model, pair)
    if lines:
        draw = draw_contours if is_curved(model) else draw_lines
        drawn_lines, line_notes = draw(ax, model, pair, None if lines is True else int(lines))
        notes += line_notes
    if arrows:
        vectors = correlations(model, pair)
        with_arrow, tips = draw_arrows(ax, vectors, DEFAULT_ARROWS if arrows is True else int(arrows))
        notes += [f"arrows of {len(with_arrow)} of {len(vectors)} columns"] if len(with_arrow) < len(vectors) else []
    if labels is not None or column_names is not None:
        on_arrows = points_of_arrows(tips) if arrows else np.zeros((0, 2))
        radii = np.concatenate([np.sqrt(sizes) / 2.0, np.ones(len(on_arrows))])
        placer = NamePlacer(ax, np.concatenate([positions, on_arrows]), radii)
        if arrows and column_names is not None:
            n_omitted = name_arrows(ax, with_arrow, tips, column_names, placer)
            notes += [f"no room for {n_omitted} of their names"] if n_omitted else []
        if lines and column_names is not None:
            notes += name_lines(ax, drawn_lines, partial(_uphill, model, pair), column_names, placer)
        if labels is not None and means is not None:
            notes += _name_rows(ax, means, labels, placer)
    note(ax, notes)
    if own:
        settle(ax)
    return ax


def _check_model(model: BaseEstimator, *, ellipses: bool, arrows: bool) -> None:
    """Raise for options that do not apply to the model."""
    if is_curved(model):
        if ellipses:
            raise ValueError(
                "Ellipses need a Gaussian posterior, and that of a TopographicMap may have two modes: "
                "model.position_summary(X) reports for which rows. Remove ellipses=."
            )
        if arrows:
            raise ValueError("A TopographicMap has no single direction for a column. Use lines= instead of arrows=.")
        return


def _check_without_rows(*, of_map: bool, of_rows: bool) -> None:
    """Raise if there is nothing to draw without rows, or an option needs rows."""
    if not of_map:
        raise ValueError("Nothing to draw. Give the rows X, or lines=True, or both.")
    if of_rows:
        raise ValueError("color=, labels=, ellipses= and arrows= describe rows. Give X too.")


def name_axes(ax: Axes, pair: list[int]) -> None:
    """Label the axes with their dimensions, and use the same scale on both."""
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel(f"dimension {pair[0] + 1}")
    ax.set_ylabel(f"dimension {pair[1] + 1}")


def _checked_dims(model: BaseEstimator, dims: tuple[int, int]) -> list[int]:
    """Return the two dimensions as a list; raise if they are invalid."""
    if not is_curved(model) and not (hasattr(model, "components_") and hasattr(model, "intercepts_")):
        raise ValueError(f"A map needs a fitted model with continuous dimensions; {type(model).__name__} has none.")
    q = n_dimensions(model)
    if q < 2:
        raise ValueError("A map needs a model of at least two dimensions; this one has 1.")
    pair = [int(d) for d in dims]
    if len(pair) != 2 or pair[0] == pair[1] or not all(0 <= d < q for d in pair):
        raise ValueError(f"dims={dims!r}: give two different dimensions between 0 and {q - 1}.")
    return pair


def _column_names(model: BaseEstimator, names: Sequence[object] | bool) -> Sequence[object] | None:
    """Return the names to write; None for no names."""
    if names is False:
        return None
    d = model.probabilities_.shape[1] if is_curved(model) else np.shape(model.components_)[1]
    if names is True:
        return list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)]))
    if len(names) != d:
        raise ValueError(f"{len(names)} names were given for {d} columns.")
    return names


def _uphill(model: BaseEstimator, pair: list[int], column: int, positions: Floats) -> Floats:
    """Return the direction in which P(1) of a column increases at some positions, (positions, 2)."""
    if is_curved(model):
        return slopes(model, positions, pair)[:, :, column].T
    return np.broadcast_to(np.asarray(model.components_)[pair, column], positions.shape)


def _posterior(model: BaseEstimator, X: object, pair: list[int], *, covariances: bool) -> tuple[Floats, Floats | None]:
    """Return means and optionally covariances on two of the dimensions."""
    if not covariances:
        return np.asarray(model.transform(X), np.float64)[:, pair], None
    means, full = model.transform(X, return_cov=True)
    return means[:, pair], full[:, pair][:, :, pair]


def _set_limits(ax: Axes, corners: Floats) -> None:
    """Set limits around the points; they are a few units wide around a single position."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    half = np.full(2, HALF_WIDTH_OF_POINT) if half.max() < 1e-6 else 1.1 * np.maximum(half, 0.35 * half.max())
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])


def _draw_ellipses(ax: Axes, means: Floats, covariances: Floats, share: float) -> Floats:
    """Draw the ellipse of each distinct posterior; return how far the ellipse of each row extends along the axes."""
    from matplotlib.collections import EllipseCollection

    if not 0.0 < share < 1.0:
        raise ValueError(f"ellipses={share}: the share of the posterior must be between 0 and 1.")
    radius = np.sqrt(-2.0 * np.log1p(-share))  # of a Gaussian in two dimensions: P(r^2 < c) = 1 - exp(-c / 2)
    rows = distinct_points(means, np.ones(len(means)), keys=covariances.reshape(-1, 4)).first
    eigenvalues, axes = np.linalg.eigh(covariances[rows])
    diameters = 2.0 * radius * np.sqrt(eigenvalues)
    angles = np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1]))  # angle of the longer axis, which comes last
    ax.add_collection(
        EllipseCollection(
            diameters[:, 1],
            diameters[:, 0],
            angles,
            units="xy",
            offsets=means[rows],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=GRAY,
            linewidths=0.6,
            alpha=0.7 if len(rows) < 200 else 0.35,
            zorder=1.8,
        ),
        autolim=False,
    )
    return np.asarray(radius * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)))


def _draw_rows(ax: Axes, means: Floats, X: object, color: Any, *, legends: bool) -> tuple[Floats, Floats]:
    """Draw the rows; return the positions and areas of the glyphs."""
    n = len(means)
    if color is not None and len(color) != n:
        raise ValueError(f"{len(color)} colors were given for {n} rows.")
    all_rows = Category("", np.ones(n, bool), COLORS[0], "o")
    numeric = color is not None and is_numeric(color)
    groups = [all_rows] if color is None or numeric else categories(color)
    outside = fills_figure(ax)  # before a color bar takes part of the figure
    points = _draw_groups(ax, means, row_weights(X, n), groups, np.asarray(color, np.float64) if numeric else None)
    counts = np.concatenate([p.counts for p in points])
    unit = unit_area(float(counts.max()))
    if legends:
        handles, names = _legend_entries(groups if len(groups) > 1 or groups[0].name else [], counts, unit)
        _draw_legend(ax, handles, names, outside=outside)
    return np.concatenate([p.positions for p in points]), areas(counts, unit)


def _draw_groups(
    ax: Axes,
    means: Floats,
    weights: Floats,
    groups: list[Category],
    numbers: Floats | None = None,
) -> list[Points]:
    """Draw the rows of each category, or colored by the numbers if there are any; return their positions."""
    points = [
        distinct_points(means[g.rows], weights[g.rows], None if numbers is None else numbers[g.rows]) for g in groups
    ]
    unit = unit_area(max(float(p.counts.max()) for p in points))
    for k in sorted(range(len(groups)), key=lambda k: -len(points[k].counts)):  # the rarest on top
        _scatter(ax, groups[k], points[k], areas(points[k].counts, unit))
    return points


def _scatter(ax: Axes, group: Category, points: Points, sizes: Floats) -> None:
    """Draw the positions of one category, or of all rows colored by a number."""
    style: dict[str, Any] = {"marker": group.marker, "zorder": 2.5, "label": "_rows", "alpha": 0.8}
    if group.marker.startswith("$"):  # a letter
        style["linewidths"] = 0.0
    elif group.marker not in "x.":
        style |= {"edgecolors": "white", "linewidths": 0.4}
    style["rasterized"] = len(sizes) > MOST_VECTOR_POINTS
    x, y = points.positions.T
    if points.numbers is None:
        ax.scatter(x, y, s=sizes, color=group.color, **style)
        return
    known = ~np.isnan(points.numbers)
    if not known.all():
        ax.scatter(x[~known], y[~known], s=sizes[~known], color=GRAY, **style)
    if known.any():
        drawn = ax.scatter(x[known], y[known], s=sizes[known], c=points.numbers[known], cmap=NUMBERS, **style)
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8, pad=0.02)
        bar.solids.set_alpha(1.0)  # type: ignore[union-attr]


def _legend_entries(groups: list[Category], counts: Floats, unit: float) -> tuple[list[Any], list[str]]:
    """Return the handles and names of the legend: categories and areas."""
    from matplotlib.lines import Line2D

    handles, names = [], []
    for group in groups:
        handles.append(Line2D([], [], ls="", marker=group.marker, color=group.color, markersize=6, mec=group.color))
        names.append(group.name)
    for count in size_key(counts):
        diameter = float(np.sqrt(areas(np.array([float(count)]), unit)[0]))
        handles.append(Line2D([], [], ls="", marker="o", color=GRAY, markersize=diameter, mec="white", mew=0.4))
        names.append(f"{count} row" if count == 1 else f"{count} rows")
    return handles, names


def _draw_legend(ax: Axes, handles: list[Any], names: list[str], *, outside: bool) -> None:
    """Draw the legend if it has entries."""
    if handles:
        tallest = max(float(handle.get_markersize()) for handle in handles)
        legend(
            ax,
            handles,
            names,
            outside=outside,
            labelspacing=max(0.5, tallest / 8.0 - 0.7),
            handlelength=tallest / 8.0 + 0.5,
        )


def _name_rows(ax: Axes, means: Floats, labels: Sequence[object], placer: NamePlacer) -> list[str]:
    """Write a name next to each point; return a note about the omitted names.

    Rows at the same position have the first name and the number of other names.
    """
    if len(labels) != len(means):
        raise ValueError(f"{len(labels)} labels were given for {len(means)} rows.")
    points = distinct_points(means, np.ones(len(means)))
    n_omitted = 0
    for position, members in zip(ax.transData.transform(points.positions), points.members, strict=True):
        distinct = list(dict.fromkeys(str(labels[row]) for row in members))
        name = distinct[0] if len(distinct) == 1 else f"{distinct[0]} +{len(distinct) - 1}"
        n_omitted += not placer.write(name, candidates_around(position), fontsize=SMALL, color="black", zorder=5)
    return [f"no room for {n_omitted} of {len(points.counts)} labels"] if n_omitted else []

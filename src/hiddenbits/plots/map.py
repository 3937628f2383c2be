"""The map: the position of each row, its uncertainty, and the line where each bit turns from 0 to 1; flat or curved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.lines import (
    USUAL,
    Room,
    along_arrows,
    around,
    correlations,
    draw_arrows,
    draw_lines,
    name_arrows,
    name_lines,
)
from hiddenbits.plots.rows import Kind, Places, area_of_one, areas, is_numeric, kinds, places, size_key
from hiddenbits.plots.style import COLORS, GREY, NUMBERS, SMALL, axes_or_new, has_the_page, legend, note, settle, trim
from hiddenbits.plots.surface import draw_borders, draw_contours, is_curved, n_dimensions, slopes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ALONE = 1.5  # half the width of a plot of a single point
EMPTY = 3.0  # half the width of a plot without rows: covers nearly all mass of the prior of x
MANY = 5000  # more points than this are drawn as pixels in vector files


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
    """Draw the map of a `LogisticPCA`, `TopographicMap` or the like: the posterior mean of each row, on two dimensions.

    Rows at the same position (mostly equal rows) are drawn once, with an area proportional to their number; the legend
    shows the scale. Points too small to see are drawn a little larger.

    Parameters
    ----------
    model : fitted estimator
        One with at least two continuous dimensions.
    X : table of shape (rows, columns), optional
        The rows; the weights of a `Table` count as numbers of rows. Without rows only lines and borders are drawn.
    color : array of shape (rows,), optional
        Numbers become a color scale (rows at the same position show their mean), anything else becomes categories,
        each with a color and a marker. With more than 20 categories the rarest share one gray glyph, with a warning.
    labels : sequence of shape (rows,), optional
        A name for each row, written where there is room; a note says how many had none.
    ellipses : bool or float, default=False
        Draw ellipses that contain this share of each row's Gaussian posterior; True means 0.9. Not on a curved map.
    lines : bool or int, default=False
        Draw the lines P(bit = 1) = 1/2 of all columns, or of this many: those with the largest loadings whose line
        crosses the plot. If the model has further dimensions, these are set to 0.
        On a curved map lines are contours, maybe of several pieces, and this many columns are those whose probability
        varies most over the map.
    arrows : bool or int, default=False
        Draw a biplot: arrows for at most 8 columns, or this many, in the direction in which the bit becomes more
        probable. Their lengths are correlations of what is behind a column with the dimensions, in a unit of their own.
        Of columns that point nearly the same way the longest arrow is drawn, and none of a correlation below 0.3.
        Not on a curved map.
    borders : bool, default=False
        Shade the map where the probabilities of the bits change fast with the position. Dark bands are borders between
        groups of rows; on light ground rows are alike, however far apart they are drawn. The shade is the length of the
        change of all probabilities along the direction in which it is longest; further dimensions are set to 0.
    names : sequence or bool, default=True
        Names of the columns, written at the arrows, and next to the lines on the side where the bit is more often 1.
        True uses the model's names, False writes none.
    dims : (int, int), default=(0, 1)
        Which dimensions to draw.
    legends : bool, default=True
        Whether to draw a legend. It is placed next to axes that are alone in a figure or subfigure with a constrained
        layout, as in the default figure, and inside the axes otherwise.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

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
    chosen = _column_names(model, names) if lines or arrows else None
    own, ax = ax is None, axes_or_new(ax)
    where, size = np.zeros((0, 2)), np.zeros(0)
    name_axes(ax, pair)
    said: list[str] = []
    means = covariances = None
    if X is None:
        _look_at(ax, model.points_[:, pair] if is_curved(model) else np.array([[-EMPTY, -EMPTY], [EMPTY, EMPTY]]))
    else:
        means, covariances = _posterior(model, X, pair, covariances=bool(ellipses))
        reach = np.zeros_like(means)
        if covariances is not None:
            reach = _draw_ellipses(ax, means, covariances, 0.9 if ellipses is True else float(ellipses))
        _look_at(ax, np.concatenate([means - reach, means + reach]))
        where, size = _draw_rows(ax, means, X, color, legends=legends)
    if own:
        trim(ax)
    if borders:
        said += draw_borders(ax, model, pair)
    if lines:
        draw = draw_contours if is_curved(model) else draw_lines
        drawn, without = draw(ax, model, pair, None if lines is True else int(lines))
        said += without
    if arrows:
        along = correlations(model, pair)
        pointing, tips = draw_arrows(ax, along, USUAL if arrows is True else int(arrows))
        said += [f"arrows of {len(pointing)} of {len(along)} columns"] if len(pointing) < len(along) else []
    if labels is not None or chosen is not None:
        kept_clear = along_arrows(tips) if arrows else np.zeros((0, 2))
        radii = np.concatenate([np.sqrt(size) / 2.0, np.ones(len(kept_clear))])
        room = Room(ax, np.concatenate([where, kept_clear]), radii)
        if arrows and chosen is not None:
            missed = name_arrows(ax, pointing, tips, chosen, room)
            said += [f"no room for {missed} of their names"] if missed else []
        if lines and chosen is not None:
            said += name_lines(ax, drawn, partial(_uphill, model, pair), chosen, room)
        if labels is not None and means is not None:
            said += _name_rows(ax, means, labels, room)
    note(ax, said)
    if own:
        settle(ax)
    return ax


def _check_model(model: BaseEstimator, *, ellipses: bool, arrows: bool) -> None:
    """Refuse what a model has nothing to draw for."""
    if is_curved(model):
        if ellipses:
            raise ValueError(
                "Ellipses need a Gaussian posterior. On a curved map it may have two modes: model.position_summary(X). "
                "Remove ellipses=."
            )
        if arrows:
            raise ValueError("A curved map has no one direction for a column. Use lines= instead of arrows=.")
        return


def _check_without_rows(*, of_map: bool, of_rows: bool) -> None:
    """Refuse a plot without rows that has nothing to draw, or is to draw something of rows."""
    if not of_map:
        raise ValueError("Nothing to draw. Give the rows X, or lines=True, or both.")
    if of_rows:
        raise ValueError("color=, labels=, ellipses= and arrows= describe rows. Give X too.")


def name_axes(ax: Axes, pair: list[int]) -> None:
    """Label the axes with their dimensions, and use the same unit on both."""
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
    d = model.probabilities_.shape[1] if is_curved(model) else len(model.intercepts_)
    if names is True:
        return list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)]))
    if len(names) != d:
        raise ValueError(f"{len(names)} names were given for {d} columns.")
    return names


def _uphill(model: BaseEstimator, pair: list[int], column: int, places: Floats) -> Floats:
    """Return in which direction a column becomes more probable at places, (places, 2)."""
    if is_curved(model):
        return slopes(model, places, pair)[:, :, column].T
    return np.broadcast_to(np.asarray(model.components_)[pair, column], places.shape)


def _posterior(model: BaseEstimator, X: object, pair: list[int], *, covariances: bool) -> tuple[Floats, Floats | None]:
    """Return means and, where asked for, covariances on two of the dimensions."""
    if not covariances:
        return np.asarray(model.transform(X), np.float64)[:, pair], None
    means, full = model.transform(X, return_cov=True)
    return means[:, pair], full[:, pair][:, :, pair]


def _look_at(ax: Axes, corners: Floats) -> None:
    """Set limits around the points; around a single position they are a few units wide."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    half = np.full(2, ALONE) if half.max() < 1e-6 else 1.1 * np.maximum(half, 0.35 * half.max())
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])


def _draw_ellipses(ax: Axes, means: Floats, covariances: Floats, share: float) -> Floats:
    """Draw the ellipse of each place; return how far each reaches along the axes."""
    from matplotlib.collections import EllipseCollection

    if not 0.0 < share < 1.0:
        raise ValueError(f"ellipses={share}: the share of the posterior must be between 0 and 1.")
    radius = np.sqrt(-2.0 * np.log1p(-share))  # of a Gaussian in two dimensions: P(r^2 < c) = 1 - exp(-c / 2)
    one = places(means, np.ones(len(means)), beside=covariances.reshape(-1, 4)).first
    sizes, axes = np.linalg.eigh(covariances[one])
    full = 2.0 * radius * np.sqrt(sizes)
    angles = np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1]))  # angle of the longer axis, which comes last
    ax.add_collection(
        EllipseCollection(
            full[:, 1],
            full[:, 0],
            angles,
            units="xy",
            offsets=means[one],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=GREY,
            linewidths=0.6,
            alpha=0.7 if len(one) < 200 else 0.35,
            zorder=1.8,
        ),
        autolim=False,
    )
    return np.asarray(radius * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)))


def _draw_rows(ax: Axes, means: Floats, X: object, color: Any, *, legends: bool) -> tuple[Floats, Floats]:
    """Draw the rows; return the places and areas of the glyphs."""
    n = len(means)
    if color is not None and len(color) != n:
        raise ValueError(f"{len(color)} colors were given for {n} rows.")
    whole = Kind("", np.ones(n, bool), COLORS[0], "o")
    numeric = color is not None and is_numeric(color)
    groups = [whole] if color is None or numeric else kinds(color)
    beside = has_the_page(ax)  # before a color bar takes part of the figure
    found = _draw_groups(ax, means, _row_weights(X, n), groups, np.asarray(color, np.float64) if numeric else None)
    counts = np.concatenate([p.counts for p in found])
    unit = area_of_one(float(counts.max()))
    if legends:
        handles, names = _key_of(groups if len(groups) > 1 or groups[0].name else [], counts, unit)
        _draw_key(ax, handles, names, beside=beside)
    return np.concatenate([p.where for p in found]), areas(counts, unit)


def _row_weights(X: object, n: int) -> Floats:
    """Return the weights of a table's rows, 1 where it has none."""
    given = getattr(X, "weights", None)
    return np.ones(n) if given is None else np.asarray(given, np.float64)


def _draw_groups(
    ax: Axes,
    means: Floats,
    weights: Floats,
    groups: list[Kind],
    numbers: Floats | None = None,
) -> list[Places]:
    """Draw the rows of each category, in colors by the numbers if there are any; return their positions."""
    found = [places(means[g.rows], weights[g.rows], None if numbers is None else numbers[g.rows]) for g in groups]
    unit = area_of_one(max(float(p.counts.max()) for p in found))
    for k in sorted(range(len(groups)), key=lambda k: -len(found[k].counts)):  # the rarest lie on top
        _scatter(ax, groups[k], found[k], areas(found[k].counts, unit))
    return found


def _scatter(ax: Axes, group: Kind, place: Places, size: Floats) -> None:
    """Draw the places of one category, or of all rows by a number."""
    style: dict[str, Any] = {"marker": group.marker, "zorder": 2.5, "label": "_rows", "alpha": 0.8}
    if group.marker.startswith("$"):  # a letter
        style["linewidths"] = 0.0
    elif group.marker not in "x.":
        style |= {"edgecolors": "white", "linewidths": 0.4}
    style["rasterized"] = len(size) > MANY
    x, y = place.where.T
    if place.numbers is None:
        ax.scatter(x, y, s=size, color=group.color, **style)
        return
    known = ~np.isnan(place.numbers)
    if not known.all():
        ax.scatter(x[~known], y[~known], s=size[~known], color=GREY, **style)
    if known.any():
        drawn = ax.scatter(x[known], y[known], s=size[known], c=place.numbers[known], cmap=NUMBERS, **style)
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8, pad=0.02)
        bar.solids.set_alpha(1.0)  # type: ignore[union-attr]


def _key_of(groups: list[Kind], counts: Floats, unit: float) -> tuple[list[Any], list[str]]:
    """Return the handles and names of a legend of categories and of areas."""
    from matplotlib.lines import Line2D

    handles, names = [], []
    for group in groups:
        handles.append(Line2D([], [], ls="", marker=group.marker, color=group.color, markersize=6, mec=group.color))
        names.append(group.name)
    for count in size_key(counts):
        across = float(np.sqrt(areas(np.array([float(count)]), unit)[0]))
        handles.append(Line2D([], [], ls="", marker="o", color=GREY, markersize=across, mec="white", mew=0.4))
        names.append(f"{count} row" if count == 1 else f"{count} rows")
    return handles, names


def _draw_key(ax: Axes, handles: list[Any], names: list[str], *, beside: bool) -> None:
    """Draw the legend."""
    if handles:
        tallest = max(float(handle.get_markersize()) for handle in handles)
        legend(
            ax,
            handles,
            names,
            beside=beside,
            labelspacing=max(0.5, tallest / 8.0 - 0.7),
            handlelength=tallest / 8.0 + 0.5,
        )


def _name_rows(ax: Axes, means: Floats, labels: Sequence[object], room: Room) -> list[str]:
    """Write a name next to each point; return a note about those without room.

    Rows that share a position get the first name and the number of other names.
    """
    if len(labels) != len(means):
        raise ValueError(f"{len(labels)} labels were given for {len(means)} rows.")
    found = places(means, np.ones(len(means)))
    missing = 0
    for place, members in zip(ax.transData.transform(found.where), found.members, strict=True):
        distinct = list(dict.fromkeys(str(labels[row]) for row in members))
        name = distinct[0] if len(distinct) == 1 else f"{distinct[0]} +{len(distinct) - 1}"
        missing += not room.write(name, around(place), fontsize=SMALL, color="black", zorder=5)
    return [f"no room for {missing} of {len(found.counts)} labels"] if missing else []

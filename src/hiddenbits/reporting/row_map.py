"""The map: the position of each row on two dimensions, colored by any column; each dot shows its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.reporting.comparison import label, sized
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import END, end_shares
from hiddenbits.reporting.findings.finding import described_fit
from hiddenbits.reporting.findings.groups import DIMENSIONAL
from hiddenbits.reporting.findings.units import unit_order
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.sample import Sample
from hiddenbits.reporting.svg import WIDTH, Drawing, MapScale, arrows, regions
from hiddenbits.reporting.text import InteractiveMap, Section, TextTable, count, name, names, plain, points, sentence

MOST_POINTS = 3_000
MOST_ONES = 500_000  # 1s and missing values stored in the file, so that it stays small
SQUARES, SQUARES_WITHOUT_DOTS = 48, 28  # squares across the map that count rows: behind dots, and without dots
MAX_COLORS = 7  # categories with a color of their own
MAX_NAMED_CLASSES = 8  # classes that are named on the map

Indices = NDArray[np.int64]
_Panel = tuple[dict[str, Any] | None, Sequence[tuple[str, Sequence[tuple[str, str]]]], str]


def chart(context: Context) -> Section:
    """Draw the map."""
    fit, sample = _model(context), context.sample
    positions = np.asarray(fit.model.transform(sample.cells), np.float64)[:, :2]
    all_changes = _changes(fit)
    change = all_changes[:2]
    columns = [_columns_toward(change[axis], sample) for axis in (0, 1)]
    opening = sentence(
        "{}; rows that lie close together are similar. Further to the right, rows more often have {}; further up, {}.",
        "Each dot is a row" if context.rows else "Each square counts rows",
        names(columns[0], 3),
        names(columns[1], 3),
    )
    if context.fits.curved:
        opening += " This holds on average: on a curved map a column may be common in several regions."
    if note := _note_on_model(context, fit):
        opening += sentence(" {}", note)
    map_scale = MapScale(positions)
    rows, counts = _dots(sample, positions) if context.rows else (np.zeros(0, np.int64), np.zeros(0))
    all_drawn = int(counts.sum()) == len(positions)
    classes = _class_probabilities(context)
    drawing = _map_drawing(context, map_scale, positions, rows, counts, classes, change, binned=not all_drawn)
    panel: _Panel = (None, (), "")
    if context.rows:
        panel = _panel(context, map_scale, positions, rows, counts, classes, change)
    listed = np.argsort(-np.hypot(*change), kind="stable")[:30]
    same = TextTable(
        f"The map as a table: how much more often a column is {sample.values.one}, by the model, in the quarter of the "
        "rows at one end of a dimension than in the quarter at the other",
        ["column", *_ends(len(all_changes))],
        [[name(sample.names[j]), *(points(float(scale[j])) for scale in all_changes)] for j in listed],
        frozenset(range(1, 1 + len(all_changes))),
    )
    caption = _caption(context, len(rows), int(counts.sum()), classes=_names_classes(classes))
    parts = [InteractiveMap(drawing, caption, *panel, same)]
    how = [("latent positions", f"{fit.line}.transform(table)")]
    return Section("map", "The map of rows", opening, parts, how)


def _model(context: Context) -> Fit:
    """Return the model of the map: that of the findings if it has at least two dimensions, else a separate one."""
    fit = None if context.fits.curved else described_fit(context)
    return fit if fit is not None and fit.name in DIMENSIONAL and len(fit.model.components_) > 1 else context.fits.map


def _changes(fit: Fit) -> Floats:
    """Return how much more often each column is 1 at the upper end of each dimension than at the lower.

    These are differences of the model's shares in the quarters of the rows at both ends; (dimensions, columns).
    """
    if not hasattr(fit.model, "points_"):
        ends = [end_shares(fit.model, axis) for axis in range(len(fit.model.components_))]
        return np.stack([upper - lower for upper, lower in ends])
    order = np.argsort(fit.model.points_, axis=0, kind="stable")  # points of equal weight
    probabilities, n = fit.model.probabilities_, max(1, round(END * len(order)))
    return np.stack([probabilities[rows[-n:]].mean(axis=0) - probabilities[rows[:n]].mean(axis=0) for rows in order.T])


def _ends(n_dimensions: int) -> list[str]:
    return ["right against left", "top against bottom", *(f"ends of dimension {k + 1}" for k in range(2, n_dimensions))]


def _note_on_model(context: Context, fit: Fit) -> str:
    """Return a note on which dimensions the map shows, unless they are all dimensions of the described model."""
    chosen = described_fit(context)
    if chosen is not None and chosen.model is fit.model:
        scales = len(fit.model.components_)
        which = f"These are the first two of the {scales} dimensions of the model “{label(fit.name)}”."
        return "" if scales == 2 else which
    own_model = "The map is a separate model with two dimensions, for illustration"
    if chosen is None:
        return f"{own_model}."
    size = context.fits.compared.entry(chosen.name).size
    return f"{own_model}; the findings describe the model “{label(chosen.name)}” ({sized(chosen.name, size)})."


def _class_probabilities(context: Context) -> Floats | None:
    """Return the probability of each class in each row, the largest class first, if the findings are about classes."""
    fit = described_fit(context)
    if fit is None or fit.name != "LatentClassAnalysis":
        return None
    codes = np.asarray(fit.model.transform(context.sample.cells), np.float64)
    return np.asarray(codes[:, unit_order(context, fit.model)])


def _names_classes(classes: Floats | None) -> bool:
    """Whether the map names classes; otherwise it names columns, on arrows."""
    return classes is not None and classes.shape[1] <= MAX_NAMED_CLASSES


def _columns_toward(changes: Floats, sample: Sample) -> list[str]:
    """Return the columns that are more often 1 in the positive direction, the largest change first."""
    order = np.argsort(-changes, kind="stable")
    columns = [sample.names[j] for j in order[:3] if changes[j] > 0.25 * np.abs(changes).max(initial=0.0)]
    return columns or ["no column in particular"]


def _caption(context: Context, dots: int, shown: int, *, classes: bool) -> Markup:
    """Describe what the map shows and what it leaves out."""
    n, every = len(context.sample.rows), context.sample.summary.n_rows
    if not context.rows:
        return sentence(
            "Each square counts the rows at its position, of {} in all: larger squares, more rows. Individual rows are "
            "not in this file.",
            count(n, "row"),
        )
    text = sentence("{} of {:,}, chosen at random, as {}.", count(shown, "row"), every, count(dots, "dot"))
    if shown == every:
        text = sentence("{} as {}.", count(shown, "row"), count(dots, "dot"))
    if shown < n:
        text = sentence("The map shows {} The squares behind the dots count {}.", text, count(n, "row"))
    text += (
        " Names mark the mean position of each class."
        if classes
        else sentence(
            " An arrow points to where a column is more often {}; a longer arrow, to where it changes more.",
            context.sample.values.one,
        )
    )
    alike = " Identical rows share a dot; its size shows how many they are."
    return text + alike if dots < shown else text


def _dots(sample: Sample, positions: Floats) -> tuple[Indices, Floats]:
    """Return the first row of each dot and its number of rows; if there are too many rows, a random sample is drawn."""
    n = len(positions)
    cells = np.nan_to_num(sample.cells, nan=2.0).astype(np.uint8)
    per_row = max(1.0, float((cells > 0).sum(axis=1).mean()))  # 1s and missing values in a row
    max_dots = int(min(MOST_POINTS, max(100.0, MOST_ONES / per_row)))
    rows, counts = _distinct_rows(cells, sample, np.arange(n))
    if len(rows) <= max_dots:
        return rows, counts
    rng = np.random.default_rng([sample.seed, 3])
    return _distinct_rows(cells, sample, np.sort(rng.choice(n, min(max_dots, n), replace=False)))


def _distinct_rows(cells: Bytes, sample: Sample, rows: Indices) -> tuple[Indices, Floats]:
    """Return the first row of each group of equal rows, and the number of rows in the group."""
    rows_of: dict[tuple[Any, ...], list[int]] = {}
    beside = list(sample.beside.values())
    for i in rows:
        rows_of.setdefault((cells[i].tobytes(), *(values[i] for values in beside)), []).append(int(i))
    groups = sorted(rows_of.values(), key=lambda same: -len(same))  # large dots first: small ones are drawn on top
    return np.array([same[0] for same in groups]), np.array([len(same) for same in groups], float)


def _radius(counts: Floats) -> Floats:
    base = 5.0 if len(counts) < 200 else 4.0 if len(counts) < 1000 else 3.0
    return np.minimum(base * np.sqrt(counts), 4.0 * base)


def _map_drawing(
    context: Context,
    scale: MapScale,
    positions: Floats,
    rows: Indices,
    counts: Floats,
    classes: Floats | None,
    change: Floats,
    *,
    binned: bool,
) -> Markup:
    """Draw dots, and squares that count rows if not all rows are drawn as dots; then arrows, or names of classes."""
    alt = "Map of the rows; a table below shows how each column changes over it."
    svg = Drawing(WIDTH, scale.height, alt, "chart")
    scale.axes(svg)
    if binned:
        side = WIDTH / (SQUARES if len(rows) else SQUARES_WITHOUT_DOTS)
        bins, in_square = np.unique((scale(positions) // side).astype(int), axis=0, return_counts=True)
        for (c, r), n in zip(bins, in_square, strict=True):
            half = 0.5 * side * np.sqrt(n / in_square.max())
            style = "bin" if len(rows) else "k0"
            svg.bar((c + 0.5) * side - half, (r + 0.5) * side - half, 2 * half, 2 * half, style, count(int(n), "row"))
    for (x, y), r in zip(scale(positions[rows]), _radius(counts), strict=True):
        shape = f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
        svg.add('<path class="p k0" d="{}"/>', shape)
    svg.add('<g class="names">')
    if classes is not None and _names_classes(classes):
        centers = (classes.T @ positions) / np.maximum(classes.sum(axis=0), 1e-9)[:, None]
        regions(svg, scale, centers, [f"class {k + 1}" for k in range(classes.shape[1])])
    else:
        arrows(svg, scale, change, context.sample.names)
    svg.add("</g>")
    return svg.done()


def _panel(
    context: Context,
    scale: MapScale,
    positions: Floats,
    rows: Indices,
    counts: Floats,
    classes: Floats | None,
    change: Floats,
) -> _Panel:
    """Return the data for the script, the columns to color by, and the first one to show."""
    sample = context.sample
    xy = scale(positions[rows])
    order = np.argsort(sample.shares, kind="stable")  # the rarest first: they are the most informative about a row
    cells = sample.cells[rows][:, order]
    others = [_as_codes(key, [values[i] for i in rows]) for key, values in sample.beside.items()]
    if classes is not None:
        labels = [f"class {k + 1}" for k in range(classes.shape[1])]
        codes = classes[rows].argmax(axis=1).tolist()
        others.insert(0, {"name": "most probable class", "labels": labels, "codes": codes, "numeric": False})
    data = {
        "x": [round(float(x), 1) for x in xy[:, 0]],
        "y": [round(float(y), 1) for y in xy[:, 1]],
        "r": [round(float(r), 1) for r in _radius(counts)],
        "n": counts.astype(int).tolist(),
        "row": (sample.rows[rows] + 1).tolist(),
        "names": [sample.names[j] for j in order],
        "values": None if sample.values.meanings is None else [sample.values.labels(int(j)) for j in order],
        "head": f"{sample.values.ones[0].upper()}{sample.values.ones[1:]}",
        "ones": [np.flatnonzero(row == 1.0).tolist() for row in cells],
        "blank": [np.flatnonzero(np.isnan(row)).tolist() for row in cells],
        "beside": others,
    }
    rank = np.argsort(order)
    groups = [("Other columns", [(f"b{k}", str(column["name"])) for k, column in enumerate(others)])] if others else []
    groups.append(("Binary columns", [(f"c{rank[j]}", sample.names[j]) for j in range(len(order))]))
    return data, groups, _first_color(context, others, rank, change)


def _as_codes(key: str, values: list[str]) -> dict[str, Any]:
    """Return a metadata column as labels and codes; numbers are sorted by value, other labels by frequency."""
    counts = Counter(values)
    numbers = [_number(value) for value in counts if value]
    numeric = bool(numbers) and all(number is not None for number in numbers)
    if numeric:
        labels = sorted(counts, key=lambda value: (_number(value) is None, _number(value) or 0.0, value))
    else:
        labels = sorted(counts, key=lambda value: (-counts[value], value))
    code_of = {label: k for k, label in enumerate(labels)}
    return {
        "name": plain(key),
        "labels": [plain(label) if label else "(missing)" for label in labels],
        "codes": [code_of[value] for value in values],
        "numeric": numeric and len(labels) > MAX_COLORS,
    }


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _first_color(context: Context, columns: list[dict[str, Any]], rank: NDArray[np.intp], change: Floats) -> str:
    """Return the column that colors the map first.

    In this order: the requested column, a metadata column with few values, the classes, the column that changes most.
    """
    sample = context.sample
    if context.color is not None:
        if context.color in sample.beside:
            return f"b{list(sample.beside).index(context.color) + len(columns) - len(sample.beside)}"
        return f"c{rank[sample.own_names.index(context.color)]}"
    others = range(len(columns) - len(sample.beside), len(columns))
    with_few = [k for k in others if 1 < len(columns[k]["labels"]) <= MAX_COLORS]
    with_words = [k for k in with_few if not all(_number(label) is not None for label in columns[k]["labels"])]
    chosen = [*with_words, *with_few, *range(len(columns) - len(sample.beside))]
    return f"b{chosen[0]}" if chosen else f"c{rank[int(np.argmax(np.abs(change[0])))]}"

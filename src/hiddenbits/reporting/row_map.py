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
from hiddenbits.reporting.svg import WIDTH, Drawing, Square, arrows, regions
from hiddenbits.reporting.text import InteractiveMap, Section, TextTable, count, name, names, plain, points, sentence

MOST_POINTS = 3_000
MOST_ONES = 500_000  # 1s and missing values stored with the dots: more would make the file large
BINS, BINS_ALONE = 48, 28  # squares across that count rows: behind dots, and without dots
FEW = 7  # categories that have a color each
REGIONS = 8  # classes that are named on the map

Places = NDArray[np.int64]
_Panel = tuple[dict[str, Any] | None, Sequence[tuple[str, Sequence[tuple[str, str]]]], str]


def chart(context: Context) -> Section:
    """Draw the map."""
    fit, sample = _model(context), context.sample
    where = np.asarray(fit.model.transform(sample.cells), np.float64)[:, :2]
    every_scale = _between_edges(fit)
    moved = every_scale[:2]
    toward = [_toward(moved[axis], sample) for axis in (0, 1)]
    opening = sentence(
        "{}; rows that lie close together are similar. Further to the right, rows more often have {}; further up, {}.",
        "Each dot is a row" if context.rows else "Each square counts rows",
        names(toward[0], 3),
        names(toward[1], 3),
    )
    if context.fits.curved:
        opening += " This holds on average: on a curved map a column may be common in several regions."
    if whose := _whose_scales(context, fit):
        opening += sentence(" {}", whose)
    square = Square(where)
    first, counts = _dots(sample, where) if context.rows else (np.zeros(0, np.int64), np.zeros(0))
    every = int(counts.sum()) == len(where)
    classes = _class_probabilities(context)
    drawing = _drawn(context, square, where, first, counts, classes, moved, binned=not every)
    empty: _Panel = (None, (), "")
    data, choices, chosen = _panel(context, square, where, first, counts, classes, moved) if context.rows else empty
    top = np.argsort(-np.hypot(*moved), kind="stable")[:30]
    same = TextTable(
        f"The map as a table: how much more often a column is {sample.values.one}, by the model, in the quarter of the "
        "rows at one end of a dimension than in the quarter at the other",
        ["column", *_ends(len(every_scale))],
        [[name(sample.names[j]), *(points(float(scale[j])) for scale in every_scale)] for j in top],
        frozenset(range(1, 1 + len(every_scale))),
    )
    caption = _caption(context, len(first), int(counts.sum()), classes=_named(classes))
    parts = [InteractiveMap(drawing, caption, data, choices, chosen, same)]
    how = [("latent positions", f"{fit.line}.transform(table)")]
    return Section("map", "The map of rows", opening, parts, how)


def _model(context: Context) -> Fit:
    """Return the model whose first two dimensions the map shows: that of the findings, or one of its own."""
    fit = None if context.fits.curved else described_fit(context)
    return fit if fit is not None and fit.name in DIMENSIONAL and len(fit.model.components_) > 1 else context.fits.map


def _between_edges(fit: Fit) -> Floats:
    """Return how much more often each column is 1 at the upper end of each dimension than at the lower.

    These are differences of the model's shares in the quarters of the rows at both ends; (dimensions, columns).
    """
    if not hasattr(fit.model, "points_"):
        ends = [end_shares(fit.model, axis) for axis in range(len(fit.model.components_))]
        return np.stack([upper - lower for upper, lower in ends])
    order = np.argsort(fit.model.points_, axis=0, kind="stable")  # points of equal weight
    probabilities, n = fit.model.probabilities_, max(1, round(END * len(order)))
    return np.stack([probabilities[rows[-n:]].mean(axis=0) - probabilities[rows[:n]].mean(axis=0) for rows in order.T])


def _ends(scales: int) -> list[str]:
    return ["right against left", "top against bottom", *(f"ends of dimension {k + 1}" for k in range(2, scales))]


def _whose_scales(context: Context, fit: Fit) -> str:
    """Return which dimensions the map shows, if the findings describe another number of them, or another model."""
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


def _named(classes: Floats | None) -> bool:
    """Whether names on the map are those of classes; otherwise they are those of columns, on arrows."""
    return classes is not None and classes.shape[1] <= REGIONS


def _toward(moved: Floats, sample: Sample) -> list[str]:
    """Return the columns that are more often 1 in this direction, the strongest first."""
    order = np.argsort(-moved, kind="stable")
    columns = [sample.names[j] for j in order[:3] if moved[j] > 0.25 * np.abs(moved).max(initial=0.0)]
    return columns or ["no column in particular"]


def _caption(context: Context, dots: int, shown: int, *, classes: bool) -> Markup:
    """Describe what the map shows and what it leaves out."""
    n, every = len(context.sample.rows), context.sample.look.n_rows
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


def _dots(sample: Sample, where: Floats) -> tuple[Places, Floats]:
    """Return the first row of every dot and how many rows share it; too many rows are subsampled at random."""
    n = len(where)
    cells = np.nan_to_num(sample.cells, nan=2.0).astype(np.uint8)
    stored = max(1.0, float((cells > 0).sum(axis=1).mean()))  # 1s and missing values in a row
    most = int(min(MOST_POINTS, max(100.0, MOST_ONES / stored)))
    first, counts = _alike(cells, sample, np.arange(n))
    if len(first) <= most:
        return first, counts
    rng = np.random.default_rng([sample.seed, 3])
    return _alike(cells, sample, np.sort(rng.choice(n, min(most, n), replace=False)))


def _alike(cells: Bytes, sample: Sample, rows: Places) -> tuple[Places, Floats]:
    """Return the first of each set of equal rows, and how many there are."""
    rows_of: dict[tuple[Any, ...], list[int]] = {}
    beside = list(sample.beside.values())
    for i in rows:
        rows_of.setdefault((cells[i].tobytes(), *(values[i] for values in beside)), []).append(int(i))
    sets = sorted(rows_of.values(), key=lambda same: -len(same))  # large dots first: small ones are drawn on top
    return np.array([same[0] for same in sets]), np.array([len(same) for same in sets], float)


def _radius(counts: Floats) -> Floats:
    base = 5.0 if len(counts) < 200 else 4.0 if len(counts) < 1000 else 3.0
    return np.minimum(base * np.sqrt(counts), 4.0 * base)


def _drawn(
    context: Context,
    square: Square,
    where: Floats,
    first: Places,
    counts: Floats,
    classes: Floats | None,
    moved: Floats,
    *,
    binned: bool,
) -> Markup:
    """Draw dots, and where not all rows are dots, squares that count them; then arrows, or names of regions."""
    words = "Map of the rows; a table below shows how each column changes over it."
    drawn = Drawing(WIDTH, square.height, words, "chart")
    square.axes(drawn)
    if binned:
        side = WIDTH / (BINS if len(first) else BINS_ALONE)
        bins, held = np.unique((square(where) // side).astype(int), axis=0, return_counts=True)
        for (c, r), n in zip(bins, held, strict=True):
            half = 0.5 * side * np.sqrt(n / held.max())
            style = "bin" if len(first) else "k0"
            drawn.bar((c + 0.5) * side - half, (r + 0.5) * side - half, 2 * half, 2 * half, style, count(int(n), "row"))
    for (x, y), r in zip(square(where[first]), _radius(counts), strict=True):
        shape = f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
        drawn.add('<path class="p k0" d="{}"/>', shape)
    drawn.add('<g class="names">')
    if classes is not None and _named(classes):
        centers = (classes.T @ where) / np.maximum(classes.sum(axis=0), 1e-9)[:, None]
        regions(drawn, square, centers, [f"class {k + 1}" for k in range(classes.shape[1])])
    else:
        arrows(drawn, square, moved, context.sample.names)
    drawn.add("</g>")
    return drawn.done()


def _panel(
    context: Context,
    square: Square,
    where: Floats,
    first: Places,
    counts: Floats,
    classes: Floats | None,
    moved: Floats,
) -> _Panel:
    """Return the data for the script, the columns to color by, and the first one to show."""
    sample = context.sample
    places = square(where[first])
    order = np.argsort(sample.shares, kind="stable")  # the rarest first: they are the most informative about a row
    cells = sample.cells[first][:, order]
    extra = [_coded(key, [values[i] for i in first]) for key, values in sample.beside.items()]
    if classes is not None:
        labels = [f"class {k + 1}" for k in range(classes.shape[1])]
        codes = classes[first].argmax(axis=1).tolist()
        extra.insert(0, {"name": "most probable class", "labels": labels, "codes": codes, "numeric": False})
    data = {
        "x": [round(float(x), 1) for x in places[:, 0]],
        "y": [round(float(y), 1) for y in places[:, 1]],
        "r": [round(float(r), 1) for r in _radius(counts)],
        "n": counts.astype(int).tolist(),
        "row": (sample.rows[first] + 1).tolist(),
        "names": [sample.names[j] for j in order],
        "values": None if sample.values.meanings is None else [sample.values.labels(int(j)) for j in order],
        "head": f"{sample.values.ones[0].upper()}{sample.values.ones[1:]}",
        "ones": [np.flatnonzero(row == 1.0).tolist() for row in cells],
        "blank": [np.flatnonzero(np.isnan(row)).tolist() for row in cells],
        "beside": extra,
    }
    back = np.argsort(order)
    groups = [("Other columns", [(f"b{k}", str(column["name"])) for k, column in enumerate(extra)])] if extra else []
    groups.append(("Binary columns", [(f"c{back[j]}", sample.names[j]) for j in range(len(order))]))
    return data, groups, _first(context, extra, back, moved)


def _coded(key: str, values: list[str]) -> dict[str, Any]:
    """Return another column as labels and codes; numbers are in order, other labels by frequency."""
    counts = Counter(values)
    numbers = [_number(value) for value in counts if value]
    numeric = bool(numbers) and all(number is not None for number in numbers)
    if numeric:
        labels = sorted(counts, key=lambda value: (_number(value) is None, _number(value) or 0.0, value))
    else:
        labels = sorted(counts, key=lambda value: (-counts[value], value))
    place = {label: k for k, label in enumerate(labels)}
    return {
        "name": plain(key),
        "labels": [plain(label) if label else "(missing)" for label in labels],
        "codes": [place[value] for value in values],
        "numeric": numeric and len(labels) > FEW,
    }


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _first(context: Context, extra: list[dict[str, Any]], back: NDArray[np.intp], moved: Floats) -> str:
    """Return the column that colors the map first.

    It is the requested one, or one with few values, or the classes, or the column that changes most over the map.
    """
    sample = context.sample
    if context.color is not None:
        if context.color in sample.beside:
            return f"b{list(sample.beside).index(context.color) + len(extra) - len(sample.beside)}"
        return f"c{back[sample.own_names.index(context.color)]}"
    others = range(len(extra) - len(sample.beside), len(extra))
    few = [k for k in others if 1 < len(extra[k]["labels"]) <= FEW]
    words = [k for k in few if not all(_number(label) is not None for label in extra[k]["labels"])]
    chosen = [*words, *few, *range(len(extra) - len(sample.beside))]
    return f"b{chosen[0]}" if chosen else f"c{back[int(np.argmax(np.abs(moved[0])))]}"

"""Start values of item response models: slopes from the first singular vectors of some rows.

With columns in standard deviations, the first singular vectors give each row a rough position. The correlation of an
item with it becomes a slope by the relation of factor analysis, a = 1.7 r / sqrt(1 - r^2). Intercepts follow from the
margins of the whole table. Other restarts begin with random slopes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data.layout import Layout
from hiddenbits.data.rows_by_content import weighted_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.item_response.response import OF_BITS, Kind
from hiddenbits.families.nodes.columns import levels
from hiddenbits.model_api import Key, Passes

START_ROWS = 4096
LOGISTIC_TO_NORMAL = 1.7
MAX_CORRELATION = 0.85  # of an item with a position
MIN_SHARE = 1e-3  # of a level, for its intercept


class StartSettings(NamedTuple):
    """What of a model its start depends on; `slopes` is "free", "equal" or "fixed"."""

    layout: Layout
    kinds: tuple[Kind, ...]
    loads: NDArray[np.bool_]
    n_continuous: int
    slopes: str
    guess: float
    points: Floats


def first_params(settings: StartSettings, summary: ColumnSums, key: Key, passes: Passes) -> ItemParams:
    """Return the first parameters of a restart."""
    layout, kinds, loads, c = settings.layout, settings.kinds, settings.loads, settings.n_continuous
    q = loads.shape[1]
    means = levels.normalize_levels(summary.means[:, None], layout)[:, 0] if layout.sizes else summary.means
    rows, weights = weighted_rows(START_ROWS, key, passes)
    bits, numbers = np.split(rows, [len(means)], axis=1)
    of_numbers = summary.numbers
    z = np.nan_to_num((numbers - of_numbers.means) / of_numbers.scales)
    values, column_of = _scored(bits, means, layout, kinds)
    values, column_of = np.hstack([values, z]), np.append(column_of, len(layout.sizes) + np.arange(z.shape[1]))
    noise = key.rng().standard_normal((len(loads), q))
    positions = _positions(values, column_of, loads, weights)
    correlations = _correlations(values, positions, weights)
    if key.restart:
        correlations = correlations + 0.4 * noise[column_of]
    r = np.clip(correlations, -MAX_CORRELATION, MAX_CORRELATION) * loads[column_of]
    slopes = LOGISTIC_TO_NORMAL * r / np.sqrt(np.maximum(1.0 - (r**2).sum(axis=1, keepdims=True), 0.2))
    of_bits, intercepts = _bit_numbers(settings.slopes, slopes, column_of, means, layout, kinds)
    of_z = len(column_of) - z.shape[1]
    number_slopes = r[of_z:].copy()
    rates = np.maximum(of_numbers.means[c:], 1e-3)
    number_slopes[c:] *= (of_numbers.scales[c:] / rates)[:, None] * 0.5
    number_slopes[c:] = np.clip(number_slopes[c:], -2.0, 2.0)
    of_rates = np.log(rates) - 0.5 * (number_slopes[c:] ** 2).sum(axis=1)
    return ItemParams(
        points=settings.points,
        correlations=np.eye(q),
        slopes=of_bits,
        intercepts=intercepts,
        guesses=np.full(len(means), settings.guess),
        types=np.repeat([float(OF_BITS.index(kind)) for kind in kinds], layout.sizes),
        columns=layout.columns.astype(np.float64),
        centers=of_numbers.means[:c],
        scales=of_numbers.scales[:c],
        noise=np.clip(1.0 - (number_slopes[:c] ** 2).sum(axis=1), 0.1, 1.0),
        prior_rates=np.maximum(of_numbers.means[c:], 1e-9),
        number_slopes=number_slopes,
        number_intercepts=np.concatenate([np.zeros(c), of_rates]),
    )


def _scored(bits: Floats, means: Floats, layout: Layout, kinds: tuple[str, ...]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the columns as numbers, centered, 0 where missing, and the column of each: nominal levels are apart."""
    x, columns, out = (bits > 0.0).astype(np.float64), list[int](), list[Floats]()
    for column, (start, size, kind) in enumerate(zip(layout.starts, layout.sizes, kinds, strict=True)):
        cells = slice(start, start + size)
        if size == 1:
            out.append(np.where(bits[:, start] == 0.0, 0.0, x[:, start] - means[start]))
            columns.append(column)
            continue
        observed = x[:, cells].sum(axis=1) > 0.0
        if kind == "nominal":
            out += [np.where(observed, x[:, start + m] - means[start + m], 0.0) for m in range(size)]
            columns += [column] * size
        else:
            level = np.arange(size)
            out.append(np.where(observed, x[:, cells] @ level - means[cells] @ level, 0.0))
            columns.append(column)
    return np.stack(out, axis=1) if out else np.zeros((len(bits), 0)), np.array(columns, np.intp)


def _positions(values: Floats, column_of: NDArray[np.intp], loads: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return rough positions of the rows, (rows, q), in standard deviations: each axis by its columns."""
    spread = np.sqrt(np.average(values**2, axis=0, weights=weights))
    scaled = values / np.where(spread > 0.0, spread, 1.0)
    q = loads.shape[1]
    if loads.all():
        return _first_vectors(scaled, weights, q)
    out = np.empty((len(values), q))
    for axis in range(q):
        own = scaled[:, loads[column_of, axis]]
        if axis and (loads[:, 0].all() or own.shape[1] < 2):  # what a general factor leaves of a group
            g = out[:, :1]
            own = own - g * ((g * weights[:, None]).T @ own) / max(float(weights @ g[:, 0] ** 2), 1e-300)
        out[:, axis] = _first_vectors(own, weights, 1)[:, 0] if own.shape[1] else 0.0
    return out


def _first_vectors(scaled: Floats, weights: Floats, q: int) -> Floats:
    """Return the rows along the first eigenvectors of the columns' covariances, as standard deviations."""
    vectors = np.linalg.eigh((scaled * weights[:, None]).T @ scaled)[1][:, ::-1][:, :q]
    vectors = vectors * np.where(vectors.sum(axis=0) < 0.0, -1.0, 1.0)
    positions = scaled @ vectors
    sd = np.sqrt(np.average(positions**2, axis=0, weights=weights))
    positions /= np.where(sd > 0.0, sd, 1.0)
    return np.hstack([positions, np.zeros((len(scaled), q - positions.shape[1]))])


def _correlations(values: Floats, positions: Floats, weights: Floats) -> Floats:
    sd = np.sqrt(np.average(values**2, axis=0, weights=weights))
    products = (values * weights[:, None]).T @ positions / weights.sum()
    return np.asarray(products / np.where(sd > 0.0, sd, 1.0)[:, None])


def _bit_numbers(
    mode: str, slopes: Floats, column_of: NDArray[np.intp], means: Floats, layout: Layout, kinds: tuple[str, ...]
) -> tuple[Floats, Floats]:
    """Return slopes, (d, q), and intercepts, (d,), of bits."""
    out, intercepts = np.zeros((len(means), slopes.shape[1])), np.zeros(len(means))
    p = np.clip(means, MIN_SHARE, 1.0 - MIN_SHARE)
    for column, (start, size, kind) in enumerate(zip(layout.starts, layout.sizes, kinds, strict=True)):
        own = slopes[column_of == column]
        if kind != "nominal" and mode != "free":
            own = np.ones_like(own)
        levels_of = np.arange(1, size)
        if size == 1:
            out[start], intercepts[start] = own[0], np.log(p[start] / (1.0 - p[start]))
        elif kind == "graded":
            above = 1.0 - np.cumsum(p[start : start + size] / p[start : start + size].sum())[:-1]
            out[start + 1 : start + size] = own[0]
            intercepts[start + 1 : start + size] = np.log(above / (1.0 - above))
        else:
            steps = own[1:] - own[:1] if kind == "nominal" else levels_of[:, None] * own[0] / (size - 1)
            if kind != "nominal" and mode != "free":
                steps = levels_of[:, None] * own[0]
            out[start + 1 : start + size] = steps
            intercepts[start + 1 : start + size] = np.log(p[start + 1 : start + size] / p[start])
    return out, intercepts

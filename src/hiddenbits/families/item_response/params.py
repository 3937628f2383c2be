"""The parameters of an item response model at any positions, and at the nodes of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params, Range
from hiddenbits.data.layout import Layout
from hiddenbits.families.item_response import grid
from hiddenbits.families.item_response.response import OF_BITS, Kind, level_probabilities
from hiddenbits.families.nodes.mixed import FINITE, POSITIVE, MixedParams
from hiddenbits.families.nodes.params import COLUMN_NUMBERS, NodeParams, NodeScores
from hiddenbits.maths.numerics import LARGEST_LOGIT, within

LARGEST = 50.0  # of a slope, an intercept and a logit of guessing; slopes above about 10 are not estimable
BOUNDED = within(LARGEST)
LARGEST_LOG_RATE = 40.0
SMALLEST_WEIGHT = 1e-300  # of a node, so that its logarithm is finite
NOISE_FLOOR, MOST_NOISE = 0.005, 1e4  # least and largest noise, as a share of the variance of a continuous column
TYPES = Range(lambda types: bool(np.isin(types, range(len(OF_BITS))).all()), "must be types of items")
CORRELATIONS = Range(
    lambda r: bool(np.isfinite(r).all() and np.allclose(np.diag(r), 1.0) and np.linalg.eigvalsh(r)[0] > 0.0),
    "must be correlations",
)


class Items(NamedTuple):
    """Items of one kind with the same number of levels: their bits, (J, bits), or their columns of numbers, (J, 1)."""

    kind: Kind
    cells: NDArray[np.intp]


@lru_cache(maxsize=64)
def items_of(types: bytes, columns: bytes, n_continuous: int, n_numbers: int) -> tuple[Items, ...]:
    """Return the items by kind and number of levels."""
    layout, kinds = Layout.of_columns(np.frombuffer(columns)), np.frombuffer(types)
    by_kind = dict[tuple[int, int], list[NDArray[np.intp]]]()
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        by_kind.setdefault((int(kinds[start]), size), []).append(np.arange(start, start + size))
    numbers = np.arange(n_numbers)[:, None]
    of_numbers = [Items("continuous", numbers[:n_continuous]), Items("count", numbers[n_continuous:])]
    of_bits = [Items(OF_BITS[kind], np.array(cells)) for (kind, _), cells in sorted(by_kind.items())]
    return (*of_bits, *(items for items in of_numbers if len(items.cells)))


@dataclass(frozen=True, eq=False)
class ItemParams(Params):
    """Slopes and intercepts of the predictors (`response.py`) of each bit and each number; nodes and their prior.

    A binary column has the predictor of its bit, a column of levels one for each level but the first, whose slope and
    intercept are 0. `guesses` are logits of guessing, `noise` variances of continuous columns in units of
    z = (x - center) / scale. With group factors (`bifactor.py`) the two axes are the general factor and the group's.
    """

    points: Annotated[Floats, "K q", within(100.0)]
    correlations: Annotated[Floats, "q q", CORRELATIONS]
    slopes: Annotated[Floats, "d? q", BOUNDED]
    intercepts: Annotated[Floats, "d?", BOUNDED]
    guesses: Annotated[Floats, "d?", BOUNDED]
    types: Annotated[Floats, "d?", TYPES]
    columns: Annotated[Floats, "d?", COLUMN_NUMBERS]
    centers: Annotated[Floats, "c?", FINITE]
    scales: Annotated[Floats, "c?", POSITIVE]
    noise: Annotated[Floats, "c?", POSITIVE]
    prior_rates: Annotated[Floats, "r?", POSITIVE]
    number_slopes: Annotated[Floats, "s? q", BOUNDED]
    number_intercepts: Annotated[Floats, "s?", BOUNDED]

    @property
    def n_components(self) -> int:
        """Number of axes, q."""
        return int(self.points.shape[1])

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return len(self.number_intercepts)

    @property
    def n_continuous(self) -> int:
        """Number of continuous columns, which are the first columns of numbers."""
        return len(self.centers)

    @cached_property
    def layout(self) -> Layout:
        """Which bits belong to which column."""
        return Layout.of_columns(self.columns)

    @property
    def items_key(self) -> tuple[bytes, bytes, int, int]:
        """What the items follow from: types and columns of bits, numbers of columns of numbers."""
        return self.types.tobytes(), self.columns.tobytes(), self.n_continuous, self.n_numbers

    @property
    def items(self) -> tuple[Items, ...]:
        """The items by kind and number of levels."""
        return items_of(*self.items_key)

    def coefficients(self, items: Items) -> Floats:
        """Return slopes and intercept of each predictor, (J, M, q + 1)."""
        cells = items.cells
        if items.kind in ("continuous", "count"):
            joint = np.column_stack([self.number_slopes, self.number_intercepts])[cells]
            if items.kind == "count":
                return joint
            second = np.zeros_like(joint)
            second[:, 0, -1] = np.log(self.noise)
            return np.concatenate([joint, second], axis=1)
        of_levels = cells if cells.shape[1] == 1 else cells[:, 1:]
        joint = np.concatenate([self.slopes, self.intercepts[:, None]], axis=1)[of_levels]
        if items.kind == "guessing":
            second = np.zeros_like(joint)
            second[:, 0, -1] = self.guesses[cells[:, 0]]
            return np.concatenate([joint, second], axis=1)
        return joint

    def with_coefficients(self, of_items: list[tuple[Items, Floats]]) -> Self:
        """Return parameters with other coefficients of some items, (J, M, q + 1)."""
        arrays = {
            name: getattr(self, name).copy()
            for name in ("slopes", "intercepts", "guesses", "number_slopes", "number_intercepts", "noise")
        }
        for (kind, cells), values in of_items:
            bounded = np.clip(values, -LARGEST, LARGEST)
            prefix = "number_" if kind in ("continuous", "count") else ""
            of_levels = cells if cells.shape[1] == 1 else cells[:, 1:]
            predictors = bounded[:, : of_levels.shape[1]]
            arrays[f"{prefix}slopes"][of_levels] = predictors[..., :-1]
            arrays[f"{prefix}intercepts"][of_levels] = predictors[..., -1]
            if kind == "guessing":
                arrays["guesses"][cells[:, 0]] = bounded[:, 1, -1]
            if kind == "continuous":
                arrays["noise"][cells[:, 0]] = np.clip(np.exp(bounded[:, 1, -1]), NOISE_FLOOR, MOST_NOISE)
        return replace(self, **arrays)

    def predictors(self, items: Items, points: Floats) -> Floats:
        """Return the predictors at some points, (J, M, points)."""
        return np.asarray(self.coefficients(items) @ np.column_stack([points, np.ones(len(points))]).T)

    def probabilities_at(self, points: Floats) -> Floats:
        """Return P(x = 1) and P(level) at some points, (d, points)."""
        out = np.empty((self.n_columns, len(points)))
        for items in self.items:
            if items.kind in OF_BITS:
                p = level_probabilities(items.kind, self.predictors(items, points))
                out[items.cells] = p if items.cells.shape[1] > 1 else p[:, 1:]
        return out

    def numbers_at(self, points: Floats) -> Floats:
        """Return the expected numbers at some points, (numbers, points): of continuous columns in units of z."""
        eta = self.number_slopes @ points.T + self.number_intercepts[:, None]
        eta[self.n_continuous :] = np.exp(np.clip(eta[self.n_continuous :], -LARGEST_LOG_RATE, LARGEST_LOG_RATE))
        return np.asarray(eta)

    def at(self, points: Floats, log_weights: Floats | None = None) -> NodeParams:
        """Return the mixture whose nodes are these points, by default all of the same weight."""
        weights = np.full(len(points), 1.0 / len(points))
        if log_weights is not None:
            weights = np.maximum(np.exp(log_weights), SMALLEST_WEIGHT)
        p = self.probabilities_at(points)
        bits = NodeParams.of(weights, p, np.full(len(p), 0.5), self.layout)
        if not self.n_numbers:
            return bits
        numbers, q = self.numbers_at(points), self.n_continuous
        return MixedParams(
            **bits.to_arrays(),
            centers=self.centers,
            scales=self.scales,
            means=numbers[:q],
            covariances=np.repeat(self.noise[:, None, None], len(points), axis=2),
            prior_rates=self.prior_rates,
            rates=numbers[q:],
        )

    @cached_property
    def at_nodes(self) -> NodeParams:
        """The mixture at the nodes."""
        return self.at(self.points, grid.log_weights(self.points, self.correlations))

    @property
    def weights(self) -> Floats:
        """The weights of the nodes."""
        return self.at_nodes.weights

    @property
    def probabilities(self) -> Floats:
        """P(x = 1) and P(level) at the nodes, (d, K)."""
        return self.at_nodes.probabilities

    @property
    def scores(self) -> NodeScores:
        """The coefficients of ln P(x, node)."""
        return self.at_nodes.scores

    def rotated(self, rotation: Floats) -> Self:
        """Return the same model with its axes rotated or reflected by an orthogonal matrix, (q, q)."""
        turned = {name: getattr(self, name) @ rotation for name in ("slopes", "number_slopes")}
        return replace(self, **turned, correlations=rotation.T @ self.correlations @ rotation)

    @property
    def is_answer(self) -> NDArray[np.bool_]:
        """Which bits have a predictor: all but the lowest level of each column."""
        out = np.ones(self.n_columns, bool)
        out[self.layout.starts[np.array(self.layout.sizes) > 1]] = False
        return out

    def guessing(self) -> Floats:
        """Return the probability of guessing of each bit, 0 of items without."""
        of_guessing = self.types == OF_BITS.index("guessing")
        g = 1.0 / (1.0 + np.exp(-np.clip(self.guesses, -LARGEST_LOGIT, LARGEST_LOGIT)))
        return np.where(of_guessing, g, 0.0)

"""Scores of rows under item response models, and the observed information, for standard errors.

Coordinates are the free numbers of the items (`coordinates.py`; graded items have their thresholds), then atanh of the
partial correlations. Given its node, a row has the score T' [s x (z, 1)] of each item, with s the derivatives of
ln P(answer) by the predictors. The score of the row is its posterior mean (Fisher's identity), and the information is
E[-S'] - E[S S'] + E[S] E[S]' (Louis). Axes that may be rotated are identified by orthogonal slopes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.families.item_response.coordinates import ItemCoordinates, ItemNumbers
from hiddenbits.families.item_response.correlations import as_coordinates, as_correlations, slopes_of_log_weights
from hiddenbits.families.item_response.model import ItemResponse
from hiddenbits.families.item_response.params import LARGEST, LARGEST_LOG_RATE, NOISE_FLOOR, ItemParams
from hiddenbits.families.item_response.response import OF_BITS, curvatures, level_probabilities, slopes
from hiddenbits.maths.free_parameters import FreeParameters, Quantity

ALL = slice(None)
NEGLIGIBLE = 1e-12  # posterior of a node, relative to the largest of all rows
BOUNDARY = 0.999  # of the largest slope or intercept
STEP = 1e-5  # of a coordinate, to differentiate what is reported: the error is about its square


class Answers(NamedTuple):
    """The answers of the rows of a block: the level of each column of bits (-1: missing), and numbers, z or counts."""

    levels: NDArray[np.intp]
    numbers: Floats


def answers_of(params: ItemParams, block: Block) -> Answers:
    """Return the answers of a block."""
    layout, x = params.layout, block.x.to_dense()
    recorded = layout.recorded(block.x, block.observed)
    out = np.empty((block.n_rows, len(layout.sizes)), np.intp)
    for column, (start, size) in enumerate(zip(layout.starts, layout.sizes, strict=True)):
        level = x[:, start] if size == 1 else x[:, start : start + size].argmax(axis=1)
        out[:, column] = np.where(recorded[:, start] == 1, level.astype(np.intp), -1)
    numbers = np.zeros((block.n_rows, 0)) if block.numbers is None else block.numbers.copy()
    c = params.n_continuous
    numbers[:, :c] = (numbers[:, :c] - params.centers) / params.scales
    return Answers(out, numbers)


class ItemSlopes(NamedTuple):
    """The derivatives of one group of items at all nodes: predictors (J, M, K), and first ones (J, L, M, K)."""

    group: ItemNumbers
    eta: Floats
    p: Floats
    first: Floats
    columns: NDArray[np.intp]  # of bits, or of numbers

    @property
    def is_number(self) -> bool:
        """Whether the items are columns of numbers."""
        return self.group.items.kind not in OF_BITS

    def subset(self, chosen: NDArray[np.bool_]) -> ItemSlopes:
        """Return some of the items."""
        if chosen.all():
            return self
        items = self.group.items._replace(cells=self.group.items.cells[chosen])
        group = self.group._replace(items=items, places=self.group.places[chosen])
        return ItemSlopes(group, self.eta[chosen], self.p[chosen], self.first[chosen], self.columns[chosen])

    def at_node(self, answers: Answers, k: int) -> Floats:
        """Return s of each row's answers if it is at node k, (n, J, M), 0 where missing."""
        if self.is_number:
            return self._of_numbers(answers.numbers[:, self.columns], self.eta[:, :, k])
        table = np.concatenate([self.first[..., k], np.zeros_like(self.first[:, :1, :, k])], axis=1)  # missing last
        return np.asarray(table[np.arange(len(self.columns)), answers.levels[:, self.columns]])

    def _of_numbers(self, values: Floats, eta: Floats) -> Floats:
        """Return s of numbers (n, J) at predictors (J, M)."""
        observed = ~np.isnan(values)
        if self.group.items.kind == "count":
            return np.where(observed, values - np.exp(np.minimum(eta[:, 0], LARGEST_LOG_RATE)), 0.0)[..., None]
        residual, v = np.where(observed, values - eta[:, 0], 0.0), np.exp(eta[:, 1])
        return np.stack([residual / v, 0.5 * (residual**2 / v - observed)], axis=2)

    def posterior_means(self, answers: Answers, r: Floats, extended: Floats, nodes: slice = ALL) -> Floats:
        """Return Sum_k r_nk s (z_k, 1)' of each row, by the numbers of each item, (n, J, P)."""
        eta, width = self.eta[..., nodes], extended.shape[1]
        n, (J, M, K) = len(r), eta.shape
        out = np.zeros((n, J, M, width))
        if not self.is_number:
            for level in range(self.p.shape[1]):
                table = (self.first[:, level, :, nodes, None] * extended).transpose(2, 0, 1, 3).reshape(K, -1)
                mask = (answers.levels[:, self.columns] == level)[:, :, None, None]
                out += np.where(mask, (r @ table).reshape(n, J, M, width), 0.0)
        else:
            values = answers.numbers[:, self.columns]
            observed, x = ~np.isnan(values), np.nan_to_num(values)
            if self.group.items.kind == "count":
                rates = np.exp(np.minimum(eta[:, 0], LARGEST_LOG_RATE))
                expected = [r @ (rates.T[:, :, None] * extended[:, None, :]).reshape(K, -1)]
                out[:, :, 0] = x[:, :, None] * (r @ extended)[:, None] - expected[0].reshape(n, J, width)
            else:
                mean, v = eta[:, 0], np.exp(eta[:, 1, 0])
                by_mean = (r @ (mean.T[:, :, None] * extended[:, None, :]).reshape(K, -1)).reshape(n, J, width)
                out[:, :, 0] = (x[:, :, None] * (r @ extended)[:, None] - by_mean) / v[:, None]
                share = r.sum(axis=1, keepdims=True)  # below 1 if only some of the nodes are given
                squares = x**2 * share - 2.0 * x * (r @ mean.T) + r @ (mean.T**2)
                out[:, :, 1, -1] = 0.5 * (squares / v - share)
            out *= observed[:, :, None, None]
        return np.asarray(out.reshape(n, J, -1) @ self.group.design)

    def curvature(self, answers: Answers, wr: Floats, extended: Floats) -> Floats:
        """Return Sum_n,k wr_nk E[-S'] of each item, (J, P, P)."""
        (J, M, K), width = self.eta.shape, extended.shape[1]
        W = np.zeros((J, M, M, K))
        if not self.is_number:
            second = curvatures(self.group.items.kind, self.eta, self.p, self.first)
            for level in range(self.p.shape[1]):
                counts = (answers.levels[:, self.columns] == level).T.astype(np.float64) @ wr
                W += counts[:, None, None] * second[:, level]
        else:
            values = answers.numbers[:, self.columns]
            observed, x = (~np.isnan(values)).astype(np.float64), np.nan_to_num(values)
            rows, sums, squares = observed.T @ wr, x.T @ wr, (x**2).T @ wr
            if self.group.items.kind == "count":
                W[:, 0, 0] = rows * np.exp(np.minimum(self.eta[:, 0], LARGEST_LOG_RATE))
            else:
                mean, v = self.eta[:, 0], np.exp(self.eta[:, 1])
                W[:, 0, 0], W[:, 0, 1] = rows / v, (sums - rows * mean) / v
                W[:, 1, 0], W[:, 1, 1] = W[:, 0, 1], 0.5 * (squares - 2.0 * mean * sums + rows * mean**2) / v
        outer = (extended[:, :, None] * extended[:, None, :]).reshape(K, -1)
        blocks = (W @ outer).reshape(J, M, M, width, width).transpose(0, 1, 3, 2, 4).reshape(J, M * width, M * width)
        return np.asarray(self.group.design.T @ blocks @ self.group.design)


@dataclass(frozen=True, eq=False)
class ItemScoreFunction:
    """The score function of an item response model at given parameters."""

    model: ItemResponse
    params: ItemParams

    @cached_property
    def coordinates(self) -> ItemCoordinates:
        """Which numbers of the items are free."""
        return self.model.coordinates(self.params)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return self.coordinates.size + self.model.n_correlations

    @cached_property
    def _extended(self) -> Floats:
        return np.column_stack([self.params.points, np.ones(len(self.params.points))])

    @cached_property
    def _slopes(self) -> list[ItemSlopes]:
        params, out = self.params, list[ItemSlopes]()
        for group in self.coordinates.groups:
            kind, cells = group.items
            eta = params.predictors(group.items, params.points)
            columns = cells[:, 0]
            if kind not in OF_BITS:
                out.append(ItemSlopes(group, eta, eta, eta, columns))
                continue
            p = level_probabilities(kind, eta)
            out.append(ItemSlopes(group, eta, p, slopes(kind, eta, p), params.columns[columns].astype(np.intp)))
        return out

    @cached_property
    def _of_correlations(self) -> tuple[Floats, Floats]:
        return slopes_of_log_weights(self.params.points, self.params.correlations)

    @cached_property
    def _vector(self) -> Floats:
        """The coordinates of the parameters."""
        values = [group.read(self.params) for group in self.coordinates.groups]
        of_correlations = as_coordinates(self.params.correlations)[: self.model.n_correlations]
        return np.concatenate([self.coordinates.vector(values), of_correlations])

    def free_parameters(self, weight: float) -> FreeParameters:
        """Return the coordinates; those at the largest value have a border."""
        size, prior = self.n_coordinates, self.model.guessing_prior
        gradient, curvature, border = np.zeros(size), np.zeros((size, size)), np.zeros(size, bool)
        border[: self.coordinates.size] = np.abs(self._vector[: self.coordinates.size]) >= BOUNDARY * LARGEST
        for group in self.coordinates.groups:
            last = group.places[:, -1]
            if group.items.kind == "guessing":
                gradient[last] = -(self._vector[last] - prior.mean) / prior.sd**2
                curvature[last, last] = 1.0 / prior.sd**2
            if group.items.kind == "continuous":
                border[last] |= self._vector[last] <= np.log(1.01 * NOISE_FLOOR)
        reported, jacobian = self._reported(self.params), self._jacobian
        ends = np.cumsum([quantity.values.size for quantity in reported]).tolist()
        quantities = [
            replace(quantity, jacobian=jacobian[start:end])
            for quantity, start, end in zip(reported, [0, *ends], ends, strict=False)
        ]
        return FreeParameters(
            vector=self._vector,
            prior_gradient=gradient,
            prior_curvature=curvature,
            border=border,
            ties=self._ties(),
            quantities=tuple(quantities),
        )

    @cached_property
    def _jacobian(self) -> Floats:
        """The derivatives of all reported numbers by the coordinates, as differences: most are linear in them."""
        columns = []
        for step in STEP * np.eye(self.n_coordinates):
            up, down = (self._reported(self.params_at(self._vector + shift)) for shift in (step, -step))
            columns.append((np.concatenate([*map(_flat, up)]) - np.concatenate([*map(_flat, down)])) / (2.0 * STEP))
        return np.stack(columns, axis=1)

    def _ties(self) -> Floats:
        """Return the gradients of the orthogonality of axes that may be rotated: it depends on all slopes."""
        q = self.params.n_components
        if not self.model.can_rotate:
            return np.zeros((0, self.n_coordinates))
        a = np.concatenate([self.params.slopes, self.params.number_slopes])
        moved = [self.params_at(self._vector + step) for step in np.eye(self.n_coordinates)]
        slopes_of = np.stack([np.concatenate([other.slopes, other.number_slopes]) - a for other in moved], axis=2)
        pairs = [(i, j) for i in range(q) for j in range(i + 1, q)]
        return np.stack([a[:, i] @ slopes_of[:, j] + a[:, j] @ slopes_of[:, i] for i, j in pairs])

    def _reported(self, params: ItemParams) -> list[Quantity]:
        """Return the reported parameters, without derivatives."""
        kinds, none = {group.items.kind for group in self.coordinates.groups}, np.zeros((0, self.n_coordinates))
        by_dimension = partial(self.model.by_dimension, params=params)
        a, b = by_dimension(params.slopes, numbers=False)[params.is_answer], params.intercepts[params.is_answer]
        reported = [Quantity("slopes", a, none, ("answer", "dimension")), Quantity("intercepts", b, none, ("answer",))]
        if params.n_components == 1 and not {"nominal", "partial_credit"} & kinds and (a != 0.0).all():
            reported.append(Quantity("difficulties", -b / a[:, 0], none, ("answer",)))
        if "guessing" in kinds:
            g = params.guessing()
            reported.append(Quantity("guessing", g[g > 0.0], none, ("guessing item",), "probability"))
        number_slopes = by_dimension(params.number_slopes, numbers=True)
        reported.append(Quantity("number_slopes", number_slopes, none, ("number", "dimension")))
        reported.append(Quantity("number_intercepts", params.number_intercepts, none, ("number",)))
        reported.append(Quantity("noise", params.noise, none, ("continuous",), "positive"))
        if self.model.correlated:
            below = params.correlations[np.tril_indices(params.n_components, -1)]
            reported.append(Quantity("correlations", below, none, ("pair of dimensions",)))
        return [quantity for quantity in reported if quantity.values.size]

    def params_at(self, vector: Floats) -> ItemParams:
        """Return the parameters at a vector of coordinates."""
        coordinates = self.coordinates
        values = coordinates.spread(vector[: coordinates.size], self.params)
        moved = coordinates.with_numbers(values, self.params)
        if not self.model.correlated:
            return moved
        return replace(moved, correlations=as_correlations(vector[coordinates.size :], self.params.n_components))

    def probability_slopes(self) -> Floats:
        """Return the derivatives of P(x = 1) and P(level) at the nodes by the coordinates, (K, d, coordinates)."""
        params, K = self.params, len(self.params.points)
        out = np.zeros((K, params.n_columns, self.n_coordinates))
        for item_slopes in self._slopes:
            if not item_slopes.is_number:
                (J, M, _), cells = item_slopes.eta.shape, item_slopes.group.items.cells
                lift = self._lift(item_slopes).reshape(J, M, -1, self.n_coordinates)
                by_predictor = np.einsum("jmwc,kw->kjmc", lift, self._extended)
                of_levels = np.einsum("jlk,jlmk,kjmc->kjlc", item_slopes.p, item_slopes.first, by_predictor)
                out[:, cells] = of_levels if cells.shape[1] > 1 else of_levels[:, :, 1:]
        return out

    def weight_slopes(self) -> Floats:
        """Return the derivatives of the logs of the nodes' weights by the coordinates, (K, coordinates)."""
        out = np.zeros((len(self.params.points), self.n_coordinates))
        if self.model.correlated:
            out[:, self.coordinates.size :] = self._of_correlations[0]
        return out

    @cached_property
    def _parts(self) -> list[list[ItemSlopes]]:
        """The items whose answers share a posterior of the nodes: all, or those of each group factor."""
        parts = []
        for bit_columns, number_columns in self.model.column_groups(self.params):
            chosen = [(s, (number_columns if s.is_number else bit_columns)[s.columns]) for s in self._slopes]
            parts.append([s.subset(of_part) for s, of_part in chosen if of_part.any()])
        return parts

    @cached_property
    def _lifts(self) -> list[Floats]:
        """How coordinates enter the predictors of each part, (predictors, node vector, coordinates)."""
        size, n_correlations = self.n_coordinates, self.model.n_correlations
        of_prior = np.zeros((min(n_correlations, 1), self._vectors.shape[1], size))
        for number in range(n_correlations):
            of_prior[0, number - n_correlations, number - n_correlations] = 1.0
        out = []
        for part in self._parts:
            of_items = [self._lift(item_slopes) for item_slopes in part]
            width = self._vectors.shape[1] - n_correlations
            lift = np.zeros((sum(map(len, of_items)), self._vectors.shape[1], size))
            lift[:, :width] = np.concatenate(of_items)
            out.append(np.concatenate([lift, of_prior]))
        return out

    @cached_property
    def _vectors(self) -> Floats:
        """What multiplies the scores of predictors at each node: (z, 1), and the slopes of ln pi by correlations."""
        return np.hstack([self._extended, self._of_correlations[0]]) if self.model.correlated else self._extended

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        answers, posteriors = answers_of(self.params, block), self.model.posteriors(self.params, block)
        return self._gradients(answers, posteriors)

    def _gradients(self, answers: Answers, posteriors: list[Floats]) -> Floats:
        out = np.zeros((len(answers.levels), self.n_coordinates))
        for r, part in zip(posteriors, self._parts, strict=True):
            for item_slopes in part:
                _add_columns(out, item_slopes.posterior_means(answers, r, self._extended), item_slopes.group.places)
            if self.model.correlated:
                out[:, self.coordinates.size :] = r @ self._of_correlations[0]
        return out

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood."""
        answers, w, size = answers_of(self.params, block), block.weights, self.n_coordinates
        posteriors = self.model.posteriors(self.params, block)
        g = self._gradients(answers, posteriors)
        total = (g * w[:, None]).T @ g
        for r, part, lift in zip(posteriors, self._parts, self._lifts, strict=True):
            wr = r * w[:, None]
            for item_slopes in part:
                blocks = item_slopes.curvature(answers, wr, self._extended)
                for places, values in zip(item_slopes.group.places, blocks, strict=True):
                    free = places >= 0
                    np.add.at(total, np.ix_(places[free], places[free]), values[np.ix_(free, free)])
            total -= self._squares(answers, wr, part, lift)
        if self.model.correlated:
            of_correlations = slice(self.coordinates.size, size)
            total[of_correlations, of_correlations] -= np.tensordot(wr.sum(axis=0), self._of_correlations[1], axes=1)
        return total if len(posteriors) == 1 else total - self._between_groups(answers, posteriors, w)

    def _between_groups(self, answers: Answers, posteriors: list[Floats], w: Floats) -> Floats:
        """Return Sum_n w_n E[S S'] between items of different group factors, which are independent given the general.

        It is the sum over the general factor of the products of mean scores given it.
        """
        total, m = np.zeros((self.n_coordinates,) * 2), round(np.sqrt(len(self._extended)))
        for first in range(0, m * m, m):
            nodes, of_groups = slice(first, first + m), list[Floats]()
            weights = w / np.maximum(posteriors[0][:, nodes].sum(axis=1), 1e-300)
            for r, part in zip(posteriors, self._parts, strict=True):
                means = np.zeros((len(w), self.n_coordinates))
                for item_slopes in part:
                    given = item_slopes.posterior_means(answers, r[:, nodes], self._extended[nodes], nodes)
                    _add_columns(means, given, item_slopes.group.places)
                of_groups.append(means)
            of_all = np.sum(of_groups, axis=0)
            total += (of_all * weights[:, None]).T @ of_all
            total -= np.sum([(means * weights[:, None]).T @ means for means in of_groups], axis=0)
        return total

    def _squares(self, answers: Answers, wr: Floats, part: list[ItemSlopes], lift: Floats) -> Floats:
        """Return Sum_nk wr_nk S S': products of the scores of predictors at each node, combined by its vector.

        Products are summed with the elements of v v', v the vector of the node, and become coordinates at the end.
        """
        size, width = len(lift), lift.shape[1]
        pairs = [(a, b) for a in range(width) for b in range(a, width)]
        sums = np.zeros((len(pairs), size, size))
        for k, v in enumerate(self._vectors):
            weights = wr[:, k]
            rows = np.flatnonzero(weights > NEGLIGIBLE * weights.max(initial=0.0))
            some = Answers(answers.levels[rows], answers.numbers[rows])
            s = [item_slopes.at_node(some, k).reshape(len(rows), -1) for item_slopes in part]
            s += [np.ones((len(rows), 1))] * self.model.correlated
            joint = np.concatenate(s, axis=1)
            products = (joint * weights[rows, None]).T @ joint
            for of_pair, (a, b) in zip(sums, pairs, strict=True):
                of_pair += v[a] * v[b] * products
        total = np.zeros((self.n_coordinates,) * 2)
        for of_pair, (a, b) in zip(sums, pairs, strict=True):
            term = lift[:, a].T @ of_pair @ lift[:, b]
            total += term if a == b else term + term.T
        return total

    def _lift(self, item_slopes: ItemSlopes) -> Floats:
        """Return how coordinates enter the predictors of items, (J M, q + 1, coordinates)."""
        group, width = item_slopes.group, self._extended.shape[1]
        design = group.design.reshape(-1, width, group.design.shape[1])
        out = np.zeros((len(group.places), len(design), width, self.n_coordinates))
        for of_item, places in zip(out, group.places, strict=True):
            for number in np.flatnonzero(places >= 0):
                of_item[:, :, places[number]] += design[:, :, number]
        return out.reshape(-1, width, self.n_coordinates)


def _flat(quantity: Quantity) -> Floats:
    return quantity.values.ravel()


def _add_columns(out: Floats, values: AnyArray, index: NDArray[np.intp]) -> None:
    """Add values (n, J, P) to the columns of `out` that the index names; -1: none."""
    free = index >= 0
    places, columns = index[free], values[:, free]
    if len(np.unique(places)) == len(places):
        out[:, places] += columns
    else:
        for place, column in zip(places, columns.T, strict=True):  # equal slopes share a place
            out[:, place] += column

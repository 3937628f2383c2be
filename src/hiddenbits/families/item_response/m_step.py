"""The M-step of items: a small regression of expected counts on the nodes, by Newton steps with Fisher's information.

An item maximizes Q = Sum_lk C_lk ln P(level l | z_k) over its numbers b, with C the expected counts of its levels. With
predictors eta = B (z, 1) and B = T b,

    gradient = T' Sum_k G_k (z_k, 1)',  G_mk = Sum_l C_lk d ln P_l / d eta_m
    information = T' [ Sum_k N_k E_l(s s') x (z_k, 1)(z_k, 1)' ] T,  s = d ln P_l / d eta

A step that lowers Q is halved, so EM never falls. The work does not depend on the rows of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.families.item_response.coordinates import ItemCoordinates, ItemNumbers
from hiddenbits.families.item_response.params import LARGEST, LARGEST_LOG_RATE, NOISE_FLOOR, ItemParams
from hiddenbits.families.item_response.response import level_probabilities, slopes
from hiddenbits.families.nodes.columns.real import LOG_2PI
from hiddenbits.families.nodes.mixed import MixedCounts
from hiddenbits.families.nodes.params import NodeCounts

NEWTON_STEPS = 1
MAX_HALVINGS = 12
RELATIVE_ROUNDING = 1e-13  # a smaller relative decrease is rounding: equal tables must have equal steps
MIN_CURVATURE = 1e-10  # relative to the largest of an item: keeps equations of unobserved levels solvable


class GuessingPrior(NamedTuple):
    """The normal prior of the logit of guessing: by default its median is .25."""

    mean: float = -1.1
    sd: float = 0.5


DEFAULT_PRIOR = GuessingPrior()


class Sums(NamedTuple):
    """Expected sums of the items of a group at the nodes: (J, L, K), or Sum r, Sum r x, Sum r x^2 of numbers."""

    values: Floats

    @property
    def rows(self) -> Floats:
        """Expected number of observed cells, (J, K)."""
        return np.asarray(self.values.sum(axis=1))


def sums_of(group: ItemNumbers, stats: NodeCounts) -> Sums:
    """Return the sums of a group's items."""
    kind, cells = group.items
    if isinstance(stats, MixedCounts) and kind in ("continuous", "count"):
        rows = stats.recorded if kind == "continuous" else stats.counted
        sums = stats.sums if kind == "continuous" else stats.events
        rows = np.broadcast_to(rows, sums.shape)
        squares = stats.products[:, 0] if kind == "continuous" else np.zeros_like(sums)
        return Sums(np.stack([rows, sums, squares], axis=1))
    ones = stats.ones[cells]
    if cells.shape[1] > 1:
        return Sums(ones)
    observed = np.broadcast_to(stats.observed, stats.ones.shape)[cells]
    return Sums(np.concatenate([observed - ones, ones], axis=1))


def updated(
    params: ItemParams, coordinates: ItemCoordinates, stats: NodeCounts, points: Floats, prior: GuessingPrior
) -> ItemParams:
    """Return the parameters with the numbers of all items after Newton steps."""
    extended = np.column_stack([points, np.ones(len(points))])
    squares = (extended[:, :, None] * extended[:, None, :]).reshape(len(points), -1)
    values, sums = [], []
    for group in coordinates.groups:
        sums.append(sums_of(group, stats))
        values.append(group.read(params))
    if coordinates.has_shared:
        values = _together(coordinates, values, sums, extended, squares, prior)
    else:
        values = [
            _one_by_one(group, numbers, of_group, extended, squares, prior)
            for group, numbers, of_group in zip(coordinates.groups, values, sums, strict=True)
        ]
    return coordinates.with_numbers(values, params)


def expected_log_likelihood(
    group: ItemNumbers, numbers: Floats, sums: Sums, extended: Floats, prior: GuessingPrior
) -> Floats:
    """Return Q of each item, (J,), with the log prior of guessing."""
    kind, eta = group.items.kind, group.coefficients(numbers) @ extended.T
    if kind == "count":
        log_rates = np.clip(eta[:, 0], -LARGEST_LOG_RATE, LARGEST_LOG_RATE)
        return np.asarray((sums.values[:, 1] * log_rates - sums.values[:, 0] * np.exp(log_rates)).sum(axis=1))
    if kind == "continuous":
        mean, log_v = eta[:, 0], eta[:, 1]
        n, first, second = sums.values.transpose(1, 0, 2)
        deviations = second - 2.0 * mean * first + mean**2 * n
        return np.asarray(-0.5 * (deviations * np.exp(-log_v) + n * (log_v + LOG_2PI)).sum(axis=1))
    p = level_probabilities(kind, eta)
    valid = (p > 0.0).all(axis=(1, 2))
    logs = np.log(np.where(p > 0.0, p, 1.0))
    out = np.where(valid, np.einsum("jlk,jlk->j", sums.values, logs), -np.inf)
    if kind == "guessing":
        out = out - 0.5 * ((numbers[:, -1] - prior.mean) / prior.sd) ** 2
    return np.asarray(out)


def _equations(
    group: ItemNumbers, numbers: Floats, sums: Sums, extended: Floats, squares: Floats, prior: GuessingPrior
) -> tuple[Floats, Floats]:
    """Return the gradient of Q, (J, P), and the information, (J, P, P)."""
    kind, eta = group.items.kind, group.coefficients(numbers) @ extended.T
    J, M, _ = eta.shape
    if kind == "count":
        rates = np.exp(np.clip(eta, -LARGEST_LOG_RATE, LARGEST_LOG_RATE))
        n = sums.values[:, :1]
        G, W = sums.values[:, 1:2] - n * rates, (n * rates)[:, :, None]
    else:
        p = level_probabilities(kind, eta)
        s = slopes(kind, eta, p)
        G = np.einsum("jlk,jlmk->jmk", sums.values, s)
        weighted = s * (p * sums.rows[:, None])[:, :, None]
        W = np.stack([(weighted * s[:, :, m : m + 1]).sum(axis=1) for m in range(M)], axis=1)
    width = extended.shape[1]
    gradient = (G @ extended).reshape(J, -1) @ group.design
    of_predictors = (W @ squares).reshape(J, M, M, width, width).transpose(0, 1, 3, 2, 4).reshape(J, M * width, -1)
    information = group.design.T @ of_predictors @ group.design
    if kind == "guessing":
        gradient[:, -1] -= (numbers[:, -1] - prior.mean) / prior.sd**2
        information[:, -1, -1] += 1.0 / prior.sd**2
    return gradient, information


def _one_by_one(
    group: ItemNumbers, numbers: Floats, sums: Sums, extended: Floats, squares: Floats, prior: GuessingPrior
) -> Floats:
    """Return the numbers of items that share none with others."""
    if group.items.kind == "continuous":
        return _linear(group, numbers, sums, extended, squares)
    best, P = expected_log_likelihood(group, numbers, sums, extended, prior), numbers.shape[1]
    fixed = group.places < 0
    for _ in range(NEWTON_STEPS):
        gradient, information = _equations(group, numbers, sums, extended, squares, prior)
        step = _solved(gradient, information, fixed)
        numbers, best, stuck = _halved(
            lambda moved: expected_log_likelihood(group, moved, sums, extended, prior), numbers, step, best
        )
        if stuck.all() or not P:
            break
    return numbers


def _solved(gradient: Floats, information: Floats, fixed: NDArray[np.bool_]) -> Floats:
    """Return Newton steps, 0 for fixed numbers."""
    P = gradient.shape[1]
    diagonal = np.arange(P)
    largest = np.maximum(information[:, diagonal, diagonal].max(axis=1, initial=0.0), 1e-300)
    matrix = np.where(fixed[:, :, None] | fixed[:, None, :], 0.0, information)
    matrix[:, diagonal, diagonal] += np.where(fixed, largest[:, None], MIN_CURVATURE * largest[:, None])
    return np.linalg.solve(matrix, np.where(fixed, 0.0, gradient)[..., None])[..., 0]


def _halved(objective, numbers: Floats, step: Floats, best: Floats):  # type: ignore[no-untyped-def]
    """Return numbers + step, with the steps of items halved while their objective would fall."""
    for _ in range(MAX_HALVINGS):
        moved = np.clip(numbers + step, -LARGEST, LARGEST)
        new = objective(moved)
        fell = ~(new >= best - RELATIVE_ROUNDING * np.abs(best))
        if not fell.any():
            break
        step = np.where(np.expand_dims(fell, -1), 0.5 * step, step)
    kept = np.expand_dims(fell, -1)
    return np.where(kept, numbers, moved), np.where(fell, best, new), fell


def _linear(group: ItemNumbers, numbers: Floats, sums: Sums, extended: Floats, squares: Floats) -> Floats:
    """Return the regression of continuous columns on the nodes, in closed form, and their noise variances."""
    n, first, second = sums.values.transpose(1, 0, 2)
    width, J = extended.shape[1], len(numbers)
    fixed = group.places[:, :width] < 0
    matrix = (n @ squares).reshape(J, width, width)
    right = first @ extended - np.einsum("jab,jb->ja", matrix, np.where(fixed, numbers[:, :width], 0.0))
    solved = np.where(fixed, numbers[:, :width], _solved(right, matrix, fixed))
    mean = solved @ extended.T
    deviations = (second - 2.0 * mean * first + mean**2 * n).sum(axis=1)
    total = n.sum(axis=1)
    variance = np.maximum(deviations / np.where(total > 0.0, total, 1.0), NOISE_FLOOR)
    return np.column_stack([solved, np.log(variance)])


def _together(
    coordinates: ItemCoordinates,
    values: Sequence[Floats],
    sums: Sequence[Sums],
    extended: Floats,
    squares: Floats,
    prior: GuessingPrior,
) -> list[Floats]:
    """Return the numbers of all items, of which some are the same: one Newton step for all."""
    groups, current, free_of = coordinates.groups, list(values), list[NDArray[np.bool_]]()
    for number, (group, of_group) in enumerate(zip(groups, sums, strict=True)):
        if group.items.kind == "continuous":
            current[number] = _linear(group, current[number], of_group, extended, squares)
        free_of.append(group.places >= 0)

    def objective(vector: Floats) -> Floats:
        parts = zip(groups, _spread(groups, vector, current), sums, strict=True)
        return np.asarray(sum(expected_log_likelihood(g, v, s, extended, prior).sum() for g, v, s in parts))

    vector = coordinates.vector(current)
    best = objective(vector)
    for _ in range(NEWTON_STEPS):
        gradient, information = np.zeros(coordinates.size), np.zeros((coordinates.size,) * 2)
        for group, numbers, of_group, free in zip(groups, _spread(groups, vector, current), sums, free_of, strict=True):
            if group.items.kind == "continuous":  # done
                index = group.places[free]
                information[index, index] = 1.0
                continue
            g, H = _equations(group, numbers, of_group, extended, squares, prior)
            np.add.at(gradient, group.places[free], g[free])
            for of_item, h, is_free in zip(group.places, H, free, strict=True):
                places = of_item[is_free]
                information[np.ix_(places, places)] += h[np.ix_(is_free, is_free)]
        step = _solved(gradient[None], information[None], np.zeros((1, len(gradient)), bool))[0]
        vector, best, stuck = _halved(objective, vector, step, best)
        if stuck:
            break
    return _spread(groups, vector, current)


def _spread(groups: Sequence[ItemNumbers], vector: Floats, values: Sequence[Floats]) -> list[Floats]:
    pairs = zip(groups, values, strict=True)
    return [np.where(group.places >= 0, vector[group.places], numbers) for group, numbers in pairs]

"""The score of a row (gradient of ln P(row)) and the observed information of latent classes, for standard errors.

Coordinates: ln pi_k - ln pi_c for every class k except the largest, c; then, class by class, logit(theta_kj) of a
binary column, ln p_kl - ln p_kc for every level l except the most probable one in the class, c, the mean m of a
continuous column (in units of its scale), ln rate of a count, and ln v of a continuous column, which classes may share.
Fixed parameters have none. If the class k of a row were known, its complete-data score S would be [k = l] - pi_l for
each class l, and in class k, with o_j = 1 if the cell of its column is observed,

    o_j (x_j - theta_kj)   of a bit          o_j (z_j - m_kj) / v_kj                   of a mean
    o_j (x_j - rate_kj)    of a ln rate      o_j ((z_j - m_kj)^2 / v_kj - 1) / 2       of ln v

The score of the row is the posterior mean of S (Fisher's identity), and its information E[-S'] - Var[S] (Louis).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.levels import softmax_levels
from hiddenbits.families.nodes.columns.real import TIED, VARIANCE_FLOOR
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeParams, with_kept
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, shares_at, sigmoid

BOUNDARY_ROWS = 0.01  # a probability is at the boundary if fewer rows of its class are expected to have the rarer value


@dataclass(frozen=True, eq=False)
class ClassScoreFunction:
    """The score function of latent classes at given parameters; covariances between columns have no coordinates."""

    model: Classes
    params: NodeParams

    @property
    def fixed(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which parameters are fixed, by the name of their array."""
        return self.model.fixed or {}

    @property
    def free_classes(self) -> NDArray[np.intp]:
        """The classes whose weight has a coordinate: all but the largest, or none if they are fixed."""
        if "weights" in self.fixed and self.fixed["weights"].all():
            return np.zeros(0, np.intp)
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    @cached_property
    def _arrays(self) -> list[Floats]:
        """Probabilities, means, rates and variances of each class, (K, numbers), in units of z."""
        params, none = self.params, np.zeros((len(self.params.weights), 0))
        if not isinstance(params, MixedParams):
            return [params.probabilities.T, none, none, none]
        variances = np.diagonal(params.covariances).T if params.has_covariances else params.covariances[:, 0].T
        return [params.probabilities.T, params.means.T, params.rates.T, np.reshape(variances, params.means.T.shape)]

    @cached_property
    def _parts(self) -> list[slice]:
        """Where bits, means, rates and variances are in the list of all parameters of a class."""
        ends = np.cumsum([array.shape[1] for array in self._arrays]).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def _is_free(self) -> NDArray[np.bool_]:
        """Which parameters of each class have a coordinate, (K, parameters of a class)."""
        theta, layout, params = self._arrays[0], self.params.layout, self.params
        is_free = np.ones((len(theta), self._parts[-1].stop), bool)
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            if size > 1:
                is_free[np.arange(len(theta)), start + theta[:, start : start + size].argmax(axis=1)] = False
        for name, part in zip(("probabilities", "means", "rates", "covariances"), self._parts, strict=True):
            if name in self.fixed and part.stop > part.start:
                mask = self.fixed[name]
                is_free[:, part] &= ~(mask[:, 0] if mask.ndim == 3 else mask).T
        if isinstance(params, MixedParams) and params.has_covariances:
            is_free[:, self._parts[-1]] = False
        return is_free

    @cached_property
    def _coordinates(self) -> list[NDArray[np.intp]]:
        """The coordinate of each free parameter of each class."""
        numbers = np.cumsum(self._is_free.ravel()).reshape(self._is_free.shape) - 1 + len(self.free_classes)
        if self.model.covariance_type in TIED:  # the variances of the first class are those of all
            of_class = self._is_free.copy()
            of_class[1:, self._parts[-1]] = False
            numbers = np.cumsum(of_class.ravel()).reshape(of_class.shape) - 1 + len(self.free_classes)
            numbers[:, self._parts[-1]] = numbers[0, self._parts[-1]]
        return [row[free] for row, free in zip(numbers, self._is_free, strict=True)]

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return max((int(of_class.max(initial=-1)) for of_class in self._coordinates), default=-1) + 1 or len(
            self.free_classes
        )

    def _jacobian(self, k: int) -> Floats:
        """Return the derivatives of the parameters of a class by their coordinates, (parameters, parameters).

        theta (1 - theta) for a binary column; diag(p) - p p' for the levels of a column; 1, rate and v for numbers.
        """
        theta, layout = self._arrays[0][k], self.params.layout
        same_column = layout.is_level[:, None] & (layout.columns[:, None] == layout.columns)
        of_bits = np.diag(theta * np.where(layout.is_level, 1.0, 1.0 - theta)) - same_column * np.outer(theta, theta)
        _, means, rates, variances = (array[k] for array in self._arrays)
        jacobian = np.diag(np.concatenate([theta, np.ones(len(means)), rates, variances]))
        jacobian[: len(theta), : len(theta)] = of_bits
        return np.asarray(jacobian)

    def free_parameters(self, weight: float) -> FreeParameters:
        """Return the coordinates of a fit to rows of this weight."""
        params, s, free_classes = self.params, self.model.prior_strength, self.free_classes
        pi, m, is_level, p = params.weights, params.prior_mean, params.layout.is_level, self.n_coordinates
        theta, means, rates, variances = self._arrays
        K, n, log_pi = len(pi), len(free_classes), np.log(pi)
        empty_class = weight * pi < BOUNDARY_ROWS
        rarer = np.where(is_level, theta, np.minimum(theta, 1.0 - theta))
        at_boundary = (weight * pi[:, None] * np.hstack([rarer, rates]) < BOUNDARY_ROWS) & (s == 0.0)
        borders = np.hstack(
            [
                at_boundary[:, : theta.shape[1]],
                np.zeros(means.shape, bool),
                at_boundary[:, theta.shape[1] :],
                variances <= 2.0 * VARIANCE_FLOOR,
            ]
        )
        logits = params.scores.x_coefs.T
        if not params.layout.all_binary:
            largest = np.maximum.reduceat(np.log(theta), params.layout.starts, axis=1)[:, params.layout.columns]
            logits = np.where(is_level, np.log(theta) - largest, logits)
        prior_rates = params.prior_rates if isinstance(params, MixedParams) else rates[0]
        vector, gradient, border, curvature = np.zeros(p), np.zeros(p), np.zeros(p, bool), np.zeros((p, p))
        jacobian_pi, jacobian_of = np.zeros((K, p)), np.zeros((K, self._parts[-1].stop, p))
        vector[:n], border[:n] = log_pi[free_classes] - log_pi.max(), empty_class[free_classes]
        jacobian_pi[:, :n] = (np.diag(pi) - np.outer(pi, pi))[:, free_classes]
        n_priors = K if self.model.covariance_type in TIED else 1  # of shared variances, the prior counts once
        for k, (free, of_class) in enumerate(zip(self._is_free, self._coordinates, strict=True)):
            jacobian, v = self._jacobian(k), variances[k]
            vector[of_class] = np.concatenate([logits[k], means[k], np.log(rates[k]), np.log(v)])[free]
            slopes = [m - theta[k], 0.0 * means[k], prior_rates - rates[k], 0.5 * (1.0 / v - 1.0) / n_priors]
            gradient[of_class] += s * np.concatenate(slopes)[free]
            curved = jacobian.copy()
            _, of_means, _, of_variances = self._parts
            curved[of_means, of_means], curved[of_variances, of_variances] = 0.0, np.diag(0.5 / v / n_priors)
            curvature[np.ix_(of_class, of_class)] += s * curved[np.ix_(free, free)]
            border[of_class] |= (borders[k] | empty_class[k])[free]
            jacobian_of[k][:, of_class] = jacobian[:, free]
        names = ("probabilities", "means", "rates", "covariances")
        axes, scales = ("column", "continuous", "count", "continuous"), ("probability", "real", "positive", "positive")
        values, units = list(self._arrays), [np.ones(array.shape[1]) for array in self._arrays]
        if isinstance(params, MixedParams):
            values[1], units[1], units[3] = params.original_means.T, params.scales, params.scales**2
            values[3] = variances * units[3]
        quantities = [Quantity("weights", pi, jacobian_pi, ("class",), "probability")]
        in_order = sorted(
            zip(names, axes, scales, values, units, self._parts, strict=True), key=lambda q: q[0] == "rates"
        )
        for name, axis, scale, value, unit, part in in_order:
            if value.size:
                jacobian = (jacobian_of[:, part] * unit[:, None]).reshape(-1, p)
                quantities.append(Quantity(name, value, jacobian, ("class", axis), scale))
        return FreeParameters(vector, gradient, curvature, border, np.zeros((0, p)), tuple(quantities))

    def params_at(self, vector: Floats) -> NodeParams:
        """Return the parameters at a vector of coordinates."""
        params, layout, n = self.params, self.params.layout, len(self.free_classes)
        log_weights = np.zeros(len(params.weights))
        log_weights[self.free_classes] = vector[:n]
        all_coordinates = np.zeros(self._is_free.shape)
        for k, (free, of_class) in enumerate(zip(self._is_free, self._coordinates, strict=True)):
            all_coordinates[k, free] = vector[of_class]
        of_bits, means, log_rates, log_variances = (all_coordinates[:, part].T for part in self._parts)
        logits = np.ascontiguousarray(np.clip(of_bits, -LARGEST_LOGIT, LARGEST_LOGIT))
        theta = sigmoid(logits)
        if not layout.all_binary:
            theta = np.where(layout.is_level[:, None], softmax_levels(logits, layout), theta)
        moved = params.with_values(shares_at(log_weights), theta)
        if isinstance(moved, MixedParams):
            covariances = moved.covariances if moved.has_covariances else np.exp(log_variances)[:, None]
            covariances = np.reshape(covariances, moved.covariances.shape)
            moved = replace(moved, means=means.copy(), rates=np.exp(log_rates), covariances=covariances)
        return with_kept(moved, params, self.fixed)

    def _observed(self, block: Block) -> tuple[Floats, Floats]:
        """Return the cells of bits, continuous columns (z) and counts, 0 where missing, and which are observed."""
        params, x = self.params, block.x.to_dense().astype(np.float64)
        o = params.layout.recorded(block.x, block.observed).astype(np.float64)
        if not isinstance(params, MixedParams) or block.numbers is None:
            return x, o
        numbers = np.hstack([params.standardized(block.numbers), block.numbers[:, len(params.centers) :]])
        return np.hstack([x, np.nan_to_num(numbers)]), np.hstack([o, ~np.isnan(numbers)])

    def _deviations(self, k: int, cells: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Return o (cell - its mean in class k), and o (z - m)^2 / v of continuous columns."""
        (x, o), (theta, means, rates, v) = cells, (array[k] for array in self._arrays)
        residuals = x - o * np.concatenate([theta, means, rates])
        return residuals, residuals[:, self._parts[1]] ** 2 / v

    def _scores_of_class(self, k: int, cells: tuple[Floats, Floats]) -> Floats:
        """Return S of each row if its class is k, by the free parameters of the class."""
        residuals, squares = self._deviations(k, cells)
        of_bits, of_means, of_rates, _ = self._parts
        parts = [residuals[:, of_bits], residuals[:, of_means] / self._arrays[3][k], residuals[:, of_rates]]
        return np.hstack([*parts, 0.5 * (squares - cells[1][:, of_means])])[:, self._is_free[k]]

    def _information_of_class(self, k: int, cells: tuple[Floats, Floats], r: Floats) -> Floats:
        """Return Sum_n r_n E[-S'] by the free parameters of class k."""
        residuals, squares = self._deviations(k, cells)
        free, v, expected = self._is_free[k], self._arrays[3][k], r @ cells[1]
        size, numbers = residuals.shape[1], np.arange(self._parts[-1].stop)
        information = np.zeros((len(numbers),) * 2)
        information[:size, :size] = expected[:, None] * self._jacobian(k)[:size, :size]
        of_means, of_variances = numbers[self._parts[1]], numbers[self._parts[3]]
        information[of_means, of_means] = expected[of_means] / v
        information[of_means, of_variances] = information[of_variances, of_means] = (r @ residuals[:, of_means]) / v
        information[of_variances, of_variances] = 0.5 * (r @ squares)
        return information[np.ix_(free, free)]

    def _gradients(self, r: Floats, scores: list[Floats]) -> Floats:
        """Return the posterior mean of the complete-data score."""
        out = np.zeros((len(r), self.n_coordinates))
        out[:, : len(self.free_classes)] = (r - self.params.weights)[:, self.free_classes]
        for k, of_class in enumerate(self._coordinates):
            out[:, of_class] += r[:, k, None] * scores[k]
        return out

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, cells = self.model.posterior(self.params, self.model.prepare(self.params), block), self._observed(block)
        return self._gradients(r, [self._scores_of_class(k, cells) for k in range(r.shape[1])])

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood: E[-S'] - E[S S'] + E[S] E[S]'."""
        r, cells = self.model.posterior(self.params, self.model.prepare(self.params), block), self._observed(block)
        pi, free_classes, w, K = self.params.weights, self.free_classes, block.weights, len(self.params.weights)
        wr, n = w[:, None] * r, len(free_classes)
        scores = [self._scores_of_class(k, cells) for k in range(K)]
        g = self._gradients(r, scores)
        total = (g * w[:, None]).T @ g  # E[S] E[S]'
        score_pi = np.eye(K) - pi  # row k: [k = l] - pi_l, the score of the class weights if the class is k
        block_pi = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (score_pi * wr.sum(axis=0)[:, None]).T @ score_pi
        total[:n, :n] += block_pi[np.ix_(free_classes, free_classes)]
        for k, of_class in enumerate(self._coordinates):
            weighted = scores[k] * wr[:, k : k + 1]
            cross = np.outer(score_pi[k, free_classes], weighted.sum(axis=0))
            total[:n, of_class] -= cross
            total[of_class, :n] -= cross.T
            total[np.ix_(of_class, of_class)] += self._information_of_class(k, cells, wr[:, k]) - weighted.T @ scores[k]
        return total

"""Parameters, scores and sums of nodes whose columns include numbers: continuous ones and counts.

In blocks, numbers are a second matrix (`Block.numbers`). Their scores are a product, as those of bits are: of features
(z^2, z, the counts, and which cells are observed) with coefficients; the same features times the posterior are the sums
that the M-step needs. Only covariances within nodes need a kernel of their own (`columns/real.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, poisson

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import Range
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.columns import count, real
from hiddenbits.families.nodes.params import NodeCounts, NodeParams, NodeScores

FINITE = Range(lambda array: bool(np.isfinite(array).all()), "must be finite")
POSITIVE = Range(lambda array: bool((np.isfinite(array) & (array > 0.0)).all()), "must be positive")


@dataclass(frozen=True, eq=False)
class MixedParams(NodeParams):
    """Parameters of nodes with q continuous columns and c columns of counts, next to those of bits.

    `centers` and `scales` are those of the table of the fit; `means` and `covariances` (variances only: q, 1, K) are in
    units of z. `prior_rates` are the means of the counts in the table.
    """

    centers: Annotated[Floats, "q?", FINITE]
    scales: Annotated[Floats, "q?", POSITIVE]
    means: Annotated[Floats, "q? K", FINITE]
    covariances: Annotated[Floats, "q? [q] K", FINITE]
    prior_rates: Annotated[Floats, "c?", POSITIVE]
    rates: Annotated[Floats, "c? K", POSITIVE]

    @cached_property
    def scores(self) -> NodeScores:
        """The coefficients of ln P(x, node)."""
        return replace(self._scores_of_bits(), may_vanish=True, numbers=NumberScores(self))

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return len(self.centers) + len(self.rates)

    @property
    def cell_means(self) -> Floats:
        """The expected value of each cell at each node, in the user's units, (d + q + c, K)."""
        return np.concatenate([self.probabilities, self.original_means, self.rates])

    @property
    def original_means(self) -> Floats:
        """The means of continuous columns in the user's units, (q, K)."""
        return self.centers[:, None] + self.scales[:, None] * self.means

    @property
    def original_covariances(self) -> Floats:
        """The variances or covariances in the user's units."""
        other = self.scales[None, :] if self.has_covariances else self.scales[:, None]
        return self.covariances * (self.scales[:, None] * other)[:, :, None]

    @property
    def has_covariances(self) -> bool:
        """Whether columns covary within nodes."""
        return bool(self.covariances.shape[1] > 1)

    def in_own_units(self, name: str, values: Floats) -> Floats:
        """Return values of one array, given in the user's units, in those of the parameters."""
        scales = self.scales[:, None]
        if name == "means":
            return np.asarray((values - self.centers[:, None]) / scales)
        other = self.scales[None, :] if self.has_covariances else scales
        return np.asarray(values / (scales * other)[:, :, None]) if name == "covariances" else values

    def standardized(self, numbers: Floats) -> Floats:
        """Return z of the continuous columns of rows."""
        return np.asarray((numbers[:, : len(self.centers)] - self.centers) / self.scales)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        by_node = self.covariances.transpose(2, 0, 1)
        smallest = np.linalg.eigvalsh(by_node) if self.has_covariances else by_node
        return "covariances must be positive definite" if smallest.min(initial=1.0) <= 0.0 else None


@dataclass(frozen=True, eq=False)
class MixedCounts(NodeCounts):
    """Sums over rows for the M-step of numbers, next to those of bits.

    `sums` and `products` are Sum r z and Sum r z^2 (or Sum r z z'), `events` is Sum r x of counts; `recorded` and
    `counted` are the weights of the observed cells, a single row, `classes`, if none is missing.
    """

    sums: Annotated[Floats, "q? K"]
    products: Annotated[Floats, "q? [q] K"]
    recorded: Annotated[Floats, "[q] K"]
    events: Annotated[Floats, "c? K"]
    counted: Annotated[Floats, "[c] K"]

    of_bits: ClassVar = False  # the log-density of a number may be above 0


@dataclass(frozen=True, eq=False)
class NumberScores:
    """The log-densities of numbers at each node, and their sums."""

    params: MixedParams

    @cached_property
    def _coefficients(self) -> tuple[Floats, Floats]:
        """Coefficients of the features that vary, and of whether each cell is observed."""
        params = self.params
        varying, constant = [np.log(params.rates)], [-params.rates]
        if not params.has_covariances:
            *linear, constants = real.coefficients(params.means, params.covariances[:, 0], params.scales)
            varying, constant = [*linear, *varying], [constants, *constant]
        return np.concatenate(varying), np.concatenate(constant)

    def _features(self, block: Block) -> Features:
        """Return what a block's numbers become; made once if the block keeps its operands."""
        params, numbers = self.params, block.numbers
        assert numbers is not None  # noqa: S101  (the table has the columns of the fit)
        key = (params.centers.tobytes(), params.scales.tobytes(), params.has_covariances)
        if key in block.features:
            features: Features = block.features[key]
            return features
        z, counts = params.standardized(numbers), numbers[:, len(params.centers) :]
        modeled = counts if params.has_covariances else np.concatenate([z, counts], axis=1)
        observed = ~np.isnan(modeled)
        filled = np.where(observed, modeled, 0.0)
        constants = -count.log_factorials(np.where(np.isnan(counts), 0.0, counts)).sum(axis=1, keepdims=True)
        squares = [] if params.has_covariances else [filled[:, : z.shape[1]] ** 2]
        varying = np.concatenate([*squares, filled, constants], axis=1)
        patterns = real.patterns_of(z) if params.has_covariances else []
        features = Features(varying, None if observed.all() else observed.astype(np.float64), patterns)
        if block.keep:
            block.features[key] = features
        return features

    @cached_property
    def _whitening_of_all(self) -> real.Whitening:
        """The whitening of rows without missing values, which all blocks share."""
        return self._whitening(np.ones(len(self.params.centers), bool))

    def _whitening(self, observed: NDArray[np.bool_]) -> real.Whitening:
        return real.whitening(self.params.means, self.params.covariances, self.params.scales, observed)

    def log_densities(self, block: Block) -> Floats:
        """Return ln p(observed numbers | node) of each row, (n, K)."""
        varying, observed, patterns = self._features(block)
        coefficients, constants = self._coefficients
        out = varying[:, :-1] @ coefficients + varying[:, -1:]
        out += constants.sum(axis=0) if observed is None else observed @ constants
        if patterns:
            out += real.log_densities(patterns, lambda o: self._whitening_of_all if o.all() else self._whitening(o))
        return np.asarray(out)

    def sums(self, block: Block, r: Floats, classes: Floats) -> Mapping[str, AnyArray]:
        """Return the fields of `MixedCounts` that rows with these posteriors (times their weights) add."""
        params, q = self.params, len(self.params.centers)
        varying, observed, patterns = self._features(block)
        totals = varying[:, :-1].T @ r
        cells = classes if observed is None else observed.T @ r
        if patterns:
            sums, products = real.moments(patterns, r, params.means, params.covariances)
            recorded, events, counted = classes, totals, cells
        else:
            products, sums, events = totals[:q, None, :], totals[q : 2 * q], totals[2 * q :]
            recorded, counted = (cells, cells) if observed is None else (cells[:q], cells[q:])
        recorded, counted = (part if len(part) else classes for part in (recorded, counted))
        arrays = {"sums": sums, "products": products, "recorded": recorded, "events": events, "counted": counted}
        return {name: np.array(array) for name, array in arrays.items()}

    def fill(self, block: Block, r: Floats) -> Floats:
        """Return the expected value of each number given the row's observed cells, (n, q + c)."""
        params, q = self.params, len(self.params.centers)
        expected = np.asarray(r @ np.concatenate([params.original_means, params.rates]).T)
        if patterns := self._features(block).patterns:
            z = real.imputed(patterns, r, params.means, params.covariances)
            expected[:, :q] = params.centers + params.scales * z
        return expected


class Features(NamedTuple):
    """What the numbers of a block become, whatever the parameters.

    `varying` is (z^2, z, counts), without z if columns covary, and in the last column -Sum ln x!; `observed` is whether
    each of these cells is observed (None: all). `patterns` are the rows by their missing cells if columns covary.
    """

    varying: Floats
    observed: Floats | None
    patterns: list[real.MissingPattern]


def start_of_numbers(
    bits: NodeParams,
    summary: ColumnSums,
    n_continuous: int,
    covariance_type: str,
    numbers: Floats | None = None,
    memberships: Floats | None = None,
    pseudo_rows: float = 1.0,
) -> MixedParams:
    """Return the first parameters: those of the table, or from some rows and their memberships, (rows, K).

    `pseudo_rows` with the means and variances of the table are added to each node.
    """
    q, n_nodes, sums = n_continuous, len(bits.weights), summary.numbers
    centers, scales = sums.means[:q], sums.scales[:q]
    width = q if covariance_type in ("full", "tied") else min(q, 1)
    unit = np.eye(q) if width > 1 else np.ones((q, 1))
    counted = sums.weights[q:]
    prior_rates = (counted * sums.means[q:] + 0.5) / (counted + 1.0)
    means, rates = np.zeros((q, n_nodes)), np.repeat(prior_rates[:, None], n_nodes, axis=1)
    covariances = np.repeat(unit[:, :, None], n_nodes, axis=2).reshape(q, width or 1, n_nodes)
    if numbers is not None and memberships is not None:
        observed = ~np.isnan(numbers)
        cells = observed.T.astype(np.float64) @ memberships
        z = np.where(observed[:, :q], (numbers[:, :q] - centers) / scales, 0.0)
        means = z.T @ memberships / (cells[:q] + pseudo_rows)
        scatter = np.empty(covariances.shape)
        for k in range(n_nodes):
            deviations = np.where(observed[:, :q], z - means[:, k], 0.0)
            weighted = deviations * memberships[:, k : k + 1]
            scatter[:, :, k] = weighted.T @ deviations if width > 1 else (weighted * deviations).sum(axis=0)[:, None]
        of_cells = cells[:q].max(axis=0, keepdims=True, initial=0.0) if width > 1 else cells[:q]
        covariances = real.updated_covariances(scatter, of_cells, pseudo_rows, covariance_type, covariances)
        events = np.where(observed[:, q:], numbers[:, q:], 0.0).T @ memberships
        rates = (events + pseudo_rows * prior_rates[:, None]) / (cells[q:] + pseudo_rows)
    of_table = {"centers": centers, "scales": scales, "prior_rates": prior_rates}
    return MixedParams(**bits.to_arrays(), **of_table, means=means, covariances=covariances, rates=rates)


def log_probability(params: NodeParams, k: int, x: Floats) -> float:
    """Return ln p(row | node k) of one complete row of bits and numbers: the definition."""
    theta, is_level = params.probabilities[:, k], params.layout.is_level
    log_zero = np.where(is_level, 0.0, np.log1p(-theta))
    x, numbers = np.split(x, [len(theta)])
    of_numbers = log_density(params, k, numbers) if isinstance(params, MixedParams) else 0.0
    return float(np.sum(np.where(x == 1, np.log(theta), log_zero)) + of_numbers)


def log_density(params: MixedParams, k: int, numbers: Floats) -> float:
    """Return ln p(numbers | node k) of one complete row: the definition."""
    q = len(params.centers)
    covariance = params.original_covariances[:, :, k]
    covariance = covariance if params.has_covariances else np.diag(covariance[:, 0])
    real_part = multivariate_normal(params.original_means[:, k], covariance).logpdf(numbers[:q]) if q else 0.0
    return float(real_part + poisson.logpmf(numbers[q:], params.rates[:, k]).sum())


def updated_numbers(
    params: MixedParams,
    stats: MixedCounts,
    prior_strength: float,
    covariance_type: str,
    fixed: Mapping[str, AnyArray] | None = None,
) -> dict[str, Any]:
    """M-step: return the means, covariances and rates; `fixed` means stay, and variances are about them."""
    has_rows = stats.recorded > 0.0
    means = np.where(has_rows, stats.sums / np.where(has_rows, stats.recorded, 1.0), params.means)
    if fixed and "means" in fixed:
        means = _means_given(np.where(fixed["means"], params.means, means), means, ~fixed["means"], params)
    cells = np.broadcast_to(stats.recorded, means.shape)[:, None, :]
    m, sums = means[:, None], stats.sums[:, None]
    m_other, other = (means[None], stats.sums[None]) if params.has_covariances else (m, sums)
    scatter = stats.products - m * other - sums * m_other + cells * m * m_other
    return {
        "means": means,
        "covariances": real.updated_covariances(
            scatter, stats.recorded, prior_strength, covariance_type, params.covariances
        ),
        "rates": count.updated_rates(stats.events, stats.counted, params.prior_rates, prior_strength, params.rates),
    }


def _means_given(means: Floats, of_rows: Floats, free: AnyArray, params: MixedParams) -> Floats:
    """Return means of which some are fixed: with covariances, the others move with them, by their regression."""
    if params.has_covariances:
        for k, f in enumerate(free.T):
            precision = np.linalg.inv(params.covariances[:, :, k])
            shift = precision[np.ix_(f, ~f)] @ (means[~f, k] - of_rows[~f, k])
            means[f, k] -= np.linalg.solve(precision[np.ix_(f, f)], shift)
    return means


def log_prior_of_numbers(params: MixedParams, covariance_type: str) -> float:
    """Return the log prior of strength 1 of variances and rates, up to a constant."""
    return real.log_prior(params.covariances, covariance_type) + count.log_prior(params.rates, params.prior_rates)


def numbers_to_vector(params: MixedParams) -> Floats:
    """Return unbounded coordinates of means, variances and rates."""
    return np.concatenate([params.means.ravel(), real.to_vector(params.covariances), np.log(params.rates).ravel()])


def numbers_from_vector(vector: Floats, params: MixedParams) -> dict[str, Any]:
    """Return means, covariances and rates at any coordinates."""
    shape, n_means = params.covariances.shape, params.means.size
    n_spreads = real.n_coordinates(shape)
    return {
        "means": vector[:n_means].reshape(params.means.shape),
        "covariances": real.from_vector(vector[n_means : n_means + n_spreads], shape),
        "rates": count.from_vector(vector[n_means + n_spreads :], params.prior_rates, len(params.weights)),
    }


def sampled_numbers(params: MixedParams, nodes: AnyArray, rng: np.random.Generator) -> Floats:
    """Sample the numbers of rows at these nodes, (n, q + c), in the user's units."""
    q = len(params.centers)
    z = rng.standard_normal((len(nodes), q))
    if params.has_covariances:
        factors = np.linalg.cholesky(params.covariances.transpose(2, 0, 1))
        z = np.einsum("nij,nj->ni", factors[nodes], z)
    else:
        z *= np.sqrt(params.covariances[:, 0]).T[nodes]
    return np.concatenate(
        [params.centers + params.scales * (params.means.T[nodes] + z), rng.poisson(params.rates.T[nodes])], axis=1
    )


def numbers_as_expected(params: MixedParams, classes: Floats) -> dict[str, Floats]:
    """Return the sums of numbers of rows that are exactly as the model expects, for online EM."""
    means = params.means
    cross = means[:, None, :] * (means[None, :, :] if params.has_covariances else means[:, None, :])
    return {
        "sums": means * classes,
        "products": (params.covariances + cross) * classes,
        "recorded": classes[None, :].copy(),
        "events": params.rates * classes,
        "counted": classes[None, :].copy(),
    }

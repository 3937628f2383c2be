"""Row functions of large noisy-OR networks: weighted samples of each row's states; likelihoods with standard errors.

Short Gibbs chains end in a mode near their start, not in each mode according to its probability: to exchange one cause
for another a chain must pass through states that explain nothing. So every row has several annealed chains, half of
them from each of two bases, with importance weights. The error of a mean comes from the variance between chains.

    prior:  P(S) P(x | S)^beta                      from states sampled from the prior
    near:   q(S)^(1 - beta) [ P(S) P(x | S) ]^beta   from units sampled independently, near their posterior marginals
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.gibbs import Children, Network, States, Sweep, log_joints, p_off, sweep, sweep_layer
from hiddenbits.families.noisy_or.layered import Layered
from hiddenbits.families.noisy_or.model import CauseShares
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.maths.annealed_importance import MOST_ERRORS_APART, Path, anneal

MOST_EXACT_CAUSES = 12  # causes of a layer up to which row functions enumerate
N_CHAINS, N_TEMPERATURE_STEPS, N_SWEEPS = 32, 24, 8  # of a row; sweeps at temperature 1 at the end
SEARCH_CHAINS, SEARCH_SWEEPS = 4, 20  # for the most probable state
MOST_ASCENT_SWEEPS = 20  # to the most probable state; usually two or three are enough
LADDERS = (24, 96, 384)  # numbers of temperature steps for a likelihood, tried one after the other
FEWEST_EFFECTIVE_CHAINS = 4.0  # with fewer, the error is unknown
MOST_UNSURE_SHARE = 0.02  # of a block's rows whose estimates disagree after the last ladder
ROWS_AT_ONCE = 256
LEAST_BASE_PROBABILITY = 0.02  # of either state of a unit in the near base
QUICK_CHAINS, QUICK_BURN_IN, QUICK_SWEEPS = 2, 10, 10  # of the approximate marginals for the near base


@dataclass(frozen=True)
class SampledRows(Layered):
    """A network whose row functions use chains.

    Parameters
    ----------
    seed : int
        Seed of what row functions sample.
    """

    seed: int = 0

    def prepare(self, params: NoisyOrParams) -> Network:
        """Return the network with arrays for the sampler."""
        return Network.of(params)

    def _rng(self, block: Block) -> np.random.Generator:
        return np.random.default_rng((self.seed, block.start))

    def log_likelihood(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return ln P(observed cells) of each row; annealed estimates that disagree raise an error."""
        return self.log_likelihood_and_error(params, shared, block)[:, 0]

    def log_likelihood_and_error(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return ln P(observed cells) of each row and its standard error, in two columns."""
        estimates = log_likelihoods(shared, block, self._rng(block))
        return np.column_stack([reliable_values(estimates, block.start), estimates.errors])

    def posterior(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(unit on | observed cells), of all units, the lowest layer first."""
        return marginals(shared, block, self._rng(block)).probabilities

    def posterior_and_error(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return the posterior and its Monte-Carlo standard error, side by side."""
        return np.concatenate(marginals(shared, block, self._rng(block)), axis=1)

    def posterior_mode(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return the most probable joint state of all units that the chains visited."""
        return most_probable(shared, block, self._rng(block))[0]

    def responsibilities(self, params: NoisyOrParams, shared: Network, block: Block) -> CauseShares:
        """Return row and column of every 1, and the share of each cause in it."""
        return sampled_responsibilities(shared, block, self._rng(block))

    def fill(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(cell = 1 | observed cells) of the posterior predictive distribution, for every cell."""
        return cell_probabilities(shared, block, self._rng(block))

    def leave_one_out(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every cell."""
        return leave_one_out_probabilities(shared, block, self._rng(block))


class Marginals(NamedTuple):
    """P(unit on | observed cells) and its Monte-Carlo standard error, both (rows, units), the lowest layer first.

    Attributes
    ----------
    probabilities, errors : ndarray
    """

    probabilities: Floats
    errors: Floats


def weighted_chains(
    network: Network,
    block: Block,
    rng: np.random.Generator,
    visit: Callable[[list[States], Sweep], None],
    n_sweeps: int = N_SWEEPS,
) -> Floats:
    """Call `visit` with the states of all chains after each of several sweeps; return the weights, (chains, rows).

    Row r of chain c is row c n + r. The weights of a row add up to 1.
    """
    n, half = block.n_rows, N_CHAINS // 2
    data = Children.of_block(network.layers[0], block)
    half_data, ladder = tile_rows(data, half), np.linspace(0.0, 1.0, N_TEMPERATURE_STEPS + 1)
    near = np.tile(quick_marginals(network, block, rng), (half, 1))
    path_states, path_log_w = [], []
    for path, betas in ((prior_path(network, half_data), ladder**3), (near_path(network, half_data, near), ladder)):
        path_states.append(path.start(n * half, rng))
        path_log_w.append(anneal(path, path_states[-1], betas.tolist(), rng).reshape(half, n))
    # Both bases are normalized: their weights are comparable.
    states, log_w = [np.concatenate(pair) for pair in zip(*path_states, strict=True)], np.concatenate(path_log_w)
    data = tile_rows(data, N_CHAINS)
    for _ in range(n_sweeps):
        visit(states, sweep(network, data, states, rng, with_odds=True))
    w = np.exp(log_w - log_w.max(axis=0))
    return np.asarray(w / w.sum(axis=0))


def marginals(network: Network, block: Block, rng: np.random.Generator) -> Marginals:
    """Return P(unit on | observed cells) with its error, averaging P(unit on | all other units) (Rao-Blackwell)."""
    p_chain = np.zeros((N_CHAINS, block.n_rows, sum(len(layer.w) - 1 for layer in network.layers)))

    def visit(_: list[States], last: Sweep) -> None:
        np.add(p_chain, expit(np.concatenate(last.odds, axis=1)).reshape(p_chain.shape) / N_SWEEPS, out=p_chain)

    w = weighted_chains(network, block, rng, visit)[:, :, None]
    mean = (w * p_chain).sum(axis=0)
    correction = N_CHAINS / (N_CHAINS - 1.0)  # for the mean, which is from the same chains
    return Marginals(mean, np.sqrt(correction * (w**2 * (p_chain - mean) ** 2).sum(axis=0)))


def most_probable(network: Network, block: Block, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the most probable states found, (rows, units), and their ln P(observed cells, states).

    Coordinate ascent from each chain's best states, until no change of a single unit is better. The best chain wins.
    """
    n = block.n_rows
    data = tile_rows(Children.of_block(network.layers[0], block), SEARCH_CHAINS)
    states = network.sample_states(n * SEARCH_CHAINS, rng)
    best, best_log_joint = [s.copy() for s in states], np.full(n * SEARCH_CHAINS, -np.inf)
    for _ in range(SEARCH_SWEEPS):
        sweep(network, data, states, rng)
        log_joint = log_joints(network, data, states)
        better = log_joint > best_log_joint
        best_log_joint = np.where(better, log_joint, best_log_joint)
        for best_layer, s in zip(best, states, strict=True):
            best_layer[better] = s[better]
    for _ in range(MOST_ASCENT_SWEEPS):
        before = [s.copy() for s in best]
        ascend(network, data, best)
        if all(np.array_equal(a, b) for a, b in zip(before, best, strict=True)):
            break
    final = log_joints(network, data, best).reshape(SEARCH_CHAINS, n)
    winner = final.argmax(axis=0) * n + np.arange(n)
    return np.concatenate([s[winner] for s in best], axis=1).astype(np.float64), final.max(axis=0)


def ascend(network: Network, data: Children, states: list[States]) -> None:
    """Set every unit to its more probable value given the rest, one after the other, in place."""
    children = data
    for number, layer in enumerate(network.layers):
        if number:
            children = Children.of_states(layer, states[number - 1])
        offsets = network.odds_above(number, states) - children.zeros[:, :-1]
        sweep_layer(children, layer, states[number], offsets, np.full(states[number].shape, 0.5))


def _off_by_chain(network: Network, block: Block, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Return for each chain e^{-u} of every cell, (rows, columns), and its weight, (rows, 1)."""
    sampled: list[States] = []
    w = weighted_chains(network, block, rng, lambda states, _: sampled.append(states[0].copy()), n_sweeps=1)
    layer_w = network.layers[0].w
    chains = []
    for states, weight in zip(sampled[0].reshape(N_CHAINS, block.n_rows, -1), w, strict=True):
        chains.append((np.exp(-np.minimum(states @ layer_w[:-1] + layer_w[-1], 600.0)), weight[:, None]))
    return chains


def cell_probabilities(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(cell = 1 | observed cells) of the posterior predictive distribution, for every cell."""
    return np.asarray(sum(weight * (1.0 - off) for off, weight in _off_by_chain(network, block, rng)))


def leave_one_out_probabilities(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(x_j = 1 | the other observed cells) for every cell; P(x_j = 1 | observed cells) if it is missing."""
    shape = block.n_rows, block.n_columns
    g_mean, one_over_g, one_over_off, odds = (np.zeros(shape) for _ in range(4))
    for off, weight in _off_by_chain(network, block, rng):
        g = 1.0 - off
        g_mean += weight * g
        one_over_g += weight / g
        one_over_off += weight / off
        odds += weight * g / off
    x, o = block.x.to_dense(), block.observed.to_dense()
    return np.where(o == 0, g_mean, np.where(x == 1, 1.0 / one_over_g, odds / one_over_off))


def sampled_responsibilities(network: Network, block: Block, rng: np.random.Generator) -> CauseShares:
    """Return the responsibilities of causes for 1s, from weighted chains of Gibbs sweeps."""
    layer = network.layers[0]
    ones = Children.of_block(layer, block)
    w = layer.w[:, ones.indices].T
    chain_shares: list[Floats] = []

    def visit(states: list[States], _: Sweep) -> None:
        for layer_states in states[0].reshape(N_CHAINS, block.n_rows, -1):
            inputs = w * np.column_stack([layer_states, np.ones(block.n_rows, np.uint8)])[ones.rows]
            chain_shares.append(inputs / inputs.sum(axis=1, keepdims=True))

    weights = weighted_chains(network, block, rng, visit, n_sweeps=1)
    mean = sum(weight[ones.rows, None] * shares for weight, shares in zip(weights, chain_shares, strict=True))
    return block.start + ones.rows, ones.indices, np.asarray(mean)


# Annealing paths to the posterior of the states of a row, from two bases.


def tile_rows(data: Children, times: int) -> Children:
    """Return the rows repeated for each chain: row r of chain c is row c n + r."""
    return data.take(np.tile(np.arange(len(data.indptr) - 1), times))


def quick_marginals(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return approximate P(unit on | observed cells), from a few short chains, clipped away from 0 and 1."""
    n = block.n_rows
    data = tile_rows(Children.of_block(network.layers[0], block), QUICK_CHAINS)
    states = network.sample_states(n * QUICK_CHAINS, rng)
    total = np.zeros((n, sum(s.shape[1] for s in states)))
    for number in range(QUICK_BURN_IN + QUICK_SWEEPS):
        last = sweep(network, data, states, rng, with_odds=number >= QUICK_BURN_IN)
        if number >= QUICK_BURN_IN:
            total += expit(np.concatenate(last.odds, axis=1)).reshape(QUICK_CHAINS, n, -1).mean(axis=0) / QUICK_SWEEPS
    return np.clip(total, LEAST_BASE_PROBABILITY, 1.0 - LEAST_BASE_PROBABILITY)


def prior_path(network: Network, data: Children) -> Path[list[States]]:
    """Return the path from the prior; states change in place."""

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        layer = network.layers[0]
        return (high - low) * data.log_probability(p_off(data, layer, states[0]), states[0])

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            temper = beta if number == 0 else 1.0
            if number:
                children = Children.of_states(layer, states[number - 1])
            offsets = network.odds_above(number, states) - temper * children.zeros[:, :-1]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), temper)
        return states

    return Path(0.0, network.sample_states, log_ratio, move)


def near_path(network: Network, data: Children, q: Floats) -> Path[list[States]]:
    """Return the path from independent units that are on with probabilities q, (rows, units); in place."""
    cuts = np.cumsum([len(layer.w) - 1 for layer in network.layers])[:-1]
    base = np.split(np.log(q) - np.log1p(-q), cuts, axis=1)
    log_all_off = np.log1p(-q).sum(axis=1)

    def start(_: int, rng: np.random.Generator) -> list[States]:
        return [np.ascontiguousarray(s) for s in np.split((rng.random(q.shape) < q).astype(np.uint8), cuts, axis=1)]

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        log_q = log_all_off + np.sum([(s * b).sum(axis=1) for s, b in zip(states, base, strict=True)], axis=0)
        return np.asarray((high - low) * (log_joints(network, data, states) - log_q))

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            if number:
                children = Children.of_states(layer, states[number - 1])
            # The layer's own prior given the layer above is tempered too, so its odds are multiplied by beta.
            offsets = beta * (network.odds_above(number, states) - children.zeros[:, :-1]) + (1.0 - beta) * base[number]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), beta)
        return states

    return Path(0.0, start, log_ratio, move)


# ln P(observed cells) of rows. Every row has annealed estimates from both bases, which must agree. Rows where they
# differ by more than three standard errors, or depend on too few chains, are annealed again with four times as many
# steps. If too many rows still differ, an `UntrustedRowsError` is raised.


class UntrustedRowsError(ValueError):
    """The two estimates of the likelihood of rows do not agree."""


class RowLikelihoods(NamedTuple):
    """ln P(observed cells) of each row, its standard error, and whether the estimates from both bases agree."""

    values: Floats
    errors: Floats
    agree: NDArray[np.bool_]


def log_likelihoods(network: Network, block: Block, rng: np.random.Generator) -> RowLikelihoods:
    """Return the likelihood of each row of a block with its standard error."""
    near = quick_marginals(network, block, rng)
    data = Children.of_block(network.layers[0], block)
    n = block.n_rows
    values, errors, agree = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for n_steps in LADDERS:
        unsure_rows = np.flatnonzero(~agree)
        for start in range(0, len(unsure_rows), ROWS_AT_ONCE):
            rows = unsure_rows[start : start + ROWS_AT_ONCE]
            estimate = _pool(network, data.take(rows), near[rows], n_steps, rng)
            values[rows], errors[rows], agree[rows] = estimate
    return RowLikelihoods(values, errors, agree)


def _pool(network: Network, data: Children, near: Floats, n_steps: int, rng: np.random.Generator) -> RowLikelihoods:
    """Return the pooled estimate from both bases, and whether they agree."""
    n = len(near)
    tiled = tile_rows(data, N_CHAINS)
    ladder = np.linspace(0.0, 1.0, n_steps + 1)
    # Steps from the prior are small at small beta, at which the likelihood changes most.
    paths = [(prior_path(network, tiled), ladder**3), (near_path(network, tiled, np.tile(near, (N_CHAINS, 1))), ladder)]
    estimates = []
    for path, betas in paths:
        log_w = anneal(path, path.start(n * N_CHAINS, rng), betas.tolist(), rng).reshape(N_CHAINS, n)
        mean = logsumexp(log_w, axis=0) - np.log(N_CHAINS)
        ess = np.exp(2.0 * logsumexp(log_w, axis=0) - logsumexp(2.0 * log_w, axis=0))
        estimates.append((mean, np.sqrt(np.maximum(N_CHAINS / ess - 1.0, 1e-12) / (N_CHAINS - 1)), ess))
    (a, error_a, ess_a), (b, error_b, ess_b) = estimates
    agree = np.abs(a - b) <= MOST_ERRORS_APART * np.hypot(error_a, error_b)
    agree &= (ess_a >= FEWEST_EFFECTIVE_CHAINS) & (ess_b >= FEWEST_EFFECTIVE_CHAINS)
    precision = 1.0 / error_a**2, 1.0 / error_b**2
    total = precision[0] + precision[1]
    return RowLikelihoods((a * precision[0] + b * precision[1]) / total, np.sqrt(1.0 / total), agree)


def reliable_values(estimates: RowLikelihoods, first_row: int) -> Floats:
    """Return the values, or raise an error if the bases disagree on too many rows."""
    unsure = np.flatnonzero(~estimates.agree)
    if len(unsure) > MOST_UNSURE_SHARE * len(estimates.agree):
        raise UntrustedRowsError(
            f"The likelihood cannot be estimated reliably: for {len(unsure)} of {len(estimates.agree)} rows (the first "
            f"is row {first_row + int(unsure[0])}) two annealed estimates disagree or depend on too few chains. Fit "
            "fewer causes, or compare models on held-out cells (hiddenbits.evaluate.held_out_cells)."
        )
    return estimates.values

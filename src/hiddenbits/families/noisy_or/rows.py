"""Row functions of large noisy-OR networks: weighted draws of every row's states, and likelihoods with an error.

Chains that begin anywhere and sweep for a while end in whatever explanation was near, not in each as often as it is
probable: to exchange one cause for another a chain has to pass through states that explain nothing. So every row has
several chains that climb a ladder of temperatures, half of them from each of two bases, and each counts by its
annealed weight. The error of a mean comes from the spread of the chains.

    prior:  P(S) P(x | S)^beta                      from states drawn without the data
    near:   q(S)^(1 - beta) [ P(S) P(x | S) ]^beta   from units drawn by their posterior probabilities, independently
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
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, Sweep, log_joint_rows, off_of, sweep, sweep_layer
from hiddenbits.families.noisy_or.layered import Layered
from hiddenbits.families.noisy_or.model import Reasons
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.maths.annealed_importance import WIDEST, Path, anneal

MOST_EXACT = 12  # causes of a layer up to which verbs enumerate
CHAINS, STEPS, SWEEPS = 32, 24, 8
SEARCHES, SEARCH_SWEEPS = 4, 20  # chains and sweeps in which the most probable state is looked for
CLIMBS = 20  # sweeps of an ascent, at most; most rows need two or three
LADDERS = (24, 96, 384)  # temperatures of a likelihood, tried one after the other
FEWEST = 4.0  # an estimate that rests on fewer chains has no error to speak of
MOST_UNSURE = 0.02  # of the rows of a block may differ at the end, after three tries
ROWS_AT_ONCE = 256
NEVER_SURE = 0.02  # the near base gives no unit less than this chance of either state
QUICK_CHAINS, QUICK_FIRST, QUICK = 2, 10, 10


@dataclass(frozen=True)
class SampledRows(Layered):
    """A network whose rows are asked by chains.

    Parameters
    ----------
    seed : int
        Of what verbs draw.
    """

    seed: int = 0

    def prepare(self, params: NoisyOrParams) -> Network:
        """Return the network as the sampler knows it."""
        return Network.of(params)

    def _rng(self, block: Block) -> np.random.Generator:
        return np.random.default_rng((self.seed, block.start))

    def log_likelihood(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return ln P(observed bits) of each row; annealed estimates are refused where they do not agree."""
        return self.log_likelihood_and_error(params, shared, block)[:, 0]

    def log_likelihood_and_error(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error, in two columns."""
        estimates = log_likelihoods(shared, block, self._rng(block))
        return np.column_stack([trusted(estimates, block.start), estimates.errors])

    def posterior(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(unit on | observed bits), of all units, the lowest layer first."""
        return marginals(shared, block, self._rng(block)).probabilities

    def posterior_and_error(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return the posterior and its Monte-Carlo standard error, side by side."""
        return np.concatenate(marginals(shared, block, self._rng(block)), axis=1)

    def posterior_mode(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return the most probable state of all units together that the chains came to."""
        return most_probable(shared, block, self._rng(block))[0]

    def reasons(self, params: NoisyOrParams, shared: Network, block: Block) -> Reasons:
        """Return row and column of every one, and the share of each cause in it."""
        return sampled_reasons(shared, block, self._rng(block))

    def fill(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
        return filled(shared, block, self._rng(block))

    def leave_one_out(self, params: NoisyOrParams, shared: Network, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell."""
        return left_out(shared, block, self._rng(block))


class Marginals(NamedTuple):
    """P(unit on | observed bits), and the Monte-Carlo standard error of each; both (rows, units), lowest layer first.

    Attributes
    ----------
    probabilities, errors : ndarray
    """

    probabilities: Floats
    errors: Floats


def weighted_draws(
    network: Network,
    block: Block,
    rng: np.random.Generator,
    look: Callable[[list[States], Sweep], None],
    kept: int = SWEEPS,
) -> Floats:
    """Show the states of all chains after each of several sweeps to `look`; return the weights, (chains, rows).

    Row r of chain c is row c n + r. The weights of a row add up to 1.
    """
    n, half = block.n_rows, CHAINS // 2
    data = Ones.of_block(network.layers[0], block)
    some, ladder = tiled(data, half), np.linspace(0.0, 1.0, STEPS + 1)
    near = np.tile(quick_marginals(network, block, rng), (half, 1))
    ends, logs = [], []
    for path, betas in ((prior_path(network, some), ladder**3), (near_path(network, some, near), ladder)):
        ends.append(path.start(n * half, rng))
        logs.append(anneal(path, ends[-1], betas.tolist(), rng).reshape(half, n))
    # Both bases have the same sum, 1, so that weights from both can be put side by side.
    states, log_w = [np.concatenate(pair) for pair in zip(*ends, strict=True)], np.concatenate(logs)
    data = tiled(data, CHAINS)
    for _ in range(kept):
        look(states, sweep(network, data, states, rng, with_odds=True))
    w = np.exp(log_w - log_w.max(axis=0))
    return np.asarray(w / w.sum(axis=0))


def marginals(network: Network, block: Block, rng: np.random.Generator) -> Marginals:
    """Return P(unit on | observed bits) with its error, each draw at its expectation given the rest (Rao-Blackwell)."""
    total = np.zeros((CHAINS, block.n_rows, sum(len(layer.w) - 1 for layer in network.layers)))

    def look(_: list[States], last: Sweep) -> None:
        np.add(total, expit(np.concatenate(last.odds, axis=1)).reshape(total.shape) / SWEEPS, out=total)

    w = weighted_draws(network, block, rng, look)[:, :, None]
    mean = (w * total).sum(axis=0)
    few = CHAINS / (CHAINS - 1.0)  # the mean is made from the same chains
    return Marginals(mean, np.sqrt(few * (w**2 * (total - mean) ** 2).sum(axis=0)))


def most_probable(network: Network, block: Block, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the most probable states that were found, (rows, units), and their ln P(observed bits, states).

    Each chain's best states climb on, one unit at a time, until no single change is better; the best chain wins.
    """
    n = block.n_rows
    data = tiled(Ones.of_block(network.layers[0], block), SEARCHES)
    states = network.drawn(n * SEARCHES, rng)
    found, value = [s.copy() for s in states], np.full(n * SEARCHES, -np.inf)
    for _ in range(SEARCH_SWEEPS):
        sweep(network, data, states, rng)
        now = log_joint_rows(network, data, states)
        better = now > value
        value = np.where(better, now, value)
        for mine, s in zip(found, states, strict=True):
            mine[better] = s[better]
    for _ in range(CLIMBS):
        before = [s.copy() for s in found]
        ascend(network, data, found)
        if all(np.array_equal(a, b) for a, b in zip(before, found, strict=True)):
            break
    reached = log_joint_rows(network, data, found).reshape(SEARCHES, n)
    winner = reached.argmax(axis=0) * n + np.arange(n)
    return np.concatenate([s[winner] for s in found], axis=1).astype(np.float64), reached.max(axis=0)


def ascend(network: Network, data: Ones, states: list[States]) -> None:
    """Set every unit to its more probable value given the rest, one after the other, in place."""
    children = data
    for number, layer in enumerate(network.layers):
        if number:
            children = Ones.of_states(layer, states[number - 1])
        offsets = network.odds_above(number, states) - children.zeros[:, :-1]
        sweep_layer(children, layer, states[number], offsets, np.full(states[number].shape, 0.5))


def _cells(network: Network, block: Block, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Return e^{-u} of every cell for each chain, (rows, columns), with the chains' weights, (rows, 1)."""
    kept: list[States] = []
    w = weighted_draws(network, block, rng, lambda states, _: kept.append(states[0].copy()), kept=1)
    weights = network.layers[0].w
    found = []
    for states, share in zip(kept[0].reshape(CHAINS, block.n_rows, -1), w, strict=True):
        found.append((np.exp(-np.minimum(states @ weights[:-1] + weights[-1], 600.0)), share[:, None]))
    return found


def filled(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
    return np.asarray(sum(share * (1.0 - off) for off, share in _cells(network, block, rng)))


def left_out(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(x_j = 1 | the other observed bits) for every cell; a missing bit has no other value to be weighed."""
    shape = block.n_rows, block.n_columns
    g_mean, over_g, over_off, odds = (np.zeros(shape) for _ in range(4))
    for off, share in _cells(network, block, rng):
        g = 1.0 - off
        g_mean += share * g
        over_g += share / g
        over_off += share / off
        odds += share * g / off
    x, o = block.x.to_dense(), block.observed.to_dense()
    return np.where(o == 0, g_mean, np.where(x == 1, 1.0 / over_g, odds / over_off))


def sampled_reasons(network: Network, block: Block, rng: np.random.Generator) -> Reasons:
    """Return why bits are on, from weighted chains of Gibbs sweeps."""
    layer = network.layers[0]
    ones = Ones.of_block(layer, block)
    w = layer.w[:, ones.indices].T
    found: list[Floats] = []

    def look(states: list[States], _: Sweep) -> None:
        for some in states[0].reshape(CHAINS, block.n_rows, -1):
            here = w * np.column_stack([some, np.ones(block.n_rows, np.uint8)])[ones.rows]
            found.append(here / here.sum(axis=1, keepdims=True))

    shares = weighted_draws(network, block, rng, look, kept=1)
    mean = sum(share[ones.rows, None] * each for share, each in zip(shares, found, strict=True))
    return block.start + ones.rows, ones.indices, np.asarray(mean)


# Ladders of temperatures that lead to the states of a row, from two bases.


def tiled(data: Ones, times: int) -> Ones:
    """Return the rows again and again: row r of chain c is row c n + r."""
    return data.take(np.tile(np.arange(len(data.indptr) - 1), times))


def quick_marginals(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(unit on | observed bits) roughly, from a few short chains; never sure of anything."""
    n = block.n_rows
    data = tiled(Ones.of_block(network.layers[0], block), QUICK_CHAINS)
    states = network.drawn(n * QUICK_CHAINS, rng)
    total = np.zeros((n, sum(s.shape[1] for s in states)))
    for number in range(QUICK_FIRST + QUICK):
        last = sweep(network, data, states, rng, with_odds=number >= QUICK_FIRST)
        if number >= QUICK_FIRST:
            total += expit(np.concatenate(last.odds, axis=1)).reshape(QUICK_CHAINS, n, -1).mean(axis=0) / QUICK
    return np.clip(total, NEVER_SURE, 1.0 - NEVER_SURE)


def prior_path(network: Network, data: Ones) -> Path[list[States]]:
    """Return the way from the prior; states change in place."""

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        layer = network.layers[0]
        return (high - low) * data.log_probability(off_of(data, layer, states[0]), states[0])

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            share = beta if number == 0 else 1.0
            if number:
                children = Ones.of_states(layer, states[number - 1])
            offsets = network.odds_above(number, states) - share * children.zeros[:, :-1]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), share)
        return states

    return Path(0.0, network.drawn, log_ratio, move)


def near_path(network: Network, data: Ones, q: Floats) -> Path[list[States]]:
    """Return the way from independent units that are on with probabilities q, (rows, units); in place too."""
    cuts = np.cumsum([len(layer.w) - 1 for layer in network.layers])[:-1]
    base = np.split(np.log(q) - np.log1p(-q), cuts, axis=1)
    log_none = np.log1p(-q).sum(axis=1)

    def start(_: int, rng: np.random.Generator) -> list[States]:
        return [np.ascontiguousarray(s) for s in np.split((rng.random(q.shape) < q).astype(np.uint8), cuts, axis=1)]

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        log_q = log_none + np.sum([(s * b).sum(axis=1) for s, b in zip(states, base, strict=True)], axis=0)
        return np.asarray((high - low) * (log_joint_rows(network, data, states) - log_q))

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            if number:
                children = Ones.of_states(layer, states[number - 1])
            # The layer's own prior given the one above is part of what is tempered, so its odds are beta times it.
            offsets = beta * (network.odds_above(number, states) - children.zeros[:, :-1]) + (1.0 - beta) * base[number]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), beta)
        return states

    return Path(0.0, start, log_ratio, move)


# ln P(observed bits) of rows. Every row is climbed to from both bases, and a figure is given only where they agree.
# Rows on which they differ by more than three standard errors, or that rest on too few chains, climb again on a ladder
# four times as long. If some still differ, the likelihood is refused (`UntrustedRowsError`), not guessed.


class UntrustedRowsError(ValueError):
    """The likelihood of rows was looked for, and the two estimates do not agree."""


class RowLikelihoods(NamedTuple):
    """ln P(observed bits) of each row, its standard error, and whether both bases agreed on it."""

    values: Floats
    errors: Floats
    agree: NDArray[np.bool_]


def log_likelihoods(network: Network, block: Block, rng: np.random.Generator) -> RowLikelihoods:
    """Return the likelihood of each row of a block with its standard error."""
    near = quick_marginals(network, block, rng)
    data = Ones.of_block(network.layers[0], block)
    n = block.n_rows
    values, errors, agree = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for n_steps in LADDERS:
        open_rows = np.flatnonzero(~agree)
        for start in range(0, len(open_rows), ROWS_AT_ONCE):
            rows = open_rows[start : start + ROWS_AT_ONCE]
            found = _both(network, data.take(rows), near[rows], n_steps, rng)
            values[rows], errors[rows], agree[rows] = found
    return RowLikelihoods(values, errors, agree)


def _both(network: Network, data: Ones, near: Floats, n_steps: int, rng: np.random.Generator) -> RowLikelihoods:
    """Estimate from both bases, and judge."""
    n = len(near)
    many = tiled(data, CHAINS)
    ladder = np.linspace(0.0, 1.0, n_steps + 1)
    # Much of a likelihood is decided by its first shares: small steps there.
    paths = [(prior_path(network, many), ladder**3), (near_path(network, many, np.tile(near, (CHAINS, 1))), ladder)]
    found = []
    for path, betas in paths:
        log_w = anneal(path, path.start(n * CHAINS, rng), betas.tolist(), rng).reshape(CHAINS, n)
        mean = logsumexp(log_w, axis=0) - np.log(CHAINS)
        ess = np.exp(2.0 * logsumexp(log_w, axis=0) - logsumexp(2.0 * log_w, axis=0))
        found.append((mean, np.sqrt(np.maximum(CHAINS / ess - 1.0, 1e-12) / (CHAINS - 1)), ess))
    (a, error_a, ess_a), (b, error_b, ess_b) = found
    agree = np.abs(a - b) <= WIDEST * np.hypot(error_a, error_b)
    agree &= (ess_a >= FEWEST) & (ess_b >= FEWEST)
    precision = 1.0 / error_a**2, 1.0 / error_b**2
    total = precision[0] + precision[1]
    return RowLikelihoods((a * precision[0] + b * precision[1]) / total, np.sqrt(1.0 / total), agree)


def trusted(found: RowLikelihoods, first_row: int) -> Floats:
    """Return the values, or refuse where the bases disagree on too many rows."""
    unsure = np.flatnonzero(~found.agree)
    if len(unsure) > MOST_UNSURE * len(found.agree):
        raise UntrustedRowsError(
            f"The likelihood cannot be estimated reliably: for {len(unsure)} of {len(found.agree)} rows (the first is "
            f"row {first_row + int(unsure[0])}) two annealed estimates disagree or depend on too few chains. Fit "
            "fewer causes, or compare models by hidden cells (hiddenbits.evaluate.held_out_cells)."
        )
    return found.values

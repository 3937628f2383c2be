"""The noisy-OR network by enumeration: exact likelihood, exact EM, for layers of at most about ten causes.

    ln P(x | s) = Sum_j x_j [ ln g_j(s) + u_j(s) ] - o_j u_j(s),   g = 1 - e^{-u},   over the observed j

Zeros are linear in u, so that a row's cost follows its ones. Layers learn one
after the other, the lowest first; priors and leak are held while a layer's weights are learned, then estimated, and
at the end all layers learn together. These are the stages of the fit.

| letter | meaning | shape |
|---|---|---|
| f | P(cause i alone switches j on); the last row is the leak, a cause that is always on | (K + 1, d) for each layer |
| w | -ln(1 - f), which add up | (K + 1, d) |
| pi | P(S_i = 1) in the top layer | (K_top,) |
| alpha, beta | shape and rate of the gamma prior of every w | numbers |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hiddenbits.array_types import AnyArray, Bytes, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.declared import Sums
from hiddenbits.data.operands import Operand, product, product_with_totals, sums_over_rows
from hiddenbits.data.summary import Summary
from hiddenbits.families.noisy_or.enumeration import Enumerated
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, Sweep
from hiddenbits.families.noisy_or.params import (
    JOINT,
    LEARN,
    SETTLE,
    NoisyOrParams,
    at,
    best_priors,
    clip_strengths,
    log_prior,
)
from hiddenbits.families.noisy_or.posterior_draws import CHAINS, weighted_draws
from hiddenbits.families.noisy_or.start import first_prior, first_strengths, with_layer
from hiddenbits.maths.numerics import LARGEST_LOGIT, scores_may_vanish, sigmoid, softmax_rows
from hiddenbits.maths.state_sums import states_of
from hiddenbits.model_api import AsOnSubsample, Footprint, Key, Passes, Promises, Stage

# Tables of states, ln g + u, -u, its column sums, ln P(s), and `scores_may_vanish`
Shared = tuple[Enumerated, Floats, Floats, Floats, Floats, bool]


@dataclass(frozen=True, eq=False)
class StateStats(Sums):
    """Log-likelihood, rows, and for each state of the lowest layer the expected rows, ones and observed cells.

    `observed` has a single row where nothing is missing.
    """

    bound: Floats
    weight: Floats
    classes: Floats
    ones: Floats
    observed: Floats


@dataclass(frozen=True)
class NoisyOr(AsOnSubsample):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : list of int
        Causes of each layer, the lowest first.
    alpha, beta : float
        Shape and rate of the gamma prior of every weight. A leak has none: `has_prior` is False.
    prior : float or None
        P(cause on) while a layer learns; None means about three causes on in a row.
    leak : float
        P(bit on without a cause) while a layer learns, at most.
    """

    n_components: list[int] = field(default_factory=lambda: [2])
    alpha: float = 1.0
    beta: float = 1.5
    prior: float | None = None
    leak: float = 1e-3

    promises = Promises(
        why={"online_gap": "the causes of the first few hundred rows may not be those of all, and EM stays with them"},
        online_gap=0.15,
    )
    params_type = NoisyOrParams
    stats_type = StateStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: two products of row_cells x states."""
        n_states = 1 << self.n_components[0]
        dense = n_columns if row_cells >= n_columns else 0
        return Footprint(dense + 2 * n_states, n_columns * n_states, 4 * row_cells * n_states)

    def start(self, summary: Summary, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with causes that are nearly alike."""
        rng, K = key.rng(), self.n_components[0]
        f = first_strengths(summary.means, K, self.leak, None, rng)
        clock = (0.0, LEARN, 0.0, float(rng.integers(2**31)), 0.0)
        return NoisyOrParams.of([f], np.full(K, first_prior(self.prior, K)), clock)

    def stages(self) -> Sequence[Stage[NoisyOrParams, StateStats]]:
        """Return the network layer by layer: its weights, then its priors and leak; at last all layers together."""
        n_layers = len(self.n_components)
        return (Stage(self), *[Stage(self, self._next_phase)] * (2 * n_layers - (n_layers == 1)))

    def _next_phase(self, params: NoisyOrParams, key: Key) -> NoisyOrParams | None:
        """Free priors and leak of a layer that has learned its weights; then add the next, or free all layers."""
        number, phase = int(params.clock[0]), params.clock[1]
        if phase == LEARN:
            return at(params, SETTLE, 0.0)
        if number + 1 < len(self.n_components):
            K = self.n_components[number + 1]
            return with_layer(params, K, first_prior(self.prior, K), self.leak, None)
        return at(params, JOINT, 0.0) if phase == SETTLE and number else None

    def prepare(self, params: NoisyOrParams) -> Shared:
        """Return the tables of states, ln g + u, -u with its column sums, ln P(s), and whether to shift scores."""
        tables = Enumerated(params)
        c = np.ascontiguousarray(-tables.inputs[0].T)
        a = np.log(tables.probabilities) - c
        totals, log_p_s = c.sum(axis=0), tables.log_priors[0]
        return tables, a, c, totals[None, :], log_p_s[None, :], scores_may_vanish(a, totals + log_p_s)

    def _posterior(
        self, shared: Shared, block: Block, weights: Floats | None, slot: str | None = None
    ) -> tuple[Floats, Floats, Operand, Operand]:
        """Return P(s | x) (times the row's weight), ln P(x) and the operands of the block."""
        _, a, c, totals, log_p_s, shift = shared
        x, o = block.operands()
        r = product(x, a, slot)
        log_p = softmax_rows(r, product_with_totals(o, c, totals) + log_p_s, weights, shift=shift)
        return r, log_p, x, o

    def expect(
        self, params: NoisyOrParams, shared: Shared, block: Block, carry: None, key: Key
    ) -> tuple[StateStats, None]:
        """E-step: the posterior over all states of the lowest layer."""
        r, log_p, x, o = self._posterior(shared, block, block.weights, "posterior")
        classes = np.ones((1, len(r))) @ r
        stats = StateStats(
            bound=np.asarray(block.weights @ log_p),
            weight=np.asarray(block.weights.sum()),
            classes=classes[0].copy(),
            ones=sums_over_rows(x, r),
            observed=product_with_totals(o.T, r, classes),
        )
        return stats, None

    def _centre(self, params: NoisyOrParams) -> float:
        return first_prior(self.prior, self.n_components[int(params.clock[0])])

    def objective(self, params: NoisyOrParams, stats: StateStats) -> float:
        """Return log-likelihood plus log prior."""
        return float(stats.bound) + log_prior(params, self.alpha, self.beta, self._centre(params))

    def update(self, params: NoisyOrParams, stats: StateStats) -> NoisyOrParams:
        """M-step for what learns now."""
        phase, top = params.clock[1], len(params.n_causes) - 1
        first = 0 if phase == JOINT else top
        tables = Enumerated(params)
        layers, on = tables.best_layers(
            stats.ones, stats.observed, stats.classes, self.alpha, self.beta, first, hold_leak=phase == LEARN
        )
        priors = params.priors if phase == LEARN else best_priors(on, float(stats.weight), self._centre(params))
        return NoisyOrParams.of(layers, priors, params.clock, params.names)

    def to_vector(self, params: NoisyOrParams) -> Floats:
        """Return ln w and logit(pi): coordinates without borders, for extrapolation."""
        pi = params.priors
        return np.concatenate([np.log(-np.log1p(-params.strengths)), np.log(pi) - np.log1p(-pi)])

    def from_vector(self, vector: Floats, params: NoisyOrParams) -> NoisyOrParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        cut = len(params.strengths)
        w = np.exp(np.clip(vector[:cut], -50.0, 5.0))
        raw = replace(params, strengths=-np.expm1(-w))
        logits = np.clip(vector[cut:], -LARGEST_LOGIT / 2, LARGEST_LOGIT / 2)
        return NoisyOrParams.of([clip_strengths(f) for f in raw.layers], sigmoid(logits), params.clock, params.names)

    # Row functions: what the estimators' verbs rest on.

    def log_likelihood(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return self._posterior(shared, block, None, "posterior")[1]

    def posterior(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(unit on | observed bits), of all units, the lowest layer first."""
        return np.asarray(np.minimum(self._posterior(shared, block, None)[0] @ shared[0].on_given, 1.0))

    def code(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return the most probable state of all units together, given the observed bits."""
        tables = shared[0]
        log_p = np.log(np.maximum(self._posterior(shared, block, None)[0], 1e-300))
        found, best = [], np.zeros((1 << params.n_causes[-1], 0), np.int64)
        # Upwards: the best continuation above each state is found from the top down first.
        value = np.zeros(1 << params.n_causes[-1])
        for number in range(len(params.n_causes) - 2, -1, -1):
            joint = np.log(np.maximum(tables.above_given(number), 1e-300)) + value
            choice = joint.argmax(axis=1)
            value = joint.max(axis=1)
            best = np.column_stack([choice, best[choice]])
        lowest = (log_p + value).argmax(axis=1)
        chosen = np.column_stack([lowest, best[lowest]])
        for number, K in enumerate(params.n_causes):
            found.append(states_of(K)[chosen[:, number]])
        return np.concatenate(found, axis=1)

    def reasons(self, params: NoisyOrParams, shared: Shared, block: Block) -> Reasons:
        """Return row and column of every one, and the share of each cause in it."""
        return exact_reasons(shared[0], self._posterior(shared, block, None)[0], block)

    def log_likelihood_and_error(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error, which is 0, in two columns."""
        values = self.log_likelihood(params, shared, block)
        return np.column_stack([values, np.zeros(len(values))])

    def posterior_and_error(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return the posterior and its standard error, which is 0, side by side."""
        p = self.posterior(params, shared, block)
        return np.concatenate([p, np.zeros(p.shape)], axis=1)

    def reconstruct(self, params: NoisyOrParams, codes: Floats) -> Floats:
        """Return P(bit = 1) given the causes of the lowest layer, on with the given probabilities, independently."""
        return reconstruct(params, codes)

    def fill(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
        r = self._posterior(shared, block, None)[0]
        return np.asarray(np.minimum(r @ shared[0].probabilities.T, 1.0))

    def leave_one_out(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell; see `Mixture.leave_one_out`."""
        g = shared[0].probabilities.T
        r = self._posterior(shared, block, None)[0]
        off = np.exp(-shared[0].inputs[0])
        if_one, if_zero = 1.0 / (r @ (1.0 / g)), (r @ (g / off)) / (r @ (1.0 / off))
        x, o = block.x.to_dense(), block.observed.to_dense()
        return np.asarray(np.where(o == 0, r @ g, np.where(x == 1, if_one, if_zero)))

    def draw(self, params: NoisyOrParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and the states of all units."""
        return draw(params, n, rng)

    def hidden_states(self, params: NoisyOrParams) -> Floats:
        """Return every state of all units."""
        return states_of(sum(params.n_causes))

    def log_joint(self, params: NoisyOrParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        return log_joint(params, x, h)

    def mismatch(self, params: NoisyOrParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return mismatch(self.n_components, params)

    def stats_flaw(self, stats: StateStats, params: NoisyOrParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        d, n_states = params.n_columns, 1 << params.n_causes[0]
        shapes = stats.ones.shape, stats.classes.shape
        if shapes != ((d, n_states), (n_states,)) or stats.observed.shape not in ((d, n_states), (1, n_states)):
            return "the statistics have the wrong shapes"
        if stats.bound.shape != () or stats.weight.shape != () or stats.weight <= 0:
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        counts = [stats.ones, stats.observed - stats.ones, stats.classes - stats.observed]
        if any((count < -slack).any() for count in counts) or abs(stats.classes.sum() - stats.weight) > slack:
            return "the statistics are not counts"
        return "the log-likelihood of bits is above 0" if stats.bound > slack else None

    def pseudo_statistics(self, params: NoisyOrParams, weight: float) -> StateStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        tables = Enumerated(params)
        classes = weight * np.exp(tables.log_priors[0])
        ones = tables.probabilities * classes
        return StateStats(np.zeros(()), np.asarray(weight), classes, ones, classes[None, :].copy())


def draw(params: NoisyOrParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
    """Draw n rows and the states of all units, from the top down."""
    states = Network.of(params).drawn(n, rng)
    w = params.weights[0]
    x = rng.random((n, params.n_columns)) < -np.expm1(-(states[0] @ w[:-1] + w[-1]))
    return x.view(np.uint8), np.concatenate(states, axis=1).astype(np.float64)


def reconstruct(params: NoisyOrParams, codes: Floats) -> Floats:
    """Return 1 - (1 - f_0j) Prod_i (1 - p_i f_ij): bits given causes of the lowest layer that are on with p_i."""
    f = params.layers[0]
    log_off = np.tile(np.log1p(-f[-1]), (len(codes), 1))
    for i in range(len(f) - 1):  # a loop over causes: (rows, causes, columns) would be too much at once
        log_off += np.log1p(-np.outer(np.clip(codes[:, i], 0.0, 1.0), f[i]))
    return np.asarray(-np.expm1(log_off))


def log_joint(params: NoisyOrParams, x: Floats, h: Floats) -> float:
    """Return ln P(x, h) of one complete row, h of all layers, the lowest first: the definition."""
    total, below, start = 0.0, x, 0
    for f in params.layers:
        s = h[start : start + len(f) - 1]
        p = 1.0 - (1.0 - f[-1]) * np.prod((1.0 - f[:-1]) ** s[:, None], axis=0)
        total += float(np.sum(np.where(below == 1, np.log(p), np.log1p(-p))))
        below, start = s, start + len(s)
    return total + float(np.sum(np.where(below == 1, np.log(params.priors), np.log1p(-params.priors))))


def mismatch(n_components: list[int], params: NoisyOrParams) -> str | None:
    """Return how parameters disagree with the sizes that are declared, or None."""
    if list(params.n_causes) == list(n_components):
        return None
    return f"it has layers of {list(params.n_causes)} causes where {list(n_components)} are declared"


# Why a bit is on: the share of each cause in it.
#
# Think of every cause that is on as a source of events for bit j, w_ij of them on average, any one of which switches
# the bit on. Given that it is on, the first event came from cause i with probability w_ij S_i / u_j. These shares add
# up to 1, the leak's included; what is returned is their mean over the states of the causes given the row.

Reasons = tuple[Rows, AnyArray, Floats]


def exact_reasons(tables: Enumerated, posterior: Floats, block: Block) -> Reasons:
    """Return row and column of every one, and the shares of the causes in it, the leak's last: (ones, K + 1).

    `posterior` is P(s | row) over the states of the lowest layer, (rows, 2^K).
    """
    indptr, indices = block.x.ones()
    rows = np.repeat(np.arange(block.n_rows), np.diff(indptr))
    w, states = tables.params.weights[0], tables.states[0]
    shares = np.empty((len(rows), len(w)))
    for i in range(len(w)):  # a loop over causes: all at once would be (rows, columns, causes)
        mean = posterior @ (states[:, i : i + 1] * w[i] / tables.inputs[0])
        shares[:, i] = mean[rows, indices]
    return block.start + rows, indices, shares


def sampled_reasons(network: Network, block: Block, rng: np.random.Generator) -> Reasons:
    """Return the same as `exact_reasons`, from weighted chains of Gibbs sweeps."""
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

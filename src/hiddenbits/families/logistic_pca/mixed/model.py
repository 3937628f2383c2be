"""Logistic PCA of mixed tables: bits, real numbers and categories behind the same few dimensions.

    x ~ N(0, I), A = W x + b
    bit        P(t = 1 | x) = sigma(A)                              Jaakkola and Jordan's bound, as in `logistic`
    real       z ~ N(A, s^2)                                        exact
    nominal    P(t = k | x) = exp(A_k) / Sum_l exp(A_l)             Bohning's bound (1992)
    ordered    P(beyond k | at least k, x) = sigma(A_k)             bits; those after the category are not observed

All of them are quadratic in x, r'A - (1/2) A'H A and something that does not depend on x, with

    bit: r = t - 1/2, H = kappa = tanh(xi/2)/(2 xi)        real: r = z/s^2, H = 1/s^2
    nominal: r = t - softmax(psi) + H psi, H = (I - 11'/K)/2, touching at psi = <A>

so that the posterior is Gaussian: P = I + Sum W'H W, mean = P^-1 Sum W'(r - H b). Columns with real numbers alone make
this probabilistic PCA (one noise variance) or factor analysis (one for each column), where the bound is the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.bits import AllOnes
from hiddenbits.data.summary import Summary
from hiddenbits.families.logistic_pca.cell_kernels import tangent
from hiddenbits.families.logistic_pca.mixed.nodes import Numbers
from hiddenbits.families.logistic_pca.mixed.params import LEAST_NOISE, MixedParams, MixedStats, Places, mixed_stats_flaw
from hiddenbits.families.logistic_pca.mixed.rows import MixedRows
from hiddenbits.families.logistic_pca.mixed.start import expected_mixed, start_mixed
from hiddenbits.families.logistic_pca.params import effective_ridge
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.packed_symmetric import (
    edge_places,
    identity,
    inner_places,
    invert,
    pack,
    pack_outer,
    packed_size,
    row_dot,
    times,
    unpack,
)
from hiddenbits.model_api import Footprint, Key, Passes, Promises

FURTHEST = 1e3  # extrapolated loadings stay within this
PATIENT_STEPS = 60  # inner steps where a posterior is the answer, not a step on the way


@dataclass(frozen=True, eq=False)
class Shared:
    """What every block of a pass needs.

    `V` is packed w^ w^' of the bits; `fixed` has a row for each real (w^ w^'/s^2) and nominal column (V^'H V^), packed.
    """

    joint: Floats
    V: Floats
    fixed: Floats
    cache: dict[str, Any] = field(default_factory=dict)  # what the verbs make once for all blocks


@dataclass(frozen=True)
class Mixed(MixedRows):
    """The model; hyperparameters and the kinds of the columns only.

    Parameters
    ----------
    n_components : int
        q.
    sticks, n_real, levels : list of int, int, list of int
        Bits of each column that bits stand for, number of reals, categories of each nominal column; lists, because a
        checkpoint compares them with what JSON gives back.
    ridge : float
        Precision of the normal prior of the loadings, and of the intercepts around those of the column means.
    noise : {"column", "shared"}
        A noise variance for each real column (factor analysis) or one for all (probabilistic PCA).
    noise_floor : float
        Smallest noise variance, as a share of the column's variance.
    start_from : {"pca", "noise"}
        Principal components (in the first restart), or random loadings.
    cold_steps, warm_steps : int
        Inner steps for a row without and with a posterior from the last pass.
    n_draws, seed : int
        Draws a row, and their seed, where something is estimated by importance sampling.
    """

    n_components: int = 2
    sticks: list[int] = field(default_factory=list)
    n_real: int = 0
    levels: list[int] = field(default_factory=list)
    ridge: float = 0.1
    noise: Literal["column", "shared"] = "column"
    noise_floor: float = 0.005
    start_from: Literal["pca", "noise"] = "pca"
    cold_steps: int = 10
    warm_steps: int = 1
    n_draws: int = 500
    seed: int = 0

    params_type = MixedParams
    stats_type = MixedStats
    carry_type = Posterior

    @cached_property
    def places(self) -> Places:
        """Where the numbers are."""
        return Places(tuple(self.sticks), self.n_real, tuple(self.levels))

    @property
    def promises(self) -> Promises:
        """What the model keeps to."""
        why = {}
        if not self.places.gaussian:
            why = {"likelihood": "P(row) has no closed form: passes use a lower bound; the verbs integrate"}
        return Promises(
            likelihood="bound" if why else "exact",
            monotone=True,
            deterministic=True,
            carry=True,
            accelerates=True,
            oracle="quadrature",
            why=why,
        )

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; the columns of the table do not count, but the numbers that stand for them."""
        p, D, U = packed_size(self.n_components + 1), self.places.n_numbers, self.places.n_units
        return Footprint(working=5 * D + 8 * p, statistics=U * p + D * (self.n_components + 1), flops=6.0 * U * p)

    def start(self, summary: Summary, key: Key, passes: Passes) -> MixedParams:
        """Return principal components, or random loadings."""
        return start_mixed(self, summary, key, passes)

    def grow(self, params: MixedParams, key: Key) -> MixedParams | None:
        """There is one stage."""
        return None

    def prepare(self, params: MixedParams) -> Shared:
        """Return what all blocks share."""
        joint, places = params.joint, self.places
        reals = pack_outer(joint[places.reals]) / params.noise[:, None]
        away = [_deviations(joint[places.nominal][group]) for group in places.groups]
        nominal = [pack(0.5 * (v.T @ v)) for v in away]
        fixed = np.concatenate([reals, np.reshape(nominal, (len(nominal), reals.shape[1]))])
        return Shared(joint, pack_outer(joint[places.bits]), fixed)

    def numbers(self, params: MixedParams, block: Block) -> Numbers:
        """Return the numbers of a block."""
        places, observed = self.places, block.observed
        X = np.array(block.operands()[0])
        X[:, places.reals] = (X[:, places.reals] - params.shift) / params.scale
        if isinstance(observed, AllOnes):
            return Numbers(X, np.ones((block.n_rows, places.n_units)), Blanks(None, np.zeros(block.n_rows)))
        o = observed.to_dense()[:, places.units].astype(np.float64)
        X[:, places.reals] *= o[:, places.reals]
        missing = o[:, places.bits] == 0.0
        return Numbers(X, o, Blanks(missing, missing.sum(axis=1).astype(np.float64)))

    def real_heights(self, params: MixedParams, data: Numbers) -> Floats:
        """Return what ln N(z; A, s^2) has that does not depend on x, as a density of the numbers before scaling."""
        z, seen = data.X[:, self.places.reals], data.o[:, self.places.reals]
        constant = 0.5 * np.log(2.0 * np.pi * params.noise) + np.log(params.scale)
        return np.asarray(-(z * z) @ (0.5 / params.noise) - seen @ constant)

    def _inner_steps(
        self, params: MixedParams, shared: Shared, data: Numbers, posterior: Posterior, n_steps: int
    ) -> tuple[Posterior, Floats, Floats, Floats, Floats]:
        """Return the posterior after some steps, with the last kappa and nominal r, the bound of each row, and S."""
        places, q = self.places, posterior.mean.shape[1]
        inner, edge, joint = inner_places(q + 1), edge_places(q + 1), shared.joint
        X, o = data.X, data.o
        fixed = o[:, places.n_bits :] @ shared.fixed
        plain = (X[:, places.bits] - 0.5 * o[:, places.bits]) @ joint[places.bits]
        plain += X[:, places.reals] @ (joint[places.reals] / params.noise[:, None])
        constant = self.real_heights(params, data)
        kappa, r = np.zeros((len(X), 0)), X[:, places.nominal]
        S = posterior.moments()
        for _ in range(n_steps):
            heights, G, linear = constant, fixed, plain
            if places.n_bits:
                kappa, touching = tangent(S, shared.V, data.blanks)
                bent = kappa @ shared.V
                heights, G = heights + touching + 0.5 * row_dot(S, bent), G + bent
            if places.levels:
                r, touching = self._bohning(posterior.extended() @ joint[places.nominal].T, data)
                heights, linear = heights + touching, linear + r @ joint[places.nominal]
            covariance, log_det = invert(identity(q) + G[:, inner], q)
            posterior = Posterior(times(covariance, linear[:, :q] - G[:, edge] / np.sqrt(2.0)), covariance)
            S = posterior.moments()
        bound = heights - 0.5 * row_dot(S, G) + row_dot(linear, posterior.extended()) - posterior.divergence(log_det)
        return posterior, kappa, r, bound, S

    def _bohning(self, psi: Floats, data: Numbers) -> tuple[Floats, Floats]:
        """Return r of all nominal columns and, for each row, Sum [ g'psi - ln Sum exp(psi) - psi'H psi/2 ].

        g = softmax(psi). Psi counts only through its deviations from its mean over the categories: r adds up to 0.
        """
        t = data.X[:, self.places.nominal]
        r, heights = np.empty_like(t), np.zeros(len(t))
        for c, group in enumerate(self.places.groups):
            seen = data.o[:, self.places.n_bits + self.places.n_real + c]
            at = psi[:, group]
            at = at - at.mean(axis=1, keepdims=True)
            top = at.max(axis=1, keepdims=True)
            g = np.exp(at - top)
            total = g.sum(axis=1, keepdims=True)
            g /= total
            touching = row_dot(g, at) - (top + np.log(total))[:, 0] - 0.25 * row_dot(at, at)
            heights += seen * touching
            r[:, group] = (t[:, group] - g + 0.5 * at) * seen[:, None]
        return r, heights

    def _cold(self, block: Block) -> Posterior:
        """Return the prior, for rows that have no posterior yet."""
        q = self.n_components
        return Posterior(np.zeros((block.n_rows, q)), np.tile(identity(q), (block.n_rows, 1)))

    def expect(
        self, params: MixedParams, shared: Shared, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[MixedStats, Posterior]:
        """E-step: the posterior of each row, and with it the sums of each unit."""
        data, places = self.numbers(params, block), self.places
        n_steps = 1 if places.gaussian else self.cold_steps if carry is None else self.warm_steps
        posterior, kappa, r, bound, S = self._inner_steps(params, shared, data, carry or self._cold(block), n_steps)
        weights = block.weights[:, None]
        curves = np.concatenate([kappa, data.o[:, places.n_bits :]], axis=1)
        bits = data.X[:, places.bits] - 0.5 * data.o[:, places.bits]
        pulls = np.concatenate([bits, data.X[:, places.reals], r], axis=1)
        z = data.X[:, places.reals]
        stats = MixedStats(
            bound=np.asarray(block.weights @ bound),
            weight=np.asarray(block.weights.sum()),
            moments=curves.T @ (weights * S),
            linear=pulls.T @ (weights * posterior.extended()),
            squares=block.weights @ (z * z),
            seen=block.weights @ data.o[:, places.reals],
        )
        return stats, posterior

    def objective(self, params: MixedParams, stats: MixedStats) -> float:
        """Return the bound plus the log prior, -(ridge/2) Sum (|w|^2 + (b - c)^2)."""
        away = params.joint.copy()
        away[:, -1] -= params.centre
        return float(stats.bound) - 0.5 * effective_ridge(self.ridge) * float((away * away).sum())

    def update(self, params: MixedParams, stats: MixedStats) -> MixedParams:
        """M-step: a small linear system for each unit; then the noise, given the new loadings."""
        places, k, ridge = self.places, params.n_components + 1, effective_ridge(self.ridge)
        moments = unpack(stats.moments, k)
        joint = params.joint.copy()
        for some, curve in ((places.bits, np.ones(places.n_bits)), (places.reals, 1.0 / params.noise)):
            right = stats.linear[some] * curve[:, None]
            right[:, -1] += ridge * params.centre[some]
            left = moments[some] * curve[:, None, None] + ridge * np.eye(k)
            joint[some] = np.linalg.solve(left, right[..., None])[..., 0]
        for c, group in enumerate(places.groups):
            here = slice(places.nominal.start + group.start, places.nominal.start + group.stop)
            centre = params.centre[here] - params.centre[here].mean()
            right = _deviations(stats.linear[here])
            right[:, -1] += ridge * centre
            left = 0.5 * moments[places.n_bits + places.n_real + c] + ridge * np.eye(k)
            joint[here] = np.linalg.solve(left, right.T).T
            joint[here, -1] += params.centre[here].mean()
        return params.with_joint(joint, self._noise(params, stats, joint[places.reals], moments[places.reals]))

    def _noise(self, params: MixedParams, stats: MixedStats, joint: Floats, moments: Floats) -> Floats:
        """Return s^2 = mean [ (z - m)^2 + w'C w ], at least the floor; as it was where nothing was observed."""
        left = stats.squares - 2.0 * row_dot(joint, stats.linear[self.places.reals])
        left += np.einsum("ja,jab,jb->j", joint, moments, joint)
        seen = stats.seen
        if self.noise == "shared":
            left, seen = np.full_like(left, left.sum()), np.full_like(seen, seen.sum())
        anything = seen > 0.0
        return np.where(anything, np.maximum(left / np.where(anything, seen, 1.0), self.least_noise), params.noise)

    @property
    def least_noise(self) -> float:
        """The floor of the noise, in units of the columns' variance."""
        return max(self.noise_floor, LEAST_NOISE)

    def to_vector(self, params: MixedParams) -> Floats:
        """Return W, b and the logs of the noise in one row."""
        return np.concatenate([params.joint.ravel(), np.log(params.noise)])

    def from_vector(self, vector: Floats, params: MixedParams) -> MixedParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        size = params.joint.size
        joint = np.clip(vector[:size], -FURTHEST, FURTHEST).reshape(params.joint.shape)
        noise = np.exp(np.clip(vector[size:], np.log(self.least_noise), np.log(FURTHEST)))
        return params.with_joint(joint, np.maximum(noise, self.least_noise))

    def gaussian_posterior(self, params: MixedParams, block: Block) -> tuple[Posterior, Floats]:
        """Return the Gaussian posterior of the bound, and the bound, of each row: exact where all columns are real."""
        shared, data = self.prepare(params), self.numbers(params, block)
        n_steps = 1 if self.places.gaussian else PATIENT_STEPS
        posterior, _, _, bound, _ = self._inner_steps(params, shared, data, self._cold(block), n_steps)
        return posterior, bound

    def mismatch(self, params: MixedParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters and kinds, or None."""
        if params.n_components != self.n_components:
            return f"it has {params.n_components} dimensions where {self.n_components} are declared"
        if params.n_columns != self.places.n_numbers or len(params.noise) != self.n_real:
            return "its arrays do not fit the kinds of its columns"
        return None

    def stats_flaw(self, stats: MixedStats, params: MixedParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return mixed_stats_flaw(stats, params, self.places)

    def pseudo_statistics(self, params: MixedParams, weight: float) -> MixedStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        return expected_mixed(self.places, params, weight, self.ridge)


def _deviations(rows: Floats) -> Floats:
    """Return rows less their mean."""
    return np.asarray(rows - rows.mean(axis=0))

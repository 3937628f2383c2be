"""A mixture of logistic-PCA maps: each row belongs to one of several maps, and has a place on it.

    P(t) = Sum_k pi_k Integral N(x; 0, I) Prod_i Bern(t_i | sigma(w_ki.x + b_ki)) dx

Tipping's conclusion (1998) names it as the way on from one map: an overview and, below it, a map for each region that
is worth a closer look. With L_nk the bound of row n on map k (`logistic`, or the tighter one of `polish`),

    ln P(t_n) >= ln Sum_k pi_k exp(L_nk),     R_nk = pi_k exp(L_nk) / Sum_j pi_j exp(L_nj),

and the statistics of map k are those of logistic PCA with each row's weight times R_nk. Posteriors, R, maps and pi each
raise the bound, so that it never falls. In the polish a pass that measures steps keeps R and the posteriors:

    F = Sum_n Sum_k R_nk [ ln pi_k - ln R_nk - KL_nk + Sum_i E[ r_i A_i - ln 2cosh(A_i/2) ] ]

is then a sum over maps and columns, and each column of each map takes the best length of its own step.
Everything about a single map is done by `Logistic`.

| letter | meaning | shape |
|---|---|---|
| pi | share of each map | (K,) |
| w^ | (w, b) of each map and column | (K, d, q + 1) |
| c | centre of the prior of all b | (d,) |
| R | P(map k given the row) | (rows, K) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import entr

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import Operand
from hiddenbits.data.summary import Summary
from hiddenbits.families.logistic_pca.model import FURTHEST, Logistic, Shared, linear_sums, linear_terms
from hiddenbits.families.logistic_pca.params import POLISHED, VARIATIONAL, LogisticStats
from hiddenbits.families.logistic_pca.polish import measure_step
from hiddenbits.families.logistic_pca_mixture.params import (
    MapsParams,
    MapsPosterior,
    MapsStats,
    maps_mismatch,
    maps_stats_flaw,
)
from hiddenbits.families.logistic_pca_mixture.rows import MixedMaps
from hiddenbits.families.logistic_pca_mixture.start import start_maps
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.numerics import class_shares, shares_at, softmax_rows
from hiddenbits.maths.packed_symmetric import packed_size
from hiddenbits.model_api import Footprint, Key, Passes, Promises


@dataclass(frozen=True, eq=False)
class SharedMaps:
    """What every block of a pass needs: that of each map, and all w^ and their sums side by side, for one product."""

    maps: list[Shared]
    joint: Floats
    totals: Floats


@dataclass(frozen=True)
class LogisticMixture(MixedMaps):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        q, the same for all maps.
    n_maps : int
        K.
    start_from : {"classes", "noise"}
        Classes of the rows and the principal components of each, in every other restart; or random maps.
    ridge, polish, cold_steps, warm_steps, n_draws, seed
        As for `Logistic`.
    """

    n_components: int = 2
    n_maps: int = 2
    ridge: float = 0.1
    polish: bool = True
    start_from: Literal["classes", "noise"] = "classes"
    cold_steps: int = 10
    warm_steps: int = 1
    n_draws: int = 500
    seed: int = 0

    params_type = MapsParams
    stats_type = MapsStats
    carry_type = MapsPosterior

    @property
    def promises(self) -> Promises:
        """What the model keeps to: what each of its maps does, but for the way from few rows."""
        one = self.map_model().promises
        why = {**one.why, "online_gap": "few first rows may lead near another maximum, and EM stays with it"}
        return replace(one, why=why, online_gap=0.1)

    def map_model(self, k: int = 0) -> Logistic:
        """Return the model of one map. Its draws are its own: errors of maps that share them would add up."""
        return Logistic(
            n_components=self.n_components,
            ridge=self.ridge,
            polish=self.polish,
            cold_steps=self.cold_steps,
            warm_steps=self.warm_steps,
            n_draws=self.n_draws,
            seed=self.seed + (k << 32),
        )

    def online(self) -> LogisticMixture:
        """Return the form of the model that online EM needs: that of each map."""
        return OnlineMaps(**vars(self))

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: that of each map.

        The cells of all maps are kept until R is known, but counted as those of one: each is read once more, and
        shorter blocks would cost more in calls than they save in cache.
        """
        K, p = self.n_maps, packed_size(self.n_components + 1)
        size = n_columns + (n_columns if row_cells >= n_columns else 0)
        return Footprint(working=size + 2 * K * p, statistics=K * n_columns * p, flops=6.0 * K * n_columns * p)

    def start(self, summary: Summary, key: Key, passes: Passes) -> MapsParams:
        """Return maps of classes of rows, or random maps."""
        return start_maps(self.n_maps, self.n_components, self.start_from, summary, key, passes)

    def grow(self, params: MapsParams, key: Key) -> MapsParams | None:
        """Go on to the polish where the variational stage has been fitted; None where that is all, or nothing yet."""
        grown = [self.map_model().grow(one, key) for one in params.maps]
        maps = [one for one in grown if one is not None]  # all of them or none: they are at one stage
        return MapsParams.of(params.weights, maps) if maps else None

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.ridge > 0.0

    def on_all_rows(self, params: MapsParams) -> MapsParams:
        """Return the parameters with which a fit goes on over all rows: without the steps that were under way."""
        return MapsParams.of(params.weights, [self.map_model().on_all_rows(one) for one in params.maps])

    def prepare(self, params: MapsParams) -> SharedMaps:
        """Return what each map prepares for a pass."""
        maps = [self.map_model().prepare(one) for one in params.maps]
        return SharedMaps(maps, *(np.hstack([getattr(its, name) for its in maps]) for name in ("joint", "totals")))

    def expect(
        self, params: MapsParams, shared: SharedMaps, block: Block, carry: MapsPosterior | None, key: Key
    ) -> tuple[MapsStats, MapsPosterior]:
        """E-step: the posterior of each row on each map, R, and with them the sums of each map."""
        model, operands, blanks = self.map_model(), block.operands(), Blanks.of(block.observed)
        kept: list[Any] = carry.maps if carry is not None else [None] * params.n_maps
        weight = float(block.weights.sum())
        if params.trying and carry is not None:
            return self._measured(params, block, operands, blanks, carry.shares, kept)
        if float(params.stage) == POLISHED:
            rows = [
                model.polish_rows(one, its, block, operands, blanks, before)
                for one, its, before in zip(params.maps, shared.maps, kept, strict=True)
            ]
            r, log_p = _shares(params, [one.bound for one in rows])
            posteriors = [one.posterior for one in rows]
            if params.trying:  # its memory was lost with a worker
                return self._measured(params, block, operands, blanks, r, posteriors)
            parts = [model.sum_polish(one, block.weights * r[:, k], operands) for k, one in enumerate(rows)]
            return MapsStats.of(float(block.weights @ log_p), weight, parts), MapsPosterior.of(r, posteriors)
        linear = _of_each_map(linear_terms(shared.joint, shared.totals, *operands), params.n_maps)
        found = [
            model.expect_rows(its, block, linear[k], blanks, before, slot=f"kappa {k}")
            for k, (its, before) in enumerate(zip(shared.maps, kept, strict=True))
        ]
        r, log_p = _shares(params, [bound for _, _, bound in found])
        weights, posterior = block.weights[:, None] * r, MapsPosterior.of(r, [one for one, _, _ in found])
        sums = _of_each_map(linear_sums(operands, posterior.extended(weights)), params.n_maps)
        parts = [model.sum_rows(weights[:, k], sums[k], *one) for k, one in enumerate(found)]
        return MapsStats.of(float(block.weights @ log_p), weight, parts), posterior

    def _measured(
        self,
        params: MapsParams,
        block: Block,
        operands: tuple[Operand, Operand],
        blanks: Blanks,
        r: Floats,
        posteriors: list[Posterior],
    ) -> tuple[MapsStats, MapsPosterior]:
        """Look at what the next steps would bring, with R and the posteriors as they are."""
        parts: list[LogisticStats] = [
            measure_step(one, block.weights * r[:, k], operands, blanks, posterior)
            for k, (one, posterior) in enumerate(zip(params.maps, posteriors, strict=True))
        ]
        choice = entr(r).sum(axis=1) + r @ np.log(params.weights)  # Sum_k R (ln pi - ln R)
        bound = block.weights @ choice + sum(float(part.bound) for part in parts)
        return MapsStats.of(bound, float(block.weights.sum()), parts), MapsPosterior.of(r, posteriors)

    def objective(self, params: MapsParams, stats: MapsStats) -> float:
        """Return the bound plus the log priors of the maps, -(ridge/2) Sum (|w|^2 + (b - c)^2)."""
        model = self.map_model()
        each = zip(params.maps, stats.maps, strict=True)
        return float(stats.bound) + sum(model.objective(one, sums) for one, sums in each)

    def update(self, params: MapsParams, stats: MapsStats) -> MapsParams:
        """M-step: the update of logistic PCA for each map, and pi = share of the rows."""
        model = self.map_model()
        maps = [model.update(one, sums) for one, sums in zip(params.maps, stats.maps, strict=True)]
        return MapsParams.of(class_shares(stats.classes, float(stats.weight)), maps)

    def to_vector(self, params: MapsParams) -> Floats:
        """Return ln pi and all w^ in one row, with the steps that a polish is about to try."""
        joints = params.joints + params.steps if params.trying else params.joints
        return np.concatenate([np.log(params.weights), joints.ravel()])

    def from_vector(self, vector: Floats, params: MapsParams) -> MapsParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        joints = np.clip(vector[params.n_maps :], -FURTHEST, FURTHEST).reshape(params.joints.shape)
        stage = POLISHED if float(params.stage) == POLISHED else VARIATIONAL
        maps = [one.with_joint(joint, stage) for one, joint in zip(params.maps, joints, strict=True)]
        return MapsParams.of(shares_at(vector[: params.n_maps]), maps)

    def speculative_step(self, params: MapsParams) -> MapsParams | None:
        """Return the parameters with a polish's steps taken; they hardly ever have to be shortened."""
        return self.from_vector(self.to_vector(params), params) if params.trying else None

    def mismatch(self, params: MapsParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return maps_mismatch(self.n_maps, self.n_components, params)

    def stats_flaw(self, stats: MapsStats, params: MapsParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return maps_stats_flaw(stats, params)

    def pseudo_statistics(self, params: MapsParams, weight: float) -> MapsStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        model = self.map_model()
        parts = [model.pseudo_statistics(one, weight * pi) for one, pi in zip(params.maps, params.weights, strict=True)]
        return MapsStats.of(0.0, weight, parts)


class OnlineMaps(LogisticMixture):
    """The model as online EM needs it: each map in its online form."""

    def map_model(self, k: int = 0) -> Logistic:
        """Return the model of one map."""
        return super().map_model(k).online()


def _of_each_map(side_by_side: Floats, n_maps: int) -> Floats:
    """Return the columns of each map (K, rows, q + 1): one product for all maps takes less time than one for each."""
    return np.ascontiguousarray(side_by_side.reshape(len(side_by_side), n_maps, -1).swapaxes(0, 1))


def _shares(params: MapsParams, bounds: list[Floats]) -> tuple[Floats, Floats]:
    """Return R and ln Sum_k pi_k exp(L_k) of each row."""
    r = np.stack(bounds, axis=1) + np.log(params.weights)
    log_p = softmax_rows(r)
    return r, log_p

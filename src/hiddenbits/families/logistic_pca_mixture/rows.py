"""What a mixture of maps says about rows: what each map says (`logistic_pca/rows.py`), weighed by its share in the row.

With l_k = ln P(t | map k), integrated or estimated, ln P(t) = ln Sum_k pi_k exp(l_k). A posterior mean over maps and
places is Sum_k r_k E_k, r_k = pi_k exp(l_k) / P(t): missing cells and left-out bits then follow as for one map.

A code is K + K q numbers: how far the row belongs to each map, and its place on each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import POLISHED
from hiddenbits.families.logistic_pca.rows import odds
from hiddenbits.families.logistic_pca_mixture.params import MapsParams
from hiddenbits.maths.latent_gaussian_rows import left_out
from hiddenbits.maths.numerics import sigmoid, softmax_rows

SLACK = 1e-6  # shares of a code may miss 1 by this: codes are stored in float32 too


class MixedMaps(ABC):
    """The row functions of a mixture of maps."""

    @abstractmethod
    def map_model(self, k: int = 0) -> Logistic:
        """Return the model of one map."""

    def _each(self, params: MapsParams) -> list[tuple[Logistic, Any]]:
        return [(self.map_model(k), one) for k, one in enumerate(params.maps)]

    def exact(self, params: MapsParams) -> bool:
        """Whether the likelihood is integrated on a grid for every map."""
        return all(model.rule(one) is not None for model, one in self._each(params))

    def likelihood_and_error(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error: 0 where all maps have a grid.

        The errors e_k of ln P(t | k) are independent, and so that of ln P(t) is (Sum r_k^2 e_k^2)^1/2.
        """
        found = np.stack([m.likelihood_and_error(one, None, block) for m, one in self._each(params)], axis=1)
        r, errors = found[:, :, 0] + np.log(params.weights), found[:, :, 1]
        log_p = softmax_rows(r)
        return np.column_stack([log_p, np.sqrt(((r * errors) ** 2).sum(axis=1))])

    def log_likelihood(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return np.ascontiguousarray(self.likelihood_and_error(params, shared, block)[:, 0])

    def bound_rows(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return the lower bound of ln P(t) of each row that comes of Jaakkola and Jordan's for each map."""
        scores = np.stack([model.bound_rows(one, None, block) for model, one in self._each(params)], axis=1)
        return softmax_rows(scores, np.log(params.weights)[None])

    def posterior_moments(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return R, then the means on all maps, then the packed covariances, side by side.

        All of them belong to the bound that was fitted last: Jaakkola and Jordan's, or that of the polish.
        """
        polished = float(params.stage) == POLISHED
        rows = [model.gaussian_rows(one, block, polished=polished) for model, one in self._each(params)]
        r = np.stack([bound for _, bound in rows], axis=1)
        softmax_rows(r, np.log(params.weights)[None])
        return np.concatenate([r, *(one.mean for one, _ in rows), *(one.covariance for one, _ in rows)], axis=1)

    def posterior(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return R and the posterior means on all maps."""
        width = params.n_maps * (1 + params.n_components)
        return np.ascontiguousarray(self.posterior_moments(params, shared, block)[:, :width])

    def code(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return the most probable map of each row, as 1 among zeros, and its most probable place on every map."""
        chosen = self.posterior(params, shared, block)[:, : params.n_maps].argmax(axis=1)
        places = [model.code(one, None, block) for model, one in self._each(params)]
        return np.concatenate([np.eye(params.n_maps)[chosen], *places], axis=1)

    def reconstruct(self, params: MapsParams, codes: Floats) -> Floats:
        """Return P(bit = 1) given codes: Sum_k R_k sigma(W_k x_k + b_k)."""
        K, q = params.n_maps, params.n_components
        shares, places = codes[:, :K], codes[:, K:].reshape(len(codes), K, q)
        if (shares < -SLACK).any() or (np.abs(shares.sum(axis=1) - 1.0) > SLACK * K).any():
            raise ValueError(
                f"The first {K} numbers of a code are the probabilities of the maps: they must not be negative and "
                "must add up to 1."
            )
        return np.asarray(
            sum(
                shares[:, k, None] * model.reconstruct(one, places[:, k])
                for k, (model, one) in enumerate(self._each(params))
            )
        )

    def fill(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if it had to be drawn again: Sum_k r_k E_k[sigma(A)]."""
        return self._weighted(params, block, lambda A: (sigmoid(A),))[0]

    def leave_one_out(self, params: MapsParams, shared: object, block: Block) -> Floats:
        """Return P(t_i = 1 | the other observed bits) for every cell."""
        return left_out(block, *self._weighted(params, block, odds))

    def _weighted(self, params: MapsParams, block: Block, functions: Any) -> list[Floats]:
        """Return the posterior means, over maps and places, of functions of the activations, each (rows, d)."""
        found = [model.weighted(one, block, functions) for model, one in self._each(params)]
        r = np.stack([log_p for _, log_p in found], axis=1)
        softmax_rows(r, np.log(params.weights)[None])
        means = zip(*(values for values, _ in found), strict=True)
        return [np.asarray(sum(r[:, k, None] * of_map for k, of_map in enumerate(each))) for each in means]

    def draw(self, params: MapsParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and their codes: the map as 1 among zeros, and a place on every map, of which one counts."""
        K, q = params.n_maps, params.n_components
        chosen = np.eye(K)[rng.choice(K, size=n, p=params.weights)]
        codes = np.concatenate([chosen, rng.standard_normal((n, K * q))], axis=1)
        x = rng.random((n, params.n_columns)) < self.reconstruct(params, codes)
        return x.view(np.uint8), codes

    def log_joint(self, params: MapsParams, x: Floats, h: Floats) -> float:
        """Return ln pi_k + ln P(t | x) + ln p(x) of one complete row t, its map and its place there: the definition.

        h is the map, as 1 among zeros, and the place.
        """
        k = int(np.argmax(h[: params.n_maps]))
        place = h[params.n_maps :]
        return float(np.log(params.weights[k])) + self.map_model(k).log_joint(params.maps[k], x, place)

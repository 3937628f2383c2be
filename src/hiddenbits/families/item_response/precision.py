"""How much each item says of a latent position: Fisher's information of its answer."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.families.item_response.params import LARGEST_LOG_RATE, ItemParams, Items
from hiddenbits.families.item_response.response import level_probabilities, slopes


def weights_of_predictors(items: Items, eta: Floats) -> Floats:
    """Return E[s s'] of each item, s the derivatives of ln P by the predictors, (J, M, M, K)."""
    if items.kind == "count":
        return np.asarray(np.exp(np.clip(eta, -LARGEST_LOG_RATE, LARGEST_LOG_RATE))[:, :, None])
    if items.kind == "continuous":
        out = np.zeros((len(eta), 2, 2, eta.shape[2]))
        out[:, 0, 0], out[:, 1, 1] = np.exp(-eta[:, 1]), 0.5
        return out
    p = level_probabilities(items.kind, eta)
    s = slopes(items.kind, eta, p)
    return np.asarray(np.einsum("jlk,jlmk,jlnk->jmnk", p, s, s, optimize=True))


def item_precision(params: ItemParams, points: Floats) -> Floats:
    """Return the information of each column at some points, (columns, points, q, q): bits first, then numbers."""
    n_bits = len(params.layout.sizes)
    out = np.zeros((n_bits + params.n_numbers, len(points), points.shape[1], points.shape[1]))
    for items in params.items:
        W = weights_of_predictors(items, params.predictors(items, points))
        a = params.coefficients(items)[..., :-1]
        first = items.cells[:, 0]
        is_number = items.kind in ("continuous", "count")
        columns = n_bits + first if is_number else params.columns[first].astype(np.intp)
        out[columns] = np.einsum("jma,jmnk,jnb->jkab", a, W, a, optimize=True)
    return out

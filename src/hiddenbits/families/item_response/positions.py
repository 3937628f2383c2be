"""Rows at any latent positions: log-likelihood, gradient and information; the most probable position (MAP)."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.item_response.model import ItemResponse
from hiddenbits.families.item_response.params import LARGEST_LOG_RATE, ItemParams
from hiddenbits.families.item_response.precision import item_precision
from hiddenbits.families.item_response.response import OF_BITS, level_probabilities, slopes
from hiddenbits.families.item_response.score_function import Answers, answers_of
from hiddenbits.families.nodes.params import NodeScores
from hiddenbits.maths.packed_symmetric import pack

NEWTON_STEPS, MAX_HALVINGS = 30, 12
SMALLEST_STEP = 1e-9


def modes(model: ItemResponse, params: ItemParams, shared: NodeScores, block: Block) -> Floats:
    """Return each row's most probable position and its packed covariance, (n, q + q (q + 1) / 2).

    The covariance is the inverse of the information of the observed items and the prior at the position.
    """
    answers, prior = answers_of(params, block), np.linalg.inv(params.correlations)
    z = params.points[model.node_weights(params, shared, block).argmax(axis=1)]

    def height(z: Floats) -> Floats:
        return np.asarray(_terms(params, answers, z)[0] - 0.5 * np.einsum("ni,ij,nj->n", z, prior, z))

    best = height(z)
    for _ in range(NEWTON_STEPS):
        step = np.linalg.solve(
            _information(params, answers, z) + prior, (_terms(params, answers, z)[1] - z @ prior)[..., None]
        )[..., 0]
        for _ in range(MAX_HALVINGS):
            new = height(z + step)
            fell = new < best
            if not fell.any():
                break
            step[fell] *= 0.5
        step[fell] = 0.0
        z, best = z + step, np.where(fell, best, new)
        if np.abs(step).max(initial=0.0) < SMALLEST_STEP:
            break
    covariances = np.linalg.inv(_information(params, answers, z) + prior)
    return np.concatenate([z, pack(covariances)], axis=1)


def _information(params: ItemParams, answers: Answers, z: Floats) -> Floats:
    """Return the information of each row's observed items at its position, (n, q, q)."""
    observed = np.hstack([answers.levels >= 0, ~np.isnan(answers.numbers)])
    return np.asarray(np.einsum("jnab,nj->nab", item_precision(params, z), observed))


def _terms(params: ItemParams, answers: Answers, z: Floats) -> tuple[Floats, Floats]:
    """Return ln P(answers | z) of each row at its position, (n,), and its gradient, (n, q)."""
    logs, gradient = np.zeros(len(z)), np.zeros(z.shape)
    rows = np.arange(len(z))
    for items in params.items:
        eta, a = params.predictors(items, z), params.coefficients(items)[..., :-1]
        if items.kind not in OF_BITS:
            values = answers.numbers[:, items.cells[:, 0]].T
            observed, x = ~np.isnan(values), np.nan_to_num(values)
            if items.kind == "count":
                log_rate = np.minimum(eta[:, 0], LARGEST_LOG_RATE)
                log_p, s = x * log_rate - np.exp(log_rate), x - np.exp(log_rate)
            else:
                s = (x - eta[:, 0]) * np.exp(-eta[:, 1])
                log_p = -0.5 * ((x - eta[:, 0]) * s + eta[:, 1])
            logs += np.where(observed, log_p, 0.0).sum(axis=0)
            gradient += np.einsum("jn,ja->na", np.where(observed, s, 0.0), a[:, 0])
            continue
        p = level_probabilities(items.kind, eta)
        s = slopes(items.kind, eta, p)
        levels = answers.levels[:, params.columns[items.cells[:, 0]].astype(np.intp)].T  # (J, n)
        observed, j = levels >= 0, np.arange(len(levels))[:, None]
        chosen = np.where(observed, levels, 0)
        logs += np.where(observed, np.log(p[j, chosen, rows]), 0.0).sum(axis=0)
        of_answer = np.where(observed[..., None], s[j, chosen, :, rows], 0.0)  # (J, n, M)
        gradient += np.einsum("jnm,jma->na", of_answer, a)
    return logs, gradient

"""Starts of the layers of a noisy-OR network, and the removal of spare causes."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.families.noisy_or.m_step import clip_strengths
from hiddenbits.families.noisy_or.params import NoisyOrParams

ACTIVE_CAUSES = 3.0  # expected number of causes that are on in a row, a priori
SIMILAR_COSINE = 0.3  # cosine between the strengths of two causes above which one may replace the other
FIRST_LEAK_SHARE = 0.5  # share of P(child on) at which a leak starts when it is first estimated
LARGE_LAYER = 64  # causes; in smaller layers any overlap counts as similar, as fits to the shifter need
MANY_SPARE_CAUSES = 20  # of more, half are removed at a time, otherwise a quarter
MOST_LEAK_SHARE = 0.05  # largest share of a child's 1s from the leak while its layer is fitted


def first_prior(prior: float | None, n_causes: int) -> float:
    """Return P(S_i = 1) while a layer is fitted: `prior`, or about three causes on per row."""
    return min(0.3, ACTIVE_CAUSES / n_causes) if prior is None else prior


def n_with_spare(n_causes: int, spare: float) -> int:
    """Return the number of causes that a layer starts with."""
    return int(np.ceil(n_causes * (1.0 + spare) - 1e-9))


def first_strengths(
    means: Floats, n_causes: int, leak: float, strength_range: tuple[float, float] | None, rng: np.random.Generator
) -> Floats:
    """Return strengths of a new layer, (K + 1, children): nearly equal causes, three of which give the means.

    With a `strength_range` strengths are sampled between its two numbers instead, as in the paper.
    """
    if strength_range is None:
        f = rng.uniform(0.5, 1.5, (n_causes, len(means))) * means / (ACTIVE_CAUSES + 1.0)
    else:
        f = rng.uniform(*strength_range, (n_causes, len(means)))
    return clip_strengths(np.vstack([f, np.minimum(leak, MOST_LEAK_SHARE * means)]))


def add_layer(
    params: NoisyOrParams,
    n_causes: int,
    prior: float,
    leak: float,
    strength_range: tuple[float, float] | None,
    rng: np.random.Generator,
) -> NoisyOrParams:
    """Return a network with one more layer on top, not yet fitted."""
    f = first_strengths(params.priors, n_causes, leak, strength_range, rng)
    names = np.concatenate([params.names, params.names.max() + 1.0 + np.arange(n_causes)])
    return NoisyOrParams.of([*params.layers, f], np.full(n_causes, prior), names)


def raise_leak(params: NoisyOrParams) -> NoisyOrParams:
    """Return a network whose top layer has a larger leak: up to half of P(on) of each of its children.

    While strengths are fitted the leak is fixed and small, so that causes have to explain everything. A small leak
    grows too slowly, since every child that is on already has a cause; the priors and strengths above are then biased.
    A leak that starts too high soon decreases.
    """
    f = params.layers[-1].copy()
    p_on = 1.0 - (1.0 - f[-1]) * np.prod(1.0 - params.priors[:, None] * f[:-1], axis=0)
    f[-1] = np.maximum(f[-1], FIRST_LEAK_SHARE * p_on)
    return NoisyOrParams.of([*params.layers[:-1], clip_strengths(f)], params.priors, params.names)


def remove_causes(params: NoisyOrParams, removed: Rows, prior: float) -> NoisyOrParams:
    """Return a network without some causes of its top layer, and with a new prior for the others."""
    top = params.layers[-1]
    remaining = np.delete(top, removed, axis=0)
    first_of_top = len(params.names) - (len(top) - 1)
    names = np.delete(params.names, first_of_top + np.asarray(removed))
    return NoisyOrParams.of([*params.layers[:-1], remaining], np.full(len(remaining) - 1, prior), names)


def n_to_remove(n_causes: int, n_declared: int) -> int:
    """Return the number of causes to remove after a survey: half of many spare causes, a quarter of few."""
    spare = n_causes - n_declared
    return spare // 2 if spare > MANY_SPARE_CAUSES else -(-spare // 4)


def n_surveys(n_causes: int, n_declared: int) -> int:
    """Return the number of surveys that a layer may need: with similar causes each removes few, at least one.

    Examples
    --------
    >>> n_surveys(20, 10), n_surveys(10, 10)
    (10, 0)
    """
    n = 0
    while n_causes > n_declared:
        n_causes, n = n_causes - max(1, n_to_remove(n_causes, n_declared) // 4), n + 1
    return n


def causes_to_remove(gains: Floats, strengths: Floats, most: int) -> Rows:
    """Return causes to remove together: those whose removal gains most, without pairs of similar causes.

    Of two causes with the same effect either can be removed, but not both. In large layers the mean cause is
    subtracted first: otherwise columns with many 1s would make all causes similar, and only one could be removed at
    a time. At least a quarter of `most` are removed, even if similar.
    """
    effects = strengths - strengths.mean(axis=0) if len(strengths) > LARGE_LAYER else strengths
    directions = effects / np.maximum(np.linalg.norm(effects, axis=1, keepdims=True), 1e-12)
    cosines = directions @ directions.T
    order = np.argsort(-gains, kind="stable").tolist()
    removed: list[int] = []
    for i in order:
        if len(removed) < most and all(cosines[i, j] < SIMILAR_COSINE for j in removed):
            removed.append(i)
    others = [i for i in order if i not in removed]
    return np.array(removed + others[: max(0, most // 4 - len(removed))], np.intp)

"""Starts of the layers of a noisy-OR network, and the removal of spare causes."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.families.noisy_or.m_step import clip_strengths
from hiddenbits.families.noisy_or.params import NoisyOrParams

ACTIVE = 3.0  # causes expected to be on in a row, a priori
SIMILAR = 0.3  # cosine between the strengths of two causes from which one may replace the other
FREE_LEAK = 0.5  # of the probability that a child is on: start of the leak when it is first estimated
LARGE_LAYER = 64  # causes; in smaller layers any overlap counts as similar, which the shifter's causes need
MANY = 20  # spare causes, of which half are removed at a time; of fewer a quarter
MOST_LEAK = 0.05  # largest share of a child's 1s from the leak while its layer is fitted


def first_prior(prior: float | None, n_causes: int) -> float:
    """Return P(S_i = 1) while a layer is fitted: as given, or such that about three causes are on per row."""
    return min(0.3, ACTIVE / n_causes) if prior is None else prior


def with_spare(n_causes: int, spare: float) -> int:
    """Return the number of causes that a layer starts with."""
    return int(np.ceil(n_causes * (1.0 + spare) - 1e-9))


def first_strengths(
    means: Floats, n_causes: int, leak: float, first: tuple[float, float] | None, rng: np.random.Generator
) -> Floats:
    """Return strengths of a new layer, (K + 1, children): nearly equal causes, three of which give the means.

    With `first` strengths are sampled between two numbers instead, as in the paper.
    """
    if first is None:
        f = rng.uniform(0.5, 1.5, (n_causes, len(means))) * means / (ACTIVE + 1.0)
    else:
        f = rng.uniform(*first, (n_causes, len(means)))
    return clip_strengths(np.vstack([f, np.minimum(leak, MOST_LEAK * means)]))


def with_layer(
    params: NoisyOrParams,
    n_causes: int,
    prior: float,
    leak: float,
    first: tuple[float, float] | None,
    rng: np.random.Generator,
) -> NoisyOrParams:
    """Return a network with one more layer on top, not yet fitted."""
    above = first_strengths(params.priors, n_causes, leak, first, rng)
    names = np.concatenate([params.names, params.names.max() + 1.0 + np.arange(n_causes)])
    return NoisyOrParams.of([*params.layers, above], np.full(n_causes, prior), names)


def with_room_for_leak(params: NoisyOrParams) -> NoisyOrParams:
    """Return a network whose top layer has a larger leak: up to half of P(on) of each of its children.

    While strengths are fitted the leak is fixed and small, so that causes have to explain everything. From such a start
    it grows too slowly, since every child that is on already has its cause, and the priors and strengths above are
    biased to compensate. A leak that starts too high soon decreases.
    """
    f = params.layers[-1].copy()
    on = 1.0 - (1.0 - f[-1]) * np.prod(1.0 - params.priors[:, None] * f[:-1], axis=0)
    f[-1] = np.maximum(f[-1], FREE_LEAK * on)
    return NoisyOrParams.of([*params.layers[:-1], clip_strengths(f)], params.priors, params.names)


def without_causes(params: NoisyOrParams, removed: Rows, prior: float) -> NoisyOrParams:
    """Return a network without some causes of its top layer, and with a new prior for the others."""
    top = params.layers[-1]
    remaining = np.delete(top, removed, axis=0)
    first = len(params.names) - (len(top) - 1)
    names = np.delete(params.names, first + np.asarray(removed))
    return NoisyOrParams.of([*params.layers[:-1], remaining], np.full(len(remaining) - 1, prior), names)


def n_to_remove(size: int, wanted: int) -> int:
    """Return the number of causes to remove after a survey: half of many spare causes, a quarter of few."""
    spare = size - wanted
    return spare // 2 if spare > MANY else -(-spare // 4)


def n_surveys(size: int, wanted: int) -> int:
    """Return the number of surveys that a layer may need: with similar causes each removes few, but at least one.

    Examples
    --------
    >>> n_surveys(20, 10), n_surveys(10, 10)
    (10, 0)
    """
    needed = 0
    while size > wanted:
        size, needed = size - max(1, n_to_remove(size, wanted) // 4), needed + 1
    return needed


def causes_to_remove(gains: Floats, strengths: Floats, most: int) -> Rows:
    """Return causes to remove together: those whose absence gains most, without pairs of similar causes.

    Of two causes with the same effect either can be removed, but not both. In large layers similarity is that of
    differences from the mean cause: otherwise columns with many 1s would make all causes similar, and only one could be
    removed at a time. If most are similar nevertheless, a quarter of `most` are removed.
    """
    centered = strengths - strengths.mean(axis=0) if len(strengths) > LARGE_LAYER else strengths
    directions = centered / np.maximum(np.linalg.norm(centered, axis=1, keepdims=True), 1e-12)
    alike = directions @ directions.T
    order = np.argsort(-gains, kind="stable").tolist()
    removed: list[int] = []
    for i in order:
        if len(removed) < most and all(alike[i, j] < SIMILAR for j in removed):
            removed.append(i)
    others = [i for i in order if i not in removed]
    return np.array(removed + others[: max(0, most // 4 - len(removed))], np.intp)

"""How the layers of a noisy-OR network begin, and how a layer with too many causes loses some."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.families.noisy_or.m_step import clip_strengths
from hiddenbits.families.noisy_or.params import NoisyOrParams

ACTIVE = 3.0  # causes that a row is expected to have on, before anything is known
ALIKE = 0.3  # cosine between the strengths of two causes from which on one may stand in for the other
FREE_LEAK = 0.5  # of the probability that a child is on, the leak begins with so much when it is freed
CROWD = 64  # causes; in smaller layers those that overlap at all are kept apart: the shifter's causes need it
MANY = 20  # spare causes, of which half go at a time; of fewer a quarter
MOST_LEAK = 0.05  # of a child's ones, at most, are left to the leak while its layer learns


def first_prior(prior: float | None, n_causes: int) -> float:
    """Return P(S_i = 1) while a layer learns: as given, or such that about three causes are on in a row."""
    return min(0.3, ACTIVE / n_causes) if prior is None else prior


def with_spare(n_causes: int, spare: float) -> int:
    """Return how many causes a layer begins with."""
    return int(np.ceil(n_causes * (1.0 + spare) - 1e-9))


def first_strengths(
    means: Floats, n_causes: int, leak: float, first: tuple[float, float] | None, rng: np.random.Generator
) -> Floats:
    """Return strengths of a new layer, (K + 1, children): all causes nearly alike, three of them making the means.

    With `first` they are drawn between two numbers instead, as in the paper.
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
    """Return a network with one more layer on top, which has yet to learn."""
    above = first_strengths(params.priors, n_causes, leak, first, rng)
    names = np.concatenate([params.names, params.names.max() + 1.0 + np.arange(n_causes)])
    return NoisyOrParams.of([*params.layers, above], np.full(n_causes, prior), names)


def with_room_for_leak(params: NoisyOrParams) -> NoisyOrParams:
    """Return a network whose top layer leaves room for the leak: up to half of P(on) of each of its children.

    While strengths are learned the leak is held low, so that causes have to explain everything. A leak that begins
    there grows too slowly, since every child that is on already has its cause, and the priors and strengths above it
    come out wrong to compensate. One that begins too high is soon taken back.
    """
    f = params.layers[-1].copy()
    on = 1.0 - (1.0 - f[-1]) * np.prod(1.0 - params.priors[:, None] * f[:-1], axis=0)
    f[-1] = np.maximum(f[-1], FREE_LEAK * on)
    return NoisyOrParams.of([*params.layers[:-1], clip_strengths(f)], params.priors, params.names)


def without(params: NoisyOrParams, gone: Rows, prior: float) -> NoisyOrParams:
    """Return a network without some causes of its top layer; the prior of the others is set again."""
    top = params.layers[-1]
    left = np.delete(top, gone, axis=0)
    first = len(params.names) - (len(top) - 1)
    names = np.delete(params.names, first + np.asarray(gone))
    return NoisyOrParams.of([*params.layers[:-1], left], np.full(len(left) - 1, prior), names)


def to_go(size: int, wanted: int) -> int:
    """Return how many causes of a layer a survey may take away: half of many spare ones, a quarter of few."""
    spare = size - wanted
    return spare // 2 if spare > MANY else -(-spare // 4)


def n_surveys(size: int, wanted: int) -> int:
    """Return how many surveys a layer may need: where causes are alike each takes away few, but at least one.

    Examples
    --------
    >>> n_surveys(20, 10), n_surveys(10, 10)
    (10, 0)
    """
    needed = 0
    while size > wanted:
        size, needed = size - max(1, to_go(size, wanted) // 4), needed + 1
    return needed


def least_missed(gains: Floats, strengths: Floats, most: int) -> Rows:
    """Return which causes to take away at once: those whose absence gains most, and none that is like another of them.

    Two causes that do the same can each be done without, but not both. In a crowd of causes what counts is where they
    differ from the mean of all: bits that are on everywhere would make all of them alike, and one would go at a time.
    If most are alike all the same, a quarter of those wanted go.
    """
    own = strengths - strengths.mean(axis=0) if len(strengths) > CROWD else strengths
    directions = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    alike = directions @ directions.T
    order = np.argsort(-gains, kind="stable").tolist()
    gone: list[int] = []
    for i in order:
        if len(gone) < most and all(alike[i, j] < ALIKE for j in gone):
            gone.append(i)
    others = [i for i in order if i not in gone]
    return np.array(gone + others[: max(0, most // 4 - len(gone))], np.intp)

"""Parameters of a layered noisy-OR network, its prior, and the M-step of one layer.

A unit that is on is a cause of the units below it. Each cause that is on may switch a unit on, independently of the
others, and the unit is on if any of them did (Lewicki & Sejnowski 1996):

    P(S_j = 1 | layer above) = 1 - exp(-u_j),   u_j = w_0j + Sum_i S_i w_ij,   f_ij = 1 - exp(-w_ij)

Letters and shapes are in `model.py`.

Layers are counted from the data upwards: layer 0 are the causes of the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params
from hiddenbits.maths.numerics import are_probabilities

LARGEST = 1.0 - 1e-6  # a strength of 1 would make a zero impossible, and one of 0 could never grow again
SMALLEST, SMALLEST_SUM = 1e-4, 1e-2  # of one strength; of a cause's strengths together, in a wide table
CLOCK = 6  # numbers that say how far a fit has come
LEARN, SETTLE, JOINT = 0.0, 1.0, 2.0  # phases: the weights of a layer; its priors and leak too; all layers at once


def smallest(n_children: int) -> float:
    """Return the least strength: many children each with a little would be a few that are switched on by nothing."""
    return min(SMALLEST, SMALLEST_SUM / n_children)


def n_free_parameters(n_causes: Sequence[int], n_columns: int) -> int:
    """Return how many parameters of a network are free; its causes layer by layer, the lowest first.

    All that the layers above one of K causes can say is how probable its states are: 2^K - 1 numbers.

    Examples
    --------
    >>> n_free_parameters((3,), 10), n_free_parameters((3, 2), 10)   # not 3 * 3 + 2 = 11 instead of 3, but 7
    (43, 47)
    """
    free = n_causes[-1]
    for K, below in zip(n_causes[::-1], (n_columns, *n_causes)[-2::-1], strict=True):
        free = min(free, 2**K - 1) + (K + 1) * below
    return free


def clip_strengths(f: Floats) -> Floats:
    """Return strengths that can still grow and never forbid a zero; (causes, children)."""
    return np.clip(f, smallest(f.shape[-1]), LARGEST)


def log_on(u: Floats) -> Floats:
    """Return ln(1 - exp(-u)), for u > 0.

    Examples
    --------
    >>> float(log_on(np.array([1e-20]))[0].round(6))
    -46.051702
    """
    return np.asarray(np.log(-np.expm1(-u)))


@dataclass(frozen=True, eq=False)
class NoisyOrParams(Params):
    """Strengths of all layers, the priors of the top one, and how far the fit has come.

    Attributes
    ----------
    sizes : ndarray of shape (layers + 1,)
        Columns, causes of the lowest layer, and so on.
    strengths : ndarray
        f of all layers, leak last in each, one after the other.
    priors : ndarray of shape (K_top,)
    names : ndarray of shape (all units,)
        A number for each unit that stays when others are pruned, so that states of rows find their units again.
    clock : ndarray of shape (6,)
        Layer that learns, phase, passes in this phase, the seed of what layers further up begin with, how
        unstable the states of the rows have been of late, and the number of rows, 0 where nobody needs it.
    """

    sizes: Floats
    strengths: Floats
    priors: Floats
    names: Floats
    clock: Floats

    @classmethod
    def of(
        cls, layers: list[Floats], priors: Floats, clock: Sequence[float] | Floats, names: Floats | None = None
    ) -> NoisyOrParams:
        """Build from the strengths of each layer, (K + 1, children), the lowest first."""
        sizes = [layers[0].shape[1], *(len(f) - 1 for f in layers)]
        padded = np.zeros(CLOCK)
        padded[: len(clock)] = clock
        return cls(
            np.array(sizes, np.float64),
            np.concatenate([f.ravel() for f in layers]),
            priors,
            np.arange(float(sum(sizes[1:]))) if names is None else names,
            padded,
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.sizes[0])

    @property
    def n_causes(self) -> tuple[int, ...]:
        """Causes of each layer, the lowest first."""
        return tuple(int(size) for size in self.sizes[1:])

    @cached_property
    def layers(self) -> list[Floats]:
        """Strengths f of each layer, (K + 1, children), the leak last."""
        found, start = [], 0
        for below, above in zip(self.sizes[:-1].astype(int), self.sizes[1:].astype(int), strict=True):
            stop = start + (above + 1) * below
            found.append(self.strengths[start:stop].reshape(above + 1, below))
            start = stop
        return found

    @cached_property
    def weights(self) -> list[Floats]:
        """Weights w = -ln(1 - f) of each layer, (K + 1, children)."""
        return [-np.log1p(-f) for f in self.layers]

    @cached_property
    def activity(self) -> list[Floats]:
        """P(unit on) of each layer, as if the units above were independent of each other."""
        found = [self.priors]
        for f in self.layers[:0:-1]:
            found.insert(0, 1.0 - (1.0 - f[-1]) * np.prod(1.0 - found[0][:, None] * f[:-1], axis=0))
        return found

    def ordered(self) -> NoisyOrParams:
        """Return the same network with the units of each layer in order of falling activity."""
        orders = [np.argsort(-p, kind="stable") for p in self.activity]
        layers, below = [], np.arange(self.n_columns)
        for f, order in zip(self.layers, orders, strict=True):
            layers.append(np.vstack([f[order], f[-1:]])[:, below])
            below = order
        return NoisyOrParams.of(layers, self.priors[orders[-1]], self.clock[:3])

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        sizes = self.sizes
        if sizes.ndim != 1 or len(sizes) < 2 or not np.all((sizes >= 1) & (sizes == np.round(sizes))):
            return "sizes must list the columns and at least one layer"
        if np.any(sizes > 2**31):
            return "a layer is too large"
        if self.strengths.shape != (int(np.sum(sizes[:-1] * (sizes[1:] + 1.0))),):
            return "strengths do not fit the sizes of the layers"
        if self.priors.shape != (int(sizes[-1]),) or self.names.shape != (int(sizes[1:].sum()),):
            return "priors and names do not fit the sizes of the layers"
        if not all(
            are_probabilities(p, least=1e-300, most=np.nextafter(1.0, 0.0)) for p in (self.strengths, self.priors)
        ):
            return "strengths and priors must lie between 0 and 1"
        if any(np.any((array < 0) | (array > 2.0**53)) for array in (self.names, self.clock)):
            return "names and clock must be counts"
        if self.clock.shape != (CLOCK,) or self.clock[1] not in (LEARN, SETTLE, JOINT):
            return "the clock is damaged"
        if int(self.clock[0]) != len(sizes) - 2:
            return "the clock stands at another layer"
        return None


def at(params: NoisyOrParams, phase: float, passes: float) -> NoisyOrParams:
    """Return the same parameters at another time of the fit."""
    layer, _, _, seed, _, rows = params.clock.tolist()
    return replace(params, clock=np.array([layer, phase, passes, seed, 0.0, rows]))


def log_prior(params: NoisyOrParams, alpha: float, beta: float, centre: float) -> float:
    """Return the log density of all w, (alpha - 1) ln w - beta w + const, and that of pi: a row, `centre` of it on."""
    total = sum(float((alpha - 1.0) * np.log(w).sum() - beta * w.sum()) for w in params.weights)
    total += params.strengths.size * float(alpha * np.log(beta) - gammaln(alpha))
    return total + float((centre * np.log(params.priors) + (1.0 - centre) * np.log1p(-params.priors)).sum())


def best_priors(on: Floats, weight: float, centre: float) -> Floats:
    """Return pi from the expected number of rows in which each top cause is on."""
    return np.clip((on + centre) / (weight + 1.0), 1e-6, 1.0 - 1e-6)


def best_strengths(fired: Floats, tried: Floats, alpha: float, beta: float) -> Floats:
    """Return f that maximises A ln f - (T - A) w + (alpha - 1) ln w - beta w, for each cause and child.

    A (`fired`) is how often the cause is expected to have switched the child on, T (`tried`) how often it was on. The
    maximum is eq 9, f = A / [ T + beta - (alpha - 1) / w ], with w on the right that belongs to f: closed for
    alpha = 1, otherwise a root of one variable, found by Newton steps in ln w. The function is concave for
    alpha >= 1, and taking its maximum keeps EM monotone.

    Examples
    --------
    >>> best_strengths(np.array([[3.0]]), np.array([[5.0]]), 1.0, 1.0)
    array([[0.5]])
    """
    fired = np.maximum(fired, 0.0)
    never = np.maximum(tried - fired, 0.0) + beta
    if alpha == 1.0:
        return clip_strengths(fired / np.maximum(fired + never, 1e-300))
    # A / (e^w - 1) + (alpha - 1) / w = T - A + beta. At w = (A + alpha - 1) / (T - A + beta) the left side is too
    # small by less than A / 2; from there Newton in ln w settles in a few steps, and halving guards the rest.
    low, high = np.log(1e-12), np.log(60.0)
    t = np.clip(np.log(np.maximum(fired + alpha - 1.0, 1e-300) / np.maximum(never, 1e-300)), low, high)
    for _ in range(30):
        w = np.exp(t)
        on = fired * w / np.expm1(w)
        gap = on + (alpha - 1.0) - never * w
        slope = on * (1.0 - w - w / np.expm1(w)) - never * w
        step = np.clip(-gap / np.where(slope < 0.0, slope, -1e-300), -1.0, 1.0)
        t = np.clip(t + step, low, high)
        if np.abs(step).max() < 1e-12:
            break
    return clip_strengths(-np.expm1(-np.exp(t)))

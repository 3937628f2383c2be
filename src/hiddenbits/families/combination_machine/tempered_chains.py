"""Markov chains of the combination machine: block Gibbs sweeps, and parallel tempering with swaps between temperatures.

Every chain has one row at each temperature beta_1 < ... < beta_T = 1 (`Tempered`). A sweep samples h given x and x
given h for all of them in two matrix products. Then neighbors swap rows with probability min(1, r),

    ln r = [ln p*_high(x_low) - ln p*_low(x_low)] - [ln p*_high(x_high) - ln p*_low(x_high)],

pairs (1,2), (3,4), ... after even sweeps and (2,3), (4,5), ... after odd ones: rows then drift through the ladder
rather than make a random walk. At beta = 0 every sweep samples a new row, so that a row which arrives at beta = 1 from
beta = 0 is independent of the previous one: the chains count these arrivals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Arrays
from hiddenbits.maths.state_sums import FreePhase
from hiddenbits.maths.tempering import Numbers, Run, Tempered, bits_to_signs, generators, groups_of

Summary = Callable[[Numbers, Numbers], Floats]  # of the rows at beta = 1 and their activations

GROUP_ROWS = 400  # rows, over all temperatures, that are updated together


@dataclass(frozen=True, eq=False)
class ChainState(Arrays):
    """The state of the chains. Chains resumed from it equal uninterrupted ones.

    Attributes
    ----------
    visible : ndarray of uint8, shape (T, chains, d)
        Rows in 0 and 1; those at the last temperature are samples of the machine.
    betas : ndarray of shape (T,)
    sweeps : 0-d array
        Number of sweeps so far: even or odd determines the neighbors that swap next.
    tried, accepted : ndarray of shape (T - 1,)
        Number of swaps proposed and accepted between neighbors.
    from_base : ndarray of uint8, shape (T, chains)
        Whether the row was at beta = 0 since it was last at beta = 1.
    renewals : 0-d array
        How often a row from beta = 0 arrived at beta = 1, over all chains.
    """

    visible: Bytes
    betas: Floats
    sweeps: NDArray[np.int64]
    tried: NDArray[np.int64]
    accepted: NDArray[np.int64]
    from_base: Bytes
    renewals: NDArray[np.int64]

    @property
    def rows(self) -> Bytes:
        """The rows at beta = 1, (chains, d)."""
        rows: Bytes = self.visible[-1]
        return rows

    @property
    def swap_rates(self) -> Floats:
        """Acceptance rate of swaps for each pair of neighbors; NaN if none was proposed."""
        rates = np.full(len(self.tried), np.nan)
        np.divide(self.accepted, self.tried, out=rates, where=self.tried > 0)
        return rates

    def recounted(self, betas: ArrayLike | None = None) -> ChainState:
        """Return the same rows with the counts of swaps and renewals at 0, and with new temperatures if given."""
        ladder = self.betas if betas is None else np.array(betas, dtype=np.float64)
        zeros = np.zeros_like(self.tried)
        return replace(self, betas=ladder, tried=zeros, accepted=zeros.copy(), renewals=np.zeros((), np.int64))


Chains = TypeVar("Chains", bound=ChainState)


def start_chains(
    machine: Tempered,
    n_chains: int,
    rng: np.random.Generator,
    betas: ArrayLike = (1.0,),
    rows: Bytes | None = None,
) -> ChainState:
    """Return chains that start at samples from the base distribution, or at `rows` (0 and 1) at every temperature.

    `betas` increase, from 0 or more to exactly 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> machine = Tempered.of(np.ones((5, 2)), np.zeros(2), np.zeros(5))
    >>> state = start_chains(machine, 3, rng, betas=[0.0, 0.5, 1.0])
    >>> state = advance(machine, state, 10, rng)
    >>> state.rows.shape, int(state.sweeps)
    ((3, 5), 10)
    """
    ladder = np.array(betas, dtype=np.float64)
    T, d = len(ladder), machine.n_columns
    if rows is None:
        visible = (machine.base_rows(T * n_chains, rng) > 0).astype(np.uint8).reshape(T, n_chains, d)
    else:
        visible = np.repeat(rows[None], T, axis=0)
    swaps, zero = np.zeros(T - 1, np.int64), np.zeros((), np.int64)
    from_base = np.zeros((T, n_chains), np.uint8)
    return ChainState(visible, ladder, zero, swaps, swaps.copy(), from_base, zero.copy())


def advance(machine: Tempered, state: Chains, n_sweeps: int, rng: np.random.Generator, run: Run = map) -> Chains:
    """Return the chains `n_sweeps` later.

    Parameters
    ----------
    machine : Tempered
    state : ChainState
    n_sweeps : int
    rng : Generator
        Seeds a generator for each group of chains.
    run : callable
        `map`, or the `map` of a pool of threads; the result does not depend on it.
    """
    return advance_traced(machine, state, n_sweeps, rng, None, run)[0]


def advance_traced(
    machine: Tempered, state: Chains, n_sweeps: int, rng: np.random.Generator, summary: Summary | None, run: Run = map
) -> tuple[Chains, Floats]:
    """Return the chains `n_sweeps` later, and `summary(x, a)` of the rows at beta = 1 after each sweep.

    `summary` returns (rows, k) numbers; the trace has shape (sweeps, chains, k).
    """
    T, n_chains, _ = state.visible.shape
    groups = groups_of(n_chains, max(1, GROUP_ROWS // T))

    def work(task: tuple[slice, np.random.Generator]) -> tuple[ChainState, Floats]:
        g, group_rng = task
        part = replace(state, visible=state.visible[:, g], from_base=state.from_base[:, g])
        return _advance_group(machine, part, n_sweeps, group_rng, summary)

    parts = list(run(work, zip(groups, generators(rng, len(groups)), strict=True)))
    ends = [end for end, _ in parts]
    whole = replace(
        state,
        visible=np.concatenate([end.visible for end in ends], axis=1),
        from_base=np.concatenate([end.from_base for end in ends], axis=1),
        sweeps=np.asarray(state.sweeps + n_sweeps),
        tried=state.tried + np.sum([end.tried - state.tried for end in ends], axis=0),
        accepted=state.accepted + np.sum([end.accepted - state.accepted for end in ends], axis=0),
        renewals=np.asarray(state.renewals + sum(int(end.renewals - state.renewals) for end in ends)),
    )
    return whole, np.concatenate([trace for _, trace in parts], axis=1)


def expectations(machine: Tempered, state: ChainState, run: Run = map) -> FreePhase:
    """Return the negative phase: means over the rows at beta = 1 of sigma(a), x sigma(a) and x.

    The hidden units are not sampled, but replaced by their mean given the row (Rao-Blackwell), which has less noise.
    """
    rows = state.rows

    def sums(g: slice) -> FreePhase:
        x = bits_to_signs(rows[g], machine.dtype)
        a = machine.activations(x)
        expit(a, out=a)
        parts = (a.sum(axis=0, dtype=np.float64), x.T @ a, x.sum(axis=0, dtype=np.float64))
        return FreePhase(0.0, float(len(x)), *(np.asarray(part, np.float64) for part in parts))

    total: FreePhase
    total, *others = run(sums, groups_of(len(rows), GROUP_ROWS))  # in the order of the groups
    for part in others:
        total += part
    return total.normalized()


def _advance_group(
    machine: Tempered, state: ChainState, n_sweeps: int, rng: np.random.Generator, summary: Summary | None
) -> tuple[ChainState, Floats]:
    """Sweep the rows of a few chains, all temperatures together: beta only scales the activations."""
    T, n, d = state.visible.shape
    x = bits_to_signs(np.ascontiguousarray(state.visible).reshape(T * n, d), machine.dtype)
    a = machine.activations(x)
    beta = np.repeat(state.betas, n)[:, None].astype(machine.dtype)
    from_base = state.from_base.copy()
    tried, accepted, renewals = state.tried.copy(), state.accepted.copy(), int(state.renewals)
    trace: list[Floats] = []
    last_sweep = int(state.sweeps) + n_sweeps - 1
    for sweep in range(int(state.sweeps), last_sweep + 1):
        machine.sweep(x, a, beta, rng)
        if T > 1 or summary is not None or sweep < last_sweep:
            machine.activations(x, out=a)
        if state.betas[0] == 0.0:
            from_base[0] = 1
        lower = np.arange(sweep % 2, T - 1, 2)
        if len(lower):
            swapped = swap(machine, x, a, state.betas, lower, from_base, rng)
            tried[lower] += n
            accepted[lower] += swapped.sum(axis=1)
        if T > 1:
            renewals += int(from_base[-1].sum())
            from_base[-1] = 0
        if summary is not None:
            trace.append(summary(x[-n:], a[-n:]))
    end = replace(
        state,
        visible=(x > 0).astype(np.uint8).reshape(T, n, d),
        from_base=from_base,
        tried=tried,
        accepted=accepted,
        renewals=np.asarray(renewals),
    )
    return end, np.stack(trace) if trace else np.zeros((0, n, 0))


def swap(
    machine: Tempered,
    x: Numbers,
    a: Numbers,
    betas: Floats,
    lower: NDArray[np.int64],
    from_base: Bytes,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Propose swaps between temperatures k and k + 1, k in `lower` (no two of them neighbors); in place.

    x and a have a row for each temperature and chain, temperatures first. Returns which were accepted, (pairs, chains).
    """
    n = from_base.shape[1]
    low_rows = (lower[:, None] * n + np.arange(n)).ravel()  # rows at the lower temperature of each pair
    rows = np.concatenate([low_rows, low_rows + n])
    low, high = (np.tile(np.repeat(betas[k], n), 2)[:, None].astype(machine.dtype) for k in (lower, lower + 1))
    gain = machine.log_ratio(x[rows], a[rows], low, high)
    log_r = gain[: len(low_rows)] - gain[len(low_rows) :]
    accepted = np.asarray(np.log1p(-rng.random(len(low_rows))) < log_r)
    low_accepted, high_accepted = low_rows[accepted], low_rows[accepted] + n
    for values in (x, a, from_base.reshape(-1)):
        values[low_accepted], values[high_accepted] = values[high_accepted], values[low_accepted]
    return accepted.reshape(len(lower), n)

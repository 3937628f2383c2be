"""Samples from a combination machine that is too large to enumerate, by long tempered chains with diagnostics.

Chains that are stuck can look healthy. So samples come with diagnostics (`Mixing`): how often neighboring temperatures
swapped, how often a row that is independent of the past arrived at beta = 1, and the effective sample size, from
autocorrelation within chains and differences between them.

None of these shows a mode that no chain has visited. Therefore chains can start at rows of the data (`rows`): a mode
that the ladder cannot reach then keeps the chains that began in it, and these differ from the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.families.combination_machine.tempered_chains import ChainState, advance, advance_traced, start_chains
from hiddenbits.maths.tempering import Numbers, Run, Tempered

LOWEST_SWAP_RATE = 0.05  # below it, neighboring temperatures hardly exchange rows
FEWEST_RENEWALS = 2.0  # per chain; with fewer the rows still depend on the starts of the chains
LEAST_EFFECTIVE_SHARE = 0.5  # effective per sampled row; below it standard errors from n rows would be far too small
N_PROJECTIONS = 8  # projections of the hidden units that are traced, besides the free energy
BURN_IN_PARTS = 4  # of the first sweeps; temperatures are spaced anew after each part except the last


@dataclass(frozen=True)
class Mixing:
    """Diagnostics of the chains that sampled some rows.

    Attributes
    ----------
    betas, swap_rates : ndarray
        The ladder, and the share of swaps accepted between neighbors.
    renewals : float
        How often a new row from beta = 0 arrived at beta = 1, per chain. A chain has one row at each
        temperature: divide by their number for renewals per row.
    effective_rows : float
        Effective sample size, an upper bound.
    well_mixed : bool
        Whether swap rates, renewals and effective rows are all sufficient.
    why : str
        The reason for the verdict, in a sentence.
    """

    betas: Floats
    swap_rates: Floats
    renewals: float
    effective_rows: float
    well_mixed: bool
    why: str


def sample_rows(
    machine: Tempered,
    n: int,
    rng: np.random.Generator,
    *,
    n_temperatures: int = 10,
    n_chains: int = 100,
    n_first: int = 500,
    n_sweeps: int = 1000,
    thin: int = 10,
    rows: Bytes | None = None,
    run: Run = map,
) -> tuple[Bytes, Mixing]:
    """Sample n rows by parallel tempering.

    Parameters
    ----------
    machine : Tempered
        With a base near the data (`base_bias` of the column means) the ladder is shorter.
    n : int
    rng : Generator
    n_temperatures : int
        From the base to the machine; the first sweeps determine their spacing.
    n_chains : int
    n_first : int
        Sweeps before the first sampled row.
    n_sweeps : int
        Minimum number of sweeps after the first ones; more if n rows need more.
    thin : int
        Minimum number of sweeps between rows of a chain.
    rows : ndarray of uint8, shape (any, d), optional
        Rows of data, in 0 and 1. Every second chain starts at one of them, the others at samples from the base.
    run : callable
        `map`, or the `map` of a pool of threads; the rows do not depend on it.

    Returns
    -------
    sampled : ndarray of uint8, shape (n, d)
        Neighboring rows are of different chains.
    mixing : Mixing

    Examples
    --------
    >>> import numpy as np
    >>> machine = Tempered.of(np.ones((6, 2)), np.zeros(2), np.zeros(6))
    >>> sampled, mixing = sample_rows(machine, 200, np.random.default_rng(0), n_first=100, n_sweeps=200)
    >>> sampled.shape, mixing.well_mixed
    ((200, 6), True)
    """
    n_chains = min(n_chains, n)
    starts = (machine.base_rows(n_chains, rng) > 0).astype(np.uint8)
    if rows is not None:
        starts[::2] = rows[rng.integers(0, len(rows), len(starts[::2]))]
    state = start_chains(machine, n_chains, rng, np.linspace(0.0, 1.0, n_temperatures), starts)
    renewals = 0
    for part in range(BURN_IN_PARTS):
        state = advance(machine, state, max(1, n_first // BURN_IN_PARTS), rng, run)
        renewals += int(state.renewals)
        is_last = part == BURN_IN_PARTS - 1
        state = state.recounted(None if is_last else respaced(state.betas, state.swap_rates))

    n_rounds = -(-n // n_chains)
    interval = max(thin, -(-n_sweeps // n_rounds))
    summary = _summary_function(machine)
    sampled_parts, traces = [], []
    for _ in range(n_rounds):
        state, trace = advance_traced(machine, state, interval, rng, summary, run)
        sampled_parts.append(state.rows)
        traces.append(trace)
    sampled = np.concatenate(sampled_parts)[:n]
    return sampled, _mixing_of(state, np.concatenate(traces), renewals + int(state.renewals), n)


def respaced(betas: ArrayLike, swap_rates: Floats) -> Floats:
    """Return the same number of temperatures, spaced so that all neighbors should swap about equally often.

    The new ladder divides the cumulative rejections along the old one evenly.

    Examples
    --------
    >>> import numpy as np
    >>> respaced([0.0, 0.5, 1.0], np.array([0.99, 0.01])).round(1)
    array([0. , 0.7, 1. ])
    """
    ladder = np.asarray(betas, dtype=np.float64)
    rejections = np.where(np.isnan(swap_rates), 0.5, 1.0 - swap_rates) + 0.01  # positive, so that the ladder increases
    cumulative = np.concatenate([[0.0], np.cumsum(rejections)])
    spaced = np.interp(np.linspace(0.0, cumulative[-1], len(ladder)), cumulative, ladder)
    spaced[0], spaced[-1] = ladder[0], ladder[-1]
    return spaced


def effective_sample_size(trace: Floats) -> float:
    """Return the effective sample size of a quantity traced in several chains, (sweeps, chains).

    N C / tau, tau = 1 + 2 Sum_t rho_t. The autocorrelation rho_t = 1 - (W - mean_c gamma_ct) / V compares the
    autocovariances gamma within chains with the variance V of all values: chains that stay in different modes count as
    correlated, however quickly each of them moves. The sum is truncated by Geyer's (1992) initial monotone sequence:
    it ends before the first pair of neighboring terms whose sum is not positive, and sums of pairs may not increase.

    Examples
    --------
    >>> import numpy as np
    >>> trace = np.random.default_rng(0).standard_normal((500, 4))
    >>> 1500 < effective_sample_size(trace) <= 2000
    True
    """
    n, c = trace.shape
    if n < 4:
        return float("nan")
    centered = trace - trace.mean(axis=0)
    spectrum = np.fft.rfft(centered, n=2 * n, axis=0)
    gamma = np.fft.irfft(spectrum * spectrum.conj(), n=2 * n, axis=0)[:n].mean(axis=1) / n
    within = gamma[0] * n / (n - 1)
    between = float(trace.mean(axis=0).var(ddof=1)) if c > 1 else 0.0
    variance = gamma[0] + between
    if not variance > 1e-12 * max(1.0, float(np.abs(trace).max())) ** 2:
        return float(n * c)  # constant: no correlation
    rho = 1.0 - (within - gamma) / variance
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    n_pairs = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    tau = 2.0 * float(np.minimum.accumulate(pairs[:n_pairs]).sum()) - 1.0
    return float(min(n * c / max(tau, 1e-12), n * c))


def _summary_function(machine: Tempered) -> Any:
    """Return the function of rows to trace: free energy, and projections of the hidden units (or each, if few)."""
    m = len(machine.thresholds)
    if m <= N_PROJECTIONS:
        signs = np.eye(m)
    else:
        signs = np.where(np.random.default_rng(0).random((m, N_PROJECTIONS)) < 0.5, -1.0, 1.0)
    signs = signs.astype(machine.dtype)

    def summary(x: Numbers, a: Numbers) -> Floats:
        return np.column_stack([machine.free_energy(x, a), np.tanh(0.5 * a) @ signs])

    return summary


def _mixing_of(state: ChainState, trace: Floats, renewals: int, n: int) -> Mixing:
    _, n_chains, k = trace.shape
    n_effective = min(effective_sample_size(trace[:, :, i].astype(np.float64)) for i in range(k))
    rates, per_chain, effective = state.swap_rates, renewals / n_chains, min(n_effective, float(n))
    reason = ""
    if not np.nanmin(rates) >= LOWEST_SWAP_RATE:
        reason = f"Some temperatures swap only {np.nanmin(rates):.1%} of the time: use more temperatures."
    elif per_chain < FEWEST_RENEWALS:
        reason = f"A chain was renewed from beta = 0 only {per_chain:.2g} times: use more sweeps or temperatures."
    elif not effective >= LEAST_EFFECTIVE_SHARE * n:
        reason = f"The effective sample size of the {n} rows is {effective:.0f}: use more sweeps between rows."
    why = reason or f"The effective sample size of the {n} rows is {effective:.0f}, as far as the chains show."
    return Mixing(state.betas, rates, per_chain, effective, not reason, why)

"""Rows of a combination machine that is too large to enumerate, by long tempered chains that say how well they mixed.

Chains can be stuck and look healthy. So rows come with what there is to know about them (`Mixing`): how often
neighboring temperatures swapped, how often a row that owes nothing to the past arrived at beta = 1, and how many
independent rows the run was worth, by autocorrelation within chains and differences between them.

What no chain has ever seen leaves no trace in any of these. Rows of the data to start from (`rows`) are the remedy: a
mode that the ladder cannot reach then holds the chains that began in it, and they differ from the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.families.combination_machine.tempered_chains import ChainState, advance, advance_traced, start_chains
from hiddenbits.maths.tempering import Numbers, Run, Tempered

LOWEST_SWAP_RATE = 0.05  # below it, neighboring temperatures hardly know of each other
FEWEST_RENEWALS = 2.0  # for each chain: fewer, and the rows still depend on where the chains began
FEWEST_EFFECTIVE = 0.5  # of the rows: fewer, and an error bar from their number would be far too small
N_PROJECTIONS = 8  # of the hidden units, to watch next to the free energy
LEGS = 4  # of the first sweeps; after each but the last the temperatures are spaced again


@dataclass(frozen=True)
class Mixing:
    """What the chains tell about the rows.

    Attributes
    ----------
    betas, swap_rates : ndarray
        The ladder, and the share of swaps accepted between neighbors.
    renewals : float
        How often a new row from beta = 0 arrived at beta = 1, for each chain. Each of its rows, one a temperature, has
        to make the journey: so divide by their number for what a single one did.
    effective_rows : float
        Independent rows that the drawn ones are worth, at most.
    well_mixed : bool
        None of these gives reason for doubt.
    why : str
        The reason, in a sentence.
    """

    betas: Floats
    swap_rates: Floats
    renewals: float
    effective_rows: float
    well_mixed: bool
    why: str


def draw(
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
    """Draw n rows by parallel tempering.

    Parameters
    ----------
    machine : Tempered
        With a base near the data (`base_bias` of the column means) the ladder is shorter.
    n : int
    rng : Generator
    n_temperatures : int
        From the base to the machine; their spacing is found in the first sweeps.
    n_chains : int
    n_first : int
        Sweeps before the first row.
    n_sweeps : int
        Sweeps after that, at least; more where n rows take more.
    thin : int
        Sweeps between rows of a chain, at least.
    rows : ndarray of uint8, shape (any, d), optional
        Rows of data, in 0 and 1. Every second chain starts at one of them, the others at draws of the base.
    run : callable
        `map`, or that of a pool of threads: it does not change the rows.

    Returns
    -------
    drawn : ndarray of uint8, shape (n, d)
        Neighboring rows are of different chains.
    mixing : Mixing

    Examples
    --------
    >>> import numpy as np
    >>> machine = Tempered.of(np.ones((6, 2)), np.zeros(2), np.zeros(6))
    >>> drawn, mixing = draw(machine, 200, np.random.default_rng(0), n_first=100, n_sweeps=200)
    >>> drawn.shape, mixing.well_mixed
    ((200, 6), True)
    """
    n_chains = min(n_chains, n)
    starts = (machine.base_rows(n_chains, rng) > 0).astype(np.uint8)
    if rows is not None:
        starts[::2] = rows[rng.integers(0, len(rows), len(starts[::2]))]
    state = start_chains(machine, n_chains, rng, np.linspace(0.0, 1.0, n_temperatures), starts)
    renewals = 0
    for leg in range(LEGS):
        state = advance(machine, state, max(1, n_first // LEGS), rng, run)
        renewals += int(state.renewals)
        last = leg == LEGS - 1
        state = state.recounted(None if last else respaced(state.betas, state.swap_rates))

    n_kept = -(-n // n_chains)
    interval = max(thin, -(-n_sweeps // n_kept))
    watch = _watch(machine)
    kept, traces = [], []
    for _ in range(n_kept):
        state, trace = advance_traced(machine, state, interval, rng, watch, run)
        kept.append(state.rows)
        traces.append(trace)
    drawn = np.concatenate(kept)[:n]
    return drawn, _mixing(state, np.concatenate(traces), renewals + int(state.renewals), n)


def respaced(betas: ArrayLike, swap_rates: Floats) -> Floats:
    """Return as many temperatures, moved so that all neighbors should swap about equally often.

    The rejections so far, added up along the ladder, say how hard each stretch is; the new ladder divides them evenly.

    Examples
    --------
    >>> import numpy as np
    >>> respaced([0.0, 0.5, 1.0], np.array([0.99, 0.01])).round(1)
    array([0. , 0.7, 1. ])
    """
    ladder = np.asarray(betas, dtype=np.float64)
    hard = np.where(np.isnan(swap_rates), 0.5, 1.0 - swap_rates) + 0.01  # so that the ladder always rises
    along = np.concatenate([[0.0], np.cumsum(hard)])
    new = np.interp(np.linspace(0.0, along[-1], len(ladder)), along, ladder)
    new[0], new[-1] = ladder[0], ladder[-1]
    return new


def effective_draws(trace: Floats) -> float:
    """Return how many independent draws the numbers of several chains are worth, (sweeps, chains).

    N C / tau, tau = 1 + 2 Sum_t rho_t. The autocorrelation rho_t = 1 - (W - mean_c gamma_ct) / V compares the
    autocovariances gamma within chains with the variance V of all the numbers together: chains that stay apart count
    as correlated, however quickly each of them moves. The sum ends as Geyer (1992) has it, where two neighboring
    terms together are no longer positive, and pairs never grow.

    Examples
    --------
    >>> import numpy as np
    >>> trace = np.random.default_rng(0).standard_normal((500, 4))
    >>> 1500 < effective_draws(trace) <= 2000
    True
    """
    n, c = trace.shape
    if n < 4:
        return float("nan")
    centerd = trace - trace.mean(axis=0)
    spectrum = np.fft.rfft(centerd, n=2 * n, axis=0)
    gamma = np.fft.irfft(spectrum * spectrum.conj(), n=2 * n, axis=0)[:n].mean(axis=1) / n
    within = gamma[0] * n / (n - 1)
    between = float(trace.mean(axis=0).var(ddof=1)) if c > 1 else 0.0
    variance = gamma[0] + between
    if not variance > 1e-12 * max(1.0, float(np.abs(trace).max())) ** 2:
        return float(n * c)  # it never changes: nothing to be correlated with
    rho = 1.0 - (within - gamma) / variance
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    end = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    tau = 2.0 * float(np.minimum.accumulate(pairs[:end]).sum()) - 1.0
    return float(min(n * c / max(tau, 1e-12), n * c))


def _watch(machine: Tempered) -> Any:
    """Return what to watch of the rows: the free energy, and mixtures of the hidden units (each one where few)."""
    m = len(machine.thresholds)
    if m <= N_PROJECTIONS:
        signs = np.eye(m)
    else:
        signs = np.where(np.random.default_rng(0).random((m, N_PROJECTIONS)) < 0.5, -1.0, 1.0)
    signs = signs.astype(machine.dtype)

    def watch(x: Numbers, a: Numbers) -> Floats:
        return np.column_stack([machine.free_energy(x, a), np.tanh(0.5 * a) @ signs])

    return watch


def _mixing(state: ChainState, trace: Floats, renewals: int, n: int) -> Mixing:
    _, n_chains, k = trace.shape
    worth = min(effective_draws(trace[:, :, i].astype(np.float64)) for i in range(k))
    rates, renewed, effective = state.swap_rates, renewals / n_chains, min(worth, float(n))
    doubt = ""
    if not np.nanmin(rates) >= LOWEST_SWAP_RATE:
        doubt = f"Some temperatures swap only {np.nanmin(rates):.1%} of the time: use more temperatures."
    elif renewed < FEWEST_RENEWALS:
        doubt = f"A chain was renewed from beta = 0 only {renewed:.2g} times: use more sweeps or temperatures."
    elif not effective >= FEWEST_EFFECTIVE * n:
        doubt = f"The {n} rows are worth {effective:.0f} independent ones: use more sweeps between rows."
    why = doubt or f"The {n} rows are worth at least {effective:.0f} independent ones, by all that the chains show."
    return Mixing(state.betas, rates, renewed, effective, not doubt, why)

"""ln P(observed bits) of rows in a noisy-OR network that is too large to enumerate: annealed, with a second opinion.

Every row is climbed to from two bases, and a figure is given only where they agree:

    prior:  P(S) P(x | S)^beta                      from states drawn without the data
    near:   q(S)^(1 - beta) [ P(S) P(x | S) ]^beta     from units drawn by their posterior probabilities, independently

Rows on which the two differ by more than three standard errors, or that rest on too few chains, climb again on a
ladder four times as long. If some still differ, the likelihood is refused (`UntrustedRowsError`), not guessed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.gibbs import Network, Ones
from hiddenbits.families.noisy_or.temperature_ladders import near_path, prior_path, quick_marginals, tiled
from hiddenbits.maths.annealed_importance import WIDEST, anneal

CHAINS = 32  # of each row, from each base
LADDERS = (24, 96, 384)  # temperatures, tried one after the other
FEWEST = 4.0  # an estimate that rests on fewer chains has no error to speak of
MOST_UNSURE = 0.02  # of the rows of a block may differ at the end, after three tries
ROWS_AT_ONCE = 256


class UntrustedRowsError(ValueError):
    """The likelihood of rows was looked for, and the two estimates do not agree."""


class RowLikelihoods(NamedTuple):
    """ln P(observed bits) of each row, its standard error, and whether both bases agreed on it."""

    values: Floats
    errors: Floats
    agree: NDArray[np.bool_]


def log_likelihoods(network: Network, block: Block, rng: np.random.Generator) -> RowLikelihoods:
    """Return the likelihood of each row of a block with its standard error."""
    near = quick_marginals(network, block, rng)
    data = Ones.of_block(network.layers[0], block)
    n = block.n_rows
    values, errors, agree = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for n_steps in LADDERS:
        open_rows = np.flatnonzero(~agree)
        for start in range(0, len(open_rows), ROWS_AT_ONCE):
            rows = open_rows[start : start + ROWS_AT_ONCE]
            found = _both(network, data.take(rows), near[rows], n_steps, rng)
            values[rows], errors[rows], agree[rows] = found
    return RowLikelihoods(values, errors, agree)


def _both(network: Network, data: Ones, near: Floats, n_steps: int, rng: np.random.Generator) -> RowLikelihoods:
    """Estimate from both bases, and judge."""
    n = len(near)
    many = tiled(data, CHAINS)
    ladder = np.linspace(0.0, 1.0, n_steps + 1)
    # Much of a likelihood is decided by its first shares: small steps there.
    paths = [(prior_path(network, many), ladder**3), (near_path(network, many, np.tile(near, (CHAINS, 1))), ladder)]
    found = []
    for path, betas in paths:
        log_w = anneal(path, path.start(n * CHAINS, rng), betas.tolist(), rng).reshape(CHAINS, n)
        mean = logsumexp(log_w, axis=0) - np.log(CHAINS)
        ess = np.exp(2.0 * logsumexp(log_w, axis=0) - logsumexp(2.0 * log_w, axis=0))
        found.append((mean, np.sqrt(np.maximum(CHAINS / ess - 1.0, 1e-12) / (CHAINS - 1)), ess))
    (a, error_a, ess_a), (b, error_b, ess_b) = found
    agree = np.abs(a - b) <= WIDEST * np.hypot(error_a, error_b)
    agree &= (ess_a >= FEWEST) & (ess_b >= FEWEST)
    precision = 1.0 / error_a**2, 1.0 / error_b**2
    total = precision[0] + precision[1]
    return RowLikelihoods((a * precision[0] + b * precision[1]) / total, np.sqrt(1.0 / total), agree)


def trusted(found: RowLikelihoods, first_row: int) -> Floats:
    """Return the values, or refuse where the bases disagree on too many rows."""
    unsure = np.flatnonzero(~found.agree)
    if len(unsure) > MOST_UNSURE * len(found.agree):
        raise UntrustedRowsError(
            f"The likelihood cannot be estimated reliably: for {len(unsure)} of {len(found.agree)} rows (the first is "
            f"row {first_row + int(unsure[0])}) two annealed estimates disagree or depend on too few chains. Fit "
            "fewer causes, or compare models by hidden cells (hiddenbits.evaluate.hidden_cells)."
        )
    return found.values

"""Detect copies of rows from the number of rows of each pattern.

If rows are sampled independently, the count of each pattern is Poisson distributed with mean N times its probability.
Whatever the probabilities, the counts of all patterns then follow a mixture of Poisson distributions: many patterns
occur once, fewer twice, fewer three times. Copies give other counts, such as many patterns four times and none five
times. So we fit the best mixture of Poisson distributions to the counts, and suspect copies if it fits worse than
expected by chance. This needs no model of the columns, and common patterns are not mistaken for copies.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import row_hashes, word_keys
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.exceptions import DuplicateRowsWarning
from hiddenbits.tables import Piece, Table, map_pieces

MAX_ROWS = 1_000_000  # beyond this, patterns are sampled: all rows of a pattern or none
MIN_SHARE = 0.05  # smallest share of rows with a duplicate: fewer copies hardly change any result
MISFIT_PER_ROW, TOTAL_MISFIT = 0.02, 10.0  # nats: if the misfit of the best mixture exceeds both, we suspect copies
N_SIMULATIONS = 9  # tables simulated to determine the misfit by chance
EM_STEPS = 300
N_RATES = 120  # Poisson means of the mixture, in addition to the counts themselves


def warn_of_copies(table: Table) -> None:
    """Warn if equal rows look like copies."""
    if (share := copied_share(table)) is not None:
        warnings.warn(
            f"{share:.0%} of the rows have a duplicate, and the duplicates look like copies, not like common patterns. "
            "Held-out rows are then also in the training data, which favors large models. Remove the copies, or give "
            "groups= (--groups), with one label for all copies of a row.",
            DuplicateRowsWarning,
            stacklevel=3,
        )


def copied_share(table: Table) -> float | None:
    """Return the share of rows that have a duplicate, if the duplicates look like copies; otherwise None."""
    if not table.only_bits:
        return None
    counts = _counts(table)
    n, share = counts.sum(), float(counts[counts > 1].sum() / max(1, counts.sum()))
    if share < MIN_SHARE:
        return None
    misfit, rates, weights = _misfit(counts)
    if misfit < (threshold := max(TOTAL_MISFIT, MISFIT_PER_ROW * n)):
        return None
    chance_misfits = []
    for number in range(N_SIMULATIONS):
        rng = np.random.default_rng([number, 31])
        simulated = rng.poisson(np.repeat(rates, rng.poisson(weights)))
        chance_misfits.append(_misfit(simulated[simulated > 0])[0] if (simulated > 0).any() else 0.0)
    return share if misfit - np.mean(chance_misfits) > threshold else None


def _misfit(counts: NDArray[np.int64]) -> tuple[float, Floats, Floats]:
    """Return the misfit in nats of the best mixture of Poisson distributions to counts above 0, and the mixture.

    N_m patterns occur m times; E_m = Sum_k w_k exp(-r_k) r_k^m / m!; EM raises Sum_m N_m ln E_m - E_m. The weights w_k
    count patterns, including those that did not occur. The misfit is Sum_m N_m ln (N_m / E_m).
    """
    m, patterns = np.unique(counts, return_counts=True)
    rates = np.geomspace(1e-3, 1.05 * m[-1], N_RATES)
    if len(m) <= N_RATES:
        rates = np.union1d(rates, m)
    p = np.exp(np.outer(m, np.log(rates)) - rates - gammaln(m + 1.0)[:, None])
    weights = np.full(len(rates), patterns.sum() / len(rates))
    p_positive = -np.expm1(-rates)
    for _ in range(EM_STEPS):
        weights *= (p.T @ (patterns / (p @ weights))) / p_positive
    return float(patterns @ np.log(patterns / (p @ weights))), rates, weights


def _counts(table: Table) -> NDArray[np.int64]:
    """Return how often each distinct row occurs."""
    n, d = table.shape
    limit = np.uint64(min(1.0, MAX_ROWS / n) * float(2**64 - 2**11))
    pieces = map_pieces(_RowHashes(word_keys(d), limit), table, max(1, PIECE_CELLS // d))
    return np.unique(np.concatenate(list(pieces)), return_counts=True)[1]


@dataclass(frozen=True)
class _RowHashes:
    """A function that returns the row hashes of a piece below a limit; a class, so that it can be pickled."""

    keys: NDArray[np.uint64]
    limit: np.uint64

    def __call__(self, piece: Piece) -> NDArray[np.uint64]:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        complete = int(observed.row_sums().sum()) == x.shape[0] * x.shape[1]
        hashes = row_hashes(x.to_dense(), None if complete else observed.to_dense(), self.keys)
        return np.asarray(hashes[hashes <= self.limit])

"""Are equal rows common patterns, or copies? The counts of equal rows tell.

If rows are drawn independently, the count of each pattern is Poisson distributed with mean N times its probability.
Whatever the probabilities, the counts of all patterns then follow a mixture of Poisson distributions: many patterns
occur once, fewer twice, fewer three times. Copies give other counts, such as many patterns four times and none five
times. So we fit the best mixture of Poisson distributions to the counts, and suspect copies if it fits worse than
chance explains. This needs no model of the columns, and common patterns raise no suspicion.
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

MOST_ROWS = 1_000_000  # beyond this, patterns are sampled: all rows of a pattern or none
LEAST_SHARE = 0.05  # smallest share of rows with a duplicate: fewer copies hardly change any figure
EXCESS, SURE = 0.02, 10.0  # misfit of the best mixture that counts as copies: nats per row, and in total
REPEATS = 9  # simulated tables that show the misfit by chance alone
EM_STEPS = 300
RATES = 120  # Poisson means of the mixture, in addition to the counts themselves


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
    if share < LEAST_SHARE:
        return None
    found, rates, weights = _missed(counts)
    if found < max(SURE, EXCESS * n):
        return None
    by_chance = []
    for repeat in range(REPEATS):
        rng = np.random.default_rng([repeat, 31])
        drawn = rng.poisson(np.repeat(rates, rng.poisson(weights)))
        by_chance.append(_missed(drawn[drawn > 0])[0] if (drawn > 0).any() else 0.0)
    return share if found - np.mean(by_chance) > max(SURE, EXCESS * n) else None


def _missed(counts: NDArray[np.int64]) -> tuple[float, Floats, Floats]:
    """Fit the best mixture of Poisson distributions to counts above 0; return its misfit in nats, and the mixture.

    N_m patterns appear m times; E_m = Sum_k w_k exp(-r_k) r_k^m / m!; EM raises Sum_m N_m ln E_m - E_m. The weights w_k
    count patterns, including those that did not appear. The misfit is Sum_m N_m ln (N_m / E_m).
    """
    m, patterns = np.unique(counts, return_counts=True)
    rates = np.geomspace(1e-3, 1.05 * m[-1], RATES)
    if len(m) <= RATES:
        rates = np.union1d(rates, m)
    chances = np.exp(np.outer(m, np.log(rates)) - rates - gammaln(m + 1.0)[:, None])
    weights = np.full(len(rates), patterns.sum() / len(rates))
    seen = -np.expm1(-rates)
    for _ in range(EM_STEPS):
        weights *= (chances.T @ (patterns / (chances @ weights))) / seen
    return float(patterns @ np.log(patterns / (chances @ weights))), rates, weights


def _counts(table: Table) -> NDArray[np.int64]:
    """Return how often each distinct row appears."""
    n, d = table.shape
    limit = np.uint64(min(1.0, MOST_ROWS / n) * float(2**64 - 2**11))
    pieces = map_pieces(_Hashed(word_keys(d), limit), table, max(1, PIECE_CELLS // d))
    return np.unique(np.concatenate(list(pieces)), return_counts=True)[1]


@dataclass(frozen=True)
class _Hashed:
    """The hashes of a piece's rows that are below a limit; a class, so that it can be sent to a cluster."""

    keys: NDArray[np.uint64]
    limit: np.uint64

    def __call__(self, piece: Piece) -> NDArray[np.uint64]:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        whole = int(observed.row_sums().sum()) == x.shape[0] * x.shape[1]
        hashes = row_hashes(x.to_dense(), None if whole else observed.to_dense(), self.keys)
        return np.asarray(hashes[hashes <= self.limit])

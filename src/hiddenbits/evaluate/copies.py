"""Are equal rows common patterns, or copies? The counts of equal rows tell.

Of rows that are drawn one by one each pattern appears a number of times that is Poisson distributed around N times its
probability. Whatever the probabilities are, the counts of all patterns are then a mixture of Poisson distributions:
many patterns once, fewer twice, fewer three times. Copies make other counts, such as many patterns four times and none
five times. So the best of all mixtures of Poisson distributions is fitted to the counts, and they look like copies
where it misses them by more than chance. No model of the columns is needed, and common patterns are normal.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from hiddenbits import Piece, Table, map_pieces
from hiddenbits.evaluate.describe import row_hashes, row_keys
from hiddenbits.evaluate.measures import PIECE_CELLS

Floats = NDArray[np.float64]
MOST_ROWS = 1_000_000  # beyond, patterns are sampled: all rows of a pattern or none
LEAST_SHARE = 0.05  # of the rows that have a twin: with fewer, copies change no figure much
EXCESS, SURE = 0.02, 10.0  # nats a row, and in all, by which the best mixture must miss the counts
REPEATS = 9  # simulated tables that show what chance alone misses
EM_STEPS = 300
RATES = 120  # Poisson means of the mixture, beside those of the counts themselves


class CopiedRowsWarning(UserWarning):
    """Equal rows look like copies: held-out rows are then no new rows, and large models win by remembering.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import CopiedRowsWarning, evaluate
    >>> X = np.repeat(np.random.default_rng(0).integers(0, 2, (60, 12)), 10, axis=0)
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     found = evaluate.compare(X, ["IndependentBits"])
    >>> said[0].category is CopiedRowsWarning
    True
    """


def warn_of_copies(table: Table) -> None:
    """Warn where equal rows look like copies."""
    if (share := copied_share(table)) is not None:
        warnings.warn(
            f"{share:.0%} of the rows have an equal one, and their counts are those of copies, not of common patterns: "
            "held-out rows are then known from the fit. Remove the copies, or give groups= (--groups) a label that the "
            "copies of a row share.",
            CopiedRowsWarning,
            stacklevel=3,
        )


def copied_share(table: Table) -> float | None:
    """Return the share of rows that have an equal one, where these look like copies; None where they do not."""
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
    """Fit the best mixture of Poisson distributions to counts above 0; return what it misses in nats, and itself.

    N_m patterns appear m times; E_m = Sum_k w_k exp(-r_k) r_k^m / m!; EM raises Sum_m N_m ln E_m - E_m. The weights w_k
    count patterns, those that did not appear too. Missed is Sum_m N_m ln (N_m / E_m).
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
    """Return how often each different row appears."""
    n, d = table.shape
    limit = np.uint64(min(1.0, MOST_ROWS / n) * float(2**64 - 2**11))
    pieces = map_pieces(_Hashed(row_keys(d), limit), table, max(1, PIECE_CELLS // d))
    return np.unique(np.concatenate(list(pieces)), return_counts=True)[1]


@dataclass(frozen=True)
class _Hashed:
    """Hashes of a piece's rows, those below a limit; a class, so that it travels to a cluster."""

    keys: NDArray[np.uint64]
    limit: np.uint64

    def __call__(self, piece: Piece) -> NDArray[np.uint64]:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        whole = int(observed.row_sums().sum()) == x.shape[0] * x.shape[1]
        hashes = row_hashes(x.to_dense(), None if whole else observed.to_dense(), self.keys)
        return np.asarray(hashes[hashes <= self.limit])

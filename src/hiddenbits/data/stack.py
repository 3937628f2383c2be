"""Several files in memory, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern, pattern_of
from hiddenbits.data.masks import RARE


def stack(pieces: Sequence[Bits]) -> Bits:
    """Return the pieces as one matrix, in their own storage where they agree on it."""
    if len(pieces) == 1:
        return pieces[0]
    n_columns = pieces[0].shape[1]
    if all(isinstance(piece, Packed) for piece in pieces):
        return Packed(np.concatenate([piece.packed for piece in pieces if isinstance(piece, Packed)]), n_columns)
    if all(isinstance(piece, Pattern) for piece in pieces):
        return _stack_patterns([piece.ones() for piece in pieces], n_columns)
    return Dense(np.concatenate([piece.to_dense() for piece in pieces]))


def stack_observed(pieces: Sequence[Bits]) -> Bits:
    """Return the observed-masks as one, in a storage that suits the whole table."""
    if len(pieces) == 1:
        return pieces[0]
    n_rows, n_columns = sum(piece.shape[0] for piece in pieces), pieces[0].shape[1]
    if all(isinstance(piece, AllOnes) for piece in pieces):
        return AllOnes((n_rows, n_columns))
    if all(isinstance(piece, Pattern) for piece in pieces):
        return stack(pieces)
    missing = n_rows * n_columns - sum(int(piece.row_sums().sum()) for piece in pieces)
    if missing > RARE * n_rows * n_columns:
        return Dense(np.concatenate([piece.to_dense() for piece in pieces]))
    return Complement(_stack_patterns([pattern_of(piece.to_dense() == 0) for piece in pieces], n_columns))


def _stack_patterns(patterns: Sequence[tuple[np.ndarray, np.ndarray]], n_columns: int) -> Pattern:
    """Return CSR patterns one below the other."""
    lengths = np.concatenate([np.diff(indptr) for indptr, _ in patterns])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Pattern(indptr, np.concatenate([indices for _, indices in patterns]), n_columns)

"""Several tables of bits, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.masks import in_storage, mask_for


def stack(pieces: Sequence[Bits]) -> Bits:
    """Return the pieces as one matrix, in their own storage where they agree on it."""
    first, n_columns = pieces[0], pieces[0].shape[1]
    if len(pieces) == 1:
        return first
    if any(type(piece) is not type(first) for piece in pieces):
        return Dense(np.concatenate([piece.to_dense() for piece in pieces]))
    if isinstance(first, AllOnes):
        return AllOnes((sum(piece.shape[0] for piece in pieces), n_columns))
    if isinstance(first, Complement):
        return Complement(stack([piece.of for piece in pieces if isinstance(piece, Complement)]))
    if isinstance(first, Packed):
        return Packed(np.concatenate([piece.packed for piece in pieces if isinstance(piece, Packed)]), n_columns)
    if isinstance(first, Pattern):
        patterns = [piece.ones() for piece in pieces]
        lengths = np.concatenate([np.diff(indptr) for indptr, _ in patterns])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Pattern(indptr, np.concatenate([indices for _, indices in patterns]), n_columns)
    return Dense(np.concatenate([piece.to_dense() for piece in pieces]))


def stack_observed(pieces: Sequence[Bits]) -> Bits:
    """Return the observed-masks as one, in a storage that suits the whole table."""
    if len({type(piece) for piece in pieces}) == 1 and isinstance(pieces[0], (AllOnes, Pattern)):
        return stack(pieces)
    n_cells = sum(piece.shape[0] * piece.shape[1] for piece in pieces)
    missing = n_cells - sum(int(piece.row_sums().sum()) for piece in pieces)
    return stack([in_storage(piece, mask_for(missing / n_cells)) for piece in pieces])

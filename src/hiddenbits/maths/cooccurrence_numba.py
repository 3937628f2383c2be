"""The compiled twin of `cooccurrence._product`, with numba (the extra `fast`): the same counts, from 64-bit words.

A binary column is an array of 64-bit words; the co-occurrence of two columns is the number of 1s in the AND of their
words. Two columns of a are compared with four of b at a time, so that each word is loaded once for several pairs, and
shared words stay in the first-level cache. The functions release the interpreter lock, so threads run in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats

Words = NDArray[np.uint64]

RUN_WORDS = 512  # words of a column that are processed at a time: 4 KB
PANEL = 64  # columns of a that stay in the second-level cache for the columns of b

_BYTES = types.Array(types.uint8, 2, "C", readonly=True)
_WORDS = types.uint64[:, ::1]
_COUNTS = types.float64[:, ::1]


def _population(_typing_context: Any, _word: Any) -> Any:
    """Compile the number of 1s in a word to an instruction, or to a vector instruction if the processor has one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


_ones_in: Any = intrinsic(_population)


@njit(_WORDS(_BYTES, types.int64), cache=True, nogil=True)
def column_words(packed: Bytes, n_columns: int) -> Words:
    """Return the columns as words: bit r of word w (from the top) of column j is cell (64 w + r, j).

    64 x 64 bits are transposed at a time: swap the off-diagonal quarters, then those of each quarter, and so on.
    """
    n_rows, n_bytes = packed.shape
    n_words = (n_rows + 63) // 64
    words = np.empty((n_columns, n_words), np.uint64)
    square = np.empty(64, np.uint64)
    for first in range(0, n_columns, 64):
        from_byte = first // 8
        to_byte = min(from_byte + 8, n_bytes)
        for w in range(n_words):
            for r in range(64):
                word = np.uint64(0)
                if 64 * w + r < n_rows:
                    for b in range(from_byte, to_byte):
                        word |= np.uint64(packed[64 * w + r, b]) << np.uint64(56 - 8 * (b - from_byte))
                square[r] = word
            half = 32
            mask = np.uint64(0x00000000FFFFFFFF)
            while half:
                k = 0
                while k < 64:
                    swap = (square[k] ^ (square[k + half] >> np.uint64(half))) & mask
                    square[k] ^= swap
                    square[k + half] ^= swap << np.uint64(half)
                    k = (k + half + 1) & ~half
                half >>= 1
                mask ^= mask << np.uint64(half)
            for j in range(first, min(first + 64, n_columns)):
                words[j, w] = square[j - first]
    return words


@njit(types.void(_WORDS, _WORDS, types.int64, types.int64, types.int64, types.int64, _WORDS), cache=True, nogil=True)
def _count_run(a: Words, b: Words, i: int, j: int, start: int, stop: int, sums: Words) -> None:
    """Count a run of words for columns i, i + 1 of a and j to j + 3 of b; beyond the last column it is repeated."""
    last = b.shape[0] - 1
    x0, x1 = a[i, start:stop], a[min(i + 1, a.shape[0] - 1), start:stop]
    y0, y1 = b[j, start:stop], b[min(j + 1, last), start:stop]
    y2, y3 = b[min(j + 2, last), start:stop], b[min(j + 3, last), start:stop]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = np.uint64(0)
    for w in range(stop - start):
        s00 += _ones_in(x0[w] & y0[w])
        s01 += _ones_in(x0[w] & y1[w])
        s02 += _ones_in(x0[w] & y2[w])
        s03 += _ones_in(x0[w] & y3[w])
        s10 += _ones_in(x1[w] & y0[w])
        s11 += _ones_in(x1[w] & y1[w])
        s12 += _ones_in(x1[w] & y2[w])
        s13 += _ones_in(x1[w] & y3[w])
    sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3] = s00, s01, s02, s03
    sums[1, 0], sums[1, 1], sums[1, 2], sums[1, 3] = s10, s11, s12, s13


@njit(_COUNTS(_WORDS, _WORDS, types.boolean), cache=True, nogil=True)
def count_pairs(a: Words, b: Words, same: bool) -> Floats:
    """Return the number of rows in which column i of a and column j of b are both 1; `same` means that b is a."""
    n_a, n_words = a.shape
    n_b = b.shape[0]
    counts = np.zeros((n_a, n_b))
    sums = np.empty((2, 4), np.uint64)
    for start in range(0, n_words, RUN_WORDS):
        stop = min(start + RUN_WORDS, n_words)
        for panel in range(0, n_a, PANEL):
            for j in range(panel if same else 0, n_b, 4):
                for i in range(panel, min(panel + PANEL, n_a, j + 4 if same else n_a), 2):
                    _count_run(a, b, i, j, start, stop, sums)
                    for p in range(min(2, n_a - i)):
                        for q in range(min(4, n_b - j)):
                            counts[i + p, j + q] += sums[p, q]
    if same:
        for i in range(n_a):
            for j in range(i):
                counts[i, j] = counts[j, i]
    return counts

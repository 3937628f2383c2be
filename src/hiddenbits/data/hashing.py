"""All rules of the package for random generators by key, hashes of rows, and digests.

Fits, samples and the names of cached fits depend on these numbers, so no rule may change; a better one gets a new
name. Whole numbers are computed modulo 2^64. (The checksum of model files is in `hiddenbits.store.header`.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats

Hashes = NDArray[np.uint64]

PRIME = 2**31 - 1
SPLITMIX_STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: the step of the generator splitmix64
MURMUR3 = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))  # shifts and factors of the finalizer of MurmurHash3
SPLITMIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # shifts and factors of splitmix64


def keyed_rng(*words: int) -> np.random.Generator:
    """Return the random generator of a key of whole numbers: the same numbers on every worker, in any order."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))


def digest(*pieces: bytes | memoryview) -> str:
    """Return the SHA-256 of concatenated pieces in hexadecimal."""
    hashed = hashlib.sha256()
    for piece in pieces:
        hashed.update(piece)
    return hashed.hexdigest()


def uniform_by_row(seed: int, rows: Hashes) -> Floats:
    """Return a random number in [0, 1) for each row number."""
    factors = np.random.default_rng(seed).integers(2**63, size=3, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return _to_unit_interval(_mixed((rows + np.uint64(1)) * factors[0], [(32, factors[1]), (32, factors[2])], 32))


def uniform_by_row_and_unit(seed: int, rows: Hashes, n_units: int) -> Floats:
    """Return a random number in (0, 1) for each row and unit, (rows, units); more units leave the others unchanged."""
    units = np.arange(1, n_units + 1, dtype=np.uint64) * np.uint64(SPLITMIX[0][1])
    with np.errstate(over="ignore"):
        start = rows[:, None] * np.uint64(SPLITMIX_STEP) + units + np.uint64(seed)
    return _to_unit_interval(_mixed(start, SPLITMIX, 31), 0.5)


def row_hashes(cells: Bytes, observed: Bytes | None, keys: Hashes) -> Hashes:
    """Return a number for each row, uniformly distributed, that differs between rows with different cells.

    `keys` are `word_keys`. A row without missing cells has the same number with `observed` and without.
    """
    hashes = hash_words(words_of(np.packbits(cells, axis=1)), keys[0])
    if observed is not None:
        has_missing = ~observed.all(axis=1)
        mask_hashes = hash_words(words_of(np.packbits(observed[has_missing], axis=1)), keys[1])
        hashes[has_missing] = _mixed(hashes[has_missing] + mask_hashes, MURMUR3, 33)
    return hashes


def word_keys(n_columns: int) -> Hashes:
    """Return an odd factor for each word of 64 columns, (2, words): for the bits, and for the observed-mask."""
    keys = np.random.default_rng(0xB175).integers(0, 1 << 64, (2, -(-n_columns // 64)), dtype=np.uint64)
    return np.asarray(keys | np.uint64(1))


def words_of(packed: Bytes) -> Hashes:
    """Return rows of packed bits as words of 64 bits."""
    words = np.zeros((packed.shape[0], -(-packed.shape[1] // 8) * 8), np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


def hash_words(words: Hashes, keys: Hashes) -> Hashes:
    """Return a hash for each row of words; about one of 2^64 pairs of different rows has equal hashes."""
    hashes: Hashes = np.zeros(len(words), np.uint64)
    for word, key in zip(words.T, keys, strict=True):
        hashes = _mixed((hashes ^ word) * key, MURMUR3, 33)
    return hashes


def set_numbers(n: int, seed: int | list[int]) -> Hashes:
    """Return a fixed random number for each of n elements: almost surely, sets with equal sums are equal."""
    return np.random.default_rng(seed).integers(1, 2**63, n, dtype=np.uint64)


def hash_bits(seed: int, x: Any, observed: Any, shape: tuple[int, int]) -> Floats:
    """Return a whole number below 2^31 for each row of bits, whose operands are given.

    All sums are whole numbers below 2^53, and therefore exact in any order of addition.
    """
    n, d = shape
    rng = np.random.default_rng(seed)
    factors = rng.integers(1, min(PRIME, 2**53 // (4 * max(d, 1))), (2, d, 1)).astype(np.float64)
    hashed = np.broadcast_to(x @ factors[0] + (observed @ factors[1]), (n, 1))[:, 0] + rng.integers(PRIME)
    return np.asarray(np.mod(hashed, PRIME))


def hash_reals(seed: int, x: Floats, observed: Bytes) -> Floats:
    """Return a whole number below 2^31 for each row of real numbers, from their bytes."""
    factors = 2 * np.random.default_rng(seed).integers(2**62, size=(2, x.shape[1]), dtype=np.uint64) + np.uint64(1)
    words = (x + 0.0).view(np.uint64)  # -0 is 0
    words = (words ^ (words >> np.uint64(32))) * factors[0]
    words = (words ^ (words >> np.uint64(29))) * factors[1]
    mixed = words.sum(axis=1, dtype=np.uint64) + observed @ factors[1]
    return np.asarray(np.mod(mixed ^ (mixed >> np.uint64(31)), np.uint64(PRIME)), np.float64)


def _mixed(numbers: Hashes, rounds: Iterable[tuple[int, int | np.uint64]], last_shift: int) -> Hashes:
    """Mix numbers so that each bit depends on every bit: rounds of a shift and a factor, and a last shift."""
    for shift, factor in rounds:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(numbers ^ (numbers >> np.uint64(last_shift)))


def _to_unit_interval(numbers: Hashes, offset: float = 0.0) -> Floats:
    """Return the upper 53 bits as a number between 0 and 1."""
    return np.asarray(((numbers >> np.uint64(11)).astype(np.float64) + offset) * 2.0**-53)

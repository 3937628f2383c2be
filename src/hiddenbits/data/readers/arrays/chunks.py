"""Chunks of arrays on disk: from the bytes in the file to the bytes of the cells, never more than was declared.

The libraries that write such files unfold whatever they are given: a small chunk can become terabytes, and HDF5 hands
out memory that nobody wrote when a chunk unfolds to too little. Here a chunk comes to exactly the bytes that the
array's metadata declares, or is refused.
"""

from __future__ import annotations

import os
import zlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.table import TableError

Step: TypeAlias = tuple[str, int]  # what was done to the bytes, and the size of an element where that matters
Steps: TypeAlias = tuple[Step, ...]  # in the order of writing

COMPRESSORS = ("blosc", "gzip", "lz4", "lzf", "zlib", "zstd")
CHECKSUMS = ("crc32c", "fletcher32")
LZF_RATIO = 88  # LZF copies up to 264 bytes with three
LZF_BYTES = 1 << 28
KNOWN = (*COMPRESSORS, *CHECKSUMS, "shuffle", "packbits")


def check_steps(steps: Steps) -> None:
    """Refuse ways of storing that are not undone here."""
    for name, _ in steps:
        if name not in KNOWN:
            raise TableError(
                f"it is stored with {name!r}, which is not read here. Write it again with zstd, blosc or gzip alone."
            )
    if sum(name in COMPRESSORS for name, _ in steps) > 1:
        raise TableError("it is compressed more than once. Write it again with one compressor.")


def most_stored(size: int) -> int:
    """Return the most bytes that an honest chunk of `size` bytes may take in the file: compressors add little."""
    return size + size // 8 + (1 << 16)


def unfold(raw: bytes, steps: Steps, size: int) -> NDArray[np.uint8]:
    """Return the `size` bytes of a chunk's cells, undoing `steps` from the last to the first."""
    sizes = [size]
    for name, _ in steps:
        if name in COMPRESSORS:
            break  # what comes after it has no size that could be known
        sizes.append(
            sizes[-1] + 4 if name in CHECKSUMS else -(-sizes[-1] // 8) + 1 if name == "packbits" else sizes[-1]
        )
    data: Any = raw
    for i in range(len(steps) - 1, -1, -1):
        name, width = steps[i]
        if name in COMPRESSORS:
            data = _decompressed(name, data, sizes[i])
        elif name in CHECKSUMS:
            data = _checked(name, data)
        elif name == "shuffle":
            data = _unshuffled(np.frombuffer(data, np.uint8), width)
        else:
            data = _unpacked(np.frombuffer(data, np.uint8), sizes[i])
    cells = np.frombuffer(data, np.uint8)
    if len(cells) != size:
        raise _wrong_size(len(cells), size)
    return cells


def unfold_text(raw: bytes, steps: Steps, limit: int) -> bytes:
    """Return the bytes of a chunk of text, whose size no metadata declares, if they are at most `limit`."""
    data: Any = raw
    for name, _ in reversed(steps):
        if name in CHECKSUMS:
            data = _checked(name, data)
        elif name in ("gzip", "zlib"):
            data = zlib.decompressobj(31 if name == "gzip" else 15).decompress(data, limit + 1)
        elif name in ("blosc", "lz4", "zstd"):
            size = _told(name, bytes(data))
            if size is None or size > limit:
                raise TableError(f"a chunk of names unfolds to {size or 'an unknown number of'} bytes. Give names=.")
            data = _decompressed(name, data, size)
        else:
            raise TableError(f"names are stored with {name!r}, which is not read here. Give names=.")
    if len(data) > limit:
        raise TableError(f"a chunk of names unfolds to more than {limit} bytes. Give names=.")
    return bytes(data)


def _wrong_size(found: int | str, size: int) -> TableError:
    return TableError(f"it unfolds to {found} bytes, but its metadata declares {size}. It is damaged; write it again.")


def _decompressed(name: str, raw: Any, size: int) -> Any:
    """Return exactly `size` bytes; memory is taken for no more."""
    raw = bytes(raw)
    if name in ("zlib", "gzip"):
        stream = zlib.decompressobj(31 if name == "gzip" else 15)
        data = stream.decompress(raw, size + 1)
        if len(data) == size and not stream.eof:
            data += stream.decompress(stream.unconsumed_tail, 1)  # the checksum may be all that is left
        if len(data) != size or not stream.eof:
            raise _wrong_size("more" if len(data) > size else len(data), size)
        return data
    if name == "lzf":
        return _lzf(raw, size)
    from numcodecs import blosc, lz4, zstd

    told = _told(name, raw)
    if told is not None and told != size:
        raise _wrong_size(told, size)
    out = np.empty(size, np.uint8)
    if size:
        {"blosc": blosc, "lz4": lz4, "zstd": zstd}[name].decompress(raw, out)
    return out


def _told(name: str, raw: bytes) -> int | None:
    """Return the size that a compressed chunk's own header tells; None where it may leave it out."""
    if name == "lz4":
        if len(raw) < 5:
            raise _wrong_size(0, 4)
        return int.from_bytes(raw[:4], "little")
    if name == "blosc":
        if len(raw) < 16 or int.from_bytes(raw[12:16], "little") != len(raw):
            raise TableError("it is not a whole blosc chunk. It is damaged or was cut short; write it again.")
        return int.from_bytes(raw[4:8], "little")
    if len(raw) < 6 or raw[:4] != b"\x28\xb5\x2f\xfd":
        raise TableError("it is not a zstd chunk. It is damaged; write it again.")
    flags, one_segment = raw[4], raw[4] >> 5 & 1
    at = 5 + (1 - one_segment) + (0, 1, 2, 4)[flags & 3]
    length = (one_segment, 2, 4, 8)[flags >> 6]
    if len(raw) < at + length:
        raise TableError("its zstd header is cut short. Write it again.")
    told = int.from_bytes(raw[at : at + length], "little")
    return None if not length else told + 256 if length == 2 else told


def _lzf(raw: bytes, size: int) -> Any:
    """Undo LZF, which is h5py's own: through a file in memory, because h5py shows no other way to it.

    HDF5 does not tell how much came out. So a few random bytes follow, which must come out right after the last cell.
    """
    if len(raw) * LZF_RATIO > LZF_BYTES:
        raise TableError("it is too large for a chunk of LZF, which might unfold to anything. Write it with gzip.")
    import h5py

    end = os.urandom(16)
    with h5py.File(end.hex(), "w", driver="core", backing_store=False) as file:
        held = file.create_dataset("x", (size + 16,), "u1", chunks=(size + 16,), compression="lzf")
        held.id.write_direct_chunk((0,), raw + bytes([15]) + end)  # 15: sixteen bytes follow as they are
        cells = held[:]
    if cells[size:].tobytes() != end:
        raise _wrong_size("another number of", size)
    return cells[:size]


def _unshuffled(data: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Put the bytes of each element together again; bytes beyond the last whole element were left alone."""
    whole = len(data) // width * width if width > 1 else 0
    if not whole:
        return data
    return np.concatenate([data[:whole].reshape(width, -1).T.ravel(), data[whole:]])


def _unpacked(data: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return one byte for each of `size` bits; the first byte counts the bits that fill up the last one."""
    if len(data) != -(-size // 8) + 1 or data[0] != -size % 8:
        raise TableError(f"its packed bits are not {size}. It is damaged; write it again.")
    return np.unpackbits(data[1:], count=size)


def _checked(name: str, data: Any) -> Any:
    """Return the data without the four bytes of its checksum, which must be right."""
    if len(data) < 4:
        raise _wrong_size(len(data), 4)
    data = memoryview(data)
    told = int.from_bytes(data[-4:], "little")
    if name == "crc32c":
        right = _crc32c(bytes(data[:-4])) == told
    else:
        right = _fletcher_agrees(np.frombuffer(data[:-4], np.uint8), told)
    if not right:
        raise TableError("its checksum is wrong. The file is damaged; write it again.")
    return data[:-4]


def _crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes, by the package that came with zarr."""
    try:
        import google_crc32c
    except ImportError:  # zarr 3.0 brings another
        import crc32c

        return int(crc32c.crc32c(data))
    return int(google_crc32c.value(data))


def _fletcher_agrees(data: NDArray[np.uint8], told: int) -> bool:
    """Whether HDF5's Fletcher checksum is right: sums of 16-bit words, and of their running sums, modulo 65535."""
    if len(data) % 2:
        data = np.append(data, np.uint8(0))
    words = data.view(">u2").astype(np.int64)
    first = second = 0
    for start in range(0, len(words), 1 << 16):
        piece = words[start : start + (1 << 16)]
        weights = np.arange(len(piece), 0, -1)
        second = (second + len(piece) * first + int(piece @ weights)) % 65535
        first = (first + int(piece.sum())) % 65535
    return (told & 0xFFFF) % 65535 == first and (told >> 16) % 65535 == second

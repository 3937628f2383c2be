"""Co-occurrence counts of packed bits: by population count on words, against float32 matrix products in blocks.

    python -m benchmarks.tetrachoric.cooccurrence --full      (1,000,000 x 2,048 bits; three turns; ten minutes)
    python -m benchmarks.tetrachoric.cooccurrence --quick     (131,072 x 512; the ratio is that of a smaller job)

Side by side, on the same two cores, from the same packed rows:
- kernel: the pass that `tetrachoric` makes, over blocks on two threads, with numba,
- numpy: the same pass without numba (float32 products, one BLAS thread for each of two),
- blas: unpacked rows in blocks, `x.T @ x` in float32 with BLAS's own two threads, added up in float64; NumPy makes half of the
  product, as it does for any matrix with itself. The best of three heights of a block.
The ratio is that of the kernel to the faster of the two others, turn by turn. "bitwise_count": words and `numpy.bitwise_count`, on a
sixteenth of the rows and one thread: why it is not the path without numba. All counts are compared cell by cell.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, peak_memory_mb, record
from threadpoolctl import threadpool_limits

from hiddenbits import open_table
from hiddenbits.data import cooccurrence
from hiddenbits.engine import Local
from hiddenbits.maths.pair_counts import block_rows, count_pairs

SEED, GOAL = 0, 6
HEIGHTS = (2048, 8192, 32768)


def bits(n: int, d: int) -> np.ndarray:
    """A quarter of the cells are 1."""
    rng = np.random.default_rng(SEED)
    return rng.integers(0, 256, (n, d // 8), dtype=np.uint8) & rng.integers(0, 256, (n, d // 8), dtype=np.uint8)


def engine_pass(packed: np.ndarray, d: int, local: Local, kernel: bool) -> np.ndarray:
    cooccurrence.KERNEL_WORK = 0 if kernel else 1 << 62
    table = open_table(packed, packed=True, n_columns=d)
    return local.reduce(count_pairs, table.grid(block_rows(d, d))).both


def blas(packed: np.ndarray, d: int, height: int) -> np.ndarray:
    counts = np.zeros((d, d))
    with threadpool_limits(2, user_api="blas"):
        for start in range(0, len(packed), height):
            x = np.unpackbits(packed[start : start + height], axis=1, count=d).astype(np.float32)
            counts += x.T @ x
    return counts


def bitwise_count(packed: np.ndarray, d: int) -> np.ndarray:
    """Columns of 64-bit words, a stretch of them at a time; every column against those after it."""
    counts = np.zeros((d, d))
    for start in range(0, len(packed), 16384):
        x = np.unpackbits(packed[start : start + 16384], axis=1, count=d)
        words = np.packbits(np.ascontiguousarray(x.T), axis=1)
        words = np.pad(words, ((0, 0), (0, -words.shape[1] % 8))).view(np.uint64)
        for i in range(d):
            counts[i, i:] += np.bitwise_count(words[i:] & words[i]).sum(axis=1, dtype=np.int64)
    return np.triu(counts) + np.triu(counts, 1).T


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = function()
    return time.perf_counter() - begun, result


def main() -> None:
    quick = asked_quick(__doc__ or "")
    (n, d), turns = ((1 << 17, 512), 3) if quick else ((1_000_000, 2048), 3)
    packed = bits(n, d)
    few = packed[: n // 16]
    local = Local(2)
    engine_pass(few[:4096], d, local, True)  # loads the kernel
    height = min(HEIGHTS, key=lambda rows: timed(lambda: blas(few, d, rows))[0])
    seconds: dict[str, list[float]] = {"kernel": [], "numpy": [], "blas": []}
    equal = True
    for _ in range(turns):
        taken, counts = timed(lambda: engine_pass(packed, d, local, True))
        seconds["kernel"].append(taken)
        for name, other in (
            ("numpy", lambda: engine_pass(packed, d, local, False)),
            ("blas", lambda: blas(packed, d, height)),
        ):
            taken, theirs = timed(other)
            seconds[name].append(taken)
            equal = equal and bool((counts == theirs).all())
    one = Local(1)
    alone = {
        "bitwise_count": timed(lambda: bitwise_count(few, d)),
        "numpy": timed(lambda: engine_pass(few, d, one, False)),
        "kernel": timed(lambda: engine_pass(few, d, one, True)),
    }
    equal = equal and all(bool((alone["kernel"][1] == counts).all()) for _, counts in alone.values())
    ratios = [min(a, b) / k for k, a, b in zip(seconds["kernel"], seconds["numpy"], seconds["blas"], strict=True)]
    figures = {
        "rows": n,
        "columns": d,
        "seconds": {name: round(median(times), 3) for name, times in seconds.items()},
        "times_faster": round(median(ratios), 2),
        "times_faster_each": [round(ratio, 2) for ratio in ratios],
        "goal": GOAL,
        "equal": equal,
        "height_of_blas_blocks": height,
        "seconds_of_a_sixteenth_on_one_thread": {name: round(taken, 3) for name, (taken, _) in alone.items()},
        "peak_memory_mb": round(peak_memory_mb()),
    }
    record(
        "tetrachoric/cooccurrence_quick" if quick else "tetrachoric/cooccurrence",
        figures,
        seeds=SEED,
        packages=("numba",),
    )


if __name__ == "__main__":
    main()

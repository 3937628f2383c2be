"""All jobs, by size. Each is made when it is measured, and its table goes with it."""

from collections.abc import Callable
from functools import partial

from .classes import machine_rows, mixture, noisy_or_exact
from .coding import coding
from .logistic import logistic
from .machine import machine_states
from .pairs import pairs
from .sampled import noisy_or_sampled
from .tables import dense_bits, sparse_bits
from .trees import hidden_tree, trees
from .turns import Job

SIZES = ("small", "medium", "large")
DENSE = {"small": (2_000, 64), "medium": (20_000, 256), "large": (50_000, 1_000)}
SPARSE = {"small": (4_000, 500, 0.02), "medium": (50_000, 2_000, 0.01), "large": (200_000, 20_000, 0.001)}


def jobs(size: str) -> list[Callable[[], Job]]:
    """Return makers of all jobs of a size."""
    step = SIZES.index(size)
    (n, d), (rows, columns, share) = DENSE[size], SPARSE[size]
    classes, few = (8, 20, 50)[step], (4, 8, 16)[step]
    floats = ("float64", "float32")
    makers: list[Callable[[], Job]] = [
        lambda: mixture(size, dense_bits(n, d), classes),
        lambda: mixture(size, sparse_bits(rows, columns, share), classes),
    ]
    for q, height in ((2, (2_000, 20_000, 50_000)), (10, (1_000, 10_000, 20_000)), (40, (256, 1_000, 4_000))):
        if step or q == 2:
            table = height[step], (64, 256, 512)[step], q
            makers += [partial(logistic, size, *table, dtype) for dtype in floats]
            makers.append(partial(logistic, size, *table, refine=True))
    makers += [
        lambda: machine_rows(size, dense_bits(n, d), (6, 12, 20)[step]),
        lambda: machine_rows(size, sparse_bits(rows, columns, share), (6, 12, 20)[step]),
        partial(machine_states, size, (32, 128, 256)[step], (8, 13, 18)[step]),
        lambda: pairs(size, dense_bits(n, d)),
        lambda: pairs(size, sparse_bits(rows, columns // (1, 1, 4)[step], share)),
    ]
    images = ((2_000, 64, 40, 6, 4), (5_000, 256, 200, 8, 6), (8_000, 676, 700, 10, 8))[step]
    makers += [partial(coding, size, *images, dtype) for dtype in floats]
    return [
        *makers,
        lambda: noisy_or_exact(size, dense_bits(n, d // (1, 1, 4)[step], 0.2), (4, 6, 8)[step]),
        lambda: noisy_or_exact(size, sparse_bits(rows // (1, 2, 4)[step], columns, share), (4, 6, 8)[step]),
        lambda: noisy_or_sampled(size, dense_bits(n // (1, 2, 5)[step], d // (1, 1, 4)[step], 0.1), 2 * few),
        lambda: noisy_or_sampled(size, sparse_bits(rows // (1, 2, 4)[step], columns, share), 2 * few),
        lambda: trees(size, dense_bits(n // (1, 1, 5)[step], d, 0.2), few),
        lambda: trees(size, sparse_bits(rows, columns, share), few),
        lambda: trees(size, dense_bits(n // (1, 2, 10)[step], d // (1, 1, 4)[step], 0.2), few, looks=True),
        lambda: hidden_tree(size, dense_bits(n // (1, 2, 10)[step], d // (1, 1, 4)[step]), few),
    ]

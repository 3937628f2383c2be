import numpy as np
import pytest

from hiddenbits.data import AllOnes, Complement, Dense, MemorySource, Packed, Pattern, Table
from hiddenbits.data.bits import pattern_of
from tests.contracts.cases import CASES

STORAGES = {
    "dense": lambda bits: Dense(np.ascontiguousarray(bits, np.uint8)),
    "csr": lambda bits: Pattern(*pattern_of(bits), bits.shape[1]),
    "packed": lambda bits: Packed(np.packbits(bits, axis=1), bits.shape[1]),
}
MASKS = {
    "full": lambda observed: AllOnes(observed.shape),
    "dense": lambda observed: Dense(np.ascontiguousarray(observed, np.uint8)),
    "missing-pattern": lambda observed: Complement(Pattern(*pattern_of(1 - observed), observed.shape[1])),
    "observed-pattern": lambda observed: Pattern(*pattern_of(observed), observed.shape[1]),
}


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.fixture(params=STORAGES)
def storage(request):
    return request.param


@pytest.fixture(params=MASKS)
def mask(request):
    return request.param


def random_rows(rng, n, d, missing):
    rows = rng.integers(0, 2, (n, d)).astype(float)
    if missing:
        rows[rng.random((n, d)) < 0.25] = np.nan
    return rows


def table_of(rows, storage="dense", mask=None, weights=None):
    """A table of the given rows (NaN: missing) in the given storages."""
    observed = (~np.isnan(rows)).astype(np.uint8)
    mask = mask or ("full" if observed.all() else "dense")
    bits = np.nan_to_num(rows).astype(np.uint8)
    return Table(MemorySource(STORAGES[storage](bits), MASKS[mask](observed)), None, weights)


class NotResident:
    """A source that must be loaded part by part, over rows in memory: the loading path without a file."""

    def __init__(self, source):
        self._source = source

    resident = False

    def __getattr__(self, name):
        if name == "_source":  # while unpickling
            raise AttributeError(name)
        return getattr(self._source, name)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenbits.engine import Key, TreeSum

pytestmark = pytest.mark.core


def recursive_sum(values):
    """The fixed tree by its definition: split at the largest power of two below the length."""
    if len(values) == 1:
        return values[0].copy()
    half = 1 << ((len(values) - 1).bit_length() - 1)
    return recursive_sum(values[:half]) + recursive_sum(values[half:])


@given(st.integers(1, 70), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_same_bits_in_any_order_and_any_parts(n, seed, n_workers):
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal(3) * 10.0 ** rng.integers(-8, 8) for _ in range(n)]
    truth = recursive_sum(values)
    owners = rng.integers(0, n_workers, n)
    total = TreeSum(n)
    for worker in rng.permutation(n_workers):
        part = TreeSum(n)
        for number in rng.permutation(np.flatnonzero(owners == worker)):
            part.add((0, int(number)), values[number].copy())
        total.add_all(part.nodes())
    assert np.array_equal(total.result(), truth)


def test_contiguous_blocks_leave_few_nodes():
    part = TreeSum(1000)
    for number in range(100, 900):
        part.add((0, number), np.ones(1))
    assert len(part.nodes()) <= 2 * 10
    assert sum(value[0] for _, value in part.nodes()) == 800


def test_incomplete_sum_is_an_error():
    total = TreeSum(4)
    total.add((0, 0), np.ones(1))
    total.add((0, 1), np.ones(1))
    with pytest.raises(ValueError, match="not complete"):
        total.result()


def test_keys_are_addresses():
    key = Key(3)
    addresses = [key.derive(restart=r, pass_number=p, block=b) for r in range(3) for p in range(3) for b in range(3)]
    draws = {address.rng().random() for address in [key, *addresses]}
    assert len(draws) == 28
    assert addresses[5].rng().random() == addresses[5].rng().random()

"""The sums over all states of the hidden units, against plain enumeration."""

import numpy as np
import pytest
from scipy.special import logsumexp

from hiddenbits.maths.state_sums import Halves, TooManyUnitsError, check_units, free_phase, log_2cosh, states_of

pytestmark = pytest.mark.core


def machine(seed, d, m, scale):
    rng = np.random.default_rng(seed)
    return scale * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d)


def plain(W, th, v):
    """ln Z, E[h], E[x h'], E[x] and all log weights, written as the definition says."""
    m = len(th)
    H = np.array([[(k >> i) & 1 for i in range(m)] for k in range(2**m)], float).reshape(2**m, m)
    om = H @ W.T + v
    log_p = H @ th + np.logaddexp(om, -om).sum(axis=1)
    log_z = logsumexp(log_p)
    p = np.exp(log_p - log_z)
    return log_z, p @ H, np.tanh(om).T @ (p[:, None] * H), p @ np.tanh(om), log_p


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("d", "m", "scale"),
    [(6, 4, 1.0), (1, 3, 1.0), (5, 0, 1.0), (40, 9, 0.5), (700, 9, 0.2), (20, 7, 6.0), (3, 5, 200.0), (30, 12, 0.3)],
    ids=str,
)
def test_free_phase_equals_enumeration(d, m, scale, seed):
    """One block and several, small and large weights, some whose exponentials are no numbers."""
    W, th, v = machine(seed, d, m, scale)
    log_z, hidden, joint, visible, log_p = plain(W, th, v)
    phase = free_phase(W, th, v)
    size = max(1.0, abs(log_z))
    assert phase.log_partition == pytest.approx(log_z, abs=1e-13 * size)
    for ours, truth in ((phase.hidden, hidden), (phase.joint, joint), (phase.visible, visible)):
        np.testing.assert_allclose(ours, truth, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(Halves(W, th, v).log_weights(), log_p, rtol=1e-13, atol=1e-11)


def test_expectations_are_the_gradient_of_ln_z():
    """By central differences: an independent check of all three expectations."""
    W, th, v = machine(1, 7, 5, 0.8)
    phase, step = free_phase(W, th, v), 1e-5

    def slope(which, place):
        values = []
        for sign in (1, -1):
            moved = [W.copy(), th.copy(), v.copy()]
            moved[which][place] += sign * step
            values.append(free_phase(*moved).log_partition)
        return (values[0] - values[1]) / (2 * step)

    for which, truth in enumerate((phase.joint, phase.hidden, phase.visible)):
        for place in np.ndindex(truth.shape):
            assert slope(which, place) == pytest.approx(truth[place], abs=1e-8)


def test_blocks_of_states_add_in_any_order():
    halves = Halves(*machine(2, 600, 10, 0.3))
    blocks = halves.table().grid(2).blocks
    assert len(blocks) > 4
    forwards, backwards = halves.add_block(blocks[0]), halves.add_block(blocks[-1])
    for block in blocks[1:]:
        forwards += halves.add_block(block)
    for block in blocks[-2::-1]:
        backwards += halves.add_block(block)
    assert forwards.log_partition == pytest.approx(backwards.log_partition, abs=1e-10)
    np.testing.assert_allclose(forwards.normalized().joint, backwards.normalized().joint, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_compiled_kernel_is_a_twin(seed, scale, monkeypatch):
    """Small and large weights (whose sums must be scaled again on the way): the same sums as without numba."""
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    W, th, v = machine(seed, 90, 11, scale)
    monkeypatch.setattr("hiddenbits.maths.state_sums.KERNEL_CELLS", 1 << 62)
    plainly = free_phase(W, th, v)
    monkeypatch.setattr("hiddenbits.maths.state_sums.KERNEL_CELLS", 1)
    compiled = free_phase(W, th, v)
    size = max(1.0, abs(plainly.log_partition))
    assert compiled.log_partition == pytest.approx(plainly.log_partition, abs=1e-13 * size)
    for name in ("hidden", "joint", "visible"):
        np.testing.assert_allclose(getattr(compiled, name), getattr(plainly, name), rtol=0, atol=1e-12 * size)


def test_log_2cosh():
    x = np.array([0.0, 1e-9, 1.0, -3.0, 800.0, -800.0])
    np.testing.assert_allclose(log_2cosh(x), np.logaddexp(x, -x), rtol=1e-15)


def test_states_and_their_order():
    states = states_of(4)
    assert [int(row @ [1, 2, 4, 8]) for row in states] == list(range(16))
    np.testing.assert_array_equal(states_of(4, 5, 9), states[5:9])


def test_too_many_units_are_refused():
    with pytest.raises(TooManyUnitsError, match="too many to enumerate"):
        check_units(40)

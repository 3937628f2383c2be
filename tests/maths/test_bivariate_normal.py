"""Orthant probabilities, correlations from 2 x 2 tables and their variance, against integrals and brute force."""

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import ndtr, ndtri

from hiddenbits.maths.pair_counts import TwoByTwoTables
from hiddenbits.maths.tetrachoric import angle_of_table, interval, orthant_probability, solve_tables, unit_variance

pytestmark = pytest.mark.core

# h, k, rho, P(Z_1 <= h, Z_2 <= k): the integral over the angle, in 40 digits.
REFERENCE = [
    (-1.3, -0.2, 0.5, 0.075421193304936769805),
    (0.7, 0.7, 0.5, 0.6307902869326784414),
    (-2.5, 1.1, 0.5, 0.006196749473817587302),
    (0.0, -0.4, 0.5, 0.24858858259433622912),
    (-3.0, -3.0, 0.5, 0.000081889661832192112167),
    (-4.0, -0.5, 0.5, 0.000030651180786517388707),
    (-1.3, -0.2, -0.9, 0.000016122290490254997477),
    (0.0, -0.4, -0.9, 0.018010812049496753202),
    (-3.0, -3.0, -0.9, 3.2691855266927880759e-43),
    (1.0, -1.0, -0.9, 0.043164916503098749886),
    (0.7, 0.7, 0.99, 0.74041181559073384497),
    (0.0, -0.4, 0.99, 0.3445399347794531079),
    (-3.0, -3.0, 0.99, 0.0011015199986206225135),
    (1.0, -1.0, -0.999999, 0.00013651736229916546492),
    (0.7, 0.7, 1 - 1e-9, 0.75803077677927668191),
    (-3.0, -3.0, 1 - 1e-9, 0.0013498189619549566418),
    (0.0, -0.4, 1 - 1e-9, 0.34457825838967582509),
    (0.7, 0.7, -(1 - 1e-9), 0.51607269555385394277),
    (1.0, -1.0, -(1 - 1e-9), 4.317057989128252532e-6),
]

# p, q, P(both), rho to 15 digits.
TABLES = [
    (0.5, 0.5, 0.375, 0.707106781186548),
    (0.3, 0.2, 0.1, 0.375537029314172),
    (0.05, 0.9, 0.048, 0.210887627070317),
    (0.01, 0.02, 0.005, 0.773385078650729),
    (0.3, 0.4, 0.01, -0.830513409483695),
    (0.7, 0.6, 0.5999, 0.993816989852354),
    (0.001, 0.5, 0.0001, -0.357203379419769),
]


def one(*numbers):
    return tuple(np.array([number]) for number in numbers)


NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(400)


def integral(h, k, rho):
    """P(Z_1 <= h, Z_2 <= k), by integrating over Z_1 from -9 on; for |rho| up to .995."""
    half = 0.5 * (h + 9.0)
    x = half * (NODES + 1.0) - 9.0
    density = np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)
    return half * NODE_WEIGHTS @ (density * ndtr((k - rho * x) / np.sqrt(1.0 - rho * rho)))


def cells_of(p, q, c, n=1.0):
    return TwoByTwoTables(*(np.atleast_1d(n * cell) for cell in (c, p - c, q - c, 1 - p - q + c)))


def test_against_forty_digits():
    h, k, rho, truth = np.array(REFERENCE).T
    np.testing.assert_allclose(orthant_probability(h, k, rho), truth, rtol=0, atol=5e-16)
    np.testing.assert_allclose(orthant_probability(k, h, rho), truth, rtol=0, atol=5e-16)


def test_against_scipy():
    """A grid of thresholds, 0 and both signs of it among them; scipy integrates to about 1e-8."""
    values = [-2.5, -0.7, -0.0, 0.0, 1.3]
    grid = np.array([(h, k, rho) for h in values for k in values for rho in (-0.95, -0.4, 0.0, 0.6, 0.9)])
    truth = [stats.multivariate_normal.cdf([h, k], cov=[[1, rho], [rho, 1]]) for h, k, rho in grid]
    np.testing.assert_allclose(orthant_probability(*grid.T), truth, rtol=0, atol=1e-7)


def test_arcsine_law():
    """With thresholds of 0, P = 1/4 + asin(rho) / 2 pi: Lee & Sompolinsky's eq. 7."""
    rho = np.linspace(-1 + 1e-9, 1 - 1e-9, 101)
    zero, c = np.zeros(101), 0.25 + np.arcsin(rho) / (2 * np.pi)
    np.testing.assert_allclose(orthant_probability(zero, zero, rho), c, rtol=0, atol=1e-16)
    half = np.full(101, 0.5)
    np.testing.assert_allclose(np.sin(angle_of_table(half, half, c)), rho, rtol=0, atol=1e-13)


def test_seven_tables():
    for p, q, c, rho in TABLES:
        found, *_ = solve_tables(cells_of(p, q, c), 1.0, False)
        assert found[0] == pytest.approx(rho, abs=1e-12), (p, q, c)


@pytest.mark.parametrize("seed", range(3))
def test_solver_finds_the_angle_it_came_from(seed):
    """Margins down to one in a million, through an integral that the solver does not use.

    The integral here is good to 2e-12 of itself, Owen's T to 1e-14 of the larger margin; and an error of e in
    c is one of e / slope in t.
    """
    rng = np.random.default_rng(seed)
    h, k, rho = -rng.uniform(0, 4.7, 60), -rng.uniform(0, 4.7, 60), rng.uniform(-0.995, 0.995, 60)
    t = np.arcsin(rho)
    slope = np.exp(-(h * h + k * k - 2 * h * k * rho) / (2 * (1 - rho * rho))) / (2 * np.pi)
    tellable = slope > 1e-9
    assert tellable.sum() > 20
    h, k, rho, t, slope = (values[tellable] for values in (h, k, rho, t, slope))
    c = np.array([integral(*pair) for pair in zip(h, k, rho, strict=True)])
    allowed = (2e-12 * c + 2e-14 * ndtr(np.maximum(h, k))) / slope + 1e-13
    assert np.all(np.abs(angle_of_table(ndtr(h), ndtr(k), c) - t) < allowed)


def test_solver_stays_inside_for_any_table():
    """Cells next to both bounds, in tables of every size: no warning, an angle inside, and the cell is met."""
    rng = np.random.default_rng(0)
    p, q = 0.5 * 10 ** rng.uniform(-6, 0, (2, 4000))
    share = np.where(rng.random(4000) < 0.5, 10 ** rng.uniform(-9, 0, 4000), 1 - 10 ** rng.uniform(-9, -1, 4000))
    c = share * np.minimum(p, q)
    inside = (c > 0) & (c < np.minimum(p, q))
    p, q, c = p[inside], q[inside], c[inside]
    t = angle_of_table(p, q, c)
    assert np.all(np.abs(t) < np.pi / 2)
    met = orthant_probability(ndtri(p), ndtri(q), np.sin(t))
    near_one = np.abs(np.sin(t)) > 1 - 1e-12  # there sin(t) itself is too coarse to tell
    np.testing.assert_allclose(met[~near_one], c[~near_one], rtol=0, atol=1e-14)


@pytest.mark.parametrize("counts", [(30, 20, 15, 35), (4, 40, 9, 147), (200, 3, 60, 37), (1, 60, 70, 80)], ids=str)
def test_maximum_likelihood_by_brute_force(counts):
    """All three parameters at once, from a start that knows nothing; and the curvature there gives the variance."""

    def loss(parameters):
        h, k, z = parameters
        c, p, q = integral(h, k, np.tanh(z)), ndtr(h), ndtr(k)
        cells = np.array([c, p - c, q - c, 1 - p - q + c])
        return -np.array(counts) @ np.log(np.maximum(cells, 1e-300))

    options = {"xatol": 1e-8, "fatol": 1e-11, "maxiter": 2000}
    best = optimize.minimize(loss, [0.0, 0.0, 0.0], method="Nelder-Mead", options=options).x
    rho, error, *_ = solve_tables(TwoByTwoTables(*one(*map(float, counts))), 1.0, False)
    assert ndtr(best[0]) == pytest.approx((counts[0] + counts[1]) / sum(counts), abs=1e-6)
    assert rho[0] == pytest.approx(np.tanh(best[2]), abs=2e-6)

    step, ways = 1e-3, 1e-3 * np.eye(3)
    signs = [(a, b) for a in (1, -1) for b in (1, -1)]
    curvature = [
        [sum(a * b * loss(best + a * i + b * j) for a, b in signs) / (4 * step**2) for j in ways] for i in ways
    ]
    of_z = np.linalg.inv(curvature)[2, 2]
    assert error[0] == pytest.approx(np.sqrt(of_z) * (1 - rho[0] ** 2), rel=1e-4)


def test_variance_by_the_arcsine_law():
    """With margins of 1/2 rho = sin(pi/2 (1 - 2D)), D the share of rows that differ: the delta method by hand."""
    t = np.linspace(-1.5, 1.5, 11)
    half = np.full(11, 0.5)
    D = 0.5 - t / np.pi
    truth = (np.pi * np.cos(t)) ** 2 * D * (1 - D)
    np.testing.assert_allclose(unit_variance(half, half, 0.25 + t / (2 * np.pi), t), truth, rtol=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.3, 0.01])
def test_copies_in_a_billion_rows(p):
    """Rho rounds to 1. p - P(both) is the integral of g from t to pi/2, a short way: (pi/2 - t) exp(-h^2/2) / 2 pi."""
    apart = 1e-9 * p * (1 - p)
    cells = TwoByTwoTables(*one(1e9 * p, 0.0, 0.0, 1e9 * (1 - p)))
    rho, error, hollow, _ = solve_tables(cells, 1.0, False)
    assert rho[0] == 1.0
    assert hollow[0]
    t = angle_of_table(*one(p, p, p - apart))
    assert np.pi / 2 - t[0] == pytest.approx(2 * np.pi * apart * np.exp(ndtri(p) ** 2 / 2), rel=1e-6)
    assert 0 < error[0] < 1e-8
    low, high = interval(rho, error, 0.95)
    assert 0.99999 < low[0] <= high[0] == 1.0

"""Rows simulated from ten hidden units: two models like the synthetic data of Freund & Haussler (1994, section 4).

The paper shows its true model only as an image (figure 4.1a). A and B are fixed models like it: 8 x 8 images, ten
on/off units, weights up to 6 (A: lines and squares) or 4 (B: overlapping stripes). Rows are sampled exactly.

    P(h) ~ exp(h.th) Prod_j cosh om_j,   om = Sum_i h_i w_i,   P(x_j = 1 | h) = sigma(2 om_j)           eqs 2.2, 2.3
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hiddenbits.array_types import Bytes, Floats

Target = Literal["A", "B"]

SIDE = 8
# First and last row, first and last column, and signs: "e" is + above the middle row and - below, "f" + left, - right.
RECTANGLES = (
    (0, 0, 0, 7, "+"),
    (7, 7, 0, 7, "+"),
    (0, 7, 0, 0, "+"),
    (0, 7, 7, 7, "+"),
    (1, 3, 1, 3, "+"),
    (1, 3, 4, 6, "e"),
    (4, 6, 1, 3, "f"),
    (4, 6, 4, 6, "-"),
    (3, 4, 3, 4, "+"),
)
THRESHOLDS = {
    "A": (36.73, -8.45, -8.45, -8.45, -8.45, -3.90, -3.74, -3.74, -22.49, -10.60),
    "B": (-18.03, -19.25, -12.00, -8.95, -19.35, -17.76, -17.02, -19.61, -5.58, -17.82),
}


class SimulatedInfluences(NamedTuple):
    """Rows simulated from hidden units, with the true model.

    Attributes
    ----------
    train, test : ndarray of shape (rows, 64) of uint8
        Images of 8 x 8 bits, row by row.
    train_states, test_states : ndarray of shape (rows, 10) of uint8
        Which units were active.
    weights : ndarray of shape (10, 64)
        Weight of each unit for each column, as `CombinationMachine.weights_`.
    thresholds : ndarray of shape (10,)
        As `CombinationMachine.thresholds_`.

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_influences
    >>> simulate_influences("A", n_rows=5, random_state=0).train_states.shape
    (5, 10)
    """

    train: Bytes
    test: Bytes
    train_states: Bytes
    test_states: Bytes
    weights: Floats
    thresholds: Floats


def true_influences(target: Target = "A") -> tuple[Floats, Floats]:
    """Return (weights, thresholds) of a true model: (10, 64) and (10,).

    Parameters
    ----------
    target : {"A", "B"}
        A: a background, four edges of the image, four squares and a center. B: five horizontal and five vertical
        stripes.

    Examples
    --------
    >>> from hiddenbits.datasets import true_influences
    >>> weights, thresholds = true_influences("A")
    >>> float(abs(weights).sum().round(4)), float(abs(weights).max())
    (295.6, 6.0)
    """
    if target not in THRESHOLDS:
        raise ValueError(f"target={target!r}: choose {' or '.join(map(repr, THRESHOLDS))}.")
    weights = _rectangles() if target == "A" else _stripes()
    return weights.reshape(len(weights), SIDE * SIDE), np.array(THRESHOLDS[target])


def simulate_influences(
    target: Target = "A", *, n_rows: int = 4000, shrink: float = 1.0, random_state: int = 0
) -> SimulatedInfluences:
    """Simulate training rows and as many test rows, sampled exactly from a restricted Boltzmann machine of ten units.

    Parameters
    ----------
    target : {"A", "B"}
        As for `true_influences`.
    n_rows : int
        Number of training rows, 4,000 in the paper, and of test rows.
    shrink : float
        Divide the weights by this, and adjust the thresholds so that each unit is active as often as before. The
        second table of the paper divides by 7; what it does with the thresholds is not reported.
    random_state : int
        Random seed of the rows.

    Returns
    -------
    simulated : SimulatedInfluences

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_influences
    >>> simulated = simulate_influences("A", random_state=1000)
    >>> simulated.train.shape, 2 * int(simulated.train.sum()) - simulated.train.size
    ((4000, 64), -80980)
    """
    if not shrink > 0.0:
        raise ValueError(f"shrink={shrink} is not a positive number.")
    weights, thresholds = true_influences(target)
    if shrink != 1.0:
        rates = _probabilities(weights, thresholds) @ _states(len(thresholds))
        weights = weights / shrink
        thresholds = _thresholds_at(weights, rates)
    states, p = _states(len(thresholds)), _probabilities(weights, thresholds)
    influence = states @ weights
    rng = np.random.default_rng(random_state)

    def sample() -> tuple[Bytes, Bytes]:
        state = rng.choice(len(p), n_rows, p=p)
        X = rng.random((n_rows, weights.shape[1])) < 1.0 / (1.0 + np.exp(-2.0 * influence[state]))
        return X.view(np.uint8), states[state].astype(np.uint8)

    (train, train_states), (test, test_states) = sample(), sample()
    return SimulatedInfluences(train, test, train_states, test_states, weights, thresholds)


def _states(m: int) -> Floats:
    """Return all states of m units, one per row; unit i of state k is bit i of k."""
    return ((np.arange(1 << m)[:, None] >> np.arange(m)) & 1).astype(np.float64)


def _probabilities(weights: Floats, thresholds: Floats) -> Floats:
    """Return the probability of every state (eq 3.4)."""
    states = _states(len(thresholds))
    influence = states @ weights
    log_p = states @ thresholds + np.logaddexp(influence, -influence).sum(axis=1)  # ln(2 cosh), without overflow
    p = np.exp(log_p - log_p.max())
    return np.asarray(p / p.sum())


def _thresholds_at(weights: Floats, rates: Floats) -> Floats:
    """Return the thresholds at which each unit is active at these rates; the solution is unique."""
    from scipy.optimize import root

    states = _states(len(rates))
    of_single_units = np.log(rates) - np.log1p(-rates) - np.log(np.cosh(weights)).sum(axis=1)

    def error(thresholds: Floats) -> Floats:
        return np.asarray(_probabilities(weights, thresholds) @ states - rates)

    return np.asarray(root(error, of_single_units, tol=1e-12).x)


def _rectangles() -> Floats:
    """Target A: a background unit that is mostly on, and rectangles with the largest weights at their centers."""
    weights = np.zeros((1 + len(RECTANGLES), SIDE, SIDE))
    weights[0] = -1.4
    for unit, (top, bottom, left, right, sign) in zip(weights[1:], RECTANGLES, strict=True):
        r, c = np.mgrid[top : bottom + 1, left : right + 1]
        up, across = (top + bottom) / 2 - r, (left + right) / 2 - c
        distance = abs(up) + abs(across)
        near, far = distance.min(), distance.max()
        size = 6.0 - 5.0 * (distance - near) / (far - near) if far > near else np.full(distance.shape, 6.0)
        signs = {"+": 1.0, "-": -1.0, "e": np.sign(up), "f": np.sign(across)}
        unit[top : bottom + 1, left : right + 1] = size * signs[sign]
    return weights


def _stripes() -> Floats:
    """Target B: blurred stripes across and down the image, some of which change sign halfway."""
    r, c = np.mgrid[:SIDE, :SIDE].astype(np.float64)
    across, down = [], []
    for i, (c0, r0) in enumerate(zip((2, 5, 2, 5, 3.5), (5, 2, 5, 2, 3.5), strict=True)):
        middle, sign = 0.7 + 1.4 * i, -1.0 if i >= 3 else 1.0
        stripe = sign * np.exp(-(((r - middle) / 0.5) ** 2) / 2 - ((c - c0) / 2.5) ** 2 / 2)
        across.append(np.where((c >= 4) & (i in (1, 3)), -stripe, stripe))
        stripe = sign * np.exp(-(((c - middle) / 0.5) ** 2) / 2 - ((r - r0) / 2.5) ** 2 / 2)
        down.append(np.where((r >= 4) & (i in (0, 2, 4)), -stripe, stripe))
    weights = np.array(across + down)
    return np.asarray(weights * (4.0 / abs(weights).max(axis=(1, 2), keepdims=True)))

"""Where learning ends (sections 3 and 4): slow or stuck, units negated or combined, EM next to gradient ascent."""

from typing import Any

import numpy as np
import synthetic
from cells import Cells
from common import have_data
from largest_terms import bits_of
from of_reals import slopes, states_of
from refitted import Machine, log_likelihood, refit
from scipy.special import expit, ndtri
from stopping import EM_STEPS, RAREST, TOWARDS, gain, mass, one_unit, removed

import data
from hiddenbits import BernoulliMixture, CombinationMachine, evaluate

SEEDS = {"rows": [1000, 1001, 1002], "digits": 0, "starts": 0, "pursuit": 0}
CLOSE = 0.9  # cosine from which on two weight vectors are the same
STEPS = (0.01, 0.03, 0.1, 0.3, 1.0)  # of gradient ascent for one unit; the best is taken
MOST, ENOUGH = 1000, 0.99  # passes; share of what EM gains in as many


def log_loss(machine: Machine, X: np.ndarray) -> float:
    return -log_likelihood(machine, X) / (X.size * np.log(2.0))


def slope_of(machine: Machine, X: np.ndarray) -> float:
    """Root mean square of the gradient a row (eqs 3.5, 3.6), over all parameters."""
    parts = slopes(*machine, X, "bits")
    return float(np.sqrt(np.mean(np.concatenate([part.ravel() for part in parts]) ** 2)))


def slow_or_stuck(seed: int) -> dict[str, Any]:
    """Section 4: gradient ascent for 1,000 epochs on A; L-BFGS from where it ended. Test log-loss above the truth's."""
    drawn = synthetic.rows("A", seed)
    X, test = (2.0 * part - 1.0 for part in (drawn.train, drawn.test))
    true = log_loss((drawn.weights, drawn.thresholds), test)
    model = CombinationMachine.paper(10, start="noise", max_iter=1000, random_state=SEEDS["starts"]).fit(drawn.train)
    ended: Machine = (model.weights_, model.thresholds_)
    further = refit(ended, X, 1000)
    return {
        "excess": log_loss(ended, test) - true,
        "excess, further": log_loss(further, test) - true,
        "slope": slope_of(ended, X),
        "slope, further": slope_of(further, X),
    }


def biases(seed: int) -> dict[str, Any]:
    """Section 4: thresholds of units by pursuit and gradient that are a true one or its negation, and the true ones."""
    drawn = synthetic.rows("A", seed)
    model = CombinationMachine.paper(10, max_iter=1000, random_state=SEEDS["starts"]).fit(drawn.train)
    L, T = (W / np.linalg.norm(W, axis=1, keepdims=True) for W in (model.weights_, drawn.weights))
    cosines = L @ T.T
    nearest = np.abs(cosines).argmax(axis=1)
    pairs = [
        (float(np.sign(cosines[i, k]) * model.thresholds_[i]), float(drawn.thresholds[k]))
        for i, k in enumerate(nearest)
        if abs(cosines[i, k]) >= CLOSE
    ]
    return {"learned, true": pairs}


def not_unique(table: str) -> dict[str, Any]:
    """Section 4: nats a row, on test rows, by which machines with a unit negated, or two combined, miss the truth.

    The factor of a unit is 1 + e^a = e^a (1 + e^-a): turned round, it leaves e^a, which a bias can carry, or another
    unit that is always on ("carried").
    """
    drawn = synthetic.rows(table, SEEDS["rows"][0])
    W, th = drawn.weights, drawn.thresholds
    X, test = (2.0 * part - 1.0 for part in (drawn.train, drawn.test))
    true = log_likelihood((W, th), test)

    def lacks(machine: Machine) -> float:
        return (true - log_likelihood(machine, test)) / len(test)

    _, share, _ = states_of(W, th, "bits")
    states = bits_of(np.arange(len(share)), len(th))
    always = int((share @ states).argmax())
    found: dict[str, list[float]] = {
        name: [] for name in ("negated", "carried", "refitted", "combined", "both refitted")
    }
    still = 0
    for i in range(len(th)):
        if i == always:
            continue
        V, a = W.copy(), th.copy()
        V[i], a[i] = -W[i], -th[i]
        found["negated"].append(lacks((V, a)))
        V[always], a[always] = W[always] + W[i], th[always] + th[i]
        found["carried"].append(lacks((V, a)))
        again = refit((V, a), X, 100)
        found["refitted"].append(lacks(again))
        still += bool(again[0][i] @ V[i] >= CLOSE * np.linalg.norm(again[0][i]) * np.linalg.norm(V[i]))
        j = next(k for k in (*range(i + 1, len(th)), *range(i)) if k not in (always, i))
        V, a = W.copy(), th.copy()
        V[i], a[i] = W[i] + W[j], th[i] + th[j]
        found["combined"].append(lacks((V, a)))
        found["both refitted"].append(lacks(refit((V, a), X, 100)))
    permuted = np.random.default_rng(SEEDS["starts"]).permutation(len(th))
    return {
        "always on": float((share @ states)[always]),
        "permuted": abs(lacks((W[permuted], th[permuted]))),
        "refitted to the training rows": lacks(refit((W, th), X, 100)),
        **found,
        "still negated": still,
    }


def turned_with_a_bias() -> dict[str, Any]:
    """All rows of 6 bits: a machine with a bias, and the same with one unit turned round; largest difference."""
    rng = np.random.default_rng(SEEDS["starts"])
    W, th, b = rng.standard_normal((4, 6)), rng.standard_normal(4), rng.standard_normal(6)
    X = bits_of(np.arange(64), 6).astype(np.uint8)
    one = data.told(W, th, b).score_samples(X)
    V, a = W.copy(), th.copy()
    V[0], a[0] = -W[0], -th[0]
    return {"largest difference": float(np.abs(np.exp(one) - np.exp(data.told(V, a, b + W[0]).score_samples(X))).max())}


def rows_of(table: str) -> np.ndarray:
    train = data.digits(SEEDS["digits"]).train if table == "digits" else synthetic.rows(table, SEEDS["rows"][0]).train
    return 2.0 * train - 1.0


def one_unit_two_ways(table: str) -> dict[str, Any]:
    """Section 3.5: passes until one unit over reals has 99% of what EM gains in 1,000, by EM and by gradient ascent.

    Gradient ascent has momentum .9 and the best of a few step sizes; both begin at the same unit.
    """
    X = rows_of(table)
    n = len(X)
    w0 = TOWARDS * X[np.random.default_rng(SEEDS["starts"]).integers(n)]
    start = w0[:, None], -mass(w0[:, None], "reals")

    def em() -> list[float]:
        (w, th), gains = start, []
        for _ in range(MOST):
            s = expit(X @ w + th)
            share = np.clip(s.mean(axis=0), RAREST, 1.0 - RAREST)
            w = X.T @ s / (share * n)
            th = np.log(share / (1.0 - share)) - mass(w, "reals")
            gains.append(float(gain(X, w, th, "reals")[0]))
        return gains

    def climb(step: float, goal: float) -> int | None:
        (w, th), dw, dth = start, 0.0, 0.0
        for k in range(1, MOST + 1):
            s, on = expit(X @ w + th), expit(th + mass(w, "reals"))
            dw = 0.9 * dw + step * (X.T @ s / n - on * w)
            dth = 0.9 * dth + step * (s.mean(axis=0) - on)
            w, th = w + dw, th + dth
            if gain(X, w, th, "reals")[0] >= goal:
                return k
        return None

    gains = em()
    goal = ENOUGH * gains[-1]
    passes = {str(step): climb(step, goal) for step in STEPS}
    return {"EM": 1 + next(k for k, g in enumerate(gains) if g >= goal), "gradient": passes}


def flattened(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The usual removal of structure: the projection on w becomes standard normal, all orthogonal ones stay."""
    along = w / np.linalg.norm(w)
    values = X @ along
    normal = np.empty(len(X))
    normal[np.argsort(values, kind="stable")] = ndtri((np.arange(len(X)) + 0.5) / len(X))
    return np.asarray(X + (normal - values)[:, None] * along)


def two_removals(table: str, seed: int) -> dict[str, Any]:
    """Section 3.4: ten units by pursuit with the paper's removal and with the usual one; test log-loss of each."""
    drawn = synthetic.rows(table, seed)
    found = {}
    for name in ("paper", "usual"):
        rng, rest = np.random.default_rng(SEEDS["pursuit"]), 2.0 * drawn.train - 1.0
        units = []
        for _ in range(10):
            w, th, _ = one_unit(rest, "reals", rng, EM_STEPS)
            units.append((w, th))
            rest = removed(rest, w, th, "reals", rng) if name == "paper" else flattened(rest, w)
        machine = np.array([w for w, _ in units]), np.array([th for _, th in units])
        found[name] = log_loss(machine, 2.0 * drawn.test - 1.0)
    return found


def few_active(table: str) -> dict[str, Any]:
    """Section 3: P(more than k units active) of the truth, and the error of E[h x] from the other states, largest."""
    drawn = synthetic.rows(table, SEEDS["rows"][0])
    pull, share, _ = states_of(drawn.weights, drawn.thresholds, "bits")
    states = bits_of(np.arange(len(share)), len(drawn.thresholds))
    exact, found = (states * share[:, None]).T @ np.tanh(pull), {}
    for k in range(len(drawn.thresholds) + 1):
        kept = states.sum(axis=1) <= k
        part = share[kept] / share[kept].sum()
        error = np.abs((states[kept] * part[:, None]).T @ np.tanh(pull[kept]) - exact).max()
        found[str(k)] = {"more": float(share[~kept].sum()), "error": float(error), "terms": int(kept.sum())}
    return found


def ten_classes(table: str) -> dict[str, Any]:
    """Section 2.4: single-bit error of ten classes on the test rows, for the components of `peers`."""
    drawn = synthetic.rows(table, SEEDS["rows"][0])
    model = BernoulliMixture(10, n_init=1, max_iter=100, random_state=SEEDS["starts"]).fit(drawn.train)
    return {"bit": float(evaluate.single_bit_error(model, drawn.test).value)}


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    tables = ("A", "B") if full else ("A",)
    found: dict[str, Any] = {
        "turned with a bias": cells.get("turned with a bias", turned_with_a_bias),
        "few active": {t: cells.get(f"few active, {t}", lambda t=t: few_active(t)) for t in tables},  # type: ignore[misc]
    }
    if not full:
        return found
    seeds = SEEDS["rows"]
    found["slow or stuck"] = [cells.get(f"slow or stuck, {s}", lambda s=s: slow_or_stuck(s)) for s in seeds]  # type: ignore[misc]
    found["biases"] = [cells.get(f"biases, {s}", lambda s=s: biases(s)) for s in seeds]  # type: ignore[misc]
    found["not unique"] = {t: cells.get(f"not unique, {t}", lambda t=t: not_unique(t)) for t in tables}  # type: ignore[misc]
    found["removals"] = {
        t: [cells.get(f"removals, {t}, {s}", lambda a=(t, s): two_removals(*a)) for s in seeds]  # type: ignore[misc]
        for t in tables
    }
    found["ten classes"] = {t: cells.get(f"ten classes, {t}", lambda t=t: ten_classes(t)) for t in tables}  # type: ignore[misc]
    found["one unit"] = {
        t: cells.get(f"one unit, {t}", lambda t=t: one_unit_two_ways(t))  # type: ignore[misc]
        for t in (*tables, "digits")
        if t != "digits" or have_data("one unit for digits")
    }
    return found

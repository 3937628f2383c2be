"""Claims about learning (sections 3 and 4): costs, what rises with every step, which units are found, digits."""

import time
from itertools import combinations
from typing import Any

import digits
import doubling
import numpy as np
import stopping
import synthetic
from cells import Cells
from common import have_data
from largest_terms import bits_of
from refitted import log_likelihood
from scipy.special import expit

import data
from hiddenbits import CombinationMachine
from hiddenbits.maths.state_sums import free_phase
from maths import kolmogorov

SEEDS = {"rows": [1000, 1001, 1002], "digits": 0, "pursuit": 0, "starts": 0}
PURSUED, ENUMERATED = (10, 20, 40), (8, 12, 16)
ROWS, BITS = (4000, 8000, 16000), (64, 128, 256)
CLOSE = 0.9  # cosine from which on two weight vectors are the same


def costs() -> dict[str, Any]:
    """Seconds of pursuit and of one exact gradient, by number of units, target A."""
    X = 2.0 * synthetic.rows("A", SEEDS["rows"][0]).train - 1.0
    rng, rest, begin = np.random.default_rng(SEEDS["pursuit"]), X, time.process_time()
    pursuit, gradient = {}, {}
    for k in range(1, PURSUED[-1] + 1):
        w, th, _ = stopping.one_unit(rest, "reals", rng)
        rest = stopping.removed(rest, w, th, "reals", rng)
        if k in PURSUED:
            pursuit[str(k)] = time.process_time() - begin
    for m in ENUMERATED:
        machine = rng.standard_normal((64, m)), np.zeros(m), np.zeros(64)
        free_phase(*machine)
        begin = time.process_time()
        for _ in range(3):
            free_phase(*machine)
        gradient[str(m)] = (time.process_time() - begin) / 3
    return {
        "pursuit": pursuit,
        "gradient": gradient,
        "rows": {str(n): clamped(n, BITS[0]) for n in ROWS},
        "bits": {str(d): clamped(ROWS[0], d) for d in BITS},
    }


def clamped(n_rows: int, n_bits: int, n_units: int = 8) -> float:
    """Processor seconds of the part of one gradient that looks at rows, the smallest of five."""
    rng = np.random.default_rng(SEEDS["pursuit"])
    X, W, seconds = rng.standard_normal((n_rows, n_bits)), rng.standard_normal((n_bits, n_units)), []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(5):
            X.T @ expit(X @ W)
        seconds.append((time.process_time() - begin) / 5)
    return min(seconds)


def rises(table: str, seed: int) -> dict[str, Any]:
    """Ten units by pursuit: which of them lower the log-likelihood of bits, or of reals; and what removal leaves."""
    X = 2.0 * synthetic.rows(table, seed).train - 1.0
    rng, rest = np.random.default_rng(SEEDS["pursuit"]), X
    W, th, heights = np.zeros((0, 64)), np.zeros(0), [(-len(X) * 64 * np.log(2.0), 0.0)]
    before, after, gained, left = [], [], [], []
    for _ in range(10):
        w, b, found = stopping.one_unit(rest, "reals", rng)
        before.append(from_normal(rest @ w))
        gained.append(found / len(X))
        rest = stopping.removed(rest, w, b, "reals", rng)
        after.append(from_normal(rest @ w))
        left.append(float(stopping.gain(rest, w, b, "reals")) / len(X))
        W, th = np.vstack([W, w]), np.append(th, b)
        states = bits_of(np.arange(1 << len(th)), len(th))
        log_z = np.logaddexp.reduce(states @ th + 0.5 * ((states @ W) ** 2).sum(axis=1))
        reals = float(np.logaddexp(0.0, X @ W.T + th).sum() - len(X) * log_z)
        heights.append((log_likelihood((W, th), X), reals))
    steps = np.diff(np.array(heights), axis=0)
    return {
        "lower bits": int((steps[:, 0] < 0).sum()),
        "lower reals": int((steps[:, 1] < 0).sum()),
        "before": float(np.mean(before)),
        "after": float(np.mean(after)),
        "gained": float(np.mean(gained)),
        "left": float(np.mean(left)),
        "most left": max(left),
    }


def from_normal(values: np.ndarray) -> float:
    return kolmogorov((values - values.mean()) / values.std())


def em_steps(table: str, n_units: int = 10) -> dict[str, Any]:
    """Units by pursuit, each from the same tries with 1 to 20 and 100 steps of EM.

    How often one more step lowers the likelihood; and the smallest and the median share of the gain of 100 steps that
    4 steps have.
    """
    seed = SEEDS["digits"] if table == "digits" else SEEDS["rows"][0]
    train = data.digits(seed).train if table == "digits" else synthetic.rows(table, seed).train
    rest, falls, shares = 2.0 * train - 1.0, 0, []
    for k in range(n_units):
        found = [
            stopping.one_unit(rest, "reals", np.random.default_rng([SEEDS["pursuit"], k]), n_steps=n)
            for n in (*range(1, 21), 100)
        ]
        gains = np.array([gain for _, _, gain in found])
        falls += int((np.diff(gains) < -1e-6 * np.abs(gains[:-1])).sum())
        shares.append(float(gains[3] / gains[-1]))
        w, th, _ = found[-1]
        rest = stopping.removed(rest, w, th, "reals", np.random.default_rng([SEEDS["pursuit"], k]))
    return {"falls": falls, "smallest share of 4": min(shares), "median share of 4": float(np.median(shares))}


def epochs() -> dict[str, Any]:
    """The paper's gradient for 2,000 epochs, target A: epochs that lower the likelihood, and what each half gains."""
    X = synthetic.rows("A", SEEDS["rows"][0]).train
    model = CombinationMachine.paper(10, start="noise", max_iter=2000, random_state=SEEDS["starts"]).fit(X)
    trace = np.asarray(model.trace_) / len(X)
    return {
        "falls": int((np.diff(trace) < 0.0).sum()),
        "nats, epochs 500 to 1000": float(trace[999] - trace[499]),
        "nats, epochs 1000 to 2000": float(trace[-1] - trace[999]),
    }


def matched(learned: np.ndarray, true: np.ndarray) -> dict[str, int]:
    """How many learned units are a true one, its negation, a combination of two or of more, or none of these."""
    L, T = (W / np.linalg.norm(W, axis=1, keepdims=True) for W in (learned, true))
    pairs = [np.linalg.qr(T[[i, j]].T)[0] for i, j in combinations(range(len(T)), 2)]
    whole = np.linalg.qr(T.T)[0]
    found = {"same": 0, "negated": 0, "two": 0, "more": 0, "none": 0}
    for w in L:
        cosines = T @ w
        nearest = cosines[np.abs(cosines).argmax()]
        if abs(nearest) >= CLOSE:
            found["same" if nearest > 0 else "negated"] += 1
        elif max(float(np.linalg.norm(plane.T @ w)) for plane in pairs) >= CLOSE:
            found["two"] += 1
        elif float(np.linalg.norm(whole.T @ w)) >= CLOSE:
            found["more"] += 1
        else:
            found["none"] += 1
    return found


def units_found(table: str, seed: int) -> dict[str, Any]:
    """Figures 4.1, 4.2: the units that the paper's programs find, next to the true ones."""
    drawn = synthetic.rows(table, seed)
    recipes = synthetic.SMALL_RECIPES if "/" in table else synthetic.RECIPES
    n = 400 if "/" in table else 1000
    names = (f"gradient ascent for {n} epochs", synthetic.PURSUIT, f"{synthetic.PURSUIT}, then gradient for {n} epochs")
    return {
        name: matched(synthetic.fitted(recipes[name], drawn.train, SEEDS["starts"]).weights_, drawn.weights)
        for name in names
    }


def templates() -> dict[str, Any]:
    """Figures 4.4, 4.5, 4.8, 4.9: cosine of templates with the nearest mean digit; units along one line."""
    rows = data.digits(SEEDS["digits"])
    X = 2.0 * rows.train - 1.0
    centre = X.mean(axis=0)
    of_digits = np.array([X[rows.train_label == k].mean(axis=0) for k in range(10)]) - centre
    mixture = digits.model_of(digits.MIXTURE, 0).fit(rows.train)
    pursued = digits.model_of(digits.PROGRAMS[2], 0).fit(rows.train)
    units = pursued.weights_ / np.linalg.norm(pursued.weights_, axis=1, keepdims=True)

    def nearest(W: np.ndarray) -> float:
        W, D = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (W, of_digits))
        return float(np.median((W @ D.T).max(axis=1)))

    def ink(W: np.ndarray) -> float:
        """How many pixels a template is about: (sum of squares)^2 / sum of fourth powers."""
        return float(np.median((W**2).sum(axis=1) ** 2 / (W**4).sum(axis=1)))

    classes = 2.0 * mixture.probabilities_ - 1.0
    cosines = np.abs(units @ units.T)[np.triu_indices(len(units), 1)]
    return {
        "classes": {"cosine with a digit": nearest(classes - centre), "pixels": ink(classes)},
        "units": {"cosine with a digit": nearest(pursued.weights_), "pixels": ink(pursued.weights_)},
        "pairs of units along one line": int((cosines > CLOSE).sum()),
    }


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    seeds = SEEDS["rows"] if full else SEEDS["rows"][:1]
    tables = ("A", "B") if full else ("A",)
    found: dict[str, Any] = {
        "costs": cells.get("costs", costs),
        "rises": {t: [cells.get(f"rises, {t}, {s}", lambda a=(t, s): rises(*a)) for s in seeds] for t in tables},  # type: ignore[misc]
        "em": {t: cells.get(f"EM, {t}", lambda t=t: em_steps(t, 10 if full else 2)) for t in tables},  # type: ignore[misc]
    }
    if full:
        found["epochs"] = cells.get("epochs", epochs)
        found["units"] = {
            t: [cells.get(f"units, {t}, {s}", lambda a=(t, s): units_found(*a)) for s in seeds]  # type: ignore[misc]
            for t in ("A", "A/7")
        }
    if full and have_data("learning from digits"):
        found["em"]["digits"] = cells.get("EM, digits", lambda: em_steps("digits"))
        found["templates"] = cells.get("templates", templates)
        found["doubling"] = cells.get("doubling", lambda: doubling.measure(SEEDS["digits"], SEEDS["starts"]))
    return found

"""Pursuit's own number of units, where all units are fitted again together and units are also taken away.

Pursuit alone cannot judge its units: in the altered rows of target B the sixth is no longer to be seen. So

1. forwards: one unit from the altered rows (`stopping`, bits), then all units together by the exact likelihood, until
   two further units have not lowered BIC;
2. backwards: of all units the one that is missed least is taken away and the others are fitted again, until this has
   not lowered BIC twice. Growth alone keeps units that later ones have made needless.

The machine with the smallest BIC of the second part is the result. Rules were chosen on other rows than those which
are reported (`SEEDS`). Removal of structure for a whole machine: h is drawn given the row, and a bit that
agrees with the sign of om_j = (h W)_j is turned with probability 1 - 1/(2 sigma(2|om_j|)): if the machine is right,
the rows become fair coins.
"""

from typing import Any

import numpy as np
from cells import Cells
from scipy.optimize import minimize
from scipy.special import expit
from stopping import one_unit
from synthetic import rows

import data
from hiddenbits.maths.numerics import softplus_and_sigmoid
from hiddenbits.maths.state_sums import free_phase

SEEDS = {
    "rows": list(range(1000, 1010)),
    "pursuit": 0,
    "rows to choose": {"A": [2000], "B": [2000, 2001, 2002, 2003, 2004]},
}
RIDGE = 0.1  # the library's
PATIENCE, MOST, COINS = 2, 16, 10
AFTER_ADDING, TO_CHOOSE, AFTER_TAKING = 100, 8, 200  # iterations of L-BFGS

Machine = tuple[np.ndarray, np.ndarray]  # weights with a row for each unit, thresholds


def log_likelihood(machine: Machine, X: np.ndarray) -> float:
    W, th = machine
    log_z = free_phase(np.ascontiguousarray(W.T), th, np.zeros(X.shape[1])).log_partition
    return float(np.logaddexp(0.0, X @ W.T + th).sum() - len(X) * log_z)


def bic(machine: Machine, X: np.ndarray) -> float:
    W, th = machine
    return float((W.size + th.size) * np.log(len(X)) - 2.0 * log_likelihood(machine, X))


def refit(machine: Machine, X: np.ndarray, n_steps: int) -> Machine:
    """All units together, by L-BFGS with the exact gradient (eqs 3.5, 3.6) and a small ridge."""
    m, d = machine[0].shape
    n, none = len(X), np.zeros(d)

    def fall(point: np.ndarray) -> tuple[float, np.ndarray]:
        W, th = point[: m * d].reshape(m, d), point[m * d :]
        a = X @ W.T + th
        above, on = softplus_and_sigmoid(a)
        free = free_phase(np.ascontiguousarray(W.T), th, none).normalised()
        height = above.sum() / n - free.log_partition - 0.5 * RIDGE / n * (W**2).sum()
        slope = on.T @ X / n - free.joint.T - RIDGE / n * W
        return -float(height), -np.concatenate([slope.ravel(), on.mean(axis=0) - free.hidden])

    options: Any = {"maxiter": n_steps, "ftol": 1e-9, "gtol": 1e-6}
    x = minimize(fall, np.concatenate([machine[0].ravel(), machine[1]]), jac=True, method="L-BFGS-B", options=options).x
    return x[: m * d].reshape(m, d), x[m * d :]


def removed(X: np.ndarray, machine: Machine, rng: np.random.Generator) -> np.ndarray:
    """Rows without the structure of all units."""
    W, th = machine
    pull = (rng.random((len(X), len(th))) < expit(X @ W.T + th)) @ W
    turned = rng.random(X.shape) < 1.0 - 0.5 / expit(2.0 * np.abs(pull))
    return np.where(turned & (X * pull > 0.0), -X, X)


def goes_on(marks: list[float]) -> bool:
    return len(marks) - 1 - int(np.argmin(marks)) < PATIENCE


def forwards(X: np.ndarray, rng: np.random.Generator) -> tuple[Machine, list[float]]:
    """Units are added while BIC falls, and some more; the last machine, and the BIC of all sizes from 1."""
    machine: Machine = (np.zeros((0, X.shape[1])), np.zeros(0))
    marks: list[float] = []
    while not marks or (len(marks) < MOST and goes_on(marks)):
        w, th, _ = one_unit(removed(X, machine, rng), "bits", rng)
        machine = refit((np.vstack([machine[0], w]), np.append(machine[1], th)), X, AFTER_ADDING)
        marks.append(bic(machine, X))
    return machine, marks


def backwards(X: np.ndarray, machine: Machine) -> tuple[Machine, list[float]]:
    """Units are taken away while BIC falls, and some more; the best machine, and the BIC of all sizes downwards."""
    machine = refit(machine, X, AFTER_TAKING)
    best, marks = machine, [bic(machine, X)]
    while len(machine[1]) > 1 and goes_on(marks):
        others = [np.arange(len(machine[1])) != i for i in range(len(machine[1]))]
        tries = [refit((machine[0][kept], machine[1][kept]), X, TO_CHOOSE) for kept in others]
        machine = refit(max(tries, key=lambda one: log_likelihood(one, X)), X, AFTER_TAKING)
        marks.append(bic(machine, X))
        best = machine if marks[-1] == min(marks) else best
    return best, marks


def on_target(table: str, seed: int) -> dict[str, Any]:
    drawn = rows(table, seed)
    X = 2.0 * drawn.train - 1.0
    grown, up = forwards(X, np.random.default_rng(SEEDS["pursuit"]))
    best, down = backwards(X, grown)
    truth = data.told(drawn.weights, drawn.thresholds)
    return {
        "rows": seed,
        "forwards": 1 + int(np.argmin(up)),
        "units": len(best[1]),
        "truth": len(drawn.thresholds),
        "bic": {"forwards": up, "backwards": down, "truth": bic((drawn.weights, drawn.thresholds), X)},
        "log-loss": data.measures(data.told(*best), drawn.test)["log-loss"],
        "true log-loss": data.measures(truth, drawn.test)["log-loss"],
    }


def by_coins(table: str, seed: int) -> dict[str, Any]:
    """Another rule, forwards only: stop where a unit gains no more on the altered rows than on tables of fair coins."""
    X = 2.0 * rows(table, seed).train - 1.0
    rng = np.random.default_rng(SEEDS["pursuit"])
    coins = (np.where(rng.random(X.shape) < 0.5, 1.0, -1.0) for _ in range(COINS))
    most = max(one_unit(one, "bits", rng)[2] for one in coins)
    machine: Machine = (np.zeros((0, X.shape[1])), np.zeros(0))
    while len(machine[1]) < MOST:
        w, th, gained = one_unit(removed(X, machine, rng), "bits", rng)
        if gained <= most:
            break
        machine = refit((np.vstack([machine[0], w]), np.append(machine[1], th)), X, AFTER_ADDING)
    return {"rows": seed, "units": len(machine[1])}


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Target -> list of cells, by BIC and by coins; none in a quick run: a test runs this code on small rows."""
    if not full:
        return {"bic": {}, "coins": {}}
    by_bic: dict[str, Any] = {"A": [], "B": []}
    for seed in SEEDS["rows"]:
        for table, found in by_bic.items():
            found.append(cells.get(f"{table}, rows {seed}", lambda t=table, s=seed: on_target(t, s)))  # type: ignore[misc]
    coins = {
        table: [
            cells.get(f"{table}, rows {seed}, coins", lambda t=table, s=seed: by_coins(t, s))  # type: ignore[misc]
            for seed in SEEDS["rows to choose"][table]
        ]
        for table in ("A", "B")
    }
    return {"bic": by_bic, "coins": coins}

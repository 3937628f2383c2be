"""One judge for each job: the same function says how good everybody's answer is, ours included."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from benchmarks.peers.drawn import Drawn
from benchmarks.peers.logistic_rows import Judge as LogisticRows
from scipy.special import logsumexp, xlog1py, xlogy
from sklearn.neighbors import NearestNeighbors

import hiddenbits
from hiddenbits.families.combination_machine.model import Combination

Fit = dict[str, Any]


class Verdict(NamedTuple):
    """How good an answer is (more is better), and the seconds to it."""

    quality: float
    seconds: float


class Judge(Protocol):
    """Knows a job's table and its truth."""

    def __init__(self, table: Drawn) -> None: ...

    def __call__(self, fit: Fit) -> Verdict:
        """Judge what a program wrote."""

    def truth(self) -> float | None:
        """How good the truth is; None where it is not to be compared."""


class MixtureJudge:
    """Mean ln Sum_k w_k Prod_j p_kj^x_j (1 - p_kj)^(1 - x_j) of the rows that were fitted."""

    def __init__(self, table: Drawn) -> None:
        self.table = table

    def __call__(self, fit: Fit) -> Verdict:
        return Verdict(self.mean(fit["weights"], fit["probabilities"]), float(fit["seconds"][-1]))

    def mean(self, weights: Any, probabilities: Any) -> float:
        X, total = self.table.train, 0.0
        for start in range(0, len(X), 10_000):
            x = X[start : start + 10_000].astype(np.float64)
            ones, zeros = logs(probabilities)
            total += float(logsumexp(x @ ones.T + (1.0 - x) @ zeros.T + np.log(weights), axis=1).sum())
        return total / len(X)

    def truth(self) -> float:
        return self.mean(self.table.truth["weights"], self.table.truth["probabilities"])


def logs(p: Any) -> tuple[Any, Any]:
    """ln p and ln(1 - p), with -1e4 for minus infinity: times 0 it must be 0."""
    return np.maximum(xlogy(1.0, p), -1e4), np.maximum(xlog1py(1.0, -p), -1e4)


class MachineJudge:
    """Exact held-out likelihood. A peer is stopped where the rows to choose by are most likely, ours never is.

    Its seconds are those to the first place that is as good, within a hundredth of a nat.
    """

    CLOSE = 0.01

    def __init__(self, table: Drawn) -> None:
        self.table = table

    def __call__(self, fit: Fit) -> Verdict:
        places = list(zip(fit["weights"], fit["hidden"], fit["visible"], strict=True))
        if "ours" in fit:
            return Verdict(machine_mean(self.table.test, *places[0]), float(fit["seconds"][0]))
        machines = [in_our_convention(*place) for place in places]
        best = max(machines, key=lambda machine: machine_mean(self.table.valid, *machine))
        quality = machine_mean(self.table.test, *best)
        reached = (machine_mean(self.table.test, *machine) >= quality - self.CLOSE for machine in machines)
        return Verdict(quality, float(fit["seconds"][next(at for at, there in enumerate(reached) if there)]))

    def truth(self) -> float:
        weights, thresholds = self.table.truth["weights"], self.table.truth["thresholds"]
        return machine_mean(self.table.test, weights, thresholds, np.zeros(len(weights)))


def machine_mean(X: Any, W: Any, th: Any, v: Any) -> float:
    """Return the mean ln P of rows; minus infinity where a machine has none."""
    params = Combination().exact(W, th, v)
    model = Combination(params.n_units)
    shared = model.prepare(params)
    blocks = hiddenbits.open_table(X).grid(2048).blocks
    mean = float(np.concatenate([model.log_likelihood(params, shared, block) for block in blocks]).mean())
    return mean if np.isfinite(mean) else -np.inf


def in_our_convention(weights: Any, hidden: Any, visible: Any) -> tuple[Any, Any, Any]:
    """Return W, th and v of a machine whose visible bits are 0 and 1, where ours are -1 and +1.

    With x = (s + 1) / 2, a.x + h.(b + U'x) has W = U / 2, th = b + Sum_j U_j / 2, v = a / 2, and a constant for ln Z.
    """
    return weights / 2.0, hidden + weights.sum(axis=0) / 2.0, visible / 2.0


class LogisticJudge:
    """Held-out likelihood with x ~ N(0, I) integrated out; who has points for x is given the best Gaussian on their plane."""

    def __init__(self, table: Drawn) -> None:
        self.table = table

    def rows(self, dimensions: int) -> LogisticRows:
        return LogisticRows(self.table.train[:3_000], self.table.test, dimensions)

    def __call__(self, fit: Fit) -> Verdict:
        if "basis" in fit:
            plane = [fit[key][-1] for key in ("basis", "effects", "center", "covariance")]
            judge = self.rows(plane[0].shape[1])
            W, b = judge.best_gaussian(*plane)
        else:
            W, b = fit["loadings"][-1], fit["intercepts"][-1]
            judge = self.rows(W.shape[1])
        return Verdict(float(judge.rows(W, b)[0].mean()), float(fit["seconds"][-1]))

    def truth(self) -> float:
        W, b = self.table.truth["loadings"], self.table.truth["intercepts"]
        return float(self.rows(W.shape[1]).rows(W, b)[0].mean())


class TetrachoricJudge:
    """Minus the root mean square distance of all pairs from the truth; a pair without an answer counts as 0."""

    def __init__(self, table: Drawn) -> None:
        self.R = table.truth["correlations"]

    def __call__(self, fit: Fit) -> Verdict:
        apart = (np.nan_to_num(fit["correlations"]) - self.R)[np.tril_indices(len(self.R), -1)]
        return Verdict(-float(np.sqrt((apart**2).mean())), float(fit["seconds"][-1]))

    def truth(self) -> None:
        return None


class MapJudge:
    """The share of rows whose class is that of most of their ten neighbors, among 5,000 rows of the map or all."""

    ROWS, NEIGHBORS = 5_000, 10

    def __init__(self, table: Drawn) -> None:
        self.table = table

    def __call__(self, fit: Fit) -> Verdict:
        chosen = np.random.default_rng(0).permutation(len(fit["places"]))[: self.ROWS]
        places, classes = fit["places"][chosen], self.table.truth["classes"][chosen]
        near = NearestNeighbors(n_neighbors=self.NEIGHBORS).fit(places).kneighbors(return_distance=False)
        votes = np.apply_along_axis(np.bincount, 1, classes[near], minlength=classes.max() + 1)
        return Verdict(float((votes.argmax(axis=1) == classes).mean()), float(fit["seconds"][-1]))

    def truth(self) -> float:
        """The best that can be: the most likely class under the true mixture."""
        ones, zeros = logs(self.table.truth["probabilities"])
        x = self.table.train[: self.ROWS].astype(np.float64)
        found = (x @ ones.T + (1.0 - x) @ zeros.T + np.log(self.table.truth["weights"])).argmax(axis=1)
        return float((found == self.table.truth["classes"][: self.ROWS]).mean())

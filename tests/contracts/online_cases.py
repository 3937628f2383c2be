"""Every family that has `partial_fit`, on rows of a mixture: what it learns call by call, beside `fit`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
)
from hiddenbits.datasets import simulate_mixture
from tests.contracts.cases import CASES

COLUMNS, CLASSES, CALL, PASSES = 20, 4, 500, 3
ROWS, FITTED = 15_000, 3_000  # rows in all, and those of the `fit` that further rows come after
HELD_OUT = 4_000
SHORT_ROWS, SHORT_HELD_OUT = 6_000, 2_000
LOOKS = (10, 11, 12, 15, 20, 30, 45, 60, 75)  # calls after which the score is taken, beside the last

FAMILIES: dict[str, Any] = {
    "IndependentColumns": IndependentColumns(),
    "LatentClassAnalysis": LatentClassAnalysis(4),
    "TreeMixture, 1 class": TreeMixture(1),
    "TreeMixture, 2 classes": TreeMixture(2),
    "HiddenTree": HiddenTree(4),
    "ClippedPCA": ClippedPCA(2),
    "LogisticPCA": LogisticPCA(2),
    "LogisticPCA, no polish": LogisticPCA(2, refine=False),
    "CombinationMachine": CombinationMachine(3),
    "NoisyOrNetwork": NoisyOrNetwork(4),
    "NoisyOrNetwork, 2 layers": NoisyOrNetwork((3, 2)),
    "TopographicMap": TopographicMap(2, n_points=100, n_features=32),
    "BinarySparseCoding": BinarySparseCoding(4, n_init=1),
}
_listed = {name.partition(",")[0] for name in FAMILIES}
FAMILIES |= {
    type(case.estimator).__name__: case.estimator for case in CASES if type(case.estimator).__name__ not in _listed
}


@dataclass(frozen=True)
class Learned:
    """Held-out scores, in nats a row.

    `fit` on all rows; independent columns; `calls`, after calls of `partial_fit` from nothing, three times through the
    rows; `fitted` on the first rows, and `further` after calls with the others.
    """

    independent: float
    fit: float
    calls: list[float]
    fitted: float
    further: list[float]

    @property
    def gap(self) -> float:
        """What partial_fit is behind fit in the end."""
        return self.fit - self.calls[-1]

    @property
    def above_independent(self) -> float:
        """The least that partial_fit is above independent columns (or a `fit` below them), from the tenth call on."""
        return min(self.calls) - min(self.independent, self.fit)

    @property
    def lost(self) -> float:
        """The most that further rows took away from a fit."""
        return max(0.0, self.fitted - min(self.further))


def independent_score(estimator: Any, train: Any, test: Any) -> float:
    """Return the score of independent columns: bits, or numbers with normal distributions."""
    if not isinstance(estimator, BinarySparseCoding):
        return IndependentColumns().fit(train).score(test)
    mean, variance = train.mean(axis=0), train.var(axis=0)
    return float(np.sum(-0.5 * np.log(2.0 * np.pi * variance) - 0.5 * (test - mean) ** 2 / variance, axis=1).mean())


def learn(name: str, seed: int, *, short: bool = False) -> Learned:
    """Fit a family at once, call by call, and call by call after a fit."""
    rows, held_out = (SHORT_ROWS, SHORT_HELD_OUT) if short else (ROWS, HELD_OUT)
    X = simulate_mixture(rows + held_out, COLUMNS, CLASSES, random_state=seed).X
    estimator = FAMILIES[name]
    if isinstance(estimator, BinarySparseCoding):
        X = X.astype(np.float64)
    train, test = X[:rows], X[rows:]

    def fresh() -> Any:
        return type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed})

    starts = [*range(0, rows, CALL)] * PASSES
    online, calls = fresh(), []
    for number, start in enumerate(starts, 1):
        online.partial_fit(train[start : start + CALL])
        if number == len(starts) or number in LOOKS:
            calls.append(online.score(test))
    more = fresh().fit(train[:FITTED])
    at, further = more.score(test), []
    for number, start in enumerate(range(FITTED, rows, CALL)):
        more.partial_fit(train[start : start + CALL])
        if number < 3 or number % 4 == 1:  # the first calls could take most away; the last is among them
            further.append(more.score(test))
    return Learned(independent_score(estimator, train, test), fresh().fit(train).score(test), calls, at, further)

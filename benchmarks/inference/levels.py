"""Latent classes of items and of mixed columns: how often intervals contain the truth, and shares with missing cells.

    python -m benchmarks.inference.levels --quick                # 5 tables of each design: a look
    python -m benchmarks.inference.levels --full                 # 200 of each, 50 with missing cells: recorded
    python -m benchmarks.inference.levels --full --only mixed    # a part alone: items or mixed

- coverage: 3 classes with shares .5, .3 and .2; 15 binary items or 8 of 4 levels; 500 and 5,000 rows. 95% intervals by
  information of all shares and probabilities, on the scale of logits, by maximum likelihood and with the default prior.
  Probabilities estimated outside (.001, .999) are counted and left out; others without an interval are misses. The
  relative entropy of the classes at the true parameters is between .7 and .9.
- missing: 3 classes, 2,000 x 20 items of 3 levels. The first five columns are complete; a cell of the others is missing
  with a probability that depends on the answers there, 30% of all cells in all. The error of the class shares and of the
  items' shares of levels, mean over tables; beside the latter, those of the recorded cells.
- mixed: 2 and 3 classes; 3 binary columns, 2 nominal ones of 3 levels, 3 continuous ones and 2 counts; 500 and 5,000
  rows. Intervals of shares and probabilities as logits, of means, and of variances and rates as logarithms; by the
  sandwich and by the observed information. An interval that does not exist is a miss.

Seeds begin at 1,000; designs were chosen by their entropy alone, with one table.
"""

import time
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.record import asking, record
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax, xlogy
from scipy.stats import norm, poisson

from hiddenbits import LatentClassAnalysis, inference, open_table

FIRST_SEED, TABLES, MISSING_TABLES, EDGE = 1_000, 200, 50, 0.001
SHARES = np.array([0.5, 0.3, 0.2])
PRIORS = {"maximum likelihood": 0.0, "default prior": 1.0}


def profiles(items: int, levels: int, spread: float) -> np.ndarray:
    """Return P(level) of each item in each class, (3, items, levels)."""
    return softmax(spread * np.random.default_rng(levels).standard_normal((3, items, levels)), axis=2)


DESIGNS = {"15 binary items": profiles(15, 2, 0.95), "8 items of 4 levels": profiles(8, 4, 0.9)}
WITH_MISSING = profiles(20, 3, 0.7)


def simulated(seed: int, p: np.ndarray, rows: int) -> np.ndarray:
    rng = np.random.default_rng([p.shape[2], rows, seed])
    edges = p.cumsum(axis=2)[rng.choice(3, rows, p=SHARES)]
    return (rng.random((rows, p.shape[1], 1)) > edges).sum(axis=2).clip(max=p.shape[2] - 1).astype(float)


def entropy(p: np.ndarray) -> float:
    """Return the relative entropy of the classes at the true parameters, from 100,000 rows."""
    X = simulated(0, p, 100_000).astype(int)
    scores = np.log(SHARES) + sum(np.log(p[:, j, X[:, j]]).T for j in range(p.shape[1]))
    r = softmax(scores, axis=1)
    return 1.0 + float(xlogy(r, r).sum() / (len(X) * np.log(3.0)))


def fitted(X: np.ndarray, p: np.ndarray, **more: Any) -> tuple[LatentClassAnalysis, np.ndarray]:
    """Return a fit, and which true class each of its classes is."""
    kind = "binary" if p.shape[2] == 2 else "nominal"
    model = LatentClassAnalysis(3, column_types=kind, tol=1e-9, max_iter=5_000, random_state=0, **more).fit(X)
    apart = ((model.probabilities_[:, None, :] - bits(p)[None]) ** 2).sum(axis=2)
    return model, linear_sum_assignment(apart)[1]


def bits(p: np.ndarray) -> np.ndarray:
    """Return probabilities as `probabilities_` has them."""
    return p[:, :, 1] if p.shape[2] == 2 else p.reshape(len(p), -1)


def hits(seed: int, p: np.ndarray, rows: int, prior_strength: float) -> dict[str, tuple[np.ndarray, int]]:
    """Return which intervals contain the truth, and how many estimates are at the edge, of shares and probabilities."""
    X = simulated(seed, p, rows)
    model, order = fitted(X, p, prior_strength=prior_strength)
    try:
        intervals = inference.standard_errors(model, X).interval
    except ValueError:  # the information has no inverse
        intervals = {}
    found = {}
    for name, true, estimate in (
        ("shares", SHARES[order], model.weights_),
        ("probabilities", bits(p)[order], model.probabilities_),
    ):
        low, high = intervals.get({"shares": "weights"}.get(name, name), (np.inf, np.inf))
        kept = (estimate > EDGE) & (estimate < 1.0 - EDGE)
        found[name] = ((low <= true) & (true <= high))[kept], int((~kept).sum())
    return found


def coverage(seeds: Iterable[int]) -> dict[str, Any]:
    figures = {}
    for name, p in DESIGNS.items():
        for rows in (500, 5_000):
            by_prior = {prior: [hits(seed, p, rows, strength) for seed in seeds] for prior, strength in PRIORS.items()}
            figures[f"{name}, {rows:,} rows"] = {"entropy": round(entropy(p), 3), **rates(by_prior)}
            print(name, rows, figures[f"{name}, {rows:,} rows"], flush=True)
    return figures


def rates(by_prior: dict[str, list[dict[str, tuple[np.ndarray, int]]]]) -> dict[str, Any]:
    """Return coverage over all tables."""
    out = {}
    for prior, found in by_prior.items():
        for what in found[0]:
            inside = np.concatenate([table[what][0] for table in found])
            left_out = sum(table[what][1] for table in found)
            rate = round(float(inside.mean()), 4)
            out[f"{what}, {prior}"] = {"coverage": rate, "intervals": inside.size, "left_out": left_out}
    return out


def with_missing(seed: int) -> tuple[np.ndarray, float]:
    """Return a table and its share of missing cells."""
    X = simulated(seed, WITH_MISSING, 2_000)
    rng = np.random.default_rng([7, seed])
    chance = 0.46 * np.array([0.2, 1.0, 1.8])[X[:, :5].astype(int)].mean(axis=1, keepdims=True)
    X[:, 5:][rng.random((2_000, 15)) < chance] = np.nan
    return X, float(np.isnan(X).mean())


def missing(seeds: Iterable[int]) -> dict[str, Any]:
    truth = np.tensordot(SHARES, WITH_MISSING, 1)
    errors: dict[str, list[np.ndarray]] = {}
    for X, _ in map(with_missing, seeds):
        seen = np.stack([(level == X).sum(axis=0) for level in range(3)], axis=1)
        errors.setdefault("levels, recorded cells", []).append(seen / seen.sum(axis=1, keepdims=True) - truth)
        for prior, strength in PRIORS.items():
            model, order = fitted(X, WITH_MISSING, prior_strength=strength)
            implied = (model.weights_ @ model.probabilities_).reshape(truth.shape)
            errors.setdefault(f"classes, {prior}", []).append(model.weights_[np.argsort(order)] - SHARES)
            errors.setdefault(f"levels, {prior}", []).append(implied - truth)
    largest = {name: round(float(np.abs(np.mean(of, axis=0)).max()), 4) for name, of in errors.items()}
    share = float(np.mean([with_missing(seed)[1] for seed in seeds]))
    return {"entropy": round(entropy(WITH_MISSING), 3), "missing": round(share, 3), "largest_mean_error": largest}


class Mixture(NamedTuple):
    """True parameters, (classes, columns): P(1) of binary columns, P(level), means, standard deviations, rates."""

    weights: np.ndarray
    binary: np.ndarray
    levels: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    rates: np.ndarray

    @property
    def quantities(self) -> dict[str, np.ndarray]:
        """The parameters by the names of `inference.standard_errors`."""
        probabilities = np.concatenate([self.binary, self.levels.reshape(len(self.weights), -1)], axis=1)
        names = ("weights", "probabilities", "means", "covariances", "rates")
        return dict(zip(names, (self.weights, probabilities, self.means, self.spreads**2, self.rates), strict=True))

    def reordered(self, order: np.ndarray) -> "Mixture":
        return Mixture(*(array[order] for array in self))

    def simulated(self, seed: int, rows: int) -> pd.DataFrame:
        rng = np.random.default_rng([len(self.weights), rows, seed])
        k = rng.choice(len(self.weights), rows, p=self.weights)
        columns = {
            "b": rng.random((rows, self.binary.shape[1])) < self.binary[k],
            "n": (rng.random((rows, self.levels.shape[1], 1)) > self.levels.cumsum(axis=2)[k]).sum(axis=2).clip(max=2),
            "x": rng.normal(self.means[k], self.spreads[k]),
            "c": rng.poisson(self.rates[k]),
        }
        return pd.DataFrame(
            {f"{name}{j}": column for name, of in columns.items() for j, column in enumerate(of.T.astype(float))}
        )

    def entropy(self) -> float:
        """Return the relative entropy of the classes at these parameters, from 100,000 rows."""
        X = self.simulated(0, 100_000)
        b, n, x, c = (X.filter(like=name).to_numpy() for name in "bnxc")
        n = n.astype(int)
        scores = np.stack(
            [
                np.log(w)
                + np.log(np.where(b == 1, theta, 1.0 - theta)).sum(axis=1)
                + np.log(p[np.arange(n.shape[1]), n]).sum(axis=1)
                + norm.logpdf(x, m, s).sum(axis=1)
                + poisson.logpmf(c, rate).sum(axis=1)
                for w, theta, p, m, s, rate in zip(*self, strict=True)
            ],
            axis=1,
        )
        r = softmax(scores, axis=1)
        return 1.0 + float(xlogy(r, r).sum() / (len(X) * np.log(len(self.weights))))


TWO_CLASSES = Mixture(
    weights=np.array([0.6, 0.4]),
    binary=np.array([[0.7, 0.3, 0.5], [0.35, 0.6, 0.7]]),
    levels=np.array([[[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]]),
    means=np.array([[0.0, 10.0, -3.0], [1.5, 7.0, -3.5]]),
    spreads=np.array([[1.0, 2.0, 0.5], [1.4, 3.0, 0.5]]),
    rates=np.array([[1.0, 4.0], [2.5, 3.0]]),
)
THREE_CLASSES = Mixture(
    weights=np.array([0.5, 0.3, 0.2]),
    binary=np.array([[0.8, 0.2, 0.5], [0.25, 0.3, 0.8], [0.3, 0.8, 0.6]]),
    levels=np.array([[[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]], [[0.2, 0.6, 0.2], [0.5, 0.2, 0.3]], [[0.2, 0.2, 0.6]] * 2]),
    means=np.array([[0.0, 10.0, -3.0], [2.0, 7.0, -3.5], [2.0, 13.0, -4.0]]),
    spreads=np.array([[1.0, 2.0, 0.5], [1.4, 3.0, 0.5], [0.8, 2.0, 1.0]]),
    rates=np.array([[1.0, 4.0], [2.5, 3.0], [4.0, 7.0]]),
)
TYPES = {"b": "binary", "n": "nominal", "x": "continuous", "c": "count"}
WORDS = {"weights": "shares", "covariances": "variances"}
ERRORS = {"sandwich": True, "information": False}


def mixed_hits(seed: int, truth: Mixture, rows: int, prior_strength: float) -> dict[str, tuple[np.ndarray, int]]:
    """Return which intervals contain the truth, and how many probabilities are at the edge, by quantity and errors."""
    X, K = truth.simulated(seed, rows), len(truth.weights)
    table = open_table(X, column_types={name: TYPES[name[0]] for name in X})
    settings: dict[str, Any] = {"tol": 1e-9, "max_iter": 5_000, "random_state": 0, "prior_strength": prior_strength}
    model = LatentClassAnalysis(K, **settings).fit(table)
    estimates = {name: getattr(model, f"{name}_") for name in truth.quantities}
    apart = sum(
        ((estimates[name][:, None] - values) ** 2 / (values.var(axis=0) + 1e-3)).reshape(K, K, -1).sum(axis=2)
        for name, values in truth.quantities.items()
        if name != "weights"
    )
    true = truth.reordered(linear_sum_assignment(apart)[1]).quantities
    found = {}
    for errors, robust in ERRORS.items():
        try:
            intervals = inference.standard_errors(model, table, robust=robust).interval
        except ValueError:  # the information has no inverse
            intervals = {}
        for name, estimate in estimates.items():
            low, high = intervals.get(name, (np.inf, np.inf))
            edges = (EDGE, 1.0 - EDGE) if name == "probabilities" else (-np.inf, np.inf)
            kept = (estimate > edges[0]) & (estimate < edges[1])
            contained = ((low <= true[name]) & (true[name] <= high))[kept]
            found[f"{WORDS.get(name, name)}, {errors}"] = contained, int((~kept).sum())
    return found


def mixed(seeds: Iterable[int]) -> dict[str, Any]:
    figures = {}
    for truth in (TWO_CLASSES, THREE_CLASSES):
        for rows in (500, 5_000):
            by_prior = {
                prior: [mixed_hits(seed, truth, rows, strength) for seed in seeds] for prior, strength in PRIORS.items()
            }
            name = f"{len(truth.weights)} classes, {rows:,} rows"
            figures[name] = {"entropy": round(truth.entropy(), 3), **rates(by_prior)}
            print(name, figures[name], flush=True)
    return figures


def items(quick: bool) -> dict[str, Any]:
    figures = {
        "coverage": coverage(range(5) if quick else range(FIRST_SEED, FIRST_SEED + TABLES)),
        "missing": missing(range(5) if quick else range(FIRST_SEED, FIRST_SEED + MISSING_TABLES)),
    }
    print(figures["missing"])
    return figures


if __name__ == "__main__":
    parser = asking(str(__doc__))
    parser.add_argument("--only", choices=("items", "mixed"), help="one part")
    asked = parser.parse_args()
    quick = asked.quick
    warnings.simplefilter("ignore")
    parts: dict[str, Any] = {
        "items": ("levels", {"coverage": TABLES, "missing": MISSING_TABLES}, lambda: items(quick)),
        "mixed": ("mixed", TABLES, lambda: mixed(range(5) if quick else range(FIRST_SEED, FIRST_SEED + TABLES))),
    }
    for part, (name, tables, figures_of) in parts.items():
        if asked.only in (None, part):
            begun = time.process_time()
            figures = figures_of()
            if not quick:
                seconds = round(time.process_time() - begun, 1)
                record(f"inference/{name}", figures, seeds=FIRST_SEED, aloud=False, tables=tables, seconds=seconds)

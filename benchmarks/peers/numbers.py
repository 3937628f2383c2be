"""Latent classes of continuous and mixed columns beside scikit-learn's GaussianMixture and StepMix, on one thread.

    python -m benchmarks.peers.numbers --quick    (small tables, one turn; nothing is written)
    python -m benchmarks.peers.numbers --full     (minutes)

Neither program has a prior, and `reg_covar` is 0. StepMix has no counts, and no program has "tied_diag".

- same: log-likelihoods a row, from the same start to the end: at the start, and of both ends. iris, wine and 2,000
  simulated rows with GaussianMixture; iris, diabetes (a binary column, nine continuous ones) and 2,000 simulated mixed
  rows, complete and with 10% of the cells missing, with StepMix. `smallest`: the smallest variance of any class (of
  covariances: eigenvalue), as a share of the variance of its column, at our end; our floor is 1e-6.
- times: 4 classes, 10 columns. From the same start, processor seconds of a fit that stops with the first pass within
  1e-6 nats a row of the lower of the two ends; ours also for a table that was opened before.
- own starts: whole fits, two starts of each program's own, stopped by a tolerance of 1e-6 nats a row.
"""

import json
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.peers.classes import CLOSE, SEED, STEPMIX, TURNS, Fit, beside, stepmix, timed
from benchmarks.peers.environments import peer_versions
from benchmarks.record import asked_quick, record
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from hiddenbits import LatentClassAnalysis, open_table

ENDS, PASSES, OWN_STARTS, OWN_TOL = 1e-12, 10_000, 2, 1e-6
TYPES = {"b": "binary", "n": "nominal", "x": "continuous"}
PEERS = {"b": "binary", "n": "categorical", "x": "gaussian_diag"}
LEVELS = 3
KINDS = ("diag", "full", "tied")
PROGRAMS = {"StepMix": "StepMix, mixed columns"} | {kind: f"GaussianMixture, {kind}" for kind in KINDS}
ROWS = (500, 20_000, 200_000)


class Start(NamedTuple):
    """A table, columns by the first letter of their names, and parameters by class, halfway from its own to labels'."""

    X: pd.DataFrame
    shares: np.ndarray
    by_letter: dict[str, np.ndarray]  # P(1), P(level) and means, (classes, columns)
    variances: np.ndarray

    @classmethod
    def of(cls, X: pd.DataFrame, labels: Any) -> "Start":
        coded = {letter: X.filter(regex=f"^{letter}").to_numpy() for letter in TYPES}
        levels = coded["n"][:, :, None] == np.arange(LEVELS)
        coded["n"] = np.where(np.isnan(coded["n"])[:, :, None], np.nan, levels).reshape(len(X), -1)
        K = len(np.unique(labels))
        halfway = {
            letter: 0.5 * (np.nanmean(of, axis=0) + np.stack([np.nanmean(of[labels == k], axis=0) for k in range(K)]))
            for letter, of in coded.items()
            if of.shape[1]
        }
        return cls(X, np.full(K, 1.0 / K), halfway, np.nanvar(coded["x"], axis=0))

    @property
    def table(self) -> Any:
        """An array, if all columns are continuous."""
        return self.X.to_numpy() if set(self.by_letter) == {"x"} else self.X

    @property
    def types(self) -> Any:
        return "continuous" if set(self.by_letter) == {"x"} else {name: TYPES[name[0]] for name in self.X}


def begun(start: Start, kind: str = "diag", **settings: Any) -> LatentClassAnalysis:
    """Return a model whose parameters are those of the start."""
    K = len(start.shares)
    model = LatentClassAnalysis(K, column_types=start.types, covariance_type=kind, prior_strength=0, n_init=1)
    params = model.set_params(random_state=SEED, max_iter=1).fit(start.table)._params
    bits = [start.by_letter[letter] for letter in "bn" if letter in start.by_letter]
    z = ((start.by_letter["x"] - params.centers) / params.scales).T
    of_table = np.ones((len(z), 1)) if kind == "diag" else np.eye(len(z))
    model._params = replace(
        params,
        weights=start.shares,
        probabilities=np.ascontiguousarray(np.concatenate(bits, axis=1).T) if bits else params.probabilities,
        means=np.ascontiguousarray(z),
        covariances=np.repeat(of_table[:, :, None], K, axis=2),
    )
    return model.set_params(tol=ENDS, **settings)


def ours(start: Start, kind: str = "diag", *, passes: int, opened: bool = False) -> Fit:
    model = begun(start, kind, max_iter=passes)
    table = open_table(start.table, column_types=start.types) if opened else start.table
    fitted, seconds = timed(model._refit, table)
    return Fit(float(fitted.trace_[-1]), len(fitted.trace_), seconds, fitted.trace_)


def gaussian_mixture(start: Start, kind: str, passes: int) -> tuple[Any, float]:
    """Return the mean log-likelihoods before each pass and at the end, and the seconds."""
    K, precisions = len(start.shares), 1.0 / start.variances
    of_all = precisions if kind == "diag" else np.diag(precisions)
    model = GaussianMixture(K, covariance_type=kind, reg_covar=0.0, tol=ENDS, max_iter=passes)
    model.set_params(weights_init=start.shares, means_init=start.by_letter["x"])
    model.set_params(precisions_init=of_all if kind == "tied" else np.repeat(of_all[None], K, axis=0))
    with threadpool_limits(1):
        _, seconds = timed(model.fit, start.table)
        return np.append(model.lower_bounds_, model.score(start.table)), seconds


def of_stepmix(start: Start, **work: Any) -> Any:
    """Return what StepMix finds on the table of a start."""
    X, descriptor, ending = start.X, {}, "_nan" if start.X.isna().any(axis=None) else ""
    for letter in start.by_letter:
        n_columns = X.filter(regex=f"^{letter}").shape[1]
        descriptor[letter] = {"model": PEERS[letter] + ending, "n_columns": n_columns}
    if not ending:
        descriptor["x"]["reg_covar"] = 0.0
    return stepmix(X_0=X.to_numpy(), classes=len(start.shares), measurement=json.dumps(descriptor), **work)


def stepmix_from(start: Start, passes: int) -> tuple[Any, float]:
    """Return the mean log-likelihoods before each pass, and the seconds."""
    variances = np.repeat(start.variances[None], len(start.shares), axis=0)
    named = {f"start {letter} {'means' if letter == 'x' else 'pis'}": p for letter, p in start.by_letter.items()}
    found = of_stepmix(start, shares=start.shares, passes=passes, **named, **{"start x covariances": variances})
    return found["trace"][0], float(found["seconds"][0])


def theirs(start: Start, kind: str, *, passes: int) -> Fit:
    path, seconds = stepmix_from(start, passes) if kind == "StepMix" else gaussian_mixture(start, kind, passes)
    return Fit(len(start.X) * float(path[-1]), len(path) - 1, seconds, len(start.X) * path[1:])


def simulated(rows: int, kind: str, missing: float = 0.0) -> Start:
    """Return 4 classes of 10 columns: all continuous, or 3 binary, 3 nominal and 4 continuous ones ("mixed")."""
    rng, K = np.random.default_rng(SEED), 4
    labels = rng.choice(K, rows)
    q = 4 if kind == "mixed" else 10
    means, factors = rng.normal(0.0, 0.9, (K, q)), rng.uniform(0.7, 1.3, (K, q))[:, :, None] * np.eye(q)
    if kind in ("full", "tied"):
        factors += 0.3 * rng.standard_normal((K if kind == "full" else 1, q, q))
    x = means[labels] + np.einsum("nij,nj->ni", factors[labels], rng.standard_normal((rows, q)))
    columns = {f"x{j}": column for j, column in enumerate(x.T)}
    if kind == "mixed":
        theta, p = rng.uniform(0.1, 0.9, (K, 3)), rng.dirichlet(np.ones(LEVELS), (K, 3)).cumsum(axis=2)
        bits = rng.random((rows, 3)) < theta[labels]
        levels = (rng.random((rows, 3, 1)) > p[labels]).sum(axis=2).clip(max=LEVELS - 1)
        columns = {f"b{j}": c for j, c in enumerate(bits.T)} | {f"n{j}": c for j, c in enumerate(levels.T)} | columns
    X = pd.DataFrame(columns).astype(float)
    return Start.of(X.mask(rng.random(X.shape) < missing) if missing else X, labels)


def real(name: str) -> Start:
    if name == "diabetes":
        bunch = load_diabetes(scaled=False, as_frame=True)
        X = bunch.data.rename(columns={"sex": "b0"}).assign(b0=lambda t: t["b0"] - 1.0)
        labels = np.digitize(bunch.target, np.quantile(bunch.target, [1 / 3, 2 / 3]))
    else:
        bunch = {"iris": load_iris, "wine": load_wine}[name](as_frame=True)
        X, labels = bunch.data, bunch.target.to_numpy()
    X = X[sorted(X, key=lambda column: column != "b0")]
    return Start.of(X.set_axis([c if c == "b0" else f"x{j}" for j, c in enumerate(X)], axis=1).astype(float), labels)


def smallest(model: LatentClassAnalysis) -> float:
    by_class = model._params.covariances.transpose(2, 0, 1)  # in units of the columns' variances
    return float(np.linalg.eigvalsh(by_class).min() if by_class.shape[2] > 1 else by_class.min())


def same(quick: bool) -> dict[str, Any]:
    starts = {"iris": real("iris"), "wine": real("wine"), "diabetes": real("diabetes")}
    pairs = [(name, starts[name], kind) for name in ("iris", "wine") for kind in KINDS]
    pairs += [(f"simulated, {kind}", simulated(2_000, kind), kind) for kind in KINDS]
    pairs += [(name, starts[name], "StepMix") for name in ("iris", "diabetes")]
    pairs.append(("simulated, mixed", simulated(2_000, "mixed"), "StepMix"))
    pairs.append(("simulated, mixed, 10% missing", simulated(2_000, "mixed", 0.1), "StepMix"))
    found = {}
    for name, start, kind in pairs[::4] if quick else pairs:
        mine = begun(start, "diag" if kind == "StepMix" else kind, max_iter=PASSES)
        end = mine._refit(start.table)
        path, _ = stepmix_from(start, PASSES) if kind == "StepMix" else gaussian_mixture(start, kind, PASSES)
        both = [(model.score(start.table), float(path[at])) for model, at in ((mine, 0), (end, -1))]
        found[f"{name}, {PROGRAMS.get(kind, kind)}"] = {
            "rows": len(start.X),
            "at_start": [round(value, 9) for value in both[0]],
            "ends": [round(value, 9) for value in both[1]],
            "differences": [float(f"{a - b:.2g}") for a, b in both],
            "smallest": float(f"{smallest(end):.3g}"),
        }
        print(name, kind, found[f"{name}, {PROGRAMS.get(kind, kind)}"], flush=True)
    return found


def designs(quick: bool) -> list[tuple[int, str]]:
    return [(rows, kind) for rows in (ROWS[:1] if quick else ROWS) for kind in ("diag", "full", "StepMix")]


def times(quick: bool, turns: int) -> dict[str, Any]:
    found = {}
    for rows, kind in designs(quick):
        start, covariances = (simulated(rows, "mixed"), "diag") if kind == "StepMix" else (simulated(rows, kind), kind)
        mine = partial(ours, start, covariances)
        one = beside(mine, partial(theirs, start, kind), rows, turns)
        opened = [mine(passes=one["passes"][0], opened=True).seconds for _ in range(turns)]
        one["seconds_opened"] = float(f"{np.median(opened):.4g}")
        found[f"{rows:,} rows, {PROGRAMS.get(kind, kind)}"] = one
        print(rows, kind, one, flush=True)
    return found


def own_starts(quick: bool, turns: int) -> dict[str, Any]:
    found = {}
    for rows, kind in designs(quick):
        start, covariances = (simulated(rows, "mixed"), "diag") if kind == "StepMix" else (simulated(rows, kind), kind)
        settings: dict[str, Any] = {"n_init": OWN_STARTS, "tol": OWN_TOL, "random_state": SEED}
        model = LatentClassAnalysis(4, column_types=start.types, covariance_type=covariances, prior_strength=0)
        model.set_params(**settings)
        peer = GaussianMixture(4, covariance_type=covariances, reg_covar=0.0, max_iter=1000, **settings)
        seconds, likelihoods = [], []
        for _ in range(turns):
            fitted, taken = timed(model.fit, start.table)
            if kind == "StepMix":
                other = of_stepmix(start, passes=1000, n_init=OWN_STARTS, tol=OWN_TOL)
                score, its = float(other["trace"][0][-1]), float(other["seconds"][0])
            else:
                with threadpool_limits(1):
                    _, its = timed(peer.fit, start.table)
                    score = float(peer.score(start.table))
            seconds.append([taken, its])
            likelihoods.append([fitted.score(start.table), score])
        medians = np.median(seconds, axis=0)
        one = {
            "rows": rows,
            "seconds": [float(f"{value:.4g}") for value in medians],
            "times_faster": round(float(medians[1] / medians[0]), 2),
            "higher_by": float(f"{likelihoods[0][0] - likelihoods[0][1]:.2g}"),
        }
        found[f"{rows:,} rows, {PROGRAMS.get(kind, kind)}"] = one
        print(rows, kind, one, flush=True)
    return found


def main() -> None:
    quick = asked_quick(str(__doc__))
    warnings.simplefilter("ignore")
    turns = 1 if quick else TURNS
    figures = {"same": same(quick), "times": times(quick, turns), "own starts": own_starts(quick, turns)}
    if not quick:
        peers = {name: number for name, number in peer_versions(*STEPMIX).items() if name in ("stepmix", "numpy")}
        record("peers/numbers", figures, seeds=[SEED], aloud=False, turns=TURNS, close=CLOSE, peers=peers)


if __name__ == "__main__":
    main()

"""One fit after the other: each is kept as a model file, with its log-likelihood of every row of `valid`."""

import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.debd.network import BayesianNetwork, learn
from benchmarks.debd.tree_map import fit_tree_map
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits.datasets import load_debd

KEPT = Path(__file__).parent / "kept"


@dataclass(frozen=True)
class Member:
    """One fit: a family, its settings, the seed, and whether it sees all rows or as many drawn with replacement."""

    family: str
    settings: dict[str, Any] = field(hash=False)
    seed: int = 0
    rows: str = "all"

    @property
    def key(self) -> str:
        settings = "_".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.family}_{settings}_{self.rows}_{self.seed}".replace("__", "_")

    @property
    def is_network(self) -> bool:
        return self.family == "BayesianNetwork"  # no estimator of ours, and without marginals: network.py

    def fit(self, X: Any, weights: Any) -> Any:
        if self.is_network:
            return learn(X, **self.settings, seed=self.seed)
        if self.family == "TreeMap":
            return fit_tree_map(X, self.settings, self.seed, weights)
        return getattr(hiddenbits, self.family)(**self.settings, random_state=self.seed).fit(X, sample_weight=weights)


@dataclass(frozen=True)
class Fit:
    """A finished fit on disk."""

    member: Member
    folder: Path

    @property
    def model_path(self) -> Path:
        return self.folder / f"{self.member.key}.{'npz' if self.member.is_network else 'hb'}"

    @property
    def record_path(self) -> Path:
        return self.folder / f"{self.member.key}.json"

    @property
    def done(self) -> bool:
        return self.record_path.exists()  # written last

    def record(self) -> dict[str, Any]:
        return json.loads(self.record_path.read_text())

    def valid(self) -> Any:
        return np.load(self.folder / f"{self.member.key}.npy")

    def model(self) -> Any:
        load = BayesianNetwork.load if self.member.is_network else hiddenbits.load
        return load(self.model_path)


def of(name: str, member: Member) -> Fit:
    return Fit(member, KEPT / name)


def run(name: str, member: Member) -> Fit:
    """Fit a member, unless it has been kept already."""
    fit = of(name, member)
    if fit.done:
        return fit
    fit.folder.mkdir(parents=True, exist_ok=True)
    splits = load_debd(name)
    weights = None
    if member.rows == "bootstrap":
        n = len(splits.train)
        weights = np.random.default_rng([member.seed, n]).multinomial(n, np.full(n, 1.0 / n)).astype(float)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # passes are limited: stopping early is a choice here
        model = member.fit(splits.train, weights)
    seconds = time.process_time() - begin
    valid = model.score_samples(splits.valid)
    np.save(fit.folder / f"{member.key}.npy", valid)
    model.save(fit.model_path)
    record = {
        "family": member.family,
        "settings": member.settings,
        "seed": member.seed,
        "rows": member.rows,
        "valid": float(valid.mean()),
        "likelihood": model.likelihood_,
        "seconds": round(seconds, 2),
        "passes": int(model.n_iter_),
        "stop_reason": model.stop_reason_,
    }
    half = fit.record_path.with_suffix(".partial.json")
    half.write_text(json.dumps(record) + "\n")
    half.replace(fit.record_path)
    return fit

"""What is chosen on `valid`: the best fit of each family, and the weights of the mixture of all fits. Then `test`, once."""

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.debd.fits import Fit
from benchmarks.record import versions

from hiddenbits import Ensemble
from hiddenbits.datasets import load_debd
from hiddenbits.families.ensemble.pooling import fit_weights, pool

RESULTS = Path(__file__).parent / "results"
STRENGTHS = (1.0, 10.0, 100.0)  # pseudo-rows for equal weights
FOLDS = 5
LIGHT = 1e-4  # members below this weight are left out, and the weights of the others fitted again


def crossed(l: Any, strength: float) -> float:  # noqa: E741
    """Return the score of the mixture on rows of `valid` that its weights were not fitted to."""
    fold = np.random.default_rng(0).permutation(len(l)) % FOLDS
    scores = np.empty(len(l))
    for f in range(FOLDS):
        w, _ = fit_weights(l[fold != f], np.ones(int((fold != f).sum())), strength, tol=1e-4, max_iter=300)
        scores[fold == f] = pool(l[fold == f], w)[0]
    return float(scores.mean())


def mixed(fits: list[Fit]) -> dict[str, Any]:
    """Choose the strength of the prior, and the weights of all fits, on `valid`."""
    l = np.stack([fit.valid() for fit in fits], axis=1)  # noqa: E741
    scores = {strength: crossed(l, strength) for strength in STRENGTHS}
    strength = max(scores, key=scores.__getitem__)
    w, _ = fit_weights(l, np.ones(len(l)), strength)
    return {
        "valid": round(scores[strength], 4),
        "prior_strength": strength,
        "likelihood": max(fit.record()["likelihood"] for fit in fits),
        "members": [
            {"key": fit.member.key, "weight": float(weight), "valid": round(float(rows.mean()), 4)}
            for fit, rows, weight in zip(fits, l.T, w, strict=True)
            if weight > LIGHT
        ],
        "fits": len(fits),
    }


def choose(name: str, fits: list[Fit]) -> dict[str, Any]:
    """Choose on `valid` alone, and write it down: a mixture that answers any question, and one of all densities."""
    singles: dict[str, dict[str, Any]] = {}
    for fit in fits:
        record = fit.record()
        if record["family"] not in singles or record["valid"] > singles[record["family"]]["valid"]:
            singles[record["family"]] = {"key": fit.member.key, **record}
    report = {
        "name": name,
        "singles": singles,
        "ensemble": mixed([fit for fit in fits if not fit.member.is_network]),
        "with_networks": mixed(fits),
        "seconds": round(sum(fit.record()["seconds"] for fit in fits), 1),
        "versions": versions(),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }
    write(name, report)
    return report


def test(name: str, fits: list[Fit]) -> dict[str, Any]:
    """Score `test` with what was chosen; once: a report that has its test figures is left as it is."""
    report = read(name)
    if "test" in report:
        return report
    splits = load_debd(name)
    begin = time.process_time()
    by_key = {fit.member.key: fit for fit in fits}
    ensemble, all_of_them = report["ensemble"], report["with_networks"]
    models = [by_key[member["key"]].model() for member in ensemble["members"]]
    ours = Ensemble.of(models, splits.valid, prior_strength=ensemble["prior_strength"])
    rows = ours.score_samples(splits.test)
    report["test"] = {
        "ensemble": round(float(rows.mean()), 4),
        "standard_error": round(float(rows.std(ddof=1) / np.sqrt(len(rows))), 4),
        "likelihood": ours.likelihood_,
        "with_networks": round(pooled([by_key[m["key"]] for m in all_of_them["members"]], all_of_them, splits.test), 4),
        "singles": {
            family: round(float(by_key[single["key"]].model().score_samples(splits.test).mean()), 4)
            for family, single in report["singles"].items()
        },
        "seconds": round(time.process_time() - begin, 1),
    }
    write(name, report)
    return report


def pooled(fits: list[Fit], chosen: dict[str, Any], X: Any) -> float:
    """Return the score of a mixture on a table; its weights are fitted to `valid`."""
    l = np.stack([fit.valid() for fit in fits], axis=1)  # noqa: E741
    w, _ = fit_weights(l, np.ones(len(l)), chosen["prior_strength"])
    return float(pool(np.stack([fit.model().score_samples(X) for fit in fits], axis=1), w)[0].mean())


def read(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(name: str, report: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")

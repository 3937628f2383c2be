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


def choose(name: str, fits: list[Fit]) -> dict[str, Any]:
    """Choose on `valid` alone, and write it down."""
    records = [fit.record() for fit in fits]
    l = np.stack([fit.valid() for fit in fits], axis=1)  # noqa: E741
    scores = {strength: crossed(l, strength) for strength in STRENGTHS}
    strength = max(scores, key=scores.__getitem__)
    w, _ = fit_weights(l, np.ones(len(l)), strength)
    singles: dict[str, dict[str, Any]] = {}
    for fit, record in zip(fits, records, strict=True):
        if record["family"] not in singles or record["valid"] > singles[record["family"]]["valid"]:
            singles[record["family"]] = {"key": fit.member.key, **record}
    report = {
        "name": name,
        "singles": singles,
        "ensemble": {
            "valid": round(scores[strength], 4),
            "prior_strength": strength,
            "likelihood": max(record["likelihood"] for record in records),
            "members": [
                {"key": fit.member.key, "weight": float(weight), "valid": round(record["valid"], 4)}
                for fit, record, weight in zip(fits, records, w, strict=True)
                if weight > LIGHT
            ],
            "fits": len(fits),
        },
        "seconds": round(sum(record["seconds"] for record in records), 1),
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
    kept = [member["key"] for member in report["ensemble"]["members"]]
    models = {
        key: by_key[key].model() for key in dict.fromkeys([*kept, *(s["key"] for s in report["singles"].values())])
    }
    chosen = report["ensemble"]
    ensemble = Ensemble.of([models[key] for key in kept], splits.valid, prior_strength=chosen["prior_strength"])
    rows = ensemble.score_samples(splits.test)
    report["test"] = {
        "ensemble": round(float(rows.mean()), 4),
        "standard_error": round(float(rows.std(ddof=1) / np.sqrt(len(rows))), 4),
        "likelihood": ensemble.likelihood_,
        "singles": {
            family: round(float(models[single["key"]].score(splits.test)), 4)
            for family, single in report["singles"].items()
        },
        "seconds": round(time.process_time() - begin, 1),
    }
    write(name, report)
    return report


def read(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(name: str, report: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")

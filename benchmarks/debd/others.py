"""The families that are no members of the mixtures, alone: two sizes each, the better one on `valid`, then `test`, once.

They are pictures more than densities. Sizes are those whose likelihood is exact, and a fit sees at most 10,000 rows.
"""

import json
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.debd import choices
from benchmarks.record import versions
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits.datasets import load_debd

MOST_ROWS = 10_000
FAMILIES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "LogisticPCA": ((1, 2), {"tol": 1e-4}),
    "ClippedPCA": ((1, 2), {}),
    "NoisyOrNetwork": ((4, 8), {"n_init": 1, "tol": 1e-4}),
    "CombinationMachine": ((4, 8), {"tol": 1e-4}),
}


def run(name: str) -> None:
    """Fit, choose and score what is not there yet."""
    path = choices.RESULTS / "others" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    report = json.loads(path.read_text()) if path.exists() else {"versions": versions(), "families": {}}
    splits = load_debd(name)
    n = len(splits.train)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, MOST_ROWS), replace=False))
    for family, (sizes, settings) in FAMILIES.items():
        if family in report["families"]:
            continue
        begin = time.process_time()
        tried: list[tuple[float, int, Any]] = []
        for size in sizes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = getattr(hiddenbits, family)(size, random_state=0, **settings).fit(splits.train[rows])
            tried.append((float(model.score(splits.valid)), size, model))
        valid, size, model = max(tried, key=lambda one: one[0])
        report["families"][family] = {
            "size": size,
            "rows": len(rows),
            "valid": round(valid, 4),
            "test": round(float(model.score(splits.test)), 4),
            "likelihood": model.likelihood_,
            "converged": bool(model.converged_),
            "seconds": round(time.process_time() - begin, 1),
        }
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(name, family, report["families"][family], flush=True)


def read(name: str) -> dict[str, Any]:
    path = choices.RESULTS / "others" / f"{name}.json"
    return json.loads(path.read_text())["families"] if path.exists() else {}

"""Runs ours in a process of its own, as peers run: fits one job's table in one way, and writes what the judge wants.

python hiddenbits_fit.py work.npz path.npz      (X; job; components; way: the estimator's settings and max_time, as JSON)
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import hiddenbits

SEED = 0


def mixture(X: Any, components: int, **way: Any) -> Callable[[], dict[str, Any]]:
    model = hiddenbits.LatentClassAnalysis(components, random_state=SEED, **way).fit(X)
    return lambda: {"weights": model.weights_, "probabilities": model.probabilities_}


def machine(X: Any, components: int, **way: Any) -> Callable[[], dict[str, Any]]:
    model = hiddenbits.CombinationMachine(components, random_state=SEED, **way).fit(X)
    params = model._params
    return lambda: {
        "ours": True,
        "weights": [params.weights],
        "hidden": [params.thresholds],
        "visible": [params.bias],
    }


def logistic(X: Any, components: int, *, exact: bool = False, **way: Any) -> Callable[[], dict[str, Any]]:
    kind = hiddenbits.ItemResponseModel if exact else hiddenbits.LogisticPCA
    model = kind(components, random_state=SEED, **way).fit(X)
    return lambda: {"loadings": [model.components_.T], "intercepts": [model.intercepts_]}


def tetrachoric(X: Any, _: int, **way: Any) -> Callable[[], dict[str, Any]]:
    found = hiddenbits.tetrachoric(X, **way)
    return lambda: {"correlations": found.correlation}


def maps(X: Any, components: int, **way: Any) -> Callable[[], dict[str, Any]]:
    places = hiddenbits.LogisticPCA(components, random_state=SEED, **way).fit_transform(X)
    return lambda: {"places": places}


def curved_maps(X: Any, _: int, **way: Any) -> Callable[[], dict[str, Any]]:
    places = hiddenbits.TopographicMap(random_state=SEED, **way).fit_transform(X)
    return lambda: {"places": places}


FITS = {"mixture": mixture, "machine": machine, "plane": logistic, "ability": logistic, "tetrachoric": tetrachoric}
FITS |= {"clear classes": mixture, "maps": maps, "curved maps": curved_maps}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    work = np.load(sys.argv[1])
    X, fit = work["X"], FITS[str(work["job"])]
    components, way = int(work["components"]), json.loads(str(work["way"]))
    limit = way.pop("max_time", None)
    with hiddenbits.run_on(n_jobs=2):
        fit(X[:200], components, **way)  # whatever is compiled or loaded late is so now
    with hiddenbits.run_on(n_jobs=2, max_time=limit):
        begun = time.perf_counter()
        found = fit(X, components, **way)
        seconds = time.perf_counter() - begun
    np.savez(sys.argv[2], seconds=[seconds], **found())

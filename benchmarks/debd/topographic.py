"""One curved map on each of two tables of the density benchmark: `python -m benchmarks.debd.topographic --full`.

Sizes and length scales were chosen on `valid`, in sketches that had also opened `test` of both tables. The map learns
from `train`, of which a twentieth is split off to decide when to stop; `valid` and `test` are only scored. One thread.
"""

import json
import time
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record

from hiddenbits import TopographicMap
from hiddenbits.datasets import load_debd

SETTINGS: dict[str, dict[str, Any]] = {
    "jester": {"n_components": 16, "n_features": 1024, "length_scale": 4.0},
    "audio": {"n_components": 8, "n_features": 1024, "length_scale": 3.0},
}
SEED = 0


def fit_and_score(name: str, quick: bool) -> dict[str, Any]:
    """Return what one fit scores, and what it took; a quick one is small, and leaves `test` alone."""
    splits = load_debd(name)
    settings = {**SETTINGS[name], "validation_share": 0.05, "random_state": SEED}
    if quick:
        settings |= {"n_features": 64, "n_points": 512}
    wall, processor = time.perf_counter(), time.process_time()
    model = TopographicMap(**settings).fit(splits.train)
    seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    places = model.places(splits.valid)
    return {
        "settings": settings,
        "points": len(model.points_),
        "likelihood": model.likelihood_,
        "valid": model.score(splits.valid),
        "test": None if quick else model.score(splits.test),
        "epochs": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "seconds": {kind: round(taken, 1) for kind, taken in seconds.items()},
        "effective_points": {
            "median": float(np.median(places.effective_points)),
            "below_3": float(np.mean(places.effective_points < 3)),
        },
    }


def main() -> None:
    quick = asked_quick(__doc__ or "")
    names = ["jester"] if quick else list(SETTINGS)
    figures = {name: fit_and_score(name, quick) for name in names}
    if quick:
        print(json.dumps(figures, indent=1))
    else:
        record("debd/topographic", figures, seeds=SEED)


if __name__ == "__main__":
    main()

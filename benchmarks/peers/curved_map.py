"""The peers' table of 10 classes on a curved map, by the peers' judge: `python -m benchmarks.peers.curved_map --full`.

How many rows have most of their ten neighbours on the map from their own class, which no program was given, and the
seconds of the fit and the positions of all rows. One thread. The other programs are in `results/peers.json`.
"""

import time
from typing import Any

from benchmarks.peers.drawn import SEED
from benchmarks.peers.jobs import JOBS
from benchmarks.record import asked_quick, record

from hiddenbits import LogisticPCA, TopographicMap

ROWS = (2_000, 20_000)
MODELS = {
    "LogisticPCA": LogisticPCA(2, random_state=SEED),
    "TopographicMap": TopographicMap(2, random_state=SEED),
    "TopographicMap, tol=1e-3": TopographicMap(2, tol=1e-3, random_state=SEED),
}


def figures(rows: int) -> dict[str, Any]:
    """Return quality and seconds of each model, and the best quality that can be."""
    job = JOBS["maps"]
    table = job.draw(rows)
    judge = job.judge(table)
    found: dict[str, Any] = {"truth": judge.truth()}
    for name, model in MODELS.items():
        begin, processor = time.perf_counter(), time.process_time()
        places = model.fit_transform(table.train)
        seconds = {"wall": time.perf_counter() - begin, "processor": time.process_time() - processor}
        verdict = judge({"places": places, "seconds": [seconds["wall"]]})
        rounded = {kind: round(taken, 2) for kind, taken in seconds.items()}
        found[name] = {"quality": verdict.quality, "seconds": rounded, "passes": model.n_iter_}
    return found


def main() -> None:
    if asked_quick(__doc__ or ""):
        print(figures(500))
    else:
        record("peers/curved_map", {str(rows): figures(rows) for rows in ROWS}, seeds=SEED)


if __name__ == "__main__":
    main()

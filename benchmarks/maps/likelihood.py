"""Held-out likelihood and processor seconds of `TopographicMap(2)` with its defaults.

    python -m benchmarks.maps.likelihood --full [--name likelihood]

Four fifths of zoo are fitted, 2,000 rows of news100, digits and the peers' table of ten classes, and 20,000 of it; other
rows are scored, on zoo the last fifth. To measure another version of the package, put its source on PYTHONPATH and give
the result a --name.
"""

import time
import warnings
from typing import Any

import numpy as np
from benchmarks.maps.tables import MANY, ROWS, SEED, TABLES
from benchmarks.record import asking, record

from hiddenbits import TopographicMap


def splits(quick: bool) -> dict[str, tuple[Any, Any]]:
    """Return rows to fit and rows to score."""
    order = np.random.default_rng(SEED).permutation(TABLES["zoo"]().X)
    found = {"zoo": (order[:81], order[81:])}
    for name in () if quick else ("news100", "digits", "ten classes"):
        table = TABLES[name](ROWS)
        found[name] = (table.X, table.new)
    if not quick:
        many = TABLES["ten classes"](MANY)
        found[f"ten classes, {MANY:,} rows"] = (many.X, many.new)
    return found


def figures(X: Any, new: Any) -> dict[str, Any]:
    begun = time.process_time()
    model = TopographicMap(2, random_state=SEED).fit(X)
    seconds = time.process_time() - begun
    return {
        "rows": len(X),
        "columns": X.shape[1],
        "fitted": round(model.score(X), 4),
        "held_out": round(model.score(new), 4),
        "passes": model.n_iter_,
        "stop": model.stop_reason_,
        "processor_seconds": round(seconds, 2),
    }


def main() -> None:
    parser = asking(__doc__ or "")
    parser.add_argument("--name", default="likelihood")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {}
    for name, (X, new) in splits(asked.quick).items():
        found[name] = figures(X, new)
        print(name, found[name], flush=True)
    if asked.full:
        record(f"maps/{asked.name}", found, seeds=SEED, aloud=False)


if __name__ == "__main__":
    main()

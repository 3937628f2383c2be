"""Default fits of every family to 200,000 x 1,000 packed bits on two threads: how far are they after a minute?

    python -m benchmarks.starts.wide_table --quick                20,000 x 100, two families; nothing is written
    python -m benchmarks.starts.wide_table --full                 every family but BinarySparseCoding; a quarter of an hour
    python -m benchmarks.starts.wide_table --full --converged     the same fits without a limit, which take hours; a record of their own
    python -m benchmarks.starts.wide_table --full --only NAME     one family, such as "HiddenTree"; the record keeps the others

Rows are from 20 classes whose columns also follow one dimension. A fit that is not over after 60 seconds stops there with
its best parameters (`run_on(max_time=60)`). Figures: seconds by the clock (of fits without a limit: of the processor), passes
over all rows, why it stopped, and the gain: the mean log-likelihood of new rows above that of independent bits, in nats, with
its standard error. It is exact for 5,000 rows, or, where the family has no closed form, what `score` has in its place for 500.
The rows and the draws of a fit with a limit and of that without are the same.
"""

import time
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from benchmarks.record import asking, kept, record

import hiddenbits as hb

ROWS, COLUMNS, CLASSES, NEW, FEWER_NEW, LIMIT = 200_000, 1_000, 20, 5_000, 500, 60.0
FAMILIES: dict[str, Any] = {
    "LatentClassAnalysis(10)": hb.LatentClassAnalysis(10, random_state=0),
    "TreeMixture(2)": hb.TreeMixture(2, random_state=0),
    "HiddenTree": hb.HiddenTree(random_state=0),
    "CombinationMachine(6)": hb.CombinationMachine(6, random_state=0),
    "LogisticPCA(2)": hb.LogisticPCA(2, random_state=0),
    "TopographicMap(2)": hb.TopographicMap(2, random_state=0),
    "NoisyOrNetwork(4)": hb.NoisyOrNetwork(4, random_state=0),
    "ClippedPCA(2)": hb.ClippedPCA(2, random_state=0),
}


def drawn(n: int, d: int) -> np.ndarray:
    """Return rows, packed eight to a byte."""
    rng = np.random.default_rng(0)
    centers, slopes = rng.normal(-1.0, 1.2, (CLASSES, d)), rng.normal(0.0, 0.5, d)
    parts = []
    for start in range(0, n, 5_000):
        m = min(5_000, n - start)
        heights = centers[rng.integers(CLASSES, size=m)] + rng.standard_normal((m, 1)) * slopes
        parts.append(np.packbits(rng.random((m, d)) < 1.0 / (1.0 + np.exp(-heights)), axis=1))
    return np.concatenate(parts)


def fitted(model: Any, rows: hb.tables.Table, limit: float | None) -> dict[str, Any]:
    """Fit; return how it went."""
    begun = time.perf_counter() if limit else time.process_time()
    with warnings.catch_warnings(), hb.run_on(n_jobs=2), hb.run_on(max_time=limit) if limit else nullcontext():
        warnings.simplefilter("ignore")
        model.fit(rows)
    ended = time.perf_counter() if limit else time.process_time()
    return {"seconds": round(ended - begun, 1), "passes": model.n_iter_, "stop_reason": model.stop_reason_}


def gain(model: Any, independent: Any, packed: np.ndarray, d: int) -> dict[str, Any]:
    """Return the gain in new rows."""
    exact = model._likelihood_kind == "exact"
    new = hb.open_table(packed if exact else packed[:FEWER_NEW], packed=True, n_columns=d)
    above = model.score_samples(new) - independent.score_samples(new)
    error = above.std(ddof=1) / np.sqrt(len(above))
    return {"gain": round(above.mean(), 3), "gain_error": round(error, 3), "likelihood": model._likelihood_kind}


def main() -> None:
    parser = asking(__doc__ or "")
    parser.add_argument("--converged", action="store_true")
    parser.add_argument("--only", choices=FAMILIES)
    asked = parser.parse_args()
    n, d = (20_000, 100) if asked.quick else (ROWS, COLUMNS)
    packed = drawn(n + NEW, d)
    rows = hb.open_table(packed[:n], packed=True, n_columns=d)
    independent = hb.IndependentColumns().fit(rows)
    limit = None if asked.converged else LIMIT
    name, usual = "starts/wide_table", "python -m benchmarks.starts.wide_table --full"
    if asked.converged:
        name, usual = f"{name}_converged", f"{usual} --converged"
    found: dict[str, Any] = kept(name) if asked.only else {}
    for family in [asked.only] if asked.only else list(FAMILIES)[: 2 if asked.quick else None]:
        model = FAMILIES[family]
        found[family] = fitted(model, rows, limit) | gain(model, independent, packed[n:], d)
        print(family, found[family], flush=True)
        if not asked.quick:  # after each of them: all take long
            figures = {family: found[family] for family in FAMILIES if family in found}
            record(name, figures, rows=n, columns=d, limit=limit, seeds=[0], command=usual, aloud=False)


if __name__ == "__main__":
    main()

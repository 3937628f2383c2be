"""Default fits of every family to 200,000 x 1,000 packed bits on two threads: do they end within a minute?

    python -m benchmarks.starts.wide_table --quick      20,000 x 100, two families; nothing is written
    python -m benchmarks.starts.wide_table --full       every family but BinarySparseCoding; a quarter of an hour

Rows are from 20 classes whose columns also follow one dimension. A fit that is not over after 60 seconds stops there with
its best parameters (`run_on(max_time=60)`). Figures: seconds by the clock, passes over all rows, why it stopped, and the mean
log-likelihood of 5,000 new rows above that of independent bits, in nats, for the families that have one in closed form.
"""

import time
import warnings
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record

import hiddenbits as hb

ROWS, COLUMNS, CLASSES, NEW, LIMIT = 200_000, 1_000, 20, 5_000, 60.0
FAMILIES: dict[str, Any] = {
    "BernoulliMixture(10)": hb.BernoulliMixture(10, random_state=0),
    "TreeMixture(2)": hb.TreeMixture(2, random_state=0),
    "HiddenTree": hb.HiddenTree(random_state=0),
    "CombinationMachine(6)": hb.CombinationMachine(6, random_state=0),
    "LogisticPCA(2)": hb.LogisticPCA(2, random_state=0),
    "LogisticPCAMixture(2)": hb.LogisticPCAMixture(2, random_state=0),
    "TopographicMap(2)": hb.TopographicMap(2, random_state=0),
    "NoisyOrNetwork(4)": hb.NoisyOrNetwork(4, random_state=0),
    "ClippedPCA(2)": hb.ClippedPCA(2),
}
NO_SCORE = (
    "LogisticPCA(2)",
    "LogisticPCAMixture(2)",
    "NoisyOrNetwork(4)",
    "ClippedPCA(2)",
)  # by integration or sampling


def drawn(n: int, d: int) -> np.ndarray:
    """Return rows, packed eight to a byte."""
    rng = np.random.default_rng(0)
    centres, slopes = rng.normal(-1.0, 1.2, (CLASSES, d)), rng.normal(0.0, 0.5, d)
    parts = []
    for start in range(0, n, 5_000):
        m = min(5_000, n - start)
        heights = centres[rng.integers(CLASSES, size=m)] + rng.standard_normal((m, 1)) * slopes
        parts.append(np.packbits(rng.random((m, d)) < 1.0 / (1.0 + np.exp(-heights)), axis=1))
    return np.concatenate(parts)


def main() -> None:
    quick = asked_quick(__doc__ or "")
    n, d = (20_000, 100) if quick else (ROWS, COLUMNS)
    packed = drawn(n + NEW, d)
    rows, new = (hb.open_table(part, packed=True, n_columns=d) for part in (packed[:n], packed[n:]))
    independent = hb.IndependentBits().fit(rows).score(new)
    found = {}
    for name in list(FAMILIES)[:2] if quick else FAMILIES:
        model = FAMILIES[name]
        begun = time.perf_counter()
        with warnings.catch_warnings(), hb.run_on(n_jobs=2, max_time=LIMIT):
            warnings.simplefilter("ignore")
            model.fit(rows)
            found[name] = {
                "seconds": round(time.perf_counter() - begun, 1),
                "passes": model.n_iter_,
                "stop_reason": model.stop_reason_,
                "gain": None if name in NO_SCORE else round(model.score(new) - independent, 3),
            }
        print(name, found[name], flush=True)
    if not quick:
        record("starts/wide_table", found, rows=n, columns=d, limit=LIMIT, seeds=[0])


if __name__ == "__main__":
    main()

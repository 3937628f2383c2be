"""How often tests of fit reject at 5%: models that are true (size), and with a planted violation (power).

    python -m benchmarks.inference.size --quick                  # 20 tables: a look
    python -m benchmarks.inference.size --full                   # 400 tables: recorded
    python -m benchmarks.inference.size --full --only pairs      # some of the tests

- maps: one dimension, 500 x 8, maximum likelihood on a grid. M2 of each table, and S-X^2 of its first column. The
  violation: the last column is a copy of the one before in half of the rows (M2), and the first column is 1 in the
  middle of the dimension (S-X^2).
- pairs: 2 classes, 300 x 6, 39 simulated tables for each. A rejection: the smallest corrected p of all pairs of columns
  is at most 5%. The violation: the last column is a copy of the one before in half of the rows.
- lrt: bootstrap likelihood-ratio test of 1 against 2 classes, 200 x 5, 19 simulated tables for each. The violation:
  half of the rows are of a second class.

Violations are planted in the first 40 tables alone. Between 10 and 32 rejections of 400 are in keeping with 5%. The
first run counts.
"""

import time
import warnings

import numpy as np
from benchmarks.record import asking, record

from hiddenbits import LatentClassAnalysis, LogisticPCA, diagnostics

LEVEL = 0.05
TESTS = ["maps", "pairs", "lrt"]
PLANTED = 40  # tables with violations


def last(seed: int) -> int | None:
    """Return where the versions of a table end: after the true one, or after those with violations, too."""
    return None if seed < PLANTED else 1


def of_maps(seed: int) -> dict[str, bool]:
    rng = np.random.default_rng([4, seed])
    z = rng.standard_normal((500, 1))
    true = (
        rng.random((500, 8)) < 1 / (1 + np.exp(-(z @ np.linspace(0.8, 1.8, 8)[None] + np.linspace(-1, 1, 8))))
    ).astype(int)
    copied, middle = true.copy(), true.copy()
    copied[:, 7] = np.where(rng.random(500) < 0.5, true[:, 6], true[:, 7])
    middle[:, 0] = (np.abs(z[:, 0]) < 0.8) ^ (rng.random(500) < 0.2)
    out = {}
    for name, X in (("size", true), ("copied column", copied), ("column of the middle", middle))[: last(seed)]:
        model = LogisticPCA(1, method="quadrature", ridge=0, tol=1e-8, max_iter=5000, random_state=0).fit(X)
        if name != "column of the middle":
            out[f"M2, {name}"] = bool(diagnostics.m2_test(model, X).p < LEVEL)
        if name != "copied column":
            out[f"S-X2, {name}"] = bool(diagnostics.item_fit(model, X)["p"][0] < LEVEL)
    return out


def of_pairs(seed: int) -> dict[str, bool]:
    rng = np.random.default_rng([5, seed])
    profiles = np.array([[0.85, 0.8, 0.75, 0.25, 0.3, 0.2], [0.2, 0.3, 0.25, 0.8, 0.7, 0.75]])
    true = (rng.random((300, 6)) < profiles[rng.integers(0, 2, 300)]).astype(int)
    copied = true.copy()
    copied[:, 5] = np.where(rng.random(300) < 0.5, true[:, 4], true[:, 5])
    out = {}
    for name, X in (("size", true), ("copied column", copied))[: last(seed)]:
        model = LatentClassAnalysis(2, prior_strength=0, tol=1e-8, n_init=2, max_iter=5000, random_state=0).fit(X)
        found = diagnostics.residual_pairs(model, X, n_replicates=39, random_state=seed)
        out[f"residual pairs, {name}"] = bool(found["p_corrected"].min() <= LEVEL)
    return out


def of_likelihood_ratios(seed: int) -> dict[str, bool]:
    rng = np.random.default_rng([6, seed])
    true = (rng.random((200, 5)) < 0.4).astype(int)
    two = (rng.random((200, 5)) < np.where(rng.random((200, 1)) < 0.5, 0.7, 0.3)).astype(int)
    out = {}
    for name, X in (("size", true), ("a second class", two))[: last(seed)]:
        models = [LatentClassAnalysis(K, prior_strength=0, n_init=2, tol=1e-6, random_state=0).fit(X) for K in (1, 2)]
        out[f"bootstrap LRT, {name}"] = bool(
            diagnostics.bootstrap_lrt(*models, X, n_replicates=19, random_state=seed).p <= LEVEL
        )
    return out


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", choices=TESTS, help="maps are M2 and S-X2")
    parser.add_argument("--tables", type=int, help="another number of tables")
    asked = parser.parse_args()
    tables = asked.tables or (20 if asked.quick else 400)
    warnings.simplefilter("ignore")
    for test, reject in zip(TESTS, (of_maps, of_pairs, of_likelihood_ratios), strict=True):
        if asked.only in (None, test):
            begin = time.process_time()
            found = [reject(seed) for seed in range(tables)]
            seconds = round(time.process_time() - begin, 1)
            figures = {
                name: {
                    "rejected": sum(one.get(name, False) for one in found),
                    "tables": sum(name in one for one in found),
                }
                for name in found[0]
            }
            if asked.quick:
                print(figures, f"{seconds} s of processor time")
            else:
                record(f"inference/size_{test}", figures, seeds=tables, level=LEVEL, seconds=seconds)

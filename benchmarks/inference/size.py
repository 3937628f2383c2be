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
- starts: bootstrap likelihood-ratio test of 2 against 3 classes, 400 x 8, 99 simulated tables for each, by the number
  of starts of every fit of 3 classes ("auto", the default, makes 8 here). The violation, with 3 starts: a third of the
  rows are of a third class.
  Simulated tables come in groups of nine; after five that exceed the statistic the other groups cannot change the
  decision, and are left out.

Violations are planted in the first 40 tables alone. Between 10 and 32 rejections of 400, and between 4 and 18 of 200,
are in keeping with 5%. The first run counts. Tables are tested at once, on all cores.
"""

import os
import warnings

import numpy as np
from benchmarks.record import asking, record

from hiddenbits import ItemResponseModel, LatentClassAnalysis, diagnostics, run_on
from hiddenbits.tables import map_fits

LEVEL = 0.05
TESTS = {"maps": 400, "pairs": 400, "lrt": 400, "starts": 200}  # and the number of tables
PLANTED = 40  # tables with violations
GROUPS, GROUP = 11, 9  # simulated tables


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
        model = ItemResponseModel(tol=1e-8, max_iter=5000, random_state=0).fit(X)
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


def of_starts(seed: int) -> dict[str, bool]:
    rng = np.random.default_rng([7, seed])
    profiles = np.array([[0.8] * 4 + [0.7] * 4, [0.3] * 4 + [0.2] * 4, [0.8] * 4 + [0.2] * 4])
    draws, shares = rng.random((400, 8)), rng.random(400)
    true, third = ((draws < profiles[of_row]).astype(int) for of_row in ((shares < 0.4) * 1, (3 * shares).astype(int)))
    out = {}
    for name, X in (("size", true), ("a third class", third))[: last(seed)]:
        for n_init in (1, 3, "auto") if X is true else (3,):
            out[f"bootstrap LRT of 3 classes, n_init={n_init}, {name}"] = rejected(X, n_init, seed)
    return out


def rejected(X: np.ndarray, n_init: int | str, seed: int) -> bool:
    settings = {"prior_strength": 0, "tol": 1e-7, "max_iter": 5000, "random_state": 0}
    two, three = LatentClassAnalysis(2, **settings).fit(X), LatentClassAnalysis(3, n_init=n_init, **settings).fit(X)
    n_exceeding, most = 0, LEVEL * (GROUPS * GROUP + 1) - 1
    for group in range(GROUPS):
        try:
            test = diagnostics.bootstrap_lrt(two, three, X, n_replicates=GROUP, random_state=1_000 * seed + group)
        except ValueError:  # three classes ended below two
            return False
        n_exceeding += int((test.replicates >= test.statistic).sum())
        if n_exceeding > most:
            return False
    return True


def processor_seconds() -> float:
    """Return the processor time of this process and of those that have ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", choices=list(TESTS), help="maps are M2 and S-X2")
    parser.add_argument("--tables", type=int, help="another number of tables")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for (test, full), reject in zip(TESTS.items(), (of_maps, of_pairs, of_likelihood_ratios, of_starts), strict=True):
        if asked.only in (None, test):
            begin, tables = processor_seconds(), asked.tables or (20 if asked.quick else full)
            with run_on(n_jobs=-1):
                found = list(map_fits(reject, range(tables)))
            seconds = round(processor_seconds() - begin, 1)
            names = dict.fromkeys(name for one in found for name in one)
            figures = {
                name: {
                    "rejected": sum(one.get(name, False) for one in found),
                    "tables": sum(name in one for one in found),
                }
                for name in names
            }
            if asked.quick:
                print(figures, f"{seconds} s of processor time")
            else:
                record(f"inference/size_{test}", figures, seeds=tables, level=LEVEL, seconds=seconds)

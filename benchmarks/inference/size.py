"""How often tests of fit reject at 5%: models that are true (size), and with a planted violation (power).

    python -m benchmarks.inference.size --quick      # 20 tables: a look
    python -m benchmarks.inference.size --full       # 400 tables: recorded

One dimension, 500 x 8, maximum likelihood on a grid. M2 of each table, and S-X^2 of its first column. The violation:
the last column is a copy of the one before in half of the rows (M2), and the first column is 1 in the middle of the
dimension (S-X^2). The first run counts.
"""

import warnings

import numpy as np
from benchmarks.record import asked_quick, record

from hiddenbits import LogisticPCA, diagnostics

LEVEL = 0.05


def rejections(seed: int) -> dict[str, bool]:
    rng = np.random.default_rng([4, seed])
    z = rng.standard_normal((500, 1))
    true = (
        rng.random((500, 8)) < 1 / (1 + np.exp(-(z @ np.linspace(0.8, 1.8, 8)[None] + np.linspace(-1, 1, 8))))
    ).astype(int)
    copied, middle = true.copy(), true.copy()
    copied[:, 7] = np.where(rng.random(500) < 0.5, true[:, 6], true[:, 7])
    middle[:, 0] = (np.abs(z[:, 0]) < 0.8) ^ (rng.random(500) < 0.2)
    out = {}
    for name, X in (("size", true), ("copied column", copied), ("column of the middle", middle)):
        model = LogisticPCA(1, method="quadrature", ridge=0, tol=1e-8, max_iter=5000, random_state=0).fit(X)
        if name != "column of the middle":
            out[f"M2, {name}"] = bool(diagnostics.m2(model, X).p < LEVEL)
        if name != "copied column":
            out[f"S-X2, {name}"] = bool(diagnostics.item_fit(model, X)["p"][0] < LEVEL)
    return out


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    tables = 20 if quick else 400
    warnings.simplefilter("ignore")
    found = [rejections(seed) for seed in range(tables)]
    figures = {name: sum(one[name] for one in found) for name in found[0]}
    if quick:
        for name, count in figures.items():
            print(f"{name}: {count} of {tables} rejected")
    else:
        record("inference/size", figures, seeds=tables, level=LEVEL)

"""Mixed tables with something to find, and ways to fit and ask the model without an estimator."""

import numpy as np

from hiddenbits.data.mixed.encode import open_mixed
from hiddenbits.engine import Local, Settings, block_height, fit_em
from hiddenbits.families.logistic_pca.mixed.model import Mixed
from hiddenbits.families.logistic_pca.mixed.params import MixedParams

KINDS = ["binary"] * 4 + ["real"] * 4 + ["nominal", "nominal", "ordered", "ordered"]


def mixed_rows(seed, n=400, q=2, missing=0.1):
    """Four bits, four reals, two nominal columns (4 and 3 categories), two ordered ones (3 and 5)."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, q))
    bits = rng.random((n, 4)) < 1 / (1 + np.exp(-2 * x @ rng.standard_normal((q, 4))))
    real = [3, -2, 100, 0] + [1, 0.1, 20, 5] * (x @ rng.standard_normal((q, 4)) + rng.standard_normal((n, 4)))
    nominal = [np.argmax(2 * x @ rng.standard_normal((q, K)) + rng.gumbel(size=(n, K)), axis=1) for K in (4, 3)]
    ordered = [np.digitize(x[:, 0] + 0.7 * rng.standard_normal(n), cuts) for cuts in ([-1, 1], [-1, -0.3, 0.3, 1])]
    rows = np.column_stack([bits, real, *nominal, *ordered]).astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def model_of(table, **options):
    layout = table.layout
    return Mixed(sticks=layout.sticks, n_real=len(layout.real_columns), levels=layout.levels, **options)


def fit(table, weights=None, n_jobs=1, **options):
    """Fit to a table; options of the loop and of the model together."""
    loop = {k: options.pop(k) for k in ("tol", "max_iter", "accelerate", "seed", "n_init") if k in options}
    model = model_of(table, **options)
    table = table.with_weights(weights)
    height = block_height(model.footprint(table.shape[1], table.source.row_cells))
    return model, fit_em(model, table.grid(height), Local(n_jobs), Settings(**loop), None, None)


def ask(model, function, params, table):
    block = table.grid(table.shape[0]).blocks[0]
    return getattr(model, function)(params, model.prepare(params), block)


def random_params(rng, model, size=1.0, noise=(0.3, 1.0)):
    D, R = model.places.n_numbers, model.n_real
    return MixedParams(
        size * rng.standard_normal((D, model.n_components)),
        rng.standard_normal(D),
        rng.standard_normal(D),
        rng.uniform(*noise, R),
        rng.standard_normal(R),
        rng.uniform(0.5, 3.0, R),
    )


def small_table(seed, kinds, n=12, missing=0.2):
    """A few random rows of the given kinds."""
    rng = np.random.default_rng(seed)
    make = {
        "binary": lambda: rng.integers(0, 2, n),
        "real": lambda: 2 * rng.standard_normal(n),
        "nominal": lambda: np.resize(np.arange(4), n),
        "ordered": lambda: np.resize(np.arange(3), n),
    }
    rows = np.column_stack([rng.permutation(make[kind]()) for kind in kinds]).astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    rows[0] = np.nan  # a row that says nothing
    rows[1:5] = np.column_stack([make[kind]()[:4] for kind in kinds])
    return open_mixed(rows, kinds=list(kinds))

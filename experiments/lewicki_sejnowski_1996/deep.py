"""Do layers pay? Deep networks against flat ones with at least as many parameters, on rows held out.

Sizes are chosen on valid rows, compared on test rows. Differences are paired row by row; their error has two parts:
rows (with the noise of annealed likelihoods in it) and starts.
"""

from typing import Any

import numpy as np
from common import NO_DATA, have_data
from learning import blocks_of
from networks import Greedy, Low
from numpy.typing import NDArray

from hiddenbits import NoisyOrNetwork, open_table
from hiddenbits.datasets import data_folder, simulate_lines
from hiddenbits.families.noisy_or.annealed_likelihood import log_likelihoods
from hiddenbits.families.noisy_or.gibbs import Network
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams, n_free_parameters
from hiddenbits.families.noisy_or.rows import MOST_EXACT

SEEDS = {"order of the rows": 0, "starts": "0, 1, 2 (quick: 0)"}
SIZES = {
    "lines": ((10, 5),),
    "news100": ((10, 3), (20, 5), (40, 8), (20, 5, 2)),
    "groceries": ((10, 3), (20, 5), (40, 8), (20, 5, 2)),
}
VARIED = {"lines": (10, 5), "news100": (20, 5), "groceries": (20, 5)}  # of which the variants are fitted
TRAIN, VALID, TEST = slice(0, 2000), slice(2000, 2400), slice(8000, 8800)
ANNEALED_ROWS = 256

Floats = NDArray[np.float64]


def rows_of(table: str) -> Any:
    """All rows of a table, in random order."""
    if table == "lines":
        return simulate_lines(9000, seed=0).X
    if table == "news100":
        X = np.load(data_folder() / "tables" / "news100.npz")["X"]
    else:
        items = (data_folder() / "baskets" / "groceries_items.txt").read_text().splitlines()
        baskets = open_table(data_folder() / "baskets" / "groceries.txt.gz", items=items)
        X = baskets.source.read(0, baskets.shape[0])[0].to_dense()
    return X[np.random.default_rng(0).permutation(len(X))]


def as_many(sizes: tuple[int, ...], n_columns: int) -> int:
    """The causes of the smallest flat network with at least as many parameters."""
    wanted = n_free_parameters(sizes, n_columns)
    return next(n for n in range(1, 10_000) if n_free_parameters((n,), n_columns) >= wanted)


def heights(params: NoisyOrParams, X: Any) -> tuple[Floats, Floats, float]:
    """ln P of each row, its standard error, and the share of rows on which the two annealed estimates disagree."""
    if max(params.n_causes) <= MOST_EXACT:
        model = NoisyOr(list(params.n_causes))
        values = model.log_likelihood(params, model.prepare(params), blocks_of(X, len(X))[0])
        return values, np.zeros(len(X)), 0.0
    network = Network.of(params)
    parts = [
        log_likelihoods(network, block, np.random.default_rng(block.start)) for block in blocks_of(X, ANNEALED_ROWS)
    ]
    values, errors, agree = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return values, errors, float(1.0 - agree.mean())


def difference(a: Floats, b: Floats) -> dict[str, float]:
    """a - b, both (starts, rows): the mean and its error, of rows and of starts."""
    d = a - b
    rows = float(np.std(d.mean(axis=0), ddof=1) / np.sqrt(d.shape[1]))
    starts = float(np.std(d.mean(axis=1), ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0
    return {"mean": float(d.mean()), "error": float(np.hypot(rows, starts)), "rows": rows, "starts": starts}


def said(sizes: tuple[int, ...]) -> str:
    return " - ".join(str(n) for n in sizes)


def models_of(table: str, sizes: tuple[tuple[int, ...], ...], n_columns: int) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Every model: its class and sizes."""
    found: dict[str, tuple[Any, tuple[int, ...]]] = {}
    for deep in sizes:
        found[said(deep)] = (NoisyOrNetwork, deep)
        for flat in (deep[0], as_many(deep, n_columns)) if table == "lines" else (as_many(deep, n_columns),):
            found[said((flat,))] = (NoisyOrNetwork, (flat,))
    varied = VARIED[table] if VARIED[table] in sizes else sizes[0]
    found[f"{said(varied)}, upper leaks begin low"] = (Low, varied)
    found[f"{said(varied)}, no joint sweeps"] = (Greedy, varied)
    return found


def measure(table: str, *, full: bool) -> dict[str, Any] | str:
    if table != "lines" and not have_data(f"deep networks on {table}"):
        return NO_DATA
    X = rows_of(table)
    sizes, seeds = (SIZES[table], range(3)) if full else (((4, 2),), range(1))
    parts = (TRAIN, VALID, TEST) if full else (slice(0, 100), slice(100, 120), slice(120, 140))
    train, valid, test = (X[part] for part in parts)
    found: dict[str, Any] = {"columns": X.shape[1], "rows": [len(train), len(valid), len(test)], "models": {}}
    on_test: dict[str, Floats] = {}
    for name, (make, layers) in models_of(table, sizes, X.shape[1]).items():
        fits = [make(layers, method="gibbs", n_init=1, random_state=seed).fit(train).params_ for seed in seeds]
        on_valid = [float(np.mean(heights(params, valid)[0])) for params in fits]
        values, errors, unsure = zip(*(heights(params, test) for params in fits), strict=True)
        on_test[name] = np.array(values)
        found["models"][name] = {
            "layers": len(layers),
            "parameters": n_free_parameters(layers, X.shape[1]),
            "equal": said((as_many(layers, X.shape[1]),)),
            "valid": on_valid,
            "test": [float(np.mean(v)) for v in values],
            "error of a row": float(np.mean(errors)),
            "bias": float(np.mean(np.square(errors)) / 2),
            "disagree": float(np.mean(unsure)),
        }
        print(f"{table}, {name}: done", flush=True)
    return found | compared(found["models"], on_test)


def compared(models: dict[str, Any], on_test: dict[str, Floats]) -> dict[str, Any]:
    """Sizes chosen on valid rows, and paired differences on test rows."""
    plain = [name for name in models if "," not in name]

    def best(names: list[str]) -> str:
        return max(names, key=lambda name: float(np.mean(models[name]["valid"])))

    deep = best([name for name in plain if models[name]["layers"] > 1])
    flat = best([name for name in plain if models[name]["layers"] == 1])
    pairs = [(name, models[name]["equal"]) for name in plain if models[name]["layers"] > 1] + [(deep, flat)]
    for name in models:
        if "," in name:
            pairs.append((name.split(",")[0], name))
    return {
        "chosen": [deep, flat],
        "differences": {f"{a} against {b}": difference(on_test[a], on_test[b]) for a, b in pairs},
    }

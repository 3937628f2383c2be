"""What causes a noisy-OR network finds in words and in baskets, as lists to read, and sentences about single baskets.

    python -m benchmarks.noisy_or.lists

`tables/news100.npz` (16,242 postings x 100 words) with 20 causes, `baskets/groceries.txt.gz` (9,835 x 169) with two layers.
The sentences are about the first five baskets of at least four and at most seven items.
"""

import time
from typing import Any

import numpy as np
from benchmarks.record import record

import hiddenbits
from hiddenbits import NoisyOrNetwork, Table, open_table
from hiddenbits.datasets import data_folder

SEED, WORDS, BASKETS = 0, (20,), (20, 5)


def words() -> tuple[Any, list[str]]:
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False) as arrays:
        return arrays["X"], [str(word) for word in arrays["words"]]


def baskets() -> Table:
    names = (data_folder() / "baskets" / "groceries_items.txt").read_text().splitlines()
    return open_table(data_folder() / "baskets" / "groceries.txt.gz", items=names)


def fitted(sizes: tuple[int, ...], rows: Any) -> tuple[NoisyOrNetwork, dict[str, Any]]:
    begun = time.process_time()
    with hiddenbits.run_on(n_jobs=2):
        model = NoisyOrNetwork(sizes, random_state=SEED).fit(rows)
    lines = model.describe(n_bits=6)
    return model, {"sizes": sizes, "seconds": round(time.process_time() - begun, 1), "lines": lines}


def main() -> None:
    X, names = words()
    model, news = fitted(WORDS, open_table(X, names=names))
    table = baskets()
    model, groceries = fitted(BASKETS, table)
    bits = table.source.read(0, table.shape[0])[0].to_dense()
    few = bits[np.flatnonzero((bits.sum(axis=1) >= 4) & (bits.sum(axis=1) <= 7))[:5]]
    groceries["sentences"] = model.explain(open_table(few, names=table.names), what="basket")
    shapes = {"news100": list(X.shape), "groceries": list(table.shape)}
    record("noisy_or/lists", {"shapes": shapes, "news100": news, "groceries": groceries}, seeds=SEED)


if __name__ == "__main__":
    main()

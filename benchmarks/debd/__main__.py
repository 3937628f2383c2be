"""Score single models of ours on the twenty tables of the standard benchmark of binary density estimation.

    python -m benchmarks.debd --quick             # two small tables, one size of each family
    python -m benchmarks.debd --full [--table T]  # all tables, or one; needs HIDDENBITS_DATA

Each family is fitted to `train` at the sizes below, the size is chosen on `valid`, and the chosen fit is scored once
on `test`: mean log-likelihood of a row, in nats. results/debd.md has what mixtures of many fits reached in November 2026.
"""

import sys
import time
import warnings
from typing import Any

from benchmarks.record import asking, record
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import HiddenTree, IndependentColumns, LatentClassAnalysis, TopographicMap, TreeMixture
from hiddenbits.datasets import load_debd

TABLES = (
    *("nltcs", "msnbc", "kdd", "plants", "audio", "jester", "netflix", "accidents", "retail", "pumsb_star"),
    *("dna", "kosarek", "msweb", "book", "eachmovie", "webkb", "reuters52", "20ng", "bbc", "ad"),
)
SIZES = {LatentClassAnalysis: (10, 40, 150), TreeMixture: (4, 16), HiddenTree: (4, 12), TopographicMap: (2, 8)}
SEED = 0


def best_on_valid(family: Any, sizes: tuple[int, ...], splits: Any) -> dict[str, Any]:
    """Fit all sizes to `train`, choose one on `valid`, and score it on `test`."""
    begin = time.process_time()
    fits = [family(size, random_state=SEED).fit(splits.train) for size in sizes]
    chosen = max(fits, key=lambda model: model.score(splits.valid))
    return {
        "n_components": chosen.n_components,
        "valid": chosen.score(splits.valid),
        "test": chosen.score(splits.test),
        "likelihood": chosen._likelihood_kind,
        "seconds": round(time.process_time() - begin, 1),
    }


def main(arguments: list[str]) -> None:
    """Score the tables that are asked for, and print them as they are done."""
    parser = asking(__doc__ or "")
    parser.add_argument("--table", choices=TABLES, help="this table alone")
    chosen = parser.parse_args(arguments)
    tables = (chosen.table,) if chosen.table else ("nltcs", "jester") if chosen.quick else TABLES
    scores: dict[str, Any] = {}
    for name in tables:
        splits = load_debd(name)
        scores[name] = {"IndependentColumns": {"test": IndependentColumns().fit(splits.train).score(splits.test)}}
        for family, sizes in SIZES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the score says how good a fit is
                row = best_on_valid(family, sizes[:1] if chosen.quick else sizes, splits)
            scores[name][family.__name__] = row
            print(f"{name:12} {family.__name__:18} {row['n_components']:4} {row['test']:10.3f}", flush=True)
    if chosen.full and not chosen.table:
        record("debd/single_models", scores, seeds=SEED, aloud=False)


if __name__ == "__main__":
    main(sys.argv[1:])

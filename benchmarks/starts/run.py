"""How often a default fit ends low, and what it costs; beside it, if wanted, fits with other numbers of restarts.

    python -m benchmarks.starts.run --quick
    python -m benchmarks.starts.run --full
    python -m benchmarks.starts.run --full --families "CombinationMachine(4)" --tables zoo --n-init 2,3

All are fitted with the same seeds in one run, in turn. A fit is low where its objective a row (log-likelihood or bound
plus log prior: what it maximizes) is more than .02 nats below the best of all fits to the table, of every number of
restarts; of the seeds the first six are counted (not ClippedPCA: it has a closed form and no start). `low_by_score` is
the same for the log-likelihood of the rows, which a fit does not maximize. Seconds are those of the processor (fits
take one). `--families` and `--tables` choose some, `--fits` how many; the others keep the figures that are in the
results, each with the command that printed it.

`BinarySparseCoding` models real numbers: its table is the linear bars test, and it has others only where `--families` and
`--tables` name both. On bits its density has no best fit: with less noise it grows without bound.
"""

import json
import time
import warnings
from argparse import Namespace
from statistics import median
from typing import Any

import numpy as np
from benchmarks.record import asking, command, kept, record

import hiddenbits as hb
from hiddenbits.datasets import data_folder, load_debd, load_survey, load_zoo, simulate_bars

LOW, COUNTED, FITS = 0.02, 6, 12

FAMILIES: dict[str, Any] = {
    "LatentClassAnalysis(8)": hb.LatentClassAnalysis(8),
    "TreeMixture": hb.TreeMixture(),
    "HiddenTree": hb.HiddenTree(),
    "CombinationMachine(4)": hb.CombinationMachine(4),
    "LogisticPCA(2)": hb.LogisticPCA(2),
    "BinarySparseCoding": hb.BinarySparseCoding(),
    "NoisyOrNetwork": hb.NoisyOrNetwork(),
}


def news100() -> np.ndarray:
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False) as arrays:
        return np.asarray(arrays["X"][:2000])


TABLES: dict[str, Any] = {
    "zoo": lambda: load_zoo().X,
    "house84": lambda: hb.open_table(data_folder() / "votes" / "house84.csv"),
    "SAT12": lambda: load_survey("sat12_binary"),
    "nltcs": lambda: load_debd("nltcs").train[:3000],
    "news100": news100,
    "bars": lambda: simulate_bars(500, random_state=0).X,
}


REALS = {"BinarySparseCoding": "bars"}  # families of real numbers, and their table


def fit(family: str, table: Any, n_init: Any, seed: int) -> tuple[float, float, float]:
    """Return the objective of a fit and the log-likelihood of its rows, in nats a row, and its seconds."""
    model = FAMILIES[family].__class__(
        **{**FAMILIES[family].get_params(deep=False), "n_init": n_init, "random_state": seed}
    )
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that used all its passes is judged like any other
        model.fit(table)
    seconds = time.process_time() - began
    return max(restart.objective for restart in model.restarts_) / model._fit_weight, model.score(table), seconds


def measure(family: str, name: str, fits: int, others: list[int]) -> dict[str, Any]:
    """Return the figures of a family on a table: with its default number of restarts, and with others."""
    table, default = TABLES[name](), FAMILIES[family].n_init
    asked = {"default": default, **{f"n_init={n}": n for n in others if n != default}}
    found: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in asked}
    for seed in range(fits):
        for kind, n_init in asked.items():
            found[kind].append(fit(family, table, n_init, seed))
    objectives, scores, seconds = (
        {kind: np.array([one[which] for one in of]) for kind, of in found.items()} for which in range(3)
    )
    best, best_score = (max(float(of.max()) for of in which.values()) for which in (objectives, scores))
    figures: dict[str, Any] = {"command": command(), "best": round(best, 5), "fits": fits}
    for kind in asked:
        below = best - objectives[kind]
        figures[kind] = {
            "n_init": asked[kind],
            "low": int(np.sum(below[:COUNTED] > LOW)),
            "low_of_all": int(np.sum(below > LOW)),
            "low_by_score": int(np.sum(best_score - scores[kind][:COUNTED] > LOW)),
            "below": [round(float(gap), 4) for gap in below[:COUNTED]],
            "seconds": round(median(seconds[kind].tolist()), 3),
            "times_as_long": round(float(np.median(seconds[kind]) / np.median(seconds["default"])), 2),
        }
    return figures


def chosen(given: str | None, all_of: dict[str, Any]) -> list[str]:
    names = given.split(",") if given else list(all_of)
    if unknown := set(names) - set(all_of):
        raise SystemExit(f"There is no {sorted(unknown)[0]}; there are {', '.join(all_of)}.")
    return names


def main(args: Namespace) -> None:
    figures: dict[str, Any] = {} if args.quick else kept("starts/run")
    families = args.families or ("LatentClassAnalysis(8),TreeMixture" if args.quick else None)
    tables = args.tables or ("zoo" if args.quick else None)
    others = [int(n) for n in args.n_init.split(",")] if args.n_init else []
    for table in chosen(tables, TABLES):
        for family in chosen(families, FAMILIES):
            suits = REALS[family] == table if family in REALS else table not in REALS.values()
            if not suits and not (args.families and args.tables):
                continue
            fits = args.fits or (COUNTED if args.quick else FITS)
            figures.setdefault(table, {})[family] = one = measure(family, table, fits, others)
            print(table, family, json.dumps(one), flush=True)
            if not args.quick:
                record("starts/run", figures, seeds="0 to fits - 1", aloud=False, low=LOW, counted=COUNTED)


if __name__ == "__main__":
    parser = asking(str(__doc__))
    parser.add_argument("--families")
    parser.add_argument("--tables")
    parser.add_argument("--fits", type=int, help=f"fits of each; {FITS} unless told")
    parser.add_argument("--n-init", help="other numbers of restarts to fit with, as in 2,3")
    main(parser.parse_args())

"""How often a default fit ends low, and what it costs: six fits of each family beside the best of twenty.

    python benchmarks/starts.py --quick
    python benchmarks/starts.py --full --earlier FOLDER

A fit is low where its objective (log-likelihood plus log prior) is more than .02 nats a row below the best of all fits
that were made to the table: seeds 0 to 19, of which the first six are counted, and those of the earlier version.
`low_by_score` is the same for the log-likelihood of the rows, beside the best of the same version: it is not what a fit
maximises. Seconds are those of the processor (fits take one), so that other work on the machine does not count.
`--earlier` names the `src` folder of another version, whose fits are counted and timed alternately with these.
`--families` and `--tables` choose some; the others keep the figures that are in the results.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from argparse import Namespace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from record import RESULTS, asking, record

import hiddenbits as hb
from hiddenbits.datasets import data_folder, load_debd, load_survey, load_zoo

LOW, COUNTED, FITS, QUICK_FITS = 0.02, 6, 20, 8

FAMILIES: dict[str, Any] = {
    "BernoulliMixture(8)": lambda seed: hb.BernoulliMixture(8, random_state=seed),
    "TreeMixture": lambda seed: hb.TreeMixture(random_state=seed),
    "LogisticPCA(2)": lambda seed: hb.LogisticPCA(2, random_state=seed),
    "LogisticPCAMixture": lambda seed: hb.LogisticPCAMixture(random_state=seed),
    "ClippedPCA": lambda seed: hb.ClippedPCA(random_state=seed),
    "CombinationMachine(4)": lambda seed: hb.CombinationMachine(4, random_state=seed),
    "HiddenTree": lambda seed: hb.HiddenTree(random_state=seed),
    "NoisyOrNetwork": lambda seed: hb.NoisyOrNetwork(random_state=seed),
}


def news100(rows: int) -> np.ndarray:
    """Return rows of the newsgroups, drawn evenly: they come in order of their groups."""
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False) as arrays:
        X = arrays["X"]
    return np.asarray(X[np.random.default_rng(0).choice(len(X), rows, replace=False)])


TABLES: dict[str, Any] = {
    "zoo": lambda: load_zoo().X,
    "house84": lambda: hb.open_table(data_folder() / "votes" / "house84.csv"),
    "SAT12": lambda: load_survey("sat12_binary"),
    "nltcs": lambda: load_debd("nltcs").train[:3000],
    "news100": lambda: news100(2000),
}


def fit(family: str, table: Any, seed: int) -> tuple[float, float, float]:
    """Return the objective of a default fit and the log-likelihood of its rows, in nats a row, and its seconds."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that used all its passes is judged like any other
        model = FAMILIES[family](seed).fit(table)
    seconds = time.process_time() - began
    return max(restart.objective for restart in model.restarts_) / model.weight_seen_, model.score(table), seconds


def answer() -> None:
    """Answer the fits that are asked for on standard input, one a line: this is the version that was imported."""
    tables: dict[str, Any] = {}
    warm: set[str] = set()
    for line in sys.stdin:
        family, name, seed = json.loads(line)
        if name not in tables:
            tables[name] = TABLES[name]()
        if family not in warm:  # what is compiled or imported by the first fit is no part of the others
            fit(family, tables[name], FITS)
            warm.add(family)
        print(json.dumps(fit(family, tables[name], seed)), flush=True)


class Version:
    """A version of the package in a process of its own."""

    def __init__(self, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, __file__, "--quick", "--answer"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def fit(self, family: str, table: str, seed: int) -> tuple[float, float, float]:
        """Return objective, log-likelihood and seconds of a fit there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([family, table, seed]), file=self.process.stdin, flush=True)
        objective, score, seconds = json.loads(self.process.stdout.readline())
        return objective, score, seconds

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def measure(family: str, table: str, versions: dict[str, Version], fits: int) -> dict[str, Any]:
    """Return the figures of a family on a table, of each version."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in versions}
    for seed in range(fits):
        for name, version in versions.items():
            found[name].append(version.fit(family, table, seed))
    best = max(objective for fits_of in found.values() for objective, _, _ in fits_of)
    figures: dict[str, Any] = {"best": round(best, 5), "fits": fits}
    for name, fits_of in found.items():
        below = [best - objective for objective, _, _ in fits_of]
        scores = [score for _, score, _ in fits_of]
        figures[name] = {
            "low": sum(gap > LOW for gap in below[:COUNTED]),
            "low_of_all": [sum(gap > LOW for gap in below), fits],
            "low_by_score": sum(max(scores) - score > LOW for score in scores[:COUNTED]),
            "below": [round(gap, 4) for gap in below[:COUNTED]],
            "seconds": round(median(seconds for _, _, seconds in fits_of), 3),
            "longest": round(max(seconds for _, _, seconds in fits_of), 3),
        }
    return figures


def chosen(given: str | None, all_of: dict[str, Any]) -> list[str]:
    names = given.split(",") if given else list(all_of)
    if unknown := set(names) - set(all_of):
        raise SystemExit(f"There is no {sorted(unknown)[0]}; there are {', '.join(all_of)}.")
    return names


def main(args: Namespace) -> None:
    here = Path(hb.__file__).parents[1]
    sys.argv = ["FOLDER" if word == str(args.earlier) else word for word in sys.argv]  # no path of a machine on record
    versions = {"earlier": Version(args.earlier)} if args.earlier else {}
    versions["now"] = Version(here)
    path = RESULTS / "starts.json"
    figures: dict[str, Any] = json.loads(path.read_text())["figures"] if path.exists() and not args.quick else {}
    fits = args.fits or (QUICK_FITS if args.quick else FITS)
    for table in chosen(args.tables, TABLES):
        for family in chosen(args.families, FAMILIES):
            figures.setdefault(table, {})[family] = one = measure(family, table, versions, fits)
            print(table, family, *(f"{name} {one[name]}" for name in versions), flush=True)
            if not args.quick:
                record("starts", figures, seeds="0 to fits - 1", aloud=False, low=LOW, counted=COUNTED)
    for version in versions.values():
        version.close()


if __name__ == "__main__":
    parser = asking(str(__doc__))
    parser.add_argument("--earlier", type=Path)
    parser.add_argument("--families")
    parser.add_argument("--tables")
    parser.add_argument("--fits", type=int, help=f"fits of each; {FITS} unless told")
    parser.add_argument("--answer", action="store_true")
    args = parser.parse_args()
    if args.answer:
        answer()
    else:
        main(args)

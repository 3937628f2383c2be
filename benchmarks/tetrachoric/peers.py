"""Tetrachoric correlations against psych (R) and ordinalcorr (Python): the same tables, agreement and time a pair.

    python -m benchmarks.tetrachoric.peers --full      (LSAT, SAT12, ability; five turns; and 2,000 simulated columns)
    python -m benchmarks.tetrachoric.peers --quick     (LSAT, one turn; and 200 columns)

psych comes with the system's R (Debian: r-cran-psych) and has both cores; ordinalcorr lives in an environment of its own,
made on the first run, and runs on one, as it always does; ours, with standard errors, runs on one thread here and on two for
the simulated table. All leave out missing cells pair by pair. psych takes each column's threshold from all of its rows, unless
it is told not to: the difference to both is noted, for pairs without an empty cell; those with one are smoothed in different
ways. Times are of the call alone, in turn, without the start of a program; medians. "Together" is all pairs of the tables: the ten
pairs of LSAT alone take us no longer than a call takes whatever it is given.
"""

import json
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.environments import peer_python
from benchmarks.record import asked_quick, record

import hiddenbits
from hiddenbits.datasets import data_folder

PEERS = Path(__file__).parents[1] / "peers" / "fits"
TABLES = {"lsat": "LSAT", "sat12_binary": "SAT12", "psych_ability": "ability"}
ORDINALCORR = "0.9.0"
GOALS = {"psych": 10, "ordinalcorr": 100}  # times faster
CLOSE = 1e-3
SEED = 0


def run_psych(folder: Path, names: list[str]) -> dict[str, str]:
    call = ["Rscript", PEERS / "psych_tetrachoric.R", folder, *names]
    subprocess.run(call, check=True, capture_output=True)
    return dict(line.split(",") for line in (folder / "psych.csv").read_text().split())


def run_ordinalcorr(folder: Path, names: list[str]) -> dict[str, Any]:
    python = peer_python("ordinalcorr", ORDINALCORR)
    subprocess.run([python, PEERS / "ordinalcorr_fit.py", folder, *names], check=True)
    return json.loads((folder / "ordinalcorr.json").read_text())


def ours(X: Any) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = hiddenbits.tetrachoric(X)
    return time.perf_counter() - begun, found


def largest(found: Any, theirs: Path) -> dict[str, float]:
    """The largest and the median difference over pairs without an empty cell."""
    R = np.loadtxt(theirs, delimiter=",")
    pairs = [(i, j) for i in range(len(R)) for j in range(i) if found.table(i, j).min() > 0]
    apart = [abs(found.correlation[pair] - R[pair]) for pair in pairs]
    return {
        "largest": float(f"{np.nanmax(apart):.2e}"),
        "median": float(f"{np.nanmedian(apart):.2e}"),
        "pairs": len(pairs),
    }


def real_tables(names: list[str], turns: int) -> tuple[dict[str, Any], dict[str, str]]:
    seconds: dict[str, dict[str, list[float]]] = {
        name: {"psych": [], "ordinalcorr": [], "hiddenbits": []} for name in names
    }
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tables = {}
        for name in names:
            source = data_folder() / "survey" / f"{name}.csv"
            (folder / source.name).write_bytes(source.read_bytes())
            tables[name] = np.genfromtxt(source, delimiter=",", skip_header=1)
            ours(tables[name])
        found = {}
        for _ in range(turns):
            psych, peer = run_psych(folder, names), run_ordinalcorr(folder, names)
            for name in names:
                seconds[name]["psych"].append(float(psych[name]))
                seconds[name]["ordinalcorr"].append(peer["seconds"][name])
                taken, found[name] = ours(tables[name])
                seconds[name]["hiddenbits"].append(taken)
        for name in names:
            (n, d), pairs = tables[name].shape, tables[name].shape[1] * (tables[name].shape[1] - 1) // 2
            middle = {who: statistics.median(times) for who, times in seconds[name].items()}
            figures[TABLES[name]] = {
                "rows": n,
                "columns": d,
                "missing": round(float(np.isnan(tables[name]).mean()), 4),
                "milliseconds_a_pair": {who: round(1000 * time / pairs, 4) for who, time in middle.items()},
                "times_faster": {who: round(middle[who] / middle["hiddenbits"], 1) for who in GOALS},
                "differences": {
                    who: largest(found[name], folder / f"{name}_{who}.csv")
                    for who in ("psych", "psych_global", "ordinalcorr")
                },
                "goal_of_difference": CLOSE,
            }
    together = {who: sum(statistics.median(seconds[name][who]) for name in names) for who in ("hiddenbits", *GOALS)}
    figures["together"] = {
        "pairs": sum(X.shape[1] * (X.shape[1] - 1) // 2 for X in tables.values()),
        "times_faster": {who: round(together[who] / together["hiddenbits"], 1) for who in GOALS},
        "goals": GOALS,
    }
    return figures, {"R": psych["R"], "psych": psych["psych"], "ordinalcorr": peer["version"]}


def simulated(n: int, d: int) -> dict[str, Any]:
    """Bits from 8 dimensions and noise: seconds of the whole call, standard errors included, on two threads."""
    rng = np.random.default_rng(SEED)
    hidden = rng.standard_normal((n, 8)) @ (0.4 * rng.standard_normal((8, d))) + rng.standard_normal((n, d))
    X = (hidden > rng.uniform(-2.0, 2.0, d)).astype(np.uint8)
    with hiddenbits.run_on(n_jobs=2):
        seconds, found = ours(X)
        begun = time.perf_counter()
        _ = found.p_value, found.interval(0.95)
    return {
        "rows": n,
        "columns": d,
        "seconds": round(seconds, 2),
        "seconds_of_p_values_and_intervals": round(time.perf_counter() - begun, 2),
        "microseconds_a_pair": round(1e6 * seconds / (d * (d - 1) / 2), 2),
        "goal_seconds": 60,
    }


def main() -> None:
    quick = asked_quick(__doc__ or "")
    warnings.simplefilter("ignore", hiddenbits.DegeneratePairsWarning)
    names = ["lsat"] if quick else list(TABLES)
    figures, versions = real_tables(names, 1 if quick else 5)
    figures["simulated"] = simulated(2000, 200) if quick else simulated(5000, 2000)
    name = "tetrachoric/peers_quick" if quick else "tetrachoric/peers"
    record(name, figures, seeds=SEED, peers=versions)


if __name__ == "__main__":
    main()

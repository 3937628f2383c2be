"""spflow's hidden Chow-Liu trees and continuous mixtures next to HiddenTree and TopographicMap, on tables of the benchmark.

python -m benchmarks.debd.spflow_peer --quick                          nltcs, seconds of training; `test` stays shut
python -m benchmarks.debd.spflow_peer --full [--only nltcs,dna] [--seconds 300]

spflow fits several sizes for at most so many seconds of processor time each, and stops on `valid`; the size that is best
on `valid` then scores `test`, once. HiddenTree has the states of spflow's best tree. One thread, one process a fit.
A table that has been recorded is left as it is.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.debd.topographic import SETTINGS as MAPS
from benchmarks.environments import peer_python, peer_versions
from benchmarks.machines.judge import THREADS
from benchmarks.page_parts import table
from benchmarks.peers import watched
from benchmarks.record import asking, record, result

from hiddenbits.datasets import load_debd

NAME = "debd/spflow"
SPFLOW = ("spflow", "1.1.0", "torch==2.13.0")
TABLES = ("nltcs", "dna", "plants", "jester", "audio")
TREE = {"family": "HCLT", "batch": 2048, "patience": 3}
STATES = (4, 12)
MIXTURE = {"family": "CM", "dimensions": 4, "points_at_the_end": 1024}
POINTS = (128, 512)  # in training; 128 is spflow's default
MOST_CPU, MOST_MB = 1500.0, 6_000.0  # a process with all that it does
SCRIPT = Path(__file__).parent / "spflow_fit.py"


def run(step: str, folder: Path, family: str) -> watched.Run:
    python = peer_python(*SPFLOW) if family in ("HCLT", "CM") else Path(sys.executable)
    ended = watched.run([python, SCRIPT, step, folder], MOST_CPU, MOST_MB, dict.fromkeys(THREADS, "1"))
    if ended.failure:
        warnings.warn(f"{family}, {step}: {ended.failure}", stacklevel=2)
    return ended


def best_of(name: str, tried: list[dict[str, Any]], quick: bool) -> dict[str, Any]:
    """Fit each setting, choose on `valid`, and score `test` with that one."""
    splits = load_debd(name)
    fits: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for number, options in enumerate(tried):
            folder = Path(place) / str(number)
            folder.mkdir()
            np.savez(folder / "work.npz", train=splits.train, valid=splits.valid)
            (folder / "options.json").write_text(json.dumps(options))
            ended = run("fit", folder, options["family"])
            found = {"failure": ended.failure}
            if not ended.failure:
                found = json.loads((folder / "fit.json").read_text())
                if not np.isfinite(found["valid"]):
                    found = {"failure": "the likelihood of `valid` is not finite"}
            fits.append({"options": options, **found, "peak_mb": round(ended.peak_mb), "folder": folder})
            print(name, options, found, round(ended.peak_mb), flush=True)
        best = max(fits, key=lambda fit: fit.get("valid", -np.inf))
        if "valid" in best and not quick:
            np.save(best["folder"] / "test.npy", splits.test)
            run("score", best["folder"], best["options"]["family"])
            best["test"] = json.loads((best["folder"] / "score.json").read_text())
    for fit in fits:
        del fit["folder"]
    return {**best, "tried": [fit for fit in fits if fit is not best]}


def figures_of(name: str, seconds: float, quick: bool) -> dict[str, Any]:
    """Return the figures of all four on one table."""
    sizes = slice(1) if quick else slice(None)
    limit = {"seconds": seconds}
    found = {
        "HCLT": best_of(name, [{**TREE, **limit, "states": states} for states in STATES[sizes]], quick),
        "CM": best_of(name, [{**MIXTURE, **limit, "points": points} for points in POINTS[sizes]], quick),
    }
    states = found["HCLT"]["options"]["states"]
    ours = {
        "HiddenTree": {"n_components": states, "n_init": 1, "max_iter": 60, "tol": 1e-4},
        "TopographicMap": {**MAPS.get(name, MAPS["audio"]), "validation_share": 0.05},
    }
    if quick:
        ours["HiddenTree"]["max_iter"] = 5
        ours["TopographicMap"] |= {"n_features": 64, "n_points": 512}
    for family, settings in ours.items():
        found[family] = best_of(name, [{"family": family, "settings": {**settings, "random_state": 0}}], quick)
    return found


def _size(family: str, fit: dict[str, Any]) -> str:
    options = fit["options"]
    if family == "HCLT":
        return f"{options['states']} states"
    if family == "CM":
        return f"{options['dimensions']} dimensions, {options['points']} points"
    settings = options["settings"]
    return f"{settings['n_components']} {'states' if family == 'HiddenTree' else 'dimensions'}"


def spflow_table() -> str:
    """Return the table for docs/debd.md, one line a fit, the best `test` of each table in bold."""
    figures = json.loads(result(NAME).read_text())["figures"]
    lines: list[list[object]] = []
    for name, families in figures.items():
        best = max(fit["test"] for fit in families.values() if "test" in fit)
        for family, fit in families.items():
            whose = f"spflow {family}" if family in ("HCLT", "CM") else f"`{family}`"
            if "failure" in fit:
                lines.append([name, whose, _size(family, fit), "", "", "", fit["failure"], fit["peak_mb"]])
                continue
            test = f"{fit['test']:.3f}"
            lines.append(
                [
                    name,
                    whose,
                    _size(family, fit),
                    f"{fit['valid']:.3f}",
                    f"**{test}**" if fit["test"] == best else test,
                    f"{fit['seconds']:.1f}",
                    fit["stop_reason"],
                    fit["peak_mb"],
                ]
            )
    head = ["table", "model", "size", "`valid`", "`test`", "processor seconds", "stopped", "peak MB"]
    return table(head, lines)


def main() -> None:
    parser = asking(__doc__ or "")
    parser.add_argument("--only", help="names of tables, with commas")
    parser.add_argument("--seconds", type=float, default=300.0, help="processor time of one training of spflow")
    asked = parser.parse_args()
    if asked.quick:
        print(json.dumps(figures_of("nltcs", 3.0, quick=True), indent=1))
        return
    figures = json.loads(result(NAME).read_text())["figures"] if result(NAME).exists() else {}
    for name in asked.only.split(",") if asked.only else TABLES:
        if name not in figures:
            figures[name] = figures_of(name, asked.seconds, quick=False)
            record(NAME, figures, seeds=0, aloud=False, peer=peer_versions(*SPFLOW))


if __name__ == "__main__":
    main()

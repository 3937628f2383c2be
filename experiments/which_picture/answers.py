"""Do the report, the command line, `compare` and `select` give one answer? Ten real tables.

The command line and `select` find the fits of `compare` in a folder, where they are the same fits; the report does its
own. What the report's sections on odd rows and doubtful cells rest on is read from the page.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import hiddenbits
from hiddenbits import evaluate, open_table, report

TABLES = {
    "house84": "votes/house84.csv",
    "zoo": "tables/zoo.csv",
    "LSAT": "survey/lsat.csv",
    "WIRS": "survey/wirs.csv",
    "abortion": "survey/abortion.csv",
    "carcinoma": "survey/carcinoma.csv",
    "SAT12": "survey/sat12_binary.csv",
    "psych_ability": "survey/psych_ability.csv",
    "verbal aggression": "survey/verbagg.csv",
    "nltcs, 2,000 rows": "debd/nltcs.npz",
}
SEEDS = {"compare": 0}


def table(name: str) -> tuple[list[str], np.ndarray]:
    """Return the columns that hold bits, and their cells."""
    path = hiddenbits.datasets.data_folder() / TABLES[name]
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as held:
            X = held["train"][:2000].astype(float)
        return [f"x{j}" for j in range(X.shape[1])], X
    opened = open_table(path, columns="bits")
    return list(opened.names or [f"x{j}" for j in range(opened.shape[1])]), opened.to_float()


def one(names: list[str], X: np.ndarray) -> dict[str, Any]:
    """Ask all four; each answer is a family and a size."""
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path, fits = Path(folder) / "table.csv", Path(folder) / "fits"
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(names)
            lines.writerows(["" if cell != cell else int(cell) for cell in row] for row in X)
        opened = open_table(path)
        found = evaluate.compare(opened, folder=fits, measures=())
        command = [sys.executable, "-m", "hiddenbits", "compare", str(path), "--folder", str(fits), "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        chosen = evaluate.select(found.best, opened, folder=fits).size if found.size else ""
        said = report(opened).found.numbers
    answers = {
        "compare": [found.best, found.size],
        "command line": [told["best"], told["size"]],
        "select": [found.best, str(chosen)],
        "report": [said["chosen"], said["chosen size"]],
    }
    return {
        "shape": list(X.shape),
        "answers": answers,
        "one answer": len({tuple(answer) for answer in answers.values()}) == 1,
        "verdict": found.verdict,
        "processor seconds": time.process_time() - begun,
    }


def measure(*, full: bool) -> list[dict[str, Any]]:
    if not full:
        import simulate

        return [{"table": "a small table", **one([f"x{j}" for j in range(5)], simulate.mixture(150, 0, 2, 5))}]
    found = []
    for name in TABLES:
        found.append({"table": name, **one(*table(name))})
        last = found[-1]
        print(f"{name}: {'one answer' if last['one answer'] else last['answers']}: {last['verdict']}", flush=True)
    return found

"""Do the report, the command line, `compare` and `select` give one answer? Ten real tables.

The command line and `select` find the fits of `compare` in a folder, where they are the same fits; the report does its
own. What the report's sections on odd rows and doubtful cells rest on is read from the page.
"""

import csv
import json
import re
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
        path, fits, page = (Path(folder) / end for end in ("table.csv", "fits", "report.html"))
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(names)
            lines.writerows(["" if cell != cell else int(cell) for cell in row] for row in X)
        opened = open_table(path)
        found = evaluate.compare(opened, folder=fits, measures=())
        command = [sys.executable, "-m", "hiddenbits", "compare", str(path), "--folder", str(fits), "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        chosen = evaluate.select(found.best, opened, folder=fits).size if found.size else ""
        report(opened).save(page)
        line = re.search(r"<code>hiddenbits\.(\w+)\((.*?)\)\.fit\(table\)\.score_samples", page.read_text("utf-8"))
    model, settings = line[1], line[2]
    size = re.search(r"n_components=(\d+)", settings)
    usual = getattr(getattr(hiddenbits, model)(), "n_components", "")  # a setting at its default is not written
    answers = {
        "compare": [found.best, found.size],
        "command line": [told["best"], told["size"]],
        "select": [found.best, str(chosen)],
        "report": [model, size[1] if size else str(usual)],
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

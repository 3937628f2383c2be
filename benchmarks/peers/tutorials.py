"""What psych, poLCA and StepMix say about the tables of the tutorials: recorded once, for those who have no R.

    python -m benchmarks.peers --full --only tutorials     (psych; writes tutorials/results/peers.json)
    python -m benchmarks.peers.tutorials                   (poLCA and StepMix, ten minutes; tutorials/results/classes.json)

psych and poLCA run in the system's R (Debian: r-cran-psych, r-cran-gparotation; CRAN: poLCA); StepMix lives in an environment
of its own, made on the first run. The figures of ltm and mirt are in the folder `reference` of HIDDENBITS_DATA.
"""

import csv
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.environments import peer_python
from benchmarks.record import record

from hiddenbits.datasets import data_folder

STEPMIX = "3.0.0"
FITS = Path(__file__).parent / "fits"
CLASSES = {  # table: how StepMix measures it, columns that enter, starts
    "carcinoma": ("binary", 7, 20),
    "sat12_binary": ("binary", 32, 20),
    "gss82": ("categorical", 4, 20),
    "election": ("categorical_nan", 12, 10),
}


def psych() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        script = FITS / "psych_ability.R"
        subprocess.run(["Rscript", script, data_folder() / "survey" / "psych_ability.csv", name], check=True)
        folder = Path(name)
        found = {path.stem: np.loadtxt(path, delimiter=",").tolist() for path in folder.glob("*_*.csv")}
        found["correlations"] = np.loadtxt(folder / "correlations.csv", delimiter=",").tolist()
        lines = (folder / "versions.csv").read_text().split()
        return {"versions": dict(line.split(",") for line in lines), **found}


def polca() -> dict[str, Any]:
    """Return a dict for each table and number of classes, of numbers, and of lists or dicts where a number has names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.csv"
        subprocess.run(["Rscript", FITS / "polca_tables.R", path], check=True)
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
    found: dict[str, Any] = {"versions": {line["what"]: line["names"] for line in lines if not line["table"]}}
    for line in lines:
        if line["table"]:
            fit = found.setdefault(f"{line['table']}, {line['K']} classes", {})
            value, what = float(line["value"]), line["what"]
            if "|" in line["names"]:
                fit.setdefault(what, {})[line["names"]] = value
            elif line["names"]:
                fit.setdefault(what, []).append(value)
            else:
                fit[what] = value
    return found


def coded(table: str, columns: int) -> Any:
    """Return the levels of each column as 0, 1, ... in the order of the alphabet, NaN where missing."""
    with (data_folder() / "survey" / f"{table}.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    numbers = []
    for cells in list(zip(*rows, strict=True))[:columns]:
        levels = sorted({*cells} - {"", "NA"})
        numbers.append([levels.index(cell) if cell in levels else np.nan for cell in cells])
    return np.array(numbers).T


def stepmix(table: str, measurement: str, columns: int, restarts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        X = coded(table, columns)
        work = {"tol": 1e-13, "classes": 3, "restarts": restarts, "measurement": measurement}
        np.savez(f"{folder}/work.npz", X=X, **work)
        call = [peer_python("stepmix", STEPMIX), FITS / "stepmix_fit.py", f"{folder}/work.npz", f"{folder}/found.npz"]
        subprocess.run(call, check=True)
        found = np.load(f"{folder}/found.npz")
    order = np.argsort(-found["weights"])
    return {
        "log_likelihood": float(found["log_likelihood"]),
        "agreeing": int(found["agreeing"]),
        "restarts": restarts,
        "shares": found["weights"][order].tolist(),
        "profiles": found["probabilities"][order].tolist(),
    }


def measure() -> None:
    record("tutorials/peers", {"psych": psych()}, seeds=[0], aloud=False)


if __name__ == "__main__":
    figures = {
        "polca": polca(),
        "stepmix": {"version": STEPMIX} | {table: stepmix(table, *how) for table, how in CLASSES.items()},
    }
    record("tutorials/classes", figures, seeds=[0, 1], aloud=False)

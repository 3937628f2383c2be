"""What psych and StepMix say about the tables of the tutorials: recorded once, for those who have no R.

    python -m benchmarks.peers --full --only tutorials

psych comes with the system's R (Debian: r-cran-psych, r-cran-gparotation); StepMix lives in an environment of its own, made on
the first run. The figures of ltm, mirt and poLCA are in the folder `reference` of HIDDENBITS_DATA.
"""

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


def psych() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        script = FITS / "psych_ability.R"
        subprocess.run(["Rscript", script, data_folder() / "survey" / "psych_ability.csv", name], check=True)
        folder = Path(name)
        found = {path.stem: np.loadtxt(path, delimiter=",").tolist() for path in folder.glob("*_*.csv")}
        found["correlations"] = np.loadtxt(folder / "correlations.csv", delimiter=",").tolist()
        lines = (folder / "versions.csv").read_text().split()
        return {"versions": dict(line.split(",") for line in lines), **found}


def stepmix(table: str, classes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        X = np.loadtxt(data_folder() / "survey" / f"{table}.csv", delimiter=",", skiprows=1)
        np.savez(f"{folder}/work.npz", X=X, tol=1e-13, classes=classes, restarts=20)
        call = [peer_python("stepmix", STEPMIX), FITS / "stepmix_fit.py", f"{folder}/work.npz", f"{folder}/found.npz"]
        subprocess.run(call, check=True)
        found = np.load(f"{folder}/found.npz")
        P, shares = found["probabilities"], found["weights"]
        order = np.argsort(-shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(shares) + np.where(X[:, None] > 0, np.log(P), np.log1p(-P)).sum(axis=2)
        total = float(np.logaddexp.reduce(logs, axis=1).sum())
        return {"log_likelihood": total, "shares": shares[order].tolist(), "profiles": P[order].tolist()}


def measure() -> None:
    figures = {
        "psych": psych(),
        "stepmix": {
            "version": STEPMIX,
            "carcinoma, 3 classes": stepmix("carcinoma", 3),
            "SAT12, 3 classes": stepmix("sat12_binary", 3),
        },
    }
    record("tutorials/peers", figures, seeds=[0], aloud=False)

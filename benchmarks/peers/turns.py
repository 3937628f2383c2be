"""One program on one table: what it is given, how it is called, what it wrote, what that took."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers import watched
from benchmarks.peers.drawn import Drawn
from benchmarks.peers.environments import DoesNotInstallError, peer_python, peer_versions
from benchmarks.peers.jobs import Job, Peer
from benchmarks.peers.judged import Judge

FITS = Path(__file__).parent / "fits"
MOST_CPU, MOST_MB = 60.0, 6_000.0  # seconds of processor time, besides those of loading
SHORT, TURNS = 3.0, 3  # a fit of fewer seconds is measured so many times; the median counts
TWO_THREADS = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")}


def ours(job: Job, settings: dict[str, Any]) -> Peer:
    """One of our ways, to be run as peers are."""
    options = {"job": job.name, "components": job.components, "way": json.dumps(settings)}
    return Peer("hiddenbits", "hiddenbits_fit.py", (), options)


def missing(peer: Peer) -> str | None:
    """Install a peer, or return why it cannot be."""
    if peer.script.endswith(".R"):
        return not_in_r(peer.name)
    try:
        if peer.install:
            peer_python(*peer.install)
    except DoesNotInstallError as error:
        return str(error)
    return None


def not_in_r(package: str) -> str | None:
    """Return what R says when it does not find a package."""
    try:
        found = subprocess.run(["Rscript", "-e", f"packageVersion('{package}')"], capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no Rscript here"
    if found.returncode == 0:
        return None
    said = re.search(r"there is no package called \S+", found.stderr)
    return said.group() if said else found.stderr.strip()[-160:]


def versions_of(peer: Peer) -> dict[str, str]:
    if peer.script.endswith(".R"):
        call = ["Rscript", "-e", f"cat(as.character(getRversion()), as.character(packageVersion('{peer.name}')))"]
        numbers = subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()
        return dict(zip(("R", peer.name), numbers, strict=True))
    if not peer.install:
        return {}
    wanted = (peer.install[0], "numpy", "scipy", "torch", "pandas", "numba")
    return {name: number for name, number in peer_versions(*peer.install).items() if name in wanted}


def measure(peer: Peer, table: Drawn, judge: Judge) -> dict[str, Any]:
    """Run a program, again if that was short, and judge its last answer."""
    seconds, peaks, quality = [], [], 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        call = prepare(peer, folder, table.train)
        while len(seconds) < TURNS and max(seconds, default=0.0) < (SHORT if seconds else np.inf):
            ended = watched.run(call, MOST_CPU + peer.loading, MOST_MB, TWO_THREADS)
            peaks.append(ended.peak_mb)
            if ended.failure:
                return {"failure": ended.failure, "peak_mb": round(max(peaks)), "cpu_in_all": round(ended.cpu, 1)}
            quality, taken = judge(answer(peer, folder))
            seconds.append(taken)
    return {
        "quality": round(quality, 5),
        "seconds": float(f"{statistics.median(seconds):.4g}"),
        "peak_mb": round(statistics.median(peaks)),
        "cpu_in_all": round(ended.cpu, 1),
        "turns": len(seconds),
    }


def prepare(peer: Peer, folder: Path, X: Any) -> list[Any]:
    """Write what a program reads; return how it is called."""
    if peer.script.endswith(".R"):
        names = ",".join(f"c{j}" for j in range(X.shape[1]))
        np.savetxt(folder / "table.csv", X, fmt="%d", delimiter=",", header=names, comments="")
        return ["Rscript", FITS / peer.script, folder, "table"]
    python = peer_python(*peer.install) if peer.install else sys.executable
    if peer.name == "ordinalcorr":
        np.save(folder / "table.npy", X.astype(np.float64))
        return [python, FITS / peer.script, folder, "table"]
    np.savez(folder / "work.npz", X=X, **peer.options)
    return [python, FITS / peer.script, folder / "work.npz", folder / "path.npz"]


def answer(peer: Peer, folder: Path) -> dict[str, Any]:
    """Read what a program wrote."""
    if peer.name == "psych":
        seconds = dict(line.split(",") for line in (folder / "psych.csv").read_text().split())["table"]
        return {"seconds": [seconds], "correlations": np.loadtxt(folder / "table_psych.csv", delimiter=",")}
    if peer.name == "ordinalcorr":
        seconds = json.loads((folder / "ordinalcorr.json").read_text())["seconds"]["table"]
        return {"seconds": [seconds], "correlations": np.loadtxt(folder / "table_ordinalcorr.csv", delimiter=",")}
    with np.load(folder / "path.npz") as arrays:
        return {key: arrays[key] for key in arrays.files}

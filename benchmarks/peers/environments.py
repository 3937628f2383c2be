"""An environment of its own for each peer, in benchmarks/envs, made on the first run."""

import json
import shutil
import subprocess
import venv
from pathlib import Path

ENVIRONMENTS = Path(__file__).parents[1] / "envs"


class DoesNotInstallError(Exception):
    """A package that pip cannot install here, with pip's own words."""


def peer_python(package: str, number: str, *companions: str) -> Path:
    """Return the Python that has this version of a package, and of what it is to be installed with ("torch==2.13.0")."""
    folder = ENVIRONMENTS / package
    python = folder / "bin" / "python"
    if not python.exists():
        try:
            venv.create(folder, with_pip=True)
            wanted = [f"{package}=={number}" if number else package, *companions]
            tried = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True)
            if tried.returncode != 0:
                said = [line for line in tried.stderr.splitlines() if line.startswith("ERROR: ")]
                raise DoesNotInstallError(said[-1].removeprefix("ERROR: ") if said else "pip fails without a reason")
        except BaseException:  # interrupted, too: the next run must not take half an environment for a whole one
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return python


def peer_versions(package: str, number: str, *companions: str) -> dict[str, str]:
    """Return the versions of what is in a peer's environment."""
    python = peer_python(package, number, *companions)
    call = [python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    listed = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    return {entry["name"]: entry["version"] for entry in listed if entry["name"] not in ("pip", "setuptools")}

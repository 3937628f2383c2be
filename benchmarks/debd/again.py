"""The best fit of each family to each table once more, with the code of today: is it as good on `valid`?"""

import sys
import tempfile
from pathlib import Path

from benchmarks.debd import choices, fits
from benchmarks.record import record

LONGEST = 60.0  # seconds of processor time: what took longer is left out


def run(names: list[str]) -> None:
    """Fit what was chosen, in a folder that is thrown away, and write down both figures."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        fits.KEPT = Path(folder)
        for name in names:
            for then in choices.read(name)["singles"].values():
                if then["seconds"] > LONGEST:
                    continue
                member = fits.Member(then["family"], then["settings"], then["seed"], then["rows"])
                now = fits.run(name, member).record()
                figures.append(
                    {
                        "table": name,
                        "family": member.family,
                        "then": round(then["valid"], 4),
                        "now": round(now["valid"], 4),
                        "difference": round(now["valid"] - then["valid"], 4),
                        "passes": [then["passes"], now["passes"]],
                        "seconds": [then["seconds"], now["seconds"]],
                    }
                )
                print(figures[-1], file=sys.stderr, flush=True)
    record("debd/again", figures, seeds="those of the fits", packages=("numba",))

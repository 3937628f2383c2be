"""Whether a hot path has become slower: its pass beside its bare arithmetic, against a ratio that is kept.

    python -m benchmarks.guard --check     (exit status 1, and a sentence for each path that is slower)
    python -m benchmarks.guard --write     (renews benchmarks/guard.json; say why in the commit)
    python -m benchmarks.guard --against FOLDER   (this checkout and another one in turn, path by path)

Ratios, not seconds: pass and bare arithmetic (`benchmarks/bare`) run side by side in one process, so that a slower or busier machine slows both. The
quickest of several turns of each counts. What else a machine does can still spoil all turns of a path for a moment: so one that seems slower than its kept
ratio times SLACK is measured again after a pause in a fresh process, up to ROUNDS times, and its least ratio counts. Noise does not come back, a slower
path does. SLACK also covers processors that differ in how much quicker they are at products than at the rest.
"""

import argparse
import atexit
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .bare.classes import machine_rows, mixture, noisy_or_exact
from .bare.coding import coding
from .bare.logistic import logistic
from .bare.machine import machine_states
from .bare.pairs import pairs
from .bare.sampled import noisy_or_sampled
from .bare.tables import dense_bits, sparse_bits
from .bare.trees import hidden_tree, trees
from .bare.turns import Job, side_by_side
from .bare.whole_pass import whole_pass
from .opening.containers import containers, opening

KEPT = Path(__file__).parent / "guard.json"
SLACK = 1.8  # other kernels and vector units alone make up to 1.25 of it
ROUNDS, PAUSE = 8, 2.0  # fresh processes, and seconds between them
TURNS, SECONDS = 7, 0.4  # turns of each path at least, and seconds of further ones
TURNS_AGAINST = 5  # fresh processes of each path and checkout


def opens(container: str) -> Job:
    """Return what opens a frame of yes and no, beside the same table in a CSV file."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)  # the file is read in every turn
    return opening(containers(Path(folder.name), 10_000, 2), container, 10_000, 2)


# A million cells or more where kernels are compiled for large tables only.
PATHS: dict[str, Callable[[], Job]] = {
    "mixture, dense": lambda: mixture("guard", dense_bits(9_000, 128), 16),
    "mixture, sparse": lambda: mixture("guard", sparse_bits(10_000, 1_000, 0.01), 16),
    "latent classes, whole passes of a small table": lambda: whole_pass(200, 10, 4),
    "logistic PCA": lambda: logistic("guard", 9_000, 128, 2),
    "logistic PCA, float32, 10 dimensions": lambda: logistic("guard", 9_000, 128, 10, "float32"),
    "logistic PCA, 10 dimensions": lambda: logistic("guard", 9_000, 128, 10),
    "combination machine, rows": lambda: machine_rows("guard", dense_bits(9_000, 128), 12),
    "combination machine, sparse rows": lambda: machine_rows("guard", sparse_bits(10_000, 1_000, 0.01), 12),
    "combination machine, states": lambda: machine_states("guard", 64, 14),
    "counts of pairs": lambda: pairs("guard", dense_bits(4_000, 128)),
    "binary sparse coding": lambda: coding("guard", 9_000, 128, 100, 6, 4, "float64"),
    "binary sparse coding, float32": lambda: coding("guard", 9_000, 128, 100, 6, 4, "float32"),
    "noisy-OR, enumeration": lambda: noisy_or_exact("guard", dense_bits(9_000, 128, 0.2), 6),
    "noisy-OR, Gibbs sampling": lambda: noisy_or_sampled("guard", sparse_bits(3_000, 500, 0.02), 12),
    "mixture of trees": lambda: trees("guard", dense_bits(3_000, 100, 0.2), 8),
    "mixture of trees, sparse": lambda: trees("guard", sparse_bits(10_000, 1_000, 0.01), 8),
    "hidden tree": lambda: hidden_tree("guard", dense_bits(1_000, 60), 6),
    "opening objects of pandas": lambda: opens("pandas, objects"),
    "opening text of polars": lambda: opens("polars, text"),
}


def measured(make: Callable[[], Job]) -> float:
    """Return the ratio of a path, in this process."""
    return side_by_side(make(), TURNS, 10 * TURNS, SECONDS).least


def afresh(names: list[str], checkout: Path | None = None) -> dict[str, float]:
    """Return the ratios of paths, measured in a process of their own; of another checkout if one is given."""
    command = [sys.executable, "-m", "benchmarks.guard", "--measure", *names]
    folder = checkout or KEPT.parent.parent
    source = {"PYTHONPATH": str(checkout / "src")} if checkout else {}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **source}, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def against(other: Path) -> None:
    """Print the median ratio of each path here and in another checkout, measured in turn, and one over the other."""
    ratios: dict[tuple[str, Path], list[float]] = {}
    both = [name for name in PATHS if name in json.loads((other / "benchmarks" / KEPT.name).read_text())]
    for _ in range(TURNS_AGAINST):
        for name in both:
            for checkout in (other, KEPT.parents[1]):
                ratios.setdefault((name, checkout), []).append(afresh([name], checkout)[name])
    for name in both:
        before, now = (statistics.median(ratios[name, checkout]) for checkout in (other, KEPT.parents[1]))
        print(f"{name:40s} {now:5.2f} times its bare arithmetic, there {before:5.2f}: {now / before:.2f} of it")


def least(
    kept: dict[str, float], measure: Callable[[list[str]], dict[str, float]] = afresh, pause: float = PAUSE
) -> dict[str, float]:
    """Return the least ratio of each path, measured until it is one that is allowed."""
    ratios, doubtful = dict.fromkeys(kept, float("inf")), list(kept)
    for number in range(ROUNDS):
        time.sleep(pause if number else 0)
        for name, ratio in measure(doubtful).items():
            ratios[name] = min(ratios[name], ratio)
        doubtful = [name for name in doubtful if ratios[name] > SLACK * kept[name]]
        if not doubtful:
            break
    return ratios


def slower(kept: dict[str, float], ratios: dict[str, float]) -> list[str]:
    """Return a sentence for each path that is slower than its kept ratio allows."""
    found = []
    for name, ratio in ratios.items():
        verdict = "ok" if ratio <= SLACK * kept[name] else "SLOWER"
        print(f"{name:40s} {ratio:5.2f} times what it is measured by, kept {kept[name]:5.2f}: {verdict}", flush=True)
        if verdict == "SLOWER":
            found.append(
                f"{name}: a pass takes {ratio:.2f} times its bare arithmetic; the ratio kept in {KEPT.name} is {kept[name]:.2f}, and {SLACK:g} times "
                "that is allowed. Find what has become slower (`python -m benchmarks.bare --full --only NAME` profiles it); or, if it has to be, renew the "
                "ratio with `python -m benchmarks.guard --write` and say why in the commit."
            )
    return found


def typical() -> dict[str, float]:
    """Return the median ratio of each path over fresh processes, for the file."""
    rounds = [afresh(list(PATHS)) for _ in range(ROUNDS)]
    return {name: round(statistics.median(ratios[name] for ratios in rounds), 2) for name in PATHS}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    what.add_argument("--against", type=Path, metavar="FOLDER", help="compare with another checkout of the project")
    what.add_argument(
        "--measure", nargs="+", metavar="PATH", choices=PATHS, help="print the ratios of these, in this process"
    )
    asked = parser.parse_args(arguments)
    if asked.measure:
        print(json.dumps({name: measured(PATHS[name]) for name in asked.measure}))
        return 0
    if asked.against:
        against(asked.against.resolve())
        return 0
    if asked.write:
        KEPT.write_text(json.dumps(typical(), indent=1) + "\n")
        print(KEPT.read_text())
        return 0
    kept = json.loads(KEPT.read_text())
    if set(kept) != set(PATHS):
        print(
            f"{KEPT.name} and the paths of this program are not the same: {sorted(set(kept) ^ set(PATHS))}. Run `python -m benchmarks.guard --write`."
        )
        return 1
    sentences = slower(kept, least(kept))
    print("\n".join(sentences) or "No path is slower than its kept ratio allows.")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())

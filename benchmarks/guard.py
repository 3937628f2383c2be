"""Whether a hot path has become slower: its pass beside its bare arithmetic, against a ratio that is kept.

    python -m benchmarks.guard --check     (exit status 1, and a sentence for each path that is slower)
    python -m benchmarks.guard --write     (renews benchmarks/guard.json; say why in the commit)

Ratios, not seconds: pass and bare arithmetic (`benchmarks/bare`) run side by side in one process, so that a slower or busier machine slows both. The
quickest of several turns of each counts. A path that seems slower than its kept ratio times SLACK is measured again, up to TRIES times: noise does not come
back, a slower path does.
"""

import argparse
import json
import sys
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

KEPT = Path(__file__).parent / "guard.json"
SLACK, TRIES = 1.6, 4
TURNS, SECONDS = 7, 0.15  # turns of each path at least, and seconds of further ones

PATHS: dict[str, Callable[[], Job]] = {
    "mixture, dense": lambda: mixture("guard", dense_bits(4_000, 128), 16),
    "mixture, sparse": lambda: mixture("guard", sparse_bits(10_000, 1_000, 0.01), 16),
    "logistic PCA": lambda: logistic("guard", 3_000, 128, 2),
    "logistic PCA, float32, 10 dimensions": lambda: logistic("guard", 1_500, 128, 10, "float32"),
    "combination machine, rows": lambda: machine_rows("guard", dense_bits(4_000, 128), 12),
    "combination machine, states": lambda: machine_states("guard", 64, 12),
    "counts of pairs": lambda: pairs("guard", dense_bits(4_000, 128)),
    "binary sparse coding": lambda: coding("guard", 1_500, 128, 100, 6, 4, "float64"),
    "noisy-OR, enumeration": lambda: noisy_or_exact("guard", dense_bits(4_000, 128, 0.2), 6),
    "noisy-OR, Gibbs sampling": lambda: noisy_or_sampled("guard", sparse_bits(3_000, 500, 0.02), 12),
    "mixture of trees": lambda: trees("guard", dense_bits(3_000, 100, 0.2), 8),
    "hidden tree": lambda: hidden_tree("guard", dense_bits(1_000, 60), 6),
}


def measured(make: Callable[[], Job]) -> float:
    """Return the ratio of a path."""
    return side_by_side(make(), TURNS, 10 * TURNS, SECONDS).least


def slower(kept: dict[str, float], paths: dict[str, Callable[[], Job]], slack: float = SLACK) -> list[str]:
    """Return a sentence for each path that is slower than its kept ratio allows."""
    found = []
    for name, make in paths.items():
        if name not in kept:
            found.append(f"{name}: no ratio is kept for it. Run `python -m benchmarks.guard --write`.")
            continue
        ratio = float("inf")
        for _ in range(TRIES):
            ratio = min(ratio, measured(make))
            if ratio <= slack * kept[name]:
                break
        verdict = "ok" if ratio <= slack * kept[name] else "SLOWER"
        print(f"{name:40s} {ratio:5.2f} times its bare arithmetic, kept {kept[name]:5.2f}: {verdict}", flush=True)
        if verdict == "SLOWER":
            found.append(
                f"{name}: a pass takes {ratio:.2f} times its bare arithmetic; the ratio kept in {KEPT.name} is {kept[name]:.2f}, and {slack:g} times "
                "that is allowed. Find what has become slower (`python -m benchmarks.bare --full --only NAME` profiles it); or, if it has to be, renew the "
                "ratio with `python -m benchmarks.guard --write` and say why in the commit."
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.write:
        ratios = {name: round(min(measured(make) for _ in range(3)), 2) for name, make in PATHS.items()}
        KEPT.write_text(json.dumps(ratios, indent=1) + "\n")
        print(KEPT.read_text())
        return 0
    sentences = slower(json.loads(KEPT.read_text()), PATHS)
    print("\n".join(sentences) or "No path is slower than its kept ratio allows.")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())

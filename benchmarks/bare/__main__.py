"""What a pass of every model costs beside the arithmetic that no code could do without.

    python -m benchmarks.bare --full     (all models, three sizes; six minutes)
    python -m benchmarks.bare --quick    (the small sizes, few turns; the figures mean little, the program runs)
    python -m benchmarks.bare --full --size large --only LogisticPCA    (some jobs; the others keep their figures)

A pass is the E-step over all blocks of a table, statistics added up, on one thread. The bare engine walks the same blocks with plain NumPy: only the
matrix products that nothing can do without and one exp, tanh or log for every element, into buffers that it keeps, in the same precision and with one
BLAS thread. What that is for each model stands at the top of its file. The two take turns, and the ratio is the median of the
ratios of neighboring turns, in CPU time of the process, so that other work on the machine counts for little. Beside every ratio above the goal
there is a profile, in benchmarks/bare/results.
"""

import argparse
import statistics
from typing import Any

from benchmarks.record import kept, record, result

from . import jobs as every
from .profiles import profile
from .turns import SEED, Job, side_by_side

GOAL = 1.5


def measured(job: Job, quick: bool) -> dict[str, Any]:
    """Return the figures of a job, and where its time goes if it misses the goal; the profile is written."""
    turns = side_by_side(job, 1, 3, 0.1) if quick else side_by_side(job, 3, 15, 1.2)
    figures: dict[str, Any] = {
        **{key: getattr(job, key) for key in ("model", "what", "size", "table", "hidden", "dtype", "storage")},
        "milliseconds": round(1e3 * statistics.median(turns.ours), 2),
        "milliseconds_bare": round(1e3 * statistics.median(turns.bare), 2),
        "ratio": round(turns.ratio, 2),
        "ratios": [round(ratio, 2) for ratio in turns.ratios],
    }
    print(
        f"{job.name:75s} {figures['milliseconds']:9.2f} ms, bare {figures['milliseconds_bare']:9.2f}: {turns.ratio:5.2f}"
    )
    if figures["ratio"] > GOAL and not quick:
        text, largest = profile(job, statistics.median(turns.ours))
        figures["where"] = {name: round(share, 3) for name, share in largest}
        figures["profile"] = text
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how_long = parser.add_mutually_exclusive_group(required=True)
    how_long.add_argument("--quick", action="store_true")
    how_long.add_argument("--full", action="store_true")
    parser.add_argument("--size", choices=every.SIZES, help="this size alone")
    parser.add_argument("--only", default="", help="jobs with this in their names alone")
    asked = parser.parse_args()
    sizes = (asked.size,) if asked.size else every.SIZES[:1] if asked.quick else every.SIZES
    for size in sizes:
        for make in every.jobs(size):
            job = make()
            if asked.only in job.name:
                figures = measured(job, asked.quick)
                if asked.full:
                    keep(job.name, figures)


def keep(name: str, figures: dict[str, Any]) -> None:
    """Put the figures of a job in the place of its last ones, and its profile beside them."""
    text = figures.pop("profile", None)
    record("bare/bare", {**kept("bare/bare"), name: figures}, seeds=SEED, packages=("numba",), aloud=False, goal=GOAL)
    family, _, rest = name.partition("_")
    beside = result(f"bare/{family}/{rest}", ".txt")
    if text is not None:
        beside.parent.mkdir(exist_ok=True)
        beside.write_text(text)
    else:
        beside.unlink(missing_ok=True)


if __name__ == "__main__":
    main()

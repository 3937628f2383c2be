"""What it costs to open a table of answers, from every container, beside the same table in a CSV file.

    python -m benchmarks.opening --full     (100,000 x 50; two minutes)
    python -m benchmarks.opening --quick    (10,000 x 50)

Processor time of `open_table`, in turns with that of the CSV file; the median of the ratios of neighbouring turns.
"""

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bare.turns import SEED, side_by_side
from benchmarks.record import asked_quick, record

from .containers import WORDS, containers, opening

GOALS = {"pandas, objects": 8.0}
GOAL = 3.0  # of all others, for yes and no


def main() -> None:
    quick = asked_quick(__doc__ or "")
    n, turns = (10_000, 2) if quick else (100_000, 7)
    figures = {}
    for levels in WORDS:
        with TemporaryDirectory() as folder:
            tables = containers(Path(folder), n, levels)
            for name in tables:
                job = opening(tables, name, n, levels)
                found = side_by_side(job, turns, turns, 0.0)
                figures[f"{levels} levels, {name}"] = {
                    "levels": levels,
                    "container": name,
                    "seconds": round(statistics.median(found.ours), 3),
                    "seconds_csv": round(statistics.median(found.bare), 3),
                    "ratio": round(found.ratio, 2),
                    "goal": GOALS.get(name, GOAL) if levels == 2 else None,
                }
    record("opening/opening", figures, seeds=SEED, packages=("pandas", "polars", "pyarrow"), rows=n, columns=50)


if __name__ == "__main__":
    main()

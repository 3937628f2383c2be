"""Do what a new user does, from an empty environment and a wheel to four reports, and write down what happened.

    python tools/first_five_minutes.py WHEEL [FOLDER]        (the real tables are found through HIDDENBITS_DATA)

Writes docs/first_five_minutes.md, and keeps the reports in the folder.
Exits with 1 if a command fails or all of it takes more than five minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "first_five_minutes.md"
TABLES = ("survey/psych_ability.csv", "votes/senate109.csv", "baskets/groceries.txt.gz", "tables/zoo.csv")
LIMIT = 300.0
SHOWN = 40  # lines of output
WORDS = """# The first five minutes

What a new user can do in five minutes with an empty environment, a wheel, four tables and `--help`. Written by
`python tools/first_five_minutes.py`, which ran these commands one after the other on a machine with {cores} cores.
"""


def main() -> int:
    """Run all commands; write the page."""
    wheel, data = Path(sys.argv[1]).resolve(), Path(os.environ["HIDDENBITS_DATA"])
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for table in TABLES:
            shutil.copy(data / table, here)
        shutil.copy(data / "baskets/groceries_items.txt", here)
        shutil.copy(wheel, here)
        commands = [
            ("python -m venv new && . new/bin/activate", [sys.executable, "-m", "venv", "new"]),
            (
                f"pip install './{wheel.name}[cli,plot,report]'",
                ["new/bin/pip", "install", "-q", f"./{wheel.name}[cli,plot,report]"],
            ),
            *(
                (f"hiddenbits {line}", ["new/bin/hiddenbits", *line.split()])
                for line in (
                    "--help",
                    "look psych_ability.csv",
                    "report psych_ability.csv --out ability.html",
                    "report senate109.csv --out senate.html",
                    "report groceries.txt.gz --names groceries_items.txt --out groceries.html",
                    "report zoo.csv --out zoo.html",
                )
            ),
        ]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HIDDENBITS"))}
        told, total, failed = [], 0.0, False
        for shown, call in commands:
            begun = time.perf_counter()
            done = subprocess.run(
                call, cwd=here, env=environment | {"COLUMNS": "100", "TERM": "dumb"}, capture_output=True, text=True
            )
            seconds = time.perf_counter() - begun
            total, failed = total + seconds, failed or done.returncode != 0
            told.append(f"```text\n$ {shown}\n{_short(done.stderr + done.stdout, here)}```\n{seconds:.1f} s\n")
            print(f"{seconds:6.1f} s  {shown}", flush=True)
        for file in here.glob("*.html") if len(sys.argv) > 2 else ():
            shutil.copy(file, sys.argv[2])
        sizes = ", ".join(f"{file.name} {file.stat().st_size / 1e6:.1f} MB" for file in sorted(here.glob("*.html")))
    verdict = f"All of it took {total:.0f} s, the installation included. The reports: {sizes}.\n"
    PAGE.write_text("\n".join([WORDS.format(cores=os.cpu_count()), *told, verdict]), encoding="utf-8")
    print(verdict)
    return int(failed or total > LIMIT)


def _short(text: str, here: Path) -> str:
    """Return what a command printed, without the place it ran in, and not too much of it."""
    lines = [line.rstrip() for line in re.sub(re.escape(str(here)) + "/?", "", text).splitlines()]
    lines = [line for line in lines if not line.startswith(("WARNING", "[notice]"))]
    more = [f"... ({len(lines) - SHOWN} more lines)"] if len(lines) > SHOWN else []
    return "".join(f"{line}\n" for line in [*lines[:SHOWN], *more])


if __name__ == "__main__":
    sys.exit(main())

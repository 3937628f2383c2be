"""Do what the README tells a new user, from an empty environment and a wheel, and write down what happened.

    python tools/first_five_minutes.py WHEEL [FOLDER]

Runs every command and the Python of the README in its order; `pip install` takes the wheel, as the README says it can.
Writes docs/first_five_minutes.md, and keeps the report in the folder. Exits with 1 if a command fails, if the Python
prints something else than the README, or if all of it takes more than three minutes of processor time.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "first_five_minutes.md"
LIMIT = 180.0  # seconds of processor time
SHOWN = 40  # lines of output
WORDS = """# The first five minutes

What happens to somebody who follows the README with an empty environment and a wheel. Written by
`python tools/first_five_minutes.py`, which ran the README's commands and its Python one after the other. Times are
seconds of the processor, and in brackets of the clock, on a shared machine with {cores} cores.
"""


def readme() -> tuple[list[str], str]:
    """Return the commands of the README, and its Python as a session."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [
        line.partition("  #")[0].strip() for language, block in blocks if not language for line in block.splitlines()
    ]
    return [line for line in lines if line], "\n".join(block for language, block in blocks if language == "python")


def main() -> int:
    """Run all commands; write the page."""
    wheel = Path(sys.argv[1]).resolve()
    commands, session = readme()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copy(wheel, here)
        (here / "readme.txt").write_text(session, encoding="utf-8")
        calls = [("python -m venv new && . new/bin/activate", [sys.executable, "-m", "venv", "new"])]
        for command in commands:
            words = shlex.split(command)
            if words[0] == "pip":
                words = ["pip", "install", f"./{wheel.name}[all]"]
                calls.append((shlex.join(words), ["new/bin/pip", "install", "-q", words[2]]))
            else:
                calls.append((command, [f"new/bin/{words[0]}", *words[1:]]))
        calls.append(
            (
                "python -m doctest readme.txt  # the Python of the README",
                ["new/bin/python", "-m", "doctest", "readme.txt"],
            )
        )
        told, total, failed = [], 0.0, False
        for shown, call in calls:
            done, processor, clock = _run(call, here)
            total, failed = total + processor, failed or done.returncode != 0
            told.append(
                f"```text\n$ {shown}\n{_short(done.stderr + done.stdout, here)}```\n{processor:.1f} s ({clock:.1f} s)\n"
            )
            print(f"{processor:6.1f} s {clock:6.1f} s  {shown}{'' if done.returncode == 0 else '  FAILED'}", flush=True)
        reports = sorted(here.glob("*.html"))
        for file in reports if len(sys.argv) > 2 else ():
            shutil.copy(file, sys.argv[2])
        sizes = ", ".join(f"{file.name} has {file.stat().st_size / 1e6:.1f} MB" for file in reports)
    verdict = f"All of it took {total:.0f} s of processor time, the installation included. The report {sizes}.\n"
    if failed:
        print("A command failed: the page is not written.")
        return 1
    PAGE.write_text("\n".join([WORDS.format(cores=os.cpu_count()), *told, verdict]), encoding="utf-8")
    print(verdict)
    return int(total > LIMIT)


def _run(call: list[str], here: Path) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """Run a command in the folder; return it, its seconds of processor time, and those of the clock."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HIDDENBITS"))}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = kept | {"COLUMNS": "100", "TERM": "dumb"}
    done = subprocess.run(call, cwd=here, env=environment, capture_output=True, text=True, check=False)
    clock, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def _short(text: str, here: Path) -> str:
    """Return what a command printed, without the place it ran in, and not too much of it."""
    lines = [line.rstrip() for line in re.sub(re.escape(str(here)) + "/?", "", text).splitlines()]
    lines = [line for line in lines if not line.startswith(("WARNING", "[notice]"))]
    more = [f"... ({len(lines) - SHOWN} more lines)"] if len(lines) > SHOWN else []
    return "".join(f"{line}\n" for line in [*lines[:SHOWN], *more])


if __name__ == "__main__":
    sys.exit(main())

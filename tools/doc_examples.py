"""Run the ``>>>`` examples in the fenced Python blocks of Markdown pages; the blocks of a page share names.

In ``console`` blocks the lines that begin with ``$ `` are commands, ``hiddenbits`` ones above all. They run after the
page's Python, in the same folder, and what stands below a command is what it must print (``...`` stands for anything).
``python tools/doc_examples.py README.md docs`` exits with 1 if an example fails or none is found. (pytest's
``--doctest-glob`` takes the closing fence for expected output.) A page with the line ``<!-- needs HIDDENBITS_DATA -->``
is about real tables, which are not part of the project: without that environment variable it is left out, and said so.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

NEEDS_DATA = "<!-- needs HIDDENBITS_DATA -->"
FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(\w*)")


def python_only(text: str) -> tuple[str, int]:
    """Blank all lines outside Python blocks, so that lines keep their numbers; count blocks without >>>."""
    kept: list[str] = []
    blocks: list[list[str]] = []
    fence = language = ""
    for line in text.splitlines():
        found = FENCE.match(line)
        if found and not fence:
            fence, language = found.groups()
            blocks += [[]] if language in {"python", "pycon"} else []
            kept.append("")
        elif found and found[1].startswith(fence) and not found[2]:
            fence = language = ""
            kept.append("")
        elif language in {"python", "pycon"}:
            blocks[-1].append(line)
            kept.append(line)
        else:
            kept.append("")
    return "\n".join(kept) + "\n", sum(not any(">>>" in line for line in block) for block in blocks)


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of console blocks, each with the output that is expected of it."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def run_commands(text: str, page: str) -> int:
    """Run the commands of a page; return how many failed."""
    failed = 0
    for command, expected in commands(text):
        words = shlex.split(command)
        words[:1] = [sys.executable, "-m", "hiddenbits"] if words[0] == "hiddenbits" else words[:1]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "120"})
        printed = f"{done.stdout.rstrip()}\n"
        same = not expected or doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
        if done.returncode or not same:
            failed += 1
            print(f"{page}: {command}\n{done.stdout}{done.stderr}")
    return failed


def main(arguments: list[str]) -> int:
    """Run the examples of the given pages and folders of pages; return the exit status."""
    given = [Path(argument).resolve() for argument in arguments]
    pages = [page for path in given for page in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    failed = tried = 0
    for page in pages:
        whole = page.read_text(encoding="utf-8")
        if NEEDS_DATA in whole.splitlines() and not os.environ.get("HIDDENBITS_DATA"):
            print(f"{page.name}: not run, HIDDENBITS_DATA is not set")
            continue
        text, plain = python_only(whole)
        examples = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
            warnings.simplefilter("error")
            os.chdir(scratch)  # examples may write files
            try:
                result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
                refused = run_commands(whole, page.name)
            finally:
                os.chdir(here)
        attempted = result.attempted + len(commands(whole))
        failed, tried = failed + result.failed + refused, tried + attempted
        counts = f"{attempted} examples, {result.failed + refused} failed"
        print(f"{page.name}: {counts}; {plain} blocks without >>> not run")
    print(f"{tried} examples on {len(pages)} pages, {failed} failed")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

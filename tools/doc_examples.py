"""Run the ``>>>`` examples in the fenced Python blocks of Markdown pages; the blocks of a page share names.

``python tools/doc_examples.py README.md docs`` exits with 1 if an example fails or none is found. (pytest's
``--doctest-glob`` takes the closing fence for expected output.)
"""

from __future__ import annotations

import doctest
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

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


def main(arguments: list[str]) -> int:
    """Run the examples of the given pages and folders of pages; return the exit status."""
    given = [Path(argument).resolve() for argument in arguments]
    pages = [page for path in given for page in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    failed = tried = 0
    for page in pages:
        text, plain = python_only(page.read_text(encoding="utf-8"))
        examples = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
            warnings.simplefilter("error")
            os.chdir(scratch)  # examples may write files
            try:
                result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
            finally:
                os.chdir(here)
        failed, tried = failed + result.failed, tried + result.attempted
        counts = f"{result.attempted} examples, {result.failed} failed"
        print(f"{page.name}: {counts}; {plain} blocks without >>> not run")
    print(f"{tried} examples on {len(pages)} pages, {failed} failed")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

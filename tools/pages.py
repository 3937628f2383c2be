"""Write all pages that are made from committed results, or check that they are what the results say.

    python tools/pages.py            writes the pages that differ
    python tools/pages.py --check    changes nothing; prints the differences and exits with 1 if there are any

Nothing is measured: a writer is a file with a function ``pages()`` that reads results and returns the text of pages. It
writes a page or an SVG as a whole, or a part between two marks. Other pictures are not compared.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = 20  # lines of difference of one page
WRITTEN = re.compile(r"[Ww]ritten by[\s]`")


def writers(root: Path) -> list[Path]:
    """Return the files that write pages."""
    experiments = root / "experiments"
    return [
        root / "benchmarks" / "page.py",
        *sorted((root / "benchmarks").glob("*/page.py")),
        *sorted(experiments.glob("*/readme.py")),
        experiments / "papers.py",
    ]


def pages_of(writer: Path, root: Path) -> dict[Path, str]:
    """Return what a writer makes of the results, page by page; modules of other folders may have the same names."""
    path, before = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(root), str(writer.parent), str(writer.parent.parent)]
    try:
        spec = importlib.util.spec_from_file_location(writer.stem, writer)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return dict(module.pages())
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            home = getattr(sys.modules[name], "__file__", None)
            if home and {root / "benchmarks", root / "experiments"} & set(Path(home).parents):
                del sys.modules[name]


def claimed(root: Path) -> list[Path]:
    """Return the pages that say that a program writes them."""
    pages = [*root.glob("docs/**/*.md"), *root.glob("experiments/*/README.md"), *root.glob("benchmarks/results/*.md")]
    return [page for page in pages if WRITTEN.search(page.read_text(encoding="utf-8"))]


def difference(page: Path, text: str) -> list[str]:
    """Return the lines in which a page differs from what it should be, byte for byte; none if it does not."""
    there = page.read_bytes().decode("utf-8") if page.is_file() else ""
    if there == text:
        return []
    lines = difflib.unified_diff(there.splitlines(), text.splitlines(), "the page", "the results", lineterm="", n=0)
    return list(lines) or ["only in how lines end"]


def main(arguments: list[str]) -> int:
    """Write or compare all pages; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    check = parser.parse_args(arguments).check
    pages: dict[Path, str] = {}
    for writer in writers(ROOT):
        pages |= pages_of(writer, ROOT)
    wrong = {page: lines for page, text in pages.items() if (lines := difference(page, text))}
    for page, lines in wrong.items():
        print(f"{page.relative_to(ROOT)}: {'is not what the results say' if check else 'written'}")
        if check:
            print("\n".join(f"  {line[:200]}" for line in lines[:SHOWN]))
        else:
            page.parent.mkdir(exist_ok=True)
            page.write_bytes(pages[page].encode("utf-8"))
    lost = [page for page in claimed(ROOT) if page not in pages]
    for page in lost:
        print(f"{page.relative_to(ROOT)}: says that it is written by a program, and none here writes it")
    print(f"{len(pages)} pages are made from results; {len(wrong)} {'differ' if check else 'were written'}.")
    if check and wrong:
        print("Run `python tools/pages.py`, look at what changed, and commit it.")
    return 1 if check and (wrong or lost) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The matrix of docs/compare.md: which family made a table, and which one `compare` named."""

from pathlib import Path

from benchmarks.record import DOCS, load, table, write
from experiments.common import filled

PAGE = DOCS / "compare.md"


def matrix() -> str:
    cases = load("compare/families")["figures"]
    names = list(dict.fromkeys([case["truth"] for case in cases] + [case["first"] for case in cases]))
    rows: list[list[object]] = []
    for truth in dict.fromkeys(case["truth"] for case in cases):
        own = [case for case in cases if case["truth"] == truth]
        counts = [sum(case["first"] == name for case in own) or "" for name in names]
        rows.append([truth, *counts, f"{sum(case['right'] for case in own)}/{len(own)}"])
    return table(["truth \\ named", *names, "named or within one standard error of the highest"], rows)


def pages() -> dict[Path, str]:
    return {PAGE: filled(PAGE.read_text(), "confusion", matrix())}


if __name__ == "__main__":
    write(pages())

"""The figures of docs/guides/inference.md: the parts between its marks, from recorded results.

python -m benchmarks.inference.page
"""

import re
from pathlib import Path

from benchmarks.page_parts import DOCS, how, load, table, write
from benchmarks.record import result

PAGE = DOCS / "guides" / "inference.md"
TESTS = ("maps", "pairs", "lrt")
DESIGNS = ("apart", "mixture", "map", "clusters", "causes")


def recorded(*names: str) -> list[dict]:
    return [load(f"inference/{name}") for name in names if result(f"inference/{name}").is_file()]


def size() -> str:
    reports = recorded(*(f"size_{test}" for test in TESTS))
    rows = [
        [*name.split(", ", 1), f"{figure['rejected']} of {figure['tables']}"]
        for report in reports
        for name, figure in report["figures"].items()
    ]
    rows = [[test, "the model is true" if what == "size" else what, count] for test, what, count in rows]
    return table(["test at 5%", "tables", "rejected"], rows) + "\n\n" + printed(reports)


def coverage() -> str:
    reports = recorded(
        *(f"coverage_{design}{method}" for design in DESIGNS for method in ("", "_information", "_bootstrap"))
    )
    rows = [
        [name, f"{figure['coverage']:.3f}".lstrip("0"), f"{figure['intervals']:,}", figure["tables"]]
        for report in reports
        for name, figure in report["figures"].items()
    ]
    return table(["95% intervals", "contain the truth", "intervals", "tables"], rows) + "\n\n" + printed(reports)


def printed(reports: list[dict]) -> str:
    return "Printed by " + " ".join(dict.fromkeys(map(how, reports)))


def pages() -> dict[Path, str]:
    text = PAGE.read_text(encoding="utf-8")
    for name, part in (("size", size()), ("coverage", coverage())):
        marks = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if not marks.search(text):
            raise SystemExit(f"{PAGE.name} has no marks for {name}.")
        text = marks.sub(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", text)
    return {PAGE: text}


if __name__ == "__main__":
    write(pages())

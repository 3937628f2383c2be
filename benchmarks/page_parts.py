"""What the pages of figures share."""

import json
from pathlib import Path
from typing import Any

from benchmarks.record import HERE, result

DOCS = HERE.parent / "docs"


def load(name: str) -> dict[str, Any]:
    """Return a result by its topic and name, such as "mixture/stepmix"."""
    return json.loads(result(name).read_text())


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        print(f"{path.name} written")


def topic_page(name: str, topic: str, title: str, *sections: str) -> dict[Path, str]:
    """Return the page results/NAME.md of a topic, a folder of the benchmarks."""
    written = f"Written by `python -m benchmarks.{topic}.page` from `benchmarks/{topic}/results/`."
    return {HERE / "results" / f"{name}.md": "\n".join([f"# {title}\n\n{written}\n", *sections])}


def how(report: dict[str, Any]) -> str:
    """Return the command that prints a result, and the versions with which it did."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"`{report['command']}`; {report['cores']} cores, {versions}."

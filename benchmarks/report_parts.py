"""What the pages of figures share."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def load(name: str, folder: Path = HERE / "results") -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text())


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        path.write_text(text)
        print(f"{path.name} written")


def how(report: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"`{report['command']}`; {report['cores']} cores, {versions}."

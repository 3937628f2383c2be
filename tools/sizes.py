"""Lines of code by room, so that what grows is seen: `python tools/sizes.py`, and `--check` against `sizes.toml`.

A line of code has a token other than a comment, and is not part of a docstring. `--check` fails if a room is larger
than its line in `sizes.toml`. A room that shrinks needs no edit; one that grows needs one there, with its reason.
`--write` sets every limit to what is counted now, and keeps the comments.
"""

import argparse
import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ROOT / "tools" / "sizes.toml"
PACKAGE = "src/hiddenbits/"
# Rooms of the rest of the project, and of the package those that are counted in parts.
OUTSIDE = ("tests", "experiments", "benchmarks", "tools", "examples")
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(path: Path) -> int:
    """Count the lines of a Python file that hold code: no docstrings, comments or empty lines."""
    with tokenize.open(path) as file:
        lines = {
            line
            for token in tokenize.generate_tokens(file.readline)
            if token.type not in NO_CODE
            for line in range(token.start[0], token.end[0] + 1)
        }
    return len(lines - set(_docstring_lines(path)))


def _docstring_lines(path: Path) -> Iterator[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, owners) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            yield from range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)


def words(path: Path) -> int:
    """Count the words of a page as a reader sees them: no code blocks."""
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return len(re.findall(r"[A-Za-z][\w'-]*", text))


def room_of(name: str) -> str | None:
    """Name the room of a Python file, given by its path from the root of the project."""
    first = name.split("/", 1)[0]
    if first in OUTSIDE:
        return first
    if not name.startswith(PACKAGE):
        return None
    inner = name.removeprefix(PACKAGE).split("/")
    if len(inner) == 1:
        return "src/top"
    if inner[0] == "families" and len(inner) > 2:
        return f"src/families/{inner[1]}"
    return f"src/{inner[0]}"


def sizes() -> dict[str, int]:
    """Count all rooms: lines of code, files of `src`, words of the pages."""
    listed = subprocess.run(  # files that git knows or would add, so that nobody's scratch files count
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    rooms: dict[str, int] = {"src": 0, "src files": 0}
    for name in sorted(listed):
        path = ROOT / name
        if not path.is_file():
            continue  # deleted, not yet committed
        if name.endswith(".py") and (room := room_of(name)):
            count = code_lines(path)
            rooms[room] = rooms.get(room, 0) + count
            if room.startswith("src/"):
                rooms["src"] += count
                rooms["src files"] += 1
        elif name.endswith((".md", ".rst")) and name.startswith("docs/"):
            rooms["words of docs"] = rooms.get("words of docs", 0) + words(path)
    return rooms


def main() -> None:
    """Print the sizes, compare them with their limits, or write them as the new limits."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    action = arguments.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail if a room is larger than its limit")
    action.add_argument("--write", action="store_true", help="make what is counted now the limits")
    chosen = arguments.parse_args()
    counted = sizes()
    limits = tomllib.loads(LIMITS.read_text(encoding="utf-8"))["limits"] if LIMITS.exists() else {}
    if chosen.write:
        LIMITS.write_text(rewritten(counted), encoding="utf-8")
        return
    width = max(map(len, counted))
    for room, count in counted.items():
        print(f"{room:{width}}  {count:>7,}")
    if chosen.check:
        sys.exit("\n".join(complaints(counted, limits)) or 0)


def complaints(counted: dict[str, int], limits: dict[str, int]) -> list[str]:
    """Name the rooms that are larger than allowed, and limits of rooms that are gone."""
    grown = [
        f"{room}: {count:,}, but tools/sizes.toml allows {limits.get(room, 0):,}. Make room, or raise it with a reason."
        for room, count in counted.items()
        if count > limits.get(room, 0)
    ]
    gone = [f"{room} is in tools/sizes.toml, but there is no such room. Remove its line." for room in limits]
    return grown + [line for room, line in zip(limits, gone, strict=True) if room not in counted]


def rewritten(counted: dict[str, int]) -> str:
    """Write `sizes.toml` with the numbers that are counted, and the comments that stand there."""
    old = LIMITS.read_text(encoding="utf-8").splitlines() if LIMITS.exists() else ["[limits]"]
    comments = {m[1]: m[2] for line in old if (m := re.match(r'"(.+?)" = [\d_]+(\s+#.*)?$', line)) and m[2]}
    head = old[: old.index("[limits]") + 1]
    return "\n".join([*head, *(f'"{room}" = {n}{comments.get(room, "")}' for room, n in counted.items())]) + "\n"


if __name__ == "__main__":
    main()

"""Names that cannot be searched for: `python tools/names.py [FOLDER]`, and `--check` for the continuous integration.

Counts, in `src`, how often a word such as *found* or *said* is bound (a variable, parameter, attribute or function of
that name), and the names of classes that are defined more than once. `--list` prints where.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = ("found", "said", "at", "there", "here", "seen", "told", "asked", "aloud")
MOST_BINDINGS = 67  # a tenth of the 670 that there were


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every name that a file binds, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.alias(asname=str(name)):
                yield name, node.lineno


def main() -> None:
    """Print the counts, and compare them with what is allowed."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("folder", nargs="?", type=Path, default=ROOT / "src", help="where to count, such as src")
    arguments.add_argument("--check", action="store_true", help="fail if there are more than allowed")
    arguments.add_argument("--list", action="store_true", help="print every place")
    chosen = arguments.parse_args()
    bindings: dict[str, list[str]] = {word: [] for word in WORDS}
    classes: dict[str, list[str]] = {}
    for path in sorted(chosen.folder.rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        for name, line in bound_names(tree):
            if name.strip("_") in bindings:
                bindings[name.strip("_")].append(f"{path.relative_to(chosen.folder)}:{line}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(f"{path.relative_to(chosen.folder)}:{node.lineno}")
    twice = {name: places for name, places in sorted(classes.items()) if len(places) > 1}
    for word, places in bindings.items():
        print(f"{word:8} {len(places):>4}", *(dict.fromkeys(Counter(places)) if chosen.list else ()), sep="\n  ")
    total = sum(map(len, bindings.values()))
    print(f"in all   {total:>4}")
    print(f"classes whose name exists twice or more: {len(twice)}")
    for name, places in twice.items():
        print(f"  {name}: {', '.join(places)}")
    if chosen.check and (twice or total > MOST_BINDINGS):
        sys.exit(f"At most {MOST_BINDINGS} bindings and no class name twice: find nouns that can be searched for.")


if __name__ == "__main__":
    main()

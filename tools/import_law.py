"""Check who may import whom (the design's import law), and that ``import hiddenbits`` stays light.

``python tools/import_law.py [root]`` prints each breach as ``file:line: what; law; remedy`` and exits with 1.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "hiddenbits"
# What each inner room may import, beside itself.
INNER: dict[str, set[str]] = {
    "quoting": set(),
    "data": set(),
    "store": set(),
    "engine": {"data", "store"},
    "models": {"data"},
    "estimators": {"data", "engine", "models", "store"},
}
# What every room may import: how names and cells appear in messages.
BASE = "quoting"
# What may use public names only, and the rooms it may use beside itself: other rooms, and folders beside src.
OUTER = dict.fromkeys(("evaluate", "datasets", "images", "plots", "report", "cli"), "") | {"__main__": "cli"}
# How a file appears whole or not at all: no matter of users, and not to be written once more in each outer room.
SHARED = {f"{PACKAGE}.store.whole_file", f"{PACKAGE}.store.check_target"}
OUTSIDE = ("experiments", "examples")  # benchmarks may look inside: they measure single rooms
HEAVY = {"numpy", "scipy", "sklearn", "dask", "matplotlib"}
LOAD = f"""
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
import {PACKAGE}
print(*(set(sys.modules) - before))
"""

Used = Iterator[tuple[int, str]]  # line number and dotted name


def literal(path: Path, name: str) -> object:
    """Return the literal that a module assigns to `name` at its top level, or None."""
    for node in ast.parse(path.read_text()).body if path.is_file() else []:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            try:
                return ast.literal_eval(node.value)  # type: ignore[attr-defined]
            except ValueError:
                return None
    return None


def imports(tree: ast.AST, module: tuple[str, ...]) -> Used:
    """Yield all that is imported, relative imports and `import_module` of a constant resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module[: len(module) - node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            if called in {"import_module", "__import__"}:
                yield node.lineno, str(node.args[0].value)


def attributes(tree: ast.AST) -> Used:
    """Yield what is reached through the imported package, as in ``hiddenbits.data.bits``."""
    aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names = {alias.asname for alias in aliases if alias.name == PACKAGE}
    names |= {PACKAGE for alias in aliases if alias.name.split(".")[0] == PACKAGE and not alias.asname}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    prefixes = {id(node.value) for node in nodes}
    for node in nodes:
        first, *rest = ast.unparse(node).split(".")
        plain = all(part.isidentifier() for part in rest)  # no calls in it: what they call comes by itself
        if id(node) not in prefixes and first in names and plain:
            yield node.lineno, ".".join([PACKAGE, *rest])


class Law:
    """The law for the tree at `root`, with the public names that its `__init__` declares."""

    def __init__(self, root: Path) -> None:
        self.root, self.package = root, root / "src" / PACKAGE
        homes = literal(self.package / "__init__.py", "_HOMES")
        self.homes: dict[str, str] = homes if isinstance(homes, dict) else {}

    def inner(self, room: str, name: str) -> str | None:
        """Return what is wrong with an import by an inner room, or None."""
        head = name.split(".")[1] if "." in name else ""
        target = self.homes.get(head, f"{PACKAGE}.{head}").split(".")[1]
        if target in INNER[room] | {room, BASE}:
            return None
        lawful = ", ".join(sorted(INNER[room])) or "nothing of the package"
        remedy = "hand it in as an argument, or move it to a lower room"
        return f"{room} imports {name}; {room} may import {lawful}; {remedy}"

    def outer(self, room: str, name: str) -> str | None:
        """Return what is wrong with a name used where only public ones may be, or None."""
        parts = name.split(".")[1:3]
        free = {room, OUTER.get(room), "__version__", "__all__", *([BASE] if room in OUTER else [])}
        if not parts or parts[0] in free or name in SHARED:
            return None
        law = f"{room} may use public names only"
        if parts[0] not in self.homes:
            known = parts[-1] in self.homes
            remedy = f"from {PACKAGE} import {parts[-1]}" if known else "make it public in _HOMES, or do without"
            return f"{room} uses {name}; {law}; {remedy}"
        home = f"{PACKAGE}.{parts[0]}"
        if len(parts) == 2 and self.homes[parts[0]] == home:  # a name of a public room
            listed = literal(self.package / parts[0] / "__init__.py", "__all__")
            if not isinstance(listed, (list, tuple)) or parts[1] not in listed:
                return f"{room} uses {name}; {law}; add it to __all__ of {home}, or do without"
        return None

    def file(self, path: Path, room: str) -> Iterator[str]:
        """Yield the breaches in one file."""
        where = path.relative_to(self.root)
        if room not in {*INNER, *OUTER, *OUTSIDE}:
            yield f"{where}:1: {room} is not in the law; every room is; add it to tools/import_law.py"
            return
        try:
            tree = ast.parse(path.read_text())
        except SyntaxError as error:
            yield f"{where}:{error.lineno}: {error.msg}; every file can be parsed; mend it"
            return
        module = path.with_suffix("").relative_to(self.root).parts[1:]
        used = [(line, name) for line, name in imports(tree, module) if name.split(".")[0] == PACKAGE]
        for line, name in [*used, *attributes(tree)]:
            wrong = self.inner(room, name) if room in INNER else self.outer(room, name)
            if wrong:
                yield f"{where}:{line}: {wrong}"

    def weight(self) -> Iterator[str]:
        """Yield what importing the package loads and must not, found in a fresh interpreter."""
        command = [sys.executable, "-I", "-c", LOAD, str(self.package.parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        where = f"src/{PACKAGE}/__init__.py:1"
        if done.returncode:
            error = done.stderr.strip().splitlines()[-1]
            yield f"{where}: {error}; the package can be imported by itself; mend it"
        for name in sorted({name.split(".")[0] for name in done.stdout.split()} & HEAVY):
            law = "public names resolve lazily; move the import into __getattr__"
            yield f"{where}: `import {PACKAGE}` loads {name}; {law}"

    def breaches(self) -> list[str]:
        """Return all breaches in the tree."""
        found = list(self.weight())
        if not self.homes:
            found.append(f"src/{PACKAGE}/__init__.py:1: no _HOMES; it lists the public names; write a literal")
        for path in sorted(self.package.rglob("*.py")):
            room = path.relative_to(self.package).parts[0].removesuffix(".py")
            if room != "__init__":  # imports lazily: `weight` judges it
                found += self.file(path, room)
        for folder in OUTSIDE:
            paths = sorted((self.root / folder).rglob("*.py"))
            # Benchmarks keep environments of their own.
            found += [line for path in paths if "site-packages" not in path.parts for line in self.file(path, folder)]
        return found


def main(arguments: list[str]) -> int:
    """Print the breaches of the tree at the given root, by default this one; return the exit status."""
    root = Path(arguments[0]) if arguments else Path(__file__).parents[1]
    breaches = Law(root.resolve()).breaches()
    print(*breaches, f"Import law: {len(breaches)} breaches.", sep="\n")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

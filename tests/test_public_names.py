"""Rooms for users of the package, experiments and examples use public names: what import-linter cannot see."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import hiddenbits

ROOT = Path(__file__).parents[1]
ROOMS = ("cli", "datasets", "diagnostics", "evaluate", "inference", "plots", "reporting")
# How a file appears whole or not at all, and how equal rows become one: once for all rooms.
STORE = ("whole_file", "check_target", "make_folder", "writing")
SHARED = {"hiddenbits.data.collapse.collapse", *(f"hiddenbits.store.{name}" for name in STORE)}
# The command line tells the report which command made it.
SHARED |= {"hiddenbits.reporting.entry.report_of", "hiddenbits.reporting.origin.Origin"}
HASHING = "hiddenbits.data.hashing."  # one way to make numbers of rows, of words and of settings
FILES = [path for room in ROOMS for path in (ROOT / "src/hiddenbits" / room).rglob("*.py")]
FILES.append(ROOT / "src/hiddenbits/fit_cache.py")  # for several of them
FILES += [path for folder in ("experiments", "examples") for path in (ROOT / folder).rglob("*.py")]

pytestmark = pytest.mark.core


def used(text):
    """Yield the dotted names that a text imports from the package, or reaches through it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("hiddenbits."):
            yield ast.unparse(node)


def is_public(name, room=""):
    """Whether a dotted name is public, or within the room that uses it."""
    package, *parts = name.split(".")
    shared = ["array_types", "commands", "fit_cache", "quoting", "display"] if room else []  # modules for every room
    free = {room, "__version__", "__all__", *shared}
    if (
        package != "hiddenbits"
        or not parts
        or parts[0] in free
        or name in SHARED
        or (room and name.startswith(HASHING))
    ):
        return True
    if parts[0] not in hiddenbits.__all__:
        return False
    found = getattr(hiddenbits, parts[0])
    return not isinstance(found, ModuleType) or len(parts) == 1 or parts[1] in found.__all__


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_public_names_alone(path):
    parts = path.relative_to(ROOT).parts
    room = parts[2] if parts[0] == "src" else ""
    names = used(path.read_text(encoding="utf-8"))
    assert [name for name in names if not is_public(name, room)] == []


@pytest.mark.parametrize(
    "code",
    [
        "from hiddenbits.families.nodes.classes import Classes",
        "import hiddenbits.data.bits",
        "import hiddenbits\nhiddenbits.engine.loops.em.fit_em",
        "from hiddenbits.evaluate.row_scores import anything",
        "def f():\n    from hiddenbits.store import read",
    ],
)
def test_others_are_found(code):
    assert not all(is_public(name) for name in used(code))

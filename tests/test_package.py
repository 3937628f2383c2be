"""The package as users meet it: quick to import, complete, documented, typed."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import inspect
import re
import subprocess
import sys
from types import ModuleType

import pytest

import hiddenbits

pytestmark = pytest.mark.core

NAMES = sorted(set(hiddenbits.__all__) - {"__version__"})
HEAVY = {"numpy", "scipy", "sklearn", "narwhals", "dask", "matplotlib"}


def run(code):
    """Return what code prints in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def objects():
    """Yield all public classes and functions with their full names, those of public modules too."""
    for name in NAMES:
        value = getattr(hiddenbits, name)
        inside = value.__all__ if isinstance(value, ModuleType) else ()
        for full, found in [(name, value), *((f"{name}.{inner}", getattr(value, inner)) for inner in inside)]:
            if inspect.isclass(found) or inspect.isroutine(found):
                yield full, found


def methods(cls):
    """Yield the public methods and properties that this package defines for a class."""
    for owner in inspect.getmro(cls):
        if owner.__module__.split(".")[0] == "hiddenbits":
            for name, value in vars(owner).items():
                function = getattr(value, "__func__", value)
                if not name.startswith("_") and (inspect.isfunction(function) or isinstance(value, property)):
                    yield f"{cls.__name__}.{name}", function


def flaws(full, value, *, example):
    """Return what a docstring lacks of numpydoc: a summary, a word on each parameter, an example."""
    doc = inspect.cleandoc(value.__doc__ or "")
    found = [] if re.match(r"\S.*[.:?](\n\n|$)", doc) else ["a summary of one line"]
    if example and not re.search(r"^Examples\n-{8}\n(.*\n)*?>>> ", doc, re.MULTILINE):
        found.append("an example")
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    if not isinstance(value, property) and not is_error:
        sections = "Attributes|Parameters" if inspect.isclass(value) else "Parameters"
        listed = re.findall(rf"^(?:{sections})\n-+\n((?:.+\n?|\n(?!\S+\n-))*)", doc, re.MULTILINE)
        heads = re.findall(r"^(\S.*?)(?: : .*)?$", "\n".join(listed), re.MULTILINE)
        known = {name.strip(" *") for head in heads for name in head.split(",")}
        wanted = set(inspect.signature(value).parameters) - {"self", "cls"}
        found += [f"a line on {name}" for name in sorted(wanted - known)]
    return [f"{full} lacks {flaw}" for flaw in found]


def test_import_is_lazy():
    assert not HEAVY & set(run("import sys, hiddenbits; print(*sys.modules)").split())
    listed = run("import sys, hiddenbits; print(*dir(hiddenbits)); assert 'numpy' not in sys.modules").split()
    assert set(listed) >= {*NAMES, "__version__"}


def test_names_resolve_and_stay():
    for name in hiddenbits.__all__:
        assert getattr(hiddenbits, name) is getattr(hiddenbits, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = hiddenbits.nothing


@pytest.mark.full
def test_each_name_resolves_first():
    """No name needs another one to have been imported before it: nothing goes round in circles."""
    code = """
import importlib, sys
import hiddenbits
for name in hiddenbits.__all__:
    for module in [module for module in sys.modules if module.split(".")[0] == "hiddenbits"]:
        del sys.modules[module]
    getattr(importlib.import_module("hiddenbits"), name)
    print(name)
"""
    assert run(code).split() == hiddenbits.__all__


def test_star_import():
    names = {}
    exec("from hiddenbits import *", names)
    assert set(names) >= set(hiddenbits.__all__)


def test_version_is_that_of_the_metadata():
    assert hiddenbits.__version__ == importlib.metadata.version("hiddenbits")


def test_types_are_shipped():
    assert importlib.resources.files("hiddenbits").joinpath("py.typed").is_file()


def test_public_objects_are_documented():
    found = []
    for full, value in objects():
        # An error is met, not called: its message is the example.
        example = not (inspect.isclass(value) and issubclass(value, Exception))
        found += flaws(full, value, example=example)
    assert not found, "\n".join(found)


def test_public_modules_are_documented():
    modules = [getattr(hiddenbits, name) for name in NAMES]
    assert [m.__name__ for m in modules if isinstance(m, ModuleType) and not m.__doc__] == []


def test_methods_of_estimators_are_documented():
    classes = [value for _, value in objects() if inspect.isclass(value) and hasattr(value, "fit")]
    assert classes
    found = [flaw for cls in classes for full, f in methods(cls) for flaw in flaws(full, f, example=False)]
    assert not found, "\n".join(found)

"""Modules of a paper's folder, which find their neighbors as run.py does."""

import importlib
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def module_of(monkeypatch):
    """Imports a module of a paper by name; other papers may have modules of the same name."""
    before = set(sys.modules)

    def imported(paper, name):
        for folder in (EXPERIMENTS, EXPERIMENTS / paper):
            monkeypatch.syspath_prepend(str(folder))
        return importlib.import_module(name)

    yield imported
    for name in set(sys.modules) - before:
        if str(EXPERIMENTS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]

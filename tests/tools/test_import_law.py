"""Every breach of the import law is caught, lawful imports are let through, and this tree keeps the law."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

TOOL = Path(__file__).parents[2] / "tools" / "import_law.py"
_spec = importlib.util.spec_from_file_location("import_law", TOOL)
import_law = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(import_law)

INIT = """
from typing import TYPE_CHECKING
_HOMES = {
    "Table": "hiddenbits.data",
    "Mixture": "hiddenbits.estimators.mixture",
    "evaluate": "hiddenbits.evaluate",
}
if TYPE_CHECKING:
    from hiddenbits.data import Table as Table
"""


@pytest.fixture
def tree(tmp_path):
    package = tmp_path / "src" / "hiddenbits"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(INIT)
    (package / "evaluate").mkdir()
    (package / "evaluate" / "__init__.py").write_text('__all__ = ["compare"]\n')
    return tmp_path


def breaches(tree, path, code):
    """Put code into a file (under src/hiddenbits unless the path says otherwise) and judge the tree."""
    file = tree / path if path.startswith(import_law.OUTSIDE) else tree / "src" / "hiddenbits" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(code)
    return import_law.Law(tree).breaches()


UNLAWFUL = [
    # inner rooms, downward only
    ("data/a.py", "from hiddenbits.store import read"),
    ("data/a.py", "import hiddenbits"),
    ("data/a.py", "from hiddenbits import __version__"),
    ("data/a.py", "from hiddenbits import *"),
    ("store/a.py", "from hiddenbits.data import Table"),
    ("store/a.py", "import hiddenbits.data.table as t"),
    ("engine/a.py", "from hiddenbits.models import Mixture"),
    ("engine/a.py", "from hiddenbits.estimators.base import BitsEstimator"),
    ("models/a.py", "from hiddenbits.engine import Key"),
    ("models/a.py", "from hiddenbits.store import write"),
    ("models/a.py", "from hiddenbits import Mixture"),  # lives in estimators
    ("estimators/a.py", "from hiddenbits.evaluate import compare"),
    ("estimators/a.py", "from hiddenbits import evaluate"),
    # in whatever way it is written, and wherever
    ("data/deep/a.py", "from ...engine import Key"),
    ("data/__init__.py", "from ..engine import Key"),
    ("data/a.py", "from .. import engine"),
    ("data/a.py", "def f():\n    from hiddenbits.engine import Key"),
    (
        "data/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from hiddenbits.engine import Key",
    ),
    ("data/a.py", "import importlib\nimportlib.import_module('hiddenbits.engine')"),
    ("data/a.py", "__import__('hiddenbits.engine')"),
    ("engine/a.py", "import hiddenbits.data\nhiddenbits.models.Mixture"),
    # outer rooms and folders: public names only
    ("evaluate/a.py", "from hiddenbits.data import Table"),
    ("evaluate/a.py", "from hiddenbits import engine"),
    ("datasets/a.py", "import hiddenbits.data"),
    ("plots/a.py", "import hiddenbits\nhiddenbits.engine.fit_em"),
    ("report/a.py", "import hiddenbits as hb\nhb.engine"),
    ("report/a.py", "import hiddenbits\nhiddenbits.engine.current(1.5).executor.reduce"),
    ("report/a.py", "import hiddenbits\nhiddenbits.engine.all[0].name"),
    ("cli/a.py", "from hiddenbits.evaluate import hidden"),
    ("cli/a.py", "from hiddenbits import evaluate, Nothing"),
    ("cli.py", "from hiddenbits.estimators.registry import ESTIMATORS"),
    ("__main__.py", "from hiddenbits.plots import draw"),
    ("experiments/paper/run.py", "from hiddenbits.models import Mixture"),
    ("examples/peers.py", "import hiddenbits\nhiddenbits.data.Table"),
    ("examples/first.py", "from hiddenbits.evaluate.inside import compare"),
    ("examples/first.py", "from hiddenbits.quoting import printable"),
    ("quoting.py", "from hiddenbits.data import Table"),
    # the law covers every file
    ("helpers/a.py", "import os"),
    ("helpers.py", "import os"),
    ("data/a.py", "def broken("),
]


@pytest.mark.parametrize(("path", "code"), UNLAWFUL)
def test_breach_is_caught(tree, path, code):
    found = breaches(tree, path, code)
    assert len(found) == 1
    where, what = found[0].split(": ", 1)
    file, line = where.split(":")
    assert file.endswith(path)
    assert int(line) >= 1
    assert len(what.split("; ")) == 3  # what, law, remedy


def test_breach_names_its_line_and_remedy(tree):
    (found,) = breaches(tree, "plots/a.py", "import os\n\nfrom hiddenbits.data import Table\n")
    assert found == (
        "src/hiddenbits/plots/a.py:3: plots uses hiddenbits.data.Table; plots may use public names only; "
        "from hiddenbits import Table"
    )


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (
            "data/a.py",
            "import numpy\nfrom hiddenbits.data.bits import Bits\nfrom . import bits\nfrom .bits import Bits",
        ),
        (
            "engine/a.py",
            "from hiddenbits.data import Table\nfrom hiddenbits.store import read\nfrom ..data import x",
        ),
        ("models/a.py", "from hiddenbits.data import Block\nfrom hiddenbits import Table"),
        ("estimators/a.py", "from hiddenbits import engine, models\nfrom hiddenbits.store import read"),
        (
            "evaluate/a.py",
            "from hiddenbits import Table\nfrom hiddenbits.evaluate.inside import f\nfrom . import g",
        ),
        ("plots/a.py", "import hiddenbits as hb\nhb.Table.shape\nhb.evaluate.compare\nhb.__version__"),
        ("plots/a.py", "import hiddenbits as hb\nhb.Mixture(2, tol=1.5).fit(x).score\nhb.evaluate.compare(x).best"),
        ("cli/a.py", "from hiddenbits.evaluate import compare\nimport hiddenbits.evaluate"),
        ("__main__.py", "from hiddenbits.cli import main"),
        ("store/a.py", "from hiddenbits.quoting import printable"),
        ("report/a.py", "from hiddenbits.quoting import printable"),
        ("experiments/paper/run.py", "import hiddenbits\nfrom hiddenbits import Mixture, __version__"),
        ("experiments/envs/lib/site-packages/peer.py", "from hiddenbits.data import Table"),
        ("examples/a.py", "import hiddenbits_of_others.data\nother.hiddenbits.data"),
    ],
)
def test_lawful_import_passes(tree, path, code):
    assert breaches(tree, path, code) == []


@pytest.mark.parametrize("name", ["numpy", "scipy", "sklearn"])
def test_heavy_package_is_caught(tree, name):
    (tree / "src" / "hiddenbits" / "__init__.py").write_text(INIT + f"import {name}\n")
    assert any(f"loads {name}; " in found for found in import_law.Law(tree).breaches())


@pytest.mark.parametrize(("code", "what"), [("import absent", "No module named"), ("x = 1", "no _HOMES")])
def test_init_that_cannot_be_judged_is_a_breach(tree, code, what):
    (tree / "src" / "hiddenbits" / "__init__.py").write_text(code)
    assert any(what in found for found in import_law.Law(tree).breaches())


def test_command_line(tree):
    def run(*arguments):
        command = [sys.executable, str(TOOL), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    kept = run()  # this tree
    assert kept.returncode == 0, kept.stdout
    breaches(tree, "data/a.py", "import hiddenbits.engine")
    broken = run(tree)
    assert broken.returncode == 1
    assert "src/hiddenbits/data/a.py:1: data imports hiddenbits.engine; " in broken.stdout

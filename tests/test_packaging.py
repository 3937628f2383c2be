"""What is said of the package in several places is the same in all of them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hiddenbits

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
CONDA_NAMES = {"dask": "dask-core", "matplotlib": "matplotlib-base"}


def bounds(requirements):
    """Return {name: lowest version}."""
    return dict(requirement.split(">=") for requirement in requirements)


def conda_bounds(section):
    """Return the same of a section of the recipe."""
    lines = re.search(rf"^  {section}:\n((?:    .*\n)+)", CONDA, re.MULTILINE)[1]
    return dict(re.findall(r"- (\S+) >=(\S+)", lines))


def test_the_version_is_the_same_everywhere():
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    recipe = re.search(r'set version = "(.*)"', CONDA)[1]
    assert {PROJECT["version"], citation, recipe} == {hiddenbits.__version__}


def test_every_folder_is_a_package_with_a_docstring():
    """Without `__init__.py` a folder can be imported too, but wheels, types and the documentation pass it by."""
    folders = {path.parent for path in (ROOT / "src" / "hiddenbits").rglob("*.py")}
    empty = ast.parse("")
    first = {folder: folder / "__init__.py" for folder in folders}
    trees = {folder: ast.parse(file.read_bytes()) if file.exists() else empty for folder, file in first.items()}
    assert len(folders) > 20  # they were found
    assert {str(folder.relative_to(ROOT)) for folder, tree in trees.items() if not ast.get_docstring(tree)} == set()


def test_the_conda_recipe_asks_for_what_the_project_asks_for():
    core, extras = bounds(PROJECT["dependencies"]), PROJECT["optional-dependencies"]
    optional = bounds(item for name in ("cli", "cluster", "fast", "files", "plot", "report") for item in extras[name])
    wanted = {CONDA_NAMES.get(name, name): version for name, version in (core | optional).items()}
    run, constrained = conda_bounds("run"), conda_bounds("run_constrained")
    assert run.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    assert run | constrained == wanted
    assert core.items() <= run.items()


def test_the_licenses_are_there():
    assert PROJECT["license-files"] == ["LICENSE", "src/hiddenbits/datasets/files/LICENSE-DATA.md"]
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


def test_everything_is_in_all():
    extras = set(PROJECT["optional-dependencies"]) - {"all", "dev", "docs", "test"}
    assert set(re.findall(r"\w+", PROJECT["optional-dependencies"]["all"][0])) - {"hiddenbits"} == extras


def test_the_recipe_can_be_read_and_runs_the_projects_command():
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    recipe = yaml.safe_load(jinja2.Template(CONDA).render(PYTHON="python"))
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert recipe["build"]["entry_points"] == [f"{name} = {home}" for name, home in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert (ROOT / recipe["about"]["license_file"]).is_file()
    assert (ROOT / "packaging" / "conda" / recipe["source"]["path"] / "pyproject.toml").is_file()


def test_every_paper_is_cited_with_its_models():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    models = [model for paper in cited for model in paper["notes"].split(", ")]
    assert len(cited) == 5
    assert len(models) == len(set(models))
    assert all(hasattr(hiddenbits, model) for model in models)


def test_nobody_is_told_to_install_what_is_not_published():
    """Until there is a release, pages name a clone or a wheel first; `hiddenbits[...]` works once one is installed."""
    for page in ("README.md", "docs/start.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert "pip install hiddenbits" not in text
        assert 'pip install "hiddenbits' not in text
        first = text.index("pip install '.[all]'")
        assert "pip install 'hiddenbits[" not in text[:first]
        assert "PyPI" in text[:first]


@pytest.mark.slow
def test_pip_adds_extras_to_what_is_installed():
    """As messages say: the package is found without an index; only what the extra lacks would be fetched."""
    pytest.importorskip("pip")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "hiddenbits[cli]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Requirement already satisfied: hiddenbits[cli]" in done.stdout, done.stderr

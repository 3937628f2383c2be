"""The reference names everything that is public, and every equation of a paper still leads to its line."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import hiddenbits

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROOMS = (
    "evaluate",
    "plots",
    "datasets",
    "images",
    "report",
)  # public submodules; `plots` imports matplotlib only to draw


def listed():
    """Return the full names in the autosummary lists of the reference."""
    found, module, inside = set(), "", False
    for line in (DOCS / "api" / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        inside = line.startswith(".. autosummary::") or (inside and not line.startswith("```"))
        if inside and re.fullmatch(r"   \w+", line):
            found.add(f"{module}.{line.strip()}")
    return found


def public():
    """Return the full names of everything public."""
    found = {f"hiddenbits.{name}" for name in hiddenbits.__all__ if name != "__version__" and name not in ROOMS}
    for room in ROOMS:
        found |= {f"hiddenbits.{room}.{name}" for name in import_module(f"hiddenbits.{room}").__all__}
    return found


def test_the_reference_names_everything_public_and_nothing_else():
    assert listed() == public()


def test_rooms_are_all_public_modules():
    modules = {name for name, home in hiddenbits._HOMES.items() if home == f"hiddenbits.{name}"}
    assert modules == set(ROOMS)


def test_every_equation_is_found_in_its_file():
    with (DOCS / "_ext" / "equations.toml").open("rb") as file:
        papers = tomllib.load(file)["paper"]
    assert len(papers) == 5
    for paper in papers:
        assert len({equation["number"] for equation in paper["equation"]}) == len(paper["equation"]) >= 8
        for equation in paper["equation"]:
            text = (ROOT / "src" / "hiddenbits" / "models" / equation["file"]).read_text(encoding="utf-8")
            assert equation["at"] in text, f"{paper['paper']}, equation {equation['number']}: not in {equation['file']}"


def test_every_picture_function_is_drawn_in_the_gallery():
    drawn = (ROOT / "examples" / "plot_pictures.py").read_text(encoding="utf-8")
    for name in hiddenbits.plots.__all__:
        assert f"hiddenbits.plots.{name}`" in drawn
        assert name == "posterior_density" or f"plots.{name}(" in drawn  # which returns numbers


def test_every_experiment_has_its_page():
    written = {path.parent.name for path in (ROOT / "experiments").glob("*/README.md")}
    assert {path.stem for path in (DOCS / "experiments").glob("*.md")} == written

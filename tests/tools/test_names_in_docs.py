"""Pages about the code name files and commands that exist."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.core
ROOT = Path(__file__).parents[2]
CODE = [*ROOT.glob("docs/architecture.md"), *ROOT.glob("docs/engine.md"), *ROOT.glob("docs/design/*.md")]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
FILES = [
    f"/{path.relative_to(ROOT).as_posix()}"
    for folder in ("src", "tests", "benchmarks", "experiments", "tools")
    for path in ROOT.joinpath(folder).rglob("*.py")
]


@pytest.mark.parametrize("page", CODE, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page):
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text())) - {"families/X/estimator.py"}  # X: any family
    assert not {name for name in named if not any(file.endswith(f"/{name}") for file in FILES)}


def test_benchmarks_that_pages_tell_readers_to_run_exist():
    for page in PAGES:
        text = page.read_text()
        assert not re.search(r"python benchmarks/", text), page
        for module in re.findall(r"python -m (benchmarks[\w.]*\w)", text):
            path = ROOT.joinpath(*module.split("."))
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), (page, module)


def test_the_map_of_the_code_stays_short():
    lines = (ROOT / "docs" / "architecture.md").read_text().splitlines()
    assert len(lines) <= 190  # with the three ways in drawn
    assert max(map(len, lines)) <= 120

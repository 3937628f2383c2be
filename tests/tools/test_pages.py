"""Pages from results: every difference is seen, writers of the same name do not meet, parts of pages are filled in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from experiments.common import filled

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import pages

pytestmark = pytest.mark.core
WRITER = """
from pathlib import Path
from helper import WORD
def pages():
    here = Path(__file__).parent
    return {here / "README.md": WORD + (here / "results.txt").read_text()}
"""


@pytest.fixture
def root(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / "experiments" / name
        folder.mkdir(parents=True)
        (folder / "readme.py").write_text(WRITER)
        (folder / "helper.py").write_text(f"WORD = 'of {name}: '\n")
        (folder / "results.txt").write_text("0.83\n")
    return tmp_path


def test_writers_with_files_of_the_same_name_do_not_meet(root):
    before = list(sys.path), set(sys.modules)
    found = [pages.pages_of(root / "experiments" / name / "readme.py", root) for name in ("one", "two")]
    assert [list(page.values()) for page in found] == [["of one: 0.83\n"], ["of two: 0.83\n"]]
    assert (list(sys.path), set(sys.modules)) == before


@pytest.mark.parametrize("there", ["of one: 0.84\n", "of one: 0.83", "of one: 0.83\r\n", "of one: 0.83 \n", None])
def test_every_difference_counts(root, monkeypatch, capsys, there):
    """A digit, an end of line, a blank, a missing page: each is found, and mended by writing."""
    page, writer = root / "experiments" / "one" / "README.md", root / "experiments" / "one" / "readme.py"
    if there is not None:
        page.write_bytes(there.encode())
    monkeypatch.setattr(pages, "ROOT", root)
    monkeypatch.setattr(pages, "writers", lambda _: [writer])
    assert pages.main(["--check"]) == 1
    assert "experiments/one/README.md: is not what the results say" in capsys.readouterr().out
    assert page.is_file() == (there is not None)  # a check writes nothing
    assert pages.main([]) == 0
    assert page.read_bytes() == b"of one: 0.83\n"
    assert pages.main(["--check"]) == 0


def test_a_page_that_says_it_is_written_has_a_writer(root, monkeypatch, capsys):
    monkeypatch.setattr(pages, "ROOT", root)
    monkeypatch.setattr(pages, "writers", lambda _: [])
    (root / "docs").mkdir()
    (root / "docs" / "fast.md").write_text("# Fast\n\nWritten by `python old.py` from results.\n")
    assert pages.main(["--check"]) == 1
    assert "docs/fast.md: says that it is written by a program" in capsys.readouterr().out


def test_all_writers_are_called():
    root = Path(__file__).parents[2]
    those = [*root.glob("benchmarks/**/*.py"), *root.glob("experiments/**/*.py")]
    those = [path for path in those if root / "benchmarks" / "envs" not in path.parents]  # of peers, not ours
    assert {path for path in those if "\ndef pages(" in path.read_text()} == set(pages.writers(root))


def test_a_part_of_a_page_is_filled_in():
    page = "before\n<!-- some: written by x.py -->\nold\n<!-- end of some -->\nafter\n"
    assert filled(page, "some", "new") == page.replace("old", "new")
    for broken in ("no marks", "<!-- end of some -->\n<!-- some: x -->"):
        with pytest.raises(ValueError, match="no part that begins with"):
            filled(broken, "some", "new")

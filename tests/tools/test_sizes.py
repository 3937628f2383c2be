"""Lines of code are counted as a reader would count them, and growth needs a line in `sizes.toml`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

TOOL = Path(__file__).parents[2] / "tools" / "sizes.py"
_spec = importlib.util.spec_from_file_location("sizes", TOOL)
sizes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sizes)

FILE = '''"""A docstring
of two lines."""

# a comment
import os  # a comment behind code

TEXT = """a text that is no docstring
is code"""


def function():
    """Docstring."""

    return (
        1,  # three lines
    )
'''


def test_docstrings_comments_and_empty_lines_are_not_code(tmp_path):
    (tmp_path / "a.py").write_text(FILE)
    assert sizes.code_lines(tmp_path / "a.py") == 7


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("src/hiddenbits/data/columns/open.py", "src/data"),
        ("src/hiddenbits/quoting.py", "src/top"),
        ("src/hiddenbits/families/noisy_or/model.py", "src/families/noisy_or"),
        ("tests/data/test_open.py", "tests"),
        ("docs/conf.py", None),
    ],
)
def test_rooms(name, room):
    assert sizes.room_of(name) == room


def test_code_blocks_are_no_words(tmp_path):
    (tmp_path / "a.md").write_text("# Two words\n```python\nx = not_counted\n```\nand two\n")
    assert sizes.words(tmp_path / "a.md") == 4


def test_a_room_may_shrink_and_not_grow():
    limits = {"src": 10, "tests": 5, "gone": 3}
    assert sizes.complaints({"src": 9, "tests": 5, "gone": 3}, limits) == []
    grown, new, gone = sizes.complaints({"src": 11, "tests": 5, "more": 1}, limits)
    assert grown.startswith("src: 11, but")
    assert new.startswith("more: 1, but")
    assert gone.startswith("gone is in")

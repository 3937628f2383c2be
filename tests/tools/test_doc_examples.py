"""Examples in pages are run, commands too, and a failure is a failure."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

TOOL = Path(__file__).parents[2] / "tools" / "doc_examples.py"
_spec = importlib.util.spec_from_file_location("doc_examples", TOOL)
doc_examples = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(doc_examples)

PYTHON = '```python\n>>> from pathlib import Path\n>>> Path("words.txt").write_text("here")\n4\n\n```\n'
GOOD = "```console\n$ cat words.txt\nhe...\n$ echo a b\n```\n"
BAD = {
    "python": "```python\n>>> 1 + 1\n3\n\n```\n",
    "exit status": "```console\n$ false\n```\n",
    "output": "```console\n$ echo one\ntwo\n```\n",
}


def status(folder, text):
    (folder / "page.md").write_text(text)
    return doc_examples.main([str(folder)])


def test_python_and_commands_share_a_folder(tmp_path, capsys):
    assert status(tmp_path, PYTHON + GOOD) == 0
    assert "4 examples on 1 pages, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize("kind", BAD)
def test_failures_are_found(tmp_path, kind, capsys):
    assert status(tmp_path, PYTHON + GOOD + BAD[kind]) == 1
    assert ", 1 failed" in capsys.readouterr().out


def test_no_examples_are_a_failure(tmp_path):
    assert status(tmp_path, "```\n$ false\n```\n") == 1


def test_pages_about_real_tables_are_left_out_without_them(tmp_path, capsys, monkeypatch):
    page = "<!-- needs HIDDENBITS_DATA -->\n" + BAD["python"]
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    (tmp_path / "other.md").write_text(PYTHON)
    assert status(tmp_path, page) == 0
    assert "page.md: not run, HIDDENBITS_DATA is not set" in capsys.readouterr().out
    monkeypatch.setenv("HIDDENBITS_DATA", str(tmp_path))
    assert status(tmp_path, page) == 1  # with them they are run

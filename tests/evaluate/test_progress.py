"""How far a run is: silent where nobody looks on, a bar where somebody does, lines without rich."""

import io
import sys

import pytest

from hiddenbits.evaluate.progress import progress_reporter

pytestmark = pytest.mark.core


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(progress):
    with progress_reporter(progress) as tell:
        tell("first", 0, 2)
        tell("second", 1, 2)


def test_silent_where_nobody_looks_on(capsys, monkeypatch):
    told(True)
    monkeypatch.setattr(sys, "stderr", Terminal())
    told(False)
    assert sys.stderr.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_lines_without_rich(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "rich.console", None)
    told(True)
    assert sys.stderr.getvalue() == "[0/2] first\n[1/2] second\n"


def test_a_bar_with_rich(monkeypatch):
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setattr(sys, "stderr", Terminal())
    told(True)
    assert "second" in sys.stderr.getvalue()
    assert "1/2" in sys.stderr.getvalue()

"""The link check finds what is broken, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

TOOL = Path(__file__).parents[2] / "tools" / "check_links.py"
_spec = importlib.util.spec_from_file_location("check_links", TOOL)
check_links = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_links)


def site(folder, body):
    """Write a site of two pages, the first with this body, and return its root as arguments."""
    (folder / "deep").mkdir()
    (folder / "deep" / "there.html").write_text('<h1 id="top">There</h1><a href="../here.html">back</a>')
    (folder / "here.html").write_text(body)
    return [str(folder)]


GOOD = '<a href="deep/there.html#top">a</a><a href="https://example.org/x">b</a><a href="#me" id="me">c</a>'
BROKEN = {
    "file": '<a href="deep/nowhere.html">a</a>',
    "anchor": '<a href="deep/there.html#bottom">a</a>',
    "own anchor": '<a href="#you" id="me">a</a>',
    "picture": '<img src="none.png">',
    "script": '<script src="https://example.org/x.js"></script>',
    "style": '<link rel="stylesheet" href="//example.org/x.css">',
}


def test_a_sound_site_passes(tmp_path):
    assert check_links.main(site(tmp_path, GOOD)) == 0


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_links_and_foreign_scripts_are_found(tmp_path, kind, capsys):
    assert check_links.main(site(tmp_path, GOOD + BROKEN[kind])) == 1
    assert ", 1 broken" in capsys.readouterr().out


def test_a_site_without_links_is_no_site(tmp_path):
    assert check_links.main([str(tmp_path)]) == 1

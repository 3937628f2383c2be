"""Contrast by the formula of the web content accessibility guidelines, for both themes."""

import re
from importlib.resources import files

import pytest

STYLE = files("hiddenbits.reporting").joinpath("templates", "report.css").read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in STYLE.split("* {")[0].split("@media"))


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_contrast_of_level_aa(theme):
    for ground in ("page", "raised"):
        for ink in ("ink", "quiet", "link"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_out_from_the_page(theme):
    marks = [f"k{k}" for k in range(7)] + [f"s{k}" for k in range(5)] + ["edge", "focus", "more", "less"]
    for mark in marks:
        assert contrast(theme[mark], theme["page"]) >= 3.0, mark
    assert len({theme[mark] for mark in marks}) >= len(marks) - 3  # two of them serve twice

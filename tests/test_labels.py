"""Labels that act on terminals and break XML: names of groups, columns and classes, and cells, wherever they leave us.

A label with raw control characters makes an SVG that no parser takes, and a page, a mail or a printed table that acts
on the terminal it is shown in.
"""

import io
import json
import re
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pytest

import hiddenbits
from hiddenbits import diagnostics, open_table
from hiddenbits.quoting import json_escaped

BELL = "\x1b[31mred\x07"
EVIL = f"{BELL}\x9b2J\u202egnp\u2028\x7f\x00"
SHOWN = r"\x1b[31mred\x07"

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def acting(text, keep="\n"):
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - set(keep)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    first = rng.random(120) < 0.5
    X = (rng.random((120, 6)) < np.where(first, 0.85, 0.15)[:, None]).astype(int)
    groups = np.where(first, f"a{EVIL}", f"b{EVIL}")
    return open_table(X, names=[f"q{j}{EVIL}" for j in range(6)]), groups


@pytest.fixture(scope="module")
def report(table):
    pytest.importorskip("jinja2")
    from tests.reporting.conftest import quick

    opened, groups = table
    with quick():
        cells = {f"group{EVIL}": groups, f"cell{EVIL}": [f"{i}{EVIL}" for i in range(120)]}
        return hiddenbits.report(opened, by=f"group{EVIL}", beside=cells, title=f"t{EVIL}")


@pytest.mark.slow
def test_a_report_has_no_acting_label(report):
    texts = {
        "page": report.html,
        "notebook": report._repr_html_(),
        "markdown": report.to_markdown(),
        "text": str(report),
        "json": report.to_json(),
        **{f"drawing {n}": str(one.drawing) for n, one in enumerate(report.found.findings)},
    }
    for name, text in texts.items():
        assert not acting(text), name
        assert re.search(r"\\x1b\[31m|\\\\x1b\\\[31m|\\u001b\[31m", text) or name.startswith("drawing"), name
    assert json.loads(report.to_json())["findings"]
    drawings = re.findall(r"<svg .*?</svg>", report.html, re.DOTALL)
    assert len(drawings) > 5
    for drawing in drawings:
        ElementTree.fromstring(drawing)  # which refuses control characters
    assert sum(SHOWN in drawing for drawing in drawings) > 3
    data = re.search(r'id="map-data">(.*?)</script>', report.html, re.DOTALL)[1]
    assert SHOWN in json.loads(data)["names"][0]


def test_text_in_json_keeps_its_meaning():
    text = json.dumps({"a": EVIL, "é": "漢字 \u200d"}, ensure_ascii=False)
    assert not acting(json_escaped(text), keep="\u200d")
    assert json.loads(json_escaped(text)) == json.loads(text)
    assert "漢字" in json_escaped(text)


def drawn(make):
    """Draw, write as SVG, and return the file's text."""
    figures = pytest.importorskip("matplotlib.figure")
    ax = figures.Figure().subplots()
    ax = make(ax) or ax
    axes = ax[0] if isinstance(ax, (tuple, list, np.ndarray)) else ax
    file = io.StringIO()
    axes.figure.savefig(file, format="svg")
    return file.getvalue()


def test_plots_have_no_acting_label(table):
    pytest.importorskip("matplotlib")
    from hiddenbits import plots

    opened, groups = table
    classes = hiddenbits.LatentClassAnalysis(2, max_iter=20, tol=1e-2, random_state=0).fit(opened)
    scale = hiddenbits.LogisticPCA(2, max_iter=20, tol=1e-2, random_state=0).fit(opened)
    pictures = {
        "profiles": lambda ax: plots.profiles(classes, ax=ax),
        "map": lambda ax: plots.map(scale, opened, color=groups, names=opened.names, arrows=True, ax=ax),
        "trace": lambda ax: plots.trace({f"a{EVIL}": classes.trace_}, ax=ax),
        "item curves": lambda ax: plots.item_curves(hiddenbits.LogisticPCA(1, max_iter=20, tol=1e-2).fit(opened)),
    }
    labeled = 0
    for name, make in pictures.items():
        text = drawn(make)
        assert not acting(text), name
        ElementTree.fromstring(text)
        labeled += SHOWN in text  # in the comments that name the drawn words
    assert labeled >= 3


def test_printed_results_have_no_acting_label(table):
    opened, _ = table
    classes = hiddenbits.LatentClassAnalysis(2, max_iter=60, tol=1e-2, random_state=0).fit(opened)
    for name, found in {
        "summary": classes.summary(),
        "residual pairs": diagnostics.residual_pairs(classes, opened),
    }.items():
        for text in (str(found), getattr(found, "_repr_html_", str)()):
            assert not acting(text), name
        assert SHOWN in str(found), name

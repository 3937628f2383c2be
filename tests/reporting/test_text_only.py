"""Names and cells are text, whatever they hold; a report without rows has none."""

import json
import re

import pytest

from tests.reporting.conftest import COLUMNS, TRICKS, hostile, survey, without_date
from tests.reporting.reading import Page


@pytest.mark.slow
def test_hostile_names_and_cells_change_nothing_but_text(written):
    bad, tame = (Page(hostile(written, tricks=one).read_text(encoding="utf-8")) for one in (True, False))
    assert [tag for tag, _ in bad.elements] == [tag for tag, _ in tame.elements]
    names = [set(attributes) for _, attributes in bad.elements]
    assert names == [set(attributes) for _, attributes in tame.elements]
    assert bad.all("h1")[0][1].strip() == TRICKS[0]
    shown = [text for _, text in bad.all("bdi")]
    for trick in TRICKS:  # as they are, but for a sign that would turn the line around: that is shown escaped
        text = trick.replace("\u202e", r"\u202e")
        assert (text if len(text) <= 60 else text[:59] + "…") in shown
    block = bad.all("script", id="map-data")[0][1]
    assert not set("<>&\u2028\u2029") & set(block)  # no sign of the data ends its element
    data = json.loads(block)
    assert TRICKS[1] in data["names"]
    assert {TRICKS[0], TRICKS[6]} <= set(data["beside"][1]["labels"])


@pytest.fixture(scope="module")
def without(written):
    X, beside = survey()
    return written("without", X, COLUMNS, beside=beside, rows=False).read_text(encoding="utf-8")


@pytest.mark.slow
def test_without_rows_no_content_of_a_row_is_in_the_file(without, plain_report):
    _, beside = survey()
    page = Page(without)
    assert "written without individual rows" in without
    for values in beside.values():
        for value in values:
            assert value not in without
    assert plain_report.read_text(encoding="utf-8").count("zwerg-") > 100  # with rows they are there
    for word in ("map-data", 'id="readout"', 'id="color"', 'class="p ', 'class="blank"'):
        assert word not in without.split("</style>")[1].split("<script>")[0]
    # No list names a row, and no table has a line for one: only columns, figures and scores are counted.
    heads = {text for _, text in page.all("th")}
    assert not heads & {"row", "person", "party", "its least probable cells", "probability of 1", "its probability"}
    assert not re.search(r"\brow \d", page.section("odd"))


def test_without_rows_the_map_counts_all_of_them(without):
    page = Page(without)
    counts = [int(re.match(r"(\d+) row", text)[1]) for _, text in page.all("title") if re.match(r"\d+ rows?$", text)]
    assert sum(counts) == 100


@pytest.mark.slow
def test_without_rows_the_page_does_not_know_what_stands_beside_them(without, written):
    X, beside = survey()
    other = {key: [f"other {i}" for i in range(100)] for key in beside}
    again = written("beside", X, COLUMNS, beside=other, rows=False).read_text(encoding="utf-8")
    assert without_date(again) == without_date(without)

import base64
import hashlib
import json
import re
from contextlib import nullcontext

import numpy as np
import pytest

import hiddenbits
from hiddenbits import open_table, reporting
from tests.reporting.conftest import COLUMNS, quick, survey, without_date
from tests.reporting.reading import Page

SECTIONS = ["table", "map", "which", "classes", "causes", "spectrum", "odd", "cells", "blanks", "synthetic", "how"]


@pytest.fixture(scope="module")
def page(plain_report):
    return Page(plain_report.read_text(encoding="utf-8"))


def sha256(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_section_is_there_can_be_folded_and_opens_with_a_sentence(page):
    found = page.all("details", class_="section")
    assert [attributes["id"] for attributes, _ in found] == SECTIONS
    openings = [text for _, text in page.all("p", class_="opening")]
    assert len(openings) == len(SECTIONS)
    assert all(len(text) > 30 and text.rstrip().endswith(".") for text in openings)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_drawings_have_a_name_and_the_same_as_a_table(page, plain_report):
    drawings = page.all("svg", role="img")
    assert len(drawings) == 8  # map, pictures, two Hinton diagrams, spectrum, histogram, real and drawn rows
    assert all(len(attributes["aria-label"]) > 20 for attributes, _ in drawings)
    for figure in re.findall(r"<figure.*?</figure>", plain_report.read_text(encoding="utf-8"), re.DOTALL):
        assert '<details class="same">' in figure
        assert "<td" in figure


def test_the_policy_knows_our_script_and_style_and_nothing_else(page):
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0][0]["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    scripts = [text for attributes, text in page.all("script") if attributes.get("type") != "application/json"]
    styles = [text for _, text in page.all("style")]
    assert rules == {
        "default-src": "'none'",
        "script-src": sha256(scripts[0]),
        "style-src": sha256(styles[0]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert (len(scripts), len(styles)) == (1, 1)
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not any(key.startswith("on") for key in attributes), (tag, attributes)
        for key in ("src", "href"):
            assert attributes.get(key, "#").startswith(("#", "data:,")), (tag, attributes)


def test_the_counts_are_those_of_the_table(page):
    X, _ = survey()
    text = page.section("table")
    assert "This table has 100 rows and 8 columns" in text
    assert f"{int(np.nansum(X)):,} ({np.nanmean(X):.0%} of recorded cells)" in text
    assert f"{int(np.isnan(X).sum())} blanks" in text
    for name, share in zip(COLUMNS, np.nanmean(X, axis=0), strict=True):
        assert re.search(rf"{name} {share:.0%}", text)


def test_dots_of_the_map_say_what_their_rows_hold(page):
    X, beside = survey()
    data = json.loads(page.all("script", id="map-data")[0][1])
    assert sum(data["n"]) == 100
    assert len(data["row"]) == len(set(data["row"])) == 100  # every person has a name of their own
    for place, row in enumerate(data["row"]):
        cells = X[row - 1]
        assert {data["names"][j] for j in data["ones"][place]} == {COLUMNS[j] for j in np.flatnonzero(cells == 1.0)}
        assert {data["names"][j] for j in data["blank"][place]} == {COLUMNS[j] for j in np.flatnonzero(np.isnan(cells))}
        for column in data["beside"][1:]:
            assert column["labels"][column["codes"][place]] == beside[column["name"]][row - 1]
    # The map opens coloured by the column beside the bits that has few values.
    chosen = [attributes["value"] for attributes, _ in page.all("option") if "selected" in attributes]
    assert data["beside"][int(chosen[0][1:])]["name"] == "party"


def test_the_same_seed_gives_the_same_file(plain_report, tmp_path):
    X, beside = survey()
    path = tmp_path / "again.html"
    with quick():
        again = reporting.write(open_table(X, names=COLUMNS), path, beside=beside, title="A small survey")
    one, other = (path.read_text(encoding="utf-8") for path in (plain_report, again))
    assert without_date(one) == without_date(other)
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]  # nothing half-written is left


@pytest.mark.parametrize(
    "X",
    [np.ones((50, 3)), np.eye(4), np.full((20, 2), np.nan), np.random.default_rng(0).integers(0, 2, (40, 1))],
    ids=["constant", "four rows", "blank", "one column"],
)
def test_a_table_with_nothing_to_learn_from_is_described_all_the_same(X, tmp_path):
    page = Page(reporting.write(X, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [attributes["id"] for attributes, _ in page.all("details", class_="section")] == ["table", "how"]
    assert f"{X.shape[0]} rows" in page.section("table")


def test_errors_say_what_to_do(tmp_path):
    X, _ = survey()
    table, path = open_table(X), tmp_path / "report.html"
    with pytest.raises(ValueError, match="weights"):
        reporting.write(table.with_weights(np.ones(100)), path)
    with pytest.raises(ValueError, match="no column 'age'"):
        reporting.write(table, path, colour="age")
    with pytest.raises(ValueError, match="99 values for 100 rows"):
        reporting.write(table, path, beside={"age": list(range(99))})
    with pytest.raises(FileNotFoundError, match="no folder"):
        reporting.write(table, tmp_path / "nowhere" / "report.html")
    with pytest.raises(ValueError, match="needs a table of bits"):
        reporting.write(open_table(np.random.default_rng(0).normal(size=(20, 3)), kinds="real"), path)
    assert not path.exists()


def test_the_room_is_a_public_name():
    assert hiddenbits.reporting.write is reporting.write


def test_columns_beside_the_table_may_be_frames_of_any_index(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    from hiddenbits.reporting.write import _checked

    given = pd.DataFrame({"size": [1.5, None, 2.0], "who": ["a", None, "c"]}, index=[7, 5, 0])
    given["who"] = given["who"].astype("string")
    found = _checked(open_table(np.eye(3)), given, "who")
    assert found == {"size": ["1.5", "", "2.0"], "who": ["a", "", "c"]}
    text = reporting.write(np.eye(3), tmp_path / "report.html", beside=given).read_text(encoding="utf-8")
    assert "size and who" in Page(text).section("table")


def test_rows_are_named_by_their_ids_and_no_other_column_is_shown(tmp_path, short):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{j}": rng.integers(0, 2, 30) for j in range(4)})
    frame = frame.assign(who=[f"person-{i}" for i in range(30)], town=[f"town-{i}" for i in range(30)])
    table = open_table(frame, id="who", drop="town")
    with quick() if short else nullcontext():  # the full tier writes one report of all families
        text = reporting.write(table, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "person-" in Page(text).section("odd")
    assert "town-" not in text

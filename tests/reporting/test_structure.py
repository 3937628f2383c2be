import base64
import hashlib
import json
import re

import numpy as np
import pytest

from hiddenbits import open_table, report
from hiddenbits.reporting.text import KEYS
from tests.reporting.conftest import COLUMNS, quick, survey, without_date
from tests.reporting.reading import Page


@pytest.fixture(scope="module")
def page(plain_report):
    return Page(plain_report.read_text(encoding="utf-8"))


def sha256(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_section_is_folded_and_opens_with_a_sentence(page):
    found = [attributes for attributes, _ in page.all("details") if "section" in attributes["class"].split()]
    keys = [attributes["id"] for attributes in found]
    assert keys == [key for key in KEYS if key in keys]  # in the order of the page
    assert {"table", "which", "map", "odd", "blanks", "how"} <= set(keys)
    assert not any("open" in attributes for attributes in found)
    openings = [text for _, text in page.all("p", class_="opening")]
    assert len(openings) == len(keys)
    assert all(len(text) > 30 and text.rstrip().endswith(".") for text in openings)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_link_leads_to_a_place_in_the_page(page):
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [attributes["href"] for attributes, _ in page.all("a")]
    assert {link.removeprefix("#") for link in links} <= ids
    assert len(links) > 10


def test_every_finding_has_its_sentence_and_leads_to_its_evidence(small_report):
    page = Page(small_report.html)
    shown = " ".join(page.all("ol")[0][1].split())
    assert small_report.found.findings
    for finding in small_report.found.findings:
        assert " ".join(finding.sentence.split()) in shown
        links = [one.get("aria-label", "") for one, _ in page.all("a", href=f"#{finding.evidence}")]
        assert any(link.startswith("Evidence: ") for link in links)
    leads = [" ".join(text.split()) for _, text in page.all("p", class_="lead")]
    assert leads[0].startswith(small_report.found.table)
    assert leads[1].startswith(small_report.found.picture)


def test_sections_say_their_rows_and_the_lines_that_repeat_them(page):
    for attributes, text in page.all("details"):
        if "section" in attributes["class"].split() and attributes["id"] != "how":
            assert "From all 100 rows. To reproduce it" in " ".join(text.split()), attributes["id"]
            assert "hiddenbits." in text


def test_drawings_have_a_name_and_the_same_as_a_table(page, plain_report):
    drawings = page.all("svg", role="img")
    assert all(len(attributes["aria-label"]) > 20 for attributes, _ in drawings)
    figures = re.findall(r"<figure.*?</figure>", plain_report.read_text(encoding="utf-8"), re.DOTALL)
    assert len(figures) >= 5  # models, map, kinds or curves, odd rows, blanks
    for figure in figures:
        assert figure.count('role="img"') == 1
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
    assert f"{int(np.nansum(X)):,} ({np.nanmean(X):.0%} of observed cells)" in text
    assert f"{int(np.isnan(X).sum())} missing values" in text
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
    # The map opens colored by the column beside the bits that has few values.
    chosen = [attributes["value"] for attributes, _ in page.all("option") if "selected" in attributes]
    assert data["beside"][int(chosen[0][1:])]["name"] == "party"


@pytest.mark.slow
def test_a_curved_map_has_the_same_dots(written, page):
    X, beside = survey()
    curved = Page(written("curved", X, COLUMNS, beside=beside, curved=True).read_text(encoding="utf-8"))
    flat, bent = (json.loads(one.all("script", id="map-data")[0][1]) for one in (page, curved))
    assert sorted(flat["row"]) == sorted(bent["row"])
    for key in ("ones", "blank"):  # what a dot says when it is pointed at
        assert dict(zip(flat["row"], flat[key], strict=True)) == dict(zip(bent["row"], bent[key], strict=True))
    assert flat["x"] != bent["x"]
    assert "TopographicMap(" in curved.section("map")
    assert "on a curved map a column may be common in several regions" in curved.section("map")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file(plain_report, tmp_path):
    X, beside = survey()
    path = tmp_path / "again.html"
    with quick():
        again = report(open_table(X, names=COLUMNS), beside=beside, title="A small survey").save(path)
    one, other = (path.read_text(encoding="utf-8") for path in (plain_report, again))
    assert without_date(one) == without_date(other)
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]  # nothing half-written is left


@pytest.mark.parametrize(
    "X",
    [np.ones((50, 3)), np.eye(4), np.full((20, 2), np.nan), np.random.default_rng(0).integers(0, 2, (40, 1))],
    ids=["constant", "four rows", "blank", "one column"],
)
def test_a_table_with_nothing_to_learn_from_is_described_all_the_same(X):
    page = Page(report(X).html)
    assert [attributes["id"] for attributes, _ in page.all("details", class_="section")] == ["table", "how"]
    assert f"{X.shape[0]} rows" in page.section("table")


def test_errors_say_what_to_do(tmp_path):
    X, _ = survey()
    table = open_table(X)
    with pytest.raises(ValueError, match="weights"):
        report(table.with_weights(np.full(100, 0.5)))
    with pytest.raises(ValueError, match="no column 'age' to color the map by"):
        report(table, color="age")
    with pytest.raises(ValueError, match="no column 'age' to group by"):
        report(table, by="age")
    with pytest.raises(ValueError, match="99 values for 100 rows"):
        report(table, beside={"age": list(range(99))})
    with pytest.raises(ValueError, match="needs binary data"):
        report(open_table(np.random.default_rng(0).normal(size=(20, 3)), reals=True))
    with pytest.raises(FileNotFoundError, match="no folder"):
        report(np.eye(3)).save(tmp_path / "nowhere" / "report.html")


def test_columns_beside_the_table_may_be_frames_of_any_index():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    from hiddenbits.reporting.entry import _checked

    given = pd.DataFrame({"size": [1.5, None, 2.0], "who": ["a", None, "c"]}, index=[7, 5, 0])
    given["who"] = given["who"].astype("string")
    found = _checked(open_table(np.eye(3)), given, None, "who")
    assert found == {"size": ["1.5", "", "2.0"], "who": ["a", "", "c"]}
    assert "size and who" in Page(report(np.eye(3), beside=given).html).section("table")


@pytest.mark.slow
def test_rows_are_named_by_their_ids_and_no_other_column_is_shown():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = np.repeat(np.arange(60)[:, None] % 2, 4, axis=1)
    X[:10, 0] ^= 1
    frame = pd.DataFrame(X, columns=[f"q{j}" for j in range(4)])
    frame = frame.assign(who=[f"person-{i}" for i in range(60)], town=[f"town-{i}" for i in range(60)])
    with quick():
        text = report(open_table(frame, id="who", drop="town")).html
    assert "person-" in Page(text).section("odd")
    assert "town-" not in text


def test_the_lines_on_the_page_make_the_rows_and_columns_that_the_models_used(monkeypatch):
    from hiddenbits.reporting import sample
    from hiddenbits.reporting.about import code
    from hiddenbits.reporting.origin import of_python

    rng = np.random.default_rng(3)
    X = (rng.random((90, 12)) < np.linspace(0.1, 0.9, 12)).astype(float)
    X[:, 4], X[rng.random(X.shape) < 0.05] = 1.0, np.nan
    X[:, 10], X[:, 11] = X[:, 2], 1.0 - X[:, 2]  # the last is left out: it says the same as two others
    labels = list(range(90))
    origin = of_python(X, {"groups": labels}, {})
    for most_rows, most_columns in ((1000, 1000), (50, 1000), (50, 5)):
        monkeypatch.setattr(sample, "MOST_ROWS", most_rows)
        monkeypatch.setattr(sample, "MOST_COLUMNS", most_columns)
        monkeypatch.setattr("hiddenbits.reporting.about.MOST_COLUMNS", most_columns)
        drawn = sample.drawn(open_table(X), {}, 0, np.array(list(map(str, labels))))
        n_answers = len(drawn.answers)
        assert n_answers == (1 if most_columns == 1000 else 0)
        assert drawn.cells.shape == (min(90, most_rows), min(11, most_columns) - n_answers)
        names = {"X": X, "groups": labels}
        exec("\n".join(code(drawn, origin)), names)
        np.testing.assert_array_equal(names["table"], drawn.cells)
        assert names["groups"].tolist() == drawn.groups.tolist()

"""What `report` returns: the same findings as a frame, as JSON, as Markdown and on the page."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import hiddenbits
from hiddenbits import report
from hiddenbits.reporting import Report
from hiddenbits.reporting.findings import Finding, Findings
from tests.reporting.conftest import TRICKS, quick, survey
from tests.reporting.reading import Page


def test_report_is_a_function_of_the_package_and_returns_what_it_says(small_report):
    assert callable(hiddenbits.report)
    assert isinstance(small_report, Report)
    assert str(small_report).splitlines()[:3] == [
        "A small survey",
        small_report.found.table,
        small_report.found.picture,
    ]
    assert len(repr(small_report)) < 10_000  # without the page


def test_json_and_markdown_say_what_the_findings_say(small_report):
    found = small_report.found
    read = json.loads(small_report.to_json())
    assert (read["table"], read["picture"]) == (found.table, found.picture)
    assert read["next_steps"] == list(found.next_steps)
    assert [one["sentence"] for one in read["findings"]] == [one.sentence for one in found.findings]
    for one, finding in zip(read["findings"], found.findings, strict=True):
        assert (one["rows"], one["of_rows"], one["evidence"]) == (finding.rows, finding.of_rows, finding.evidence)
        assert one["numbers"].keys() == finding.numbers.keys()
        for name, number in finding.numbers.items():
            undefined = isinstance(number, float) and not math.isfinite(number)
            assert one["numbers"][name] == (None if undefined else number)
    text = re.sub(r"\\(.)", r"\1", small_report.to_markdown())
    for words in (found.table, found.picture, *found.next_steps, *(one.sentence for one in found.findings)):
        assert " ".join(words.split()) in text


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_findings_are_a_frame_of_the_library_that_the_table_came_in(small_report, library):
    pytest.importorskip(library)
    frame = replace(small_report, library=library).findings
    assert type(frame).__module__.startswith(library)
    columns = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert columns == ["kind", "title", "sentence", "rows", "of_rows", "evidence"]
    sentences = frame["sentence"].to_pylist() if library == "pyarrow" else list(frame["sentence"])
    assert sentences == [one.sentence for one in small_report.found.findings]


def test_the_library_of_a_frame_is_remembered():
    polars = pytest.importorskip("polars")
    found = report(polars.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0]})).findings
    assert isinstance(found, polars.DataFrame)
    assert found.height == 0
    assert found.schema["rows"] == polars.Int64


def test_names_are_no_markup_in_markdown_and_strict_json():
    trick = f"{TRICKS[0]} and *this* [link](x) `code` a_b _c_"
    finding = Finding(
        "classes", trick, {"one": np.float64(2.5), "none": math.nan, "whole": np.int64(3)}, "", "map", 1, 2
    )
    made = Report("<!doctype html>", trick, Findings(trick, "It fits.", (finding,), ("Call `hiddenbits`.",)))
    read = json.loads(made.to_json(), parse_constant=pytest.fail)
    assert read["findings"][0]["numbers"] == {"one": 2.5, "none": None, "whole": 3}
    text = made.to_markdown()
    assert "- Call `hiddenbits`." in text
    assert not re.search(r"(?<!\\)[<>*\[\]]", text)
    assert r"\`code\` a_b \_c\_" in text
    assert made._repr_html_().count("<") == 2  # the frame begins and ends; all else is quoted


def test_the_page_stands_in_a_frame_that_cannot_reach_the_notebook(small_report):
    frame = Page(small_report._repr_html_()).all("iframe")[0][0]
    assert frame["sandbox"] == "allow-scripts"
    assert frame["srcdoc"] == small_report.html


@pytest.mark.slow
def test_groups_are_shown_with_their_errors():
    X, _ = survey(120)
    X[:60] = np.where(np.isnan(X[:60]), np.nan, 1.0)  # one party is all ones
    party = ["Rote"] * 60 + ["Gelbe"] * 60
    with quick():
        page = Page(report(X, by=party, title="parties").html)
    text = page.section("groups")
    assert "Rows are grouped by group : 2 groups" in text
    found = dict(re.findall(r"(Rote|Gelbe) 60 [<>]?(\S+)% ± \d+\.\d", text))  # the first kind
    assert abs(float(found["Rote"]) - float(found["Gelbe"])) > 50.0
    chosen = [text.strip() for attributes, text in page.all("option") if "selected" in attributes]
    assert chosen == ["group"]  # the map is colored by it

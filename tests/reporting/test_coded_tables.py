"""Tables of other values than 0 and 1: the report says which of them are 1, and calls nothing yes that is not."""

import json
import re
import shlex
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

import hiddenbits  # noqa: E402
from hiddenbits import open_table, report  # noqa: E402
from hiddenbits.reporting.sample import Values  # noqa: E402
from hiddenbits.reporting.text import plain  # noqa: E402
from tests.reporting import planted  # noqa: E402
from tests.reporting.conftest import quick  # noqa: E402
from tests.reporting.reading import Page  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ITEMS = [f"q{j}" for j in range(1, 13)]


def bits(blanks=0.0):
    X, kind = planted.kinds(0, 120)
    X[np.random.default_rng(1).random(X.shape) < blanks] = np.nan
    return pd.DataFrame(X, columns=ITEMS), kind


def coded(one, zero, **options):
    """Return the planted table with these values for 1 and 0."""
    frame, kind = bits(**options)
    values = frame.to_numpy()
    return pd.DataFrame(np.where(np.isnan(values), None, np.where(values == 1.0, one, zero)), columns=ITEMS), kind


def as_csv(folder):
    frame, _ = coded(2, 1)
    frame.to_csv(folder / "codes.csv", index=False)
    return folder / "codes.csv"


def as_spss(folder):
    statistics = pytest.importorskip("pyreadstat")
    labels = {name: {1: "Yes", 2: "No"} for name in ITEMS}
    frame = coded(1, 2)[0].astype(float)
    statistics.write_sav(frame, str(folder / "labels.sav"), variable_value_labels=labels)
    return folder / "labels.sav"


def with_sex(folder):
    frame, kind = coded("yes", "no")
    sex = np.where(np.random.default_rng(0).random(len(kind)) < np.where(kind == 0, 0.9, 0.1), "male", "female")
    return frame.drop(columns=ITEMS[2:]).assign(sex=sex)


TABLES = {
    "codes": (
        as_csv,
        "The value 2 is counted as yes in all 12 columns (codes 1 and 2; change with --recode).",
        "2",
        "2",
    ),
    "frame": (lambda _: coded("Yes", "No")[0], "1 means “Yes” in all 12 columns.", "Yes", "1 (yes)"),
    "labels": (as_spss, "1 means “Yes” in all 12 columns.", "Yes", "1 (yes)"),
    "sex": (with_sex, "1 means “yes” in “q1” and “q2”, and “male” in “sex”.", "yes", "1"),
}


@contextmanager
def quickest():
    """Compare kinds with nothing alone."""
    with quick(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("hiddenbits.reporting.fits.MODELS", ["IndependentColumns", "LatentClassAnalysis"])
        yield


@pytest.fixture(scope="module", params=TABLES)
def reported(request, tmp_path_factory):
    make, sentence, one, are = TABLES[request.param]
    table = make(tmp_path_factory.mktemp("tables"))
    with quickest(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = hiddenbits.LatentClassAnalysis(2, n_init=1, random_state=0).fit(table)
        return report(table, title="answers"), sentence, one, are, model


def test_the_first_screen_the_markdown_the_json_and_the_summary_say_what_1_is(reported):
    found, sentence, one, are, model = reported
    first = " ".join(Page(found.html).all("header")[0][1].split())
    assert f"of the observed cells are {are}, and none is missing. {sentence} See its columns" in first
    assert f"\n\n{sentence}\n\n" in re.sub(r"\\(.)", r"\1", found.to_markdown())
    assert f"\n{sentence}\n" in str(found)
    read = json.loads(found.to_json())
    assert read["coding"] == sentence
    assert read["ones"]["q1"] == one
    story = model.summary().story["coding"]
    assert story == sentence.translate(str.maketrans("“”", "''")).replace("--recode", "recode=")


def test_findings_name_a_value_that_is_not_yes(reported):
    found, one = reported[0].found, reported[2]
    said = " ".join(finding.sentence for finding in found.findings)
    named = set(re.findall("“(.*?)”", re.sub("“[^”]*” (is|are both) (“[^”]*”|[0-9])", "", said)))
    assert named
    if one == "2":
        assert all(re.fullmatch(r"q\d+ = 2", name) for name in named)
    elif "sex" in found.ones:
        assert named == {"q1", "q2", "sex = male"}
        assert "“sex” is “male” in" in said
    else:
        assert named <= set(ITEMS)


def test_plain_tables_state_nothing():
    with quickest():
        found = report(bits()[0].head(60))
    assert (found.found.coding, found.found.ones) == ("", {})
    assert "of the observed cells are 1 (yes), and none is missing. See its columns" in " ".join(
        Page(found.html).all("header")[0][1].split()
    )
    assert json.loads(found.to_json())["ones"] == {}


def test_the_map_shows_the_values_of_the_table():
    with quickest():
        data = json.loads(Page(report(with_sex(None)).html).all("script", id="map-data")[0][1])
    assert dict(zip(data["names"], map(tuple, data["values"]), strict=True)) == {
        **dict.fromkeys(ITEMS[:2], ("no", "yes")),
        "sex = male": ("female", "male"),
    }
    assert data["head"] == "1s"


@pytest.fixture(scope="module")
def codes():
    """The context of a table with codes 1 and 2, on which every section can be drawn."""
    frame, _ = coded(2, 1, blanks=0.03)
    models = {"IndependentColumns": [], "LatentClassAnalysis": [4], "NoisyOrNetwork": [2], "LogisticPCA": [1]}
    return planted.context_of(frame, models, names=ITEMS)


def test_no_section_and_no_finding_calls_a_code_1_or_yes(codes):
    from hiddenbits.reporting.anomalies import odd_rows
    from hiddenbits.reporting.findings import find
    from hiddenbits.reporting.sections import MAKERS

    found = find(codes)
    sections = [make(codes) for key, make in MAKERS.items() if key not in ("groups", "how")]
    texts = [found.table, found.picture, *(one.sentence + one.drawing for one in found.findings)]
    for section in [*sections, odd_rows(codes, found)]:
        parts = [replace(part, data=None) if part.kind == "map" else part for part in section.parts]
        texts.append(f"{section.opening} {parts!r}")
    for text in texts:
        text = text.replace("is counted as yes in all 12 columns", "")  # of the sentence about the coding
        assert not re.search(r"\byes\b|\b1s\b|1 \(|\b(is|are|both|often|of) 1\b(?! of)", text), text[:2000]
    opening = str(sections[list(MAKERS).index("classes") - 1].opening)
    assert "how much more or less often each column is 2 in a class" in opening


def test_groups_of_a_column_of_the_table_have_its_values(codes):
    from hiddenbits.reporting.findings.groups import labels_of

    assert set(labels_of(replace(codes, by="q1"))) == {"1", "2", ""}


def test_rows_pairs_and_cells_are_described_by_their_values():
    columns = {"milk": [1, 0], "smokes": ["yes", "no"], "sex": ["male", "female"], "urban": [1, 2], "age": [30.5, 50.1]}
    frame = pd.DataFrame({name: values * 4 for name, values in columns.items()})
    table = open_table(frame, recode={"age": "> 40"})
    values = Values.of(table.names, table.coding)
    assert values.names == ["milk", "smokes", "sex = male", "urban = 2", "age > 40"]
    assert (values.one, values.ones, values.all_yes) == ("counted as yes", "cells counted as yes", False)
    assert [values.has(j, 1.0) for j in range(5)] == [("has", name) for name in values.names]
    lacks = ["lacks milk", "lacks smokes", "has sex = female", "has urban = 1", "has age <= 40"]
    assert [" ".join(values.has(j, 0.0)) for j in range(5)] == lacks
    assert [values.cell(j, 0.0) for j in range(5)] == ["0", "“no”", "“female”", "1", "<= 40"]
    assert values.both_one(0, 2) == "“milk” is 1 and “sex” is “male”"
    assert values.both_one(0, 0) == "“milk” and “milk” are both 1"
    some = values.taken([4, 1])
    assert (some.names, some.labels(1), some.one) == (["age > 40", "smokes"], ("no", "yes"), "counted as yes")


def test_a_value_stays_where_a_name_is_cut():
    long = open_table(pd.DataFrame({"w" * 100: ["m", "f"] * 4, "w" * 99: ["m", "f"] * 4}))
    names = Values.of(long.names, long.coding).names
    assert [name[-12:] for name in names] == ["w… = m [1]", "w… = m [2]"] or all(" = m" in name for name in names)
    assert plain("watches television every evening = no", 13) == "watches… = no"
    assert len(plain("a = " + "b" * 100, 13)) == 13


@pytest.mark.parametrize(
    ("names", "other", "options"),
    [
        (["tea", "milk", "eggs", "beer"], [], "--recode '*:1=1'`."),
        (["tea", "milk"], ["who"], "--recode tea:1=1 --recode milk:1=1`."),
        (ITEMS, ["who"], "--recode 'q*:1=1'`."),
        (ITEMS, ["quiz", "who"], "--recode q1:1=1`, with the same for each of these 12 columns."),
    ],
)
def test_the_printed_command_counts_the_other_code(codes, tmp_path, monkeypatch, names, other, options):
    """It is run on few rows, of which a report is quick."""
    testing = pytest.importorskip("typer.testing", reason="the cli extra is not installed")
    from hiddenbits.cli.app import app
    from hiddenbits.cli.tables import ReadOptions, origin_of
    from hiddenbits.reporting.findings.find import next_steps

    people = [f"person {i}" for i in range(8)]
    pd.DataFrame(dict.fromkeys(names, [1, 2] * 4) | dict.fromkeys(other, people)).to_csv(
        tmp_path / "t.csv", index=False
    )
    monkeypatch.chdir(tmp_path)

    def question(**options):
        origin = origin_of(ReadOptions("t.csv"), "", None)
        steps = next_steps(replace(codes, table=open_table("t.csv", **options), origin=origin), [])
        return next((step for step in steps if "means yes" in step), None)

    step = question()
    assert step == f"If 1 means yes in these {len(names)} columns, and not 2, run `hiddenbits report t.csv {options}"
    if "with the same" not in step:
        words = shlex.split(step.split("`")[1])[1:]
        done = testing.CliRunner().invoke(app, [*words, "--json", "found.json"])
        assert done.exit_code == 0, done.output
        read = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
        assert read["ones"] == dict.fromkeys(names, "1")
        assert read["coding"].startswith("The value 1 is counted as yes in all")
    assert question(recode={name: {1: 1} for name in names}) is None

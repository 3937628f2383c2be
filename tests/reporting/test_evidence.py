"""What the report finds, on tables in which it was planted."""

import json
import re

import numpy as np
import pytest

from hiddenbits import open_table
from tests.reporting.conftest import COLUMNS, survey
from tests.reporting.reading import Page


def named_shares(numbers):
    """Return the columns that a finding names, with their shares in its rows and in the others."""
    named = [key.removeprefix("share of ") for key in numbers if key.startswith("share of question")]
    return [
        (name, numbers[f"share of {name}"], numbers[f"share of {name}, others"]) for name in named if "," not in name
    ]


def planted(n=240, seed=3):
    """Two kinds of rows, all ones or all zeros but for a little noise; cells that were turned, a row of both kinds."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n) < 0.4
    X = np.repeat(kind[:, None], 10, axis=1) ^ (rng.random((n, 10)) < 0.01)
    X = X.astype(float)
    X[17] = [1, 0] * 5
    X[5] = kind[5]
    X[5, 2] = 1.0 - X[5, 2]
    X[9] = kind[9]
    X[9, 4] = np.nan
    return X, kind


def test_the_profile_of_kinds_is_one_picture(small_report):
    """Two kinds were planted: a bar for each column and kind, and the same shares in the table and in the finding."""
    from hiddenbits.reporting.text import percent

    page = Page(small_report.html)
    text = page.section("classes")
    assert "If every row is one of 2 kinds" in text
    shown = re.findall(r"kind (\d), (question \d): (\S+%), all rows (\S+%)", text)
    assert len(shown) == 2 * 8
    listed = {line[0]: line[1:] for line in re.findall(r"(question \d) (\S+%) (\S+%) (\S+%)", text)}
    for kind, column, share, mean in shown:
        assert (listed[column][0], listed[column][int(kind)]) == (mean, share)
    means = np.nanmean(survey()[0], axis=0)
    assert [listed[column][0] for column in COLUMNS] == [percent(mean) for mean in means]
    (finding,) = (one for one in small_report.found.found if one.kind == "classes")
    assert named_shares(finding.numbers)
    for column, own, other in named_shares(finding.numbers):
        assert {percent(own), percent(other)} == set(listed[column][1:])


def test_suspect_cells_are_listed_with_their_rows():
    from types import SimpleNamespace

    from hiddenbits.reporting.anomalies import doubtful_cells
    from hiddenbits.reporting.context import Context
    from hiddenbits.reporting.sample import drawn

    rule = np.repeat(np.arange(400)[:, None] % 2, 5, axis=1)
    X = rule.astype(float)
    X[5, 2] = 0.0
    sample = drawn(open_table(X), {}, 0)
    expected = rule * 0.9998 + 0.0001
    fits = SimpleNamespace(probabilities=expected, best=SimpleNamespace(line="model"))
    section = doubtful_cells(Context(sample, fits, True, None))
    assert "1 of 5 columns follow" in str(section.opening)
    assert "1 cell is against it" in str(section.opening)
    assert [str(cell) for cell in section.parts[0].rows[0]] == ["6", "<bdi>x2</bdi>", "0", "<0.1%"]
    hidden = doubtful_cells(Context(sample, fits, False, None))
    assert "without individual rows" in str(hidden.parts[0].text)


def test_the_sections_show_what_was_planted(written):
    """The odd row comes first, the blank is filled with its kind, and something hidden beats nothing."""
    X, kind = planted()
    page = Page(written("planted", X, [f"item{j}" for j in range(10)]).read_text(encoding="utf-8"))
    assert page.section("odd").split("what is odd about it")[1].split()[0] == "18"  # rows count from 1
    found = re.search(r"\b10 item4 (\S+)%", page.section("blanks"))[1]
    probability = {"<0.1": 0.0, ">99.9": 100.0}.get(found) if found[0] in "<>" else float(found)
    assert probability > 95.0 if kind[9] else probability < 5.0
    opening = page.section("which")
    assert "It is a tie: of three models of what may lie behind this table, “latent classes” and “latent dim" in opening
    assert "(1 dimension) is the simplest of them" in opening
    lines = re.findall(r"nothing hidden the columns are independent of each other 10 (\S+) ±", opening)
    assert float(lines[0]) > 1.0  # ten copies of one bit: ln 2 * 9 nats, less what noise costs


def test_the_highest_is_no_estimate_of_a_difference():
    """What the others are compared with has no difference of 0 with an error of 0: in no cell, no tip and no name."""
    from types import SimpleNamespace

    from hiddenbits import evaluate
    from hiddenbits.reporting.comparison import comparison
    from tests.reporting import planted

    sizes = {"LogisticPCA": [1], "ClippedPCA": [1]}
    X = planted.scale(0, n=200)[0]
    tied = evaluate.compare(X, ["IndependentColumns", *sizes], sizes=sizes, measures=(), cv=0.3)
    assert len(tied.ties()) == 2
    sample = SimpleNamespace(groups=None, seed=0)
    section = comparison(SimpleNamespace(fits=SimpleNamespace(compared=tied, warned=[]), sample=sample))
    assert str(section.opening).startswith("It is a tie: of three models")
    figure = section.parts[0]
    first, *others = figure.same.rows
    assert first[4] == "highest"
    assert all(re.fullmatch(r"\d+\.\d{3} ± [<\d.]+", line[4]) for line in others)
    drawing = str(figure.drawing)
    assert f"{first[0]}: the highest score" in drawing
    assert drawing.count("whisker") == len(others)
    assert f"Highest score: {first[0]}. Behind it: " in drawing
    for text in (drawing, str(tied), tied._repr_html_(), *map(str, [line[4] for line in figure.same.rows])):
        assert not re.search(r"± -?0\.0+(?!\d)", text)


@pytest.mark.full
def test_copies_are_said_unless_groups_are_given(written):
    X = np.repeat(np.random.default_rng(0).integers(0, 2, (20, 6)), 6, axis=0)
    text = Page(written("copied", X).read_text(encoding="utf-8")).section("which")
    assert "Caution: 100% of the rows have a duplicate" in text
    page = Page(written("grouped", X, groups=np.repeat(np.arange(20), 6)).read_text(encoding="utf-8"))
    assert "Caution" not in page.section("which")
    assert "other models predicts unseen rows clearly better" in page.section("which")
    with pytest.raises(ValueError, match="3 labels for 120 rows"):
        written("wrong", X, groups=[1, 2, 3])


def test_curves_follow_the_model_and_labels_do_not_overlap():
    from hiddenbits.reporting.profiles import _curve, _information
    from hiddenbits.reporting.svg import spread

    slopes, intercepts = np.array([0.5, 2.0, -3.0]), np.array([0.0, 4.0, 1.0])
    z = np.random.default_rng(0).standard_normal(200_000)
    p = _curve(slopes[:, None] * z + intercepts[:, None])
    drawn = (slopes[:, None] ** 2 * p * (1 - p)).mean(axis=1)
    np.testing.assert_allclose(_information(slopes, intercepts), drawn, rtol=0.02)  # Monte-Carlo error about 0.3%
    made = spread([50.0, 52.0, 51.0, 200.0, 310.0], 16.0, 34.0, 300.0)
    gaps = np.diff(np.sort(made))
    assert gaps.min() >= 16.0
    assert np.argsort(made).tolist() == [0, 2, 1, 3, 4]
    assert max(made) <= 300.0


def test_ticks_are_round_and_inside():
    from hiddenbits.reporting.svg import ticks

    for low, high in ((-2.3, 3.1), (0.0, 0.0734), (-17.2, -0.4), (0.0, 61.0), (1e-9, 3e-9), (5.0, 5.0)):
        found = ticks(low, high)
        assert low - 1e-9 <= found[0] <= found[-1] <= high + 1e-9
        assert len(found) <= 7
        if high > low:
            assert len(found) >= 2
            assert len(set(np.round(np.diff(found) / (high - low), 6))) == 1


@pytest.mark.slow
def test_large_tables_are_thinned_and_say_so(written, monkeypatch):
    from hiddenbits.reporting import row_map as chart
    from hiddenbits.reporting import sample

    monkeypatch.setattr(sample, "MOST_ROWS", 200)
    monkeypatch.setattr(chart, "MOST_POINTS", 50)
    monkeypatch.setattr(chart, "MOST_ONES", 10**9)
    monkeypatch.setattr(sample, "PIECE_CELLS", 700)  # so that rows come from many pieces
    X = np.random.default_rng(5).integers(0, 2, (900, 7)).astype(float)
    X[:, :4] = (X[:, [0]] + X[:, :4] * (np.random.default_rng(6).random((900, 4)) < 0.3)) % 2  # four go together
    page = Page(written("thinned", X).read_text(encoding="utf-8"))
    assert "This table has 900 rows" in page.section("table")
    assert "From all 900 rows" in page.section("table")
    assert "fitted to 200 rows, chosen at random (seed 0) from all 900" in page.section("how")
    assert "default_rng(0).choice(900, 200, replace=False)" in page.section("how")
    assert "From 200 of 900 rows" in page.section("which")
    text = page.section("map")
    assert "The map shows 50 rows of 900, chosen at random" in text
    assert "count 200 rows" in text
    data = json.loads(page.all("script", id="map-data")[0][1])
    assert sum(data["n"]) == 50
    for place, row in enumerate(data["row"]):
        ones = {data["names"][j] for j in data["ones"][place]}
        assert ones == {f"x{j}" for j in np.flatnonzero(X[row - 1])}


@pytest.mark.slow
def test_where_nothing_is_hidden_the_report_says_so_and_stops(written):
    X = np.random.default_rng(5).integers(0, 2, (300, 7)).astype(float)
    page = Page(written("nothing", X).read_text(encoding="utf-8"))
    sections = [one["id"] for one, _ in page.all("details") if "section" in one["class"].split()]
    assert sections == ["table", "which", "how"]
    assert page.all("ol") == []
    assert written.reports["nothing"].found.found == ()
    assert "None of two other models predicts unseen rows clearly better" in page.section("which")


def test_wide_tables_keep_the_columns_that_vary_most(monkeypatch):
    from hiddenbits.reporting import sample

    monkeypatch.setattr(sample, "MOST_COLUMNS", 5)
    rng = np.random.default_rng(2)
    X = (rng.random((400, 12)) < np.linspace(0.02, 0.5, 12)).astype(float)
    X[:, 3] = 0.0
    drawn = sample.drawn(open_table(X), {}, 0)
    assert drawn.own_names == [f"x{j}" for j in sorted(np.argsort(-X.var(axis=0))[:5])]
    assert np.array_equal(drawn.cells, X[:, [int(name[1:]) for name in drawn.own_names]])
    assert "5 of the 12 columns" in str(drawn.about()[0])


def test_names_are_shortened_on_one_line_and_told_apart():
    from hiddenbits.reporting.text import name, plain, told_apart

    assert plain("a\nb\tc") == "a b c"
    assert plain("a\x00\ud800b\u202ec") == r"a\x00\ud800b\u202ec"
    assert len(plain("x" * 10_000)) == 60
    assert told_apart(["y" * 100 + "1", "y" * 100 + "2", "z"]) == ["y" * 59 + "… [1]", "y" * 59 + "… [2]", "z"]
    assert name("<b>") == "<bdi>&lt;b&gt;</bdi>"


def test_numbers_are_never_rounded_to_certainty():
    from hiddenbits.reporting.text import percent

    shares = (0.0, 1e-6, 0.0149, 0.5, 0.985, 0.99999, 1.0, float("nan"))
    assert " ".join(map(percent, shares)) == "0% <0.1% 1.5% 50% 98.5% >99.9% 100% -"


def test_answers_to_one_question_are_left_out_and_named():
    """That a column for each answer excludes the others is no finding. Where hardly anything is left, they stay."""
    from hiddenbits.reporting.findings.opening import about_table
    from tests.reporting import planted

    rng = np.random.default_rng(0)
    answer, X = rng.integers(0, 4, 200), rng.integers(0, 2, (200, 4))
    dummies = (answer[:, None] == np.arange(4)).astype(int)
    table = np.column_stack([X, dummies, 1 - X[:, 0]]).astype(float)
    context = planted.context_of(table, {"IndependentColumns": []})
    assert context.sample.names == ["item0", "item1", "item2", "item3"]
    said, _ = about_table(context)
    assert "“item8” is 1 exactly where “item0” is 0, and is left out." in said
    assert "“item4”, “item5” and 2 more are answers to one question" in said
    alone = planted.context_of(np.column_stack([dummies, X[:, :2]]).astype(float), {"IndependentColumns": []})
    assert len(alone.sample.names) == 6
    assert alone.sample.one_of == ()

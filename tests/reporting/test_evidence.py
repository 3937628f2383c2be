"""What the report finds, on tables in which it was planted."""

import json
import re

import numpy as np
import pytest

from hiddenbits import open_table
from tests.reporting.reading import Page


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


@pytest.fixture(scope="module")
def page(written):
    X, _ = planted()
    return Page(written("planted", X, [f"item{j}" for j in range(10)]).read_text(encoding="utf-8"))


def test_kinds_are_found_with_their_shares(page):
    _, kind = planted()
    text = page.section("classes")
    share = max(kind.mean(), 1 - kind.mean())
    largest = int(re.search(r"the largest kind holds (\d+)% of the rows", text)[1]) / 100
    assert abs(largest - share) < 0.03


def test_the_planted_odd_row_comes_first(page):
    text = page.section("odd")
    table = text[text.index("what is odd about it") :]
    assert table.split("what is odd about it")[1].split()[0] == "18"  # rows count from 1


def test_the_turned_cell_is_bet_against(page):
    text = page.section("cells")
    assert re.search(r"\b6 item2 [01] (<0\.1|\d\.\d|\d)%", text)


def test_the_blank_is_filled_with_its_kind(page):
    _, kind = planted()
    found = re.search(r"\b10 item4 (\S+)%", page.section("blanks"))[1]
    probability = {"<0.1": 0.0, ">99.9": 100.0}.get(found) if found[0] in "<>" else float(found)
    assert probability > 95.0 if kind[9] else probability < 5.0


def test_something_hidden_beats_nothing(page):
    opening = page.section("which")
    assert (
        "It is a tie: of three models of what may lie behind this table, “kinds of rows” and “a few scales" in opening
    )
    assert "(1 scale) is the simplest of them" in opening
    lines = re.findall(r"nothing hidden the columns are independent of each other 10 (\S+) ±", opening)
    assert float(lines[0]) > 1.0  # ten copies of one bit: ln 2 * 9 nats, less what noise costs


def test_a_tie_is_said_first():
    """Two kinds and one influence say the same, with as many numbers: the first of them is named."""
    from hiddenbits import evaluate
    from hiddenbits.reporting.comparison import _opening

    sizes = {"BernoulliMixture": [2], "CombinationMachine": [1]}
    found = evaluate.compare(planted()[0], ["IndependentBits", *sizes], sizes=sizes, measures=(), cv=0.3)
    said = str(_opening(found)).replace("<bdi>", "").replace("</bdi>", "")
    assert said.startswith("It is a tie: of three models")
    assert "“kinds of rows” (2 kinds) is the simplest of them, and the sections below use it: it makes" in said


@pytest.mark.full
def test_copies_are_said_unless_groups_are_given(written):
    X = np.repeat(np.random.default_rng(0).integers(0, 2, (20, 6)), 6, axis=0)
    text = Page(written("copied", X).read_text(encoding="utf-8")).section("which")
    assert "Caution: 100% of the rows have a duplicate" in text
    page = Page(written("grouped", X, groups=np.repeat(np.arange(20), 6)).read_text(encoding="utf-8"))
    assert "Caution" not in page.section("which")
    assert "models predicts unseen rows clearly better" in page.section("which")
    with pytest.raises(ValueError, match="3 labels for 120 rows"):
        written("wrong", X, groups=[1, 2, 3])


def test_shares_with_and_without_a_unit_are_weighted_counts():
    from hiddenbits.reporting.causes import SMOOTH, switched

    rng = np.random.default_rng(1)
    cells = rng.integers(0, 2, (30, 4)).astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    codes = rng.random((30, 3))
    on, off = switched(codes, cells)
    for k in range(3):
        for j in range(4):
            ones = seen = 0.0
            for i in range(30):
                if not np.isnan(cells[i, j]):
                    ones += codes[i, k] * cells[i, j]
                    seen += codes[i, k]
            assert on[k, j] == pytest.approx((ones + SMOOTH) / (seen + 2 * SMOOTH), rel=1e-12)
            total, all_ones = (~np.isnan(cells[:, j])).sum(), np.nansum(cells[:, j])
            expected = (all_ones - ones + SMOOTH) / (total - seen + 2 * SMOOTH)
            assert off[k, j] == pytest.approx(expected, rel=1e-12)


def test_large_tables_are_thinned_and_say_so(written, monkeypatch):
    from hiddenbits.reporting import row_map as chart
    from hiddenbits.reporting import sample

    monkeypatch.setattr(sample, "MOST_ROWS", 200)
    monkeypatch.setattr(chart, "MOST_POINTS", 50)
    monkeypatch.setattr(chart, "MOST_ONES", 10**9)
    monkeypatch.setattr(sample, "PIECE_CELLS", 700)  # so that rows come from many pieces
    X = np.random.default_rng(5).integers(0, 2, (900, 7)).astype(float)
    page = Page(written("thinned", X).read_text(encoding="utf-8"))
    assert "This table has 900 rows" in page.section("table")
    assert "fitted to 200 rows, chosen at random (seed 0) from all 900" in page.section("table")
    text = page.section("map")
    assert "The map shows 50 rows of 900, chosen at random" in text
    assert "count 200 rows" in text
    # Columns that are drawn on their own: the report does not claim that something is hidden.
    assert "nothing hidden" in page.all("p", class_="opening")[2][1]
    assert "best:" not in page.all("p", class_="opening")[2][1]
    assert "may be chance" in page.section("classes")
    assert "No row of this table stands out as odd" in page.section("odd")
    data = json.loads(page.all("script", id="map-data")[0][1])
    assert sum(data["n"]) == 50
    for place, row in enumerate(data["row"]):
        ones = {data["names"][j] for j in data["ones"][place]}
        assert ones == {f"x{j}" for j in np.flatnonzero(X[row - 1])}


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

    assert [percent(share) for share in (0.0, 1e-6, 0.0149, 0.5, 0.985, 0.99999, 1.0, float("nan"))] == [
        "0%",
        "<0.1%",
        "1.5%",
        "50%",
        "98.5%",
        ">99.9%",
        "100%",
        "-",
    ]

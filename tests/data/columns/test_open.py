"""Tables as people have them, through frames and CSV files: the same bits, the same words, or one message."""

import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import open_table
from hiddenbits.data.columns.message import suggested_options
from hiddenbits.exceptions import AmbiguousColumnsError, ExcludedColumnsWarning, RecodedColumnsWarning, TableError
from hiddenbits.tables import look

pytestmark = pytest.mark.core
pd = pytest.importorskip("pandas")
nan = np.nan


@pytest.fixture(params=["frame", "csv"])
def door(request, tmp_path):
    """A function that hands over columns as a frame, or as the path of a CSV file."""

    def make(columns):
        frame = pd.DataFrame(columns)
        if request.param == "frame":
            return frame
        frame.to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv"

    return make


def quietly(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_table(data, **options)


ROWS = 12
SURVEY = {
    "id": [f"p{i}" for i in range(ROWS)],
    "q1": ["yes", "no", "no"] * 4,
    "q2": [1, 2, 2] * 4,
    "q3": [0, 1, 1] * 4,
    "weight": [60.5 + i for i in range(ROWS)],
}
BITS = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]] * 4, float)


def test_two_values_are_read_and_said(door):
    with warnings.catch_warnings(record=True, action="always") as said:
        table = open_table(door(SURVEY))
    assert [one.category for one in said] == [RecodedColumnsWarning, ExcludedColumnsWarning]
    assert "yes = 1, no = 0 in 'q1'; 2 = 1, 1 = 0 in 'q2'" in str(said[0].message)
    assert "'id' (id); 'weight' (continuous)" in str(said[1].message)
    assert table.names == ("q1", "q2", "q3")
    np.testing.assert_array_equal(table.to_float(), BITS)
    assert list(table.beside) == ["id", "weight"]
    assert [str(cell) for cell in table.beside["id"]] == SURVEY["id"]


def test_choices_are_silent(door):
    table = open_table(door(SURVEY), id="id", drop="w*", recode={"q1": {"no": 1}, "q2": {2: 1}})
    np.testing.assert_array_equal(table.to_float()[:2], [[0, 0, 0], [1, 1, 1]])
    assert table.coding.ids == ("id",)
    assert open_table(door(SURVEY), columns=["q3"]).names == ("q3",)
    assert open_table(door(SURVEY), columns=["q3", "q1"], recode={"q1": {"yes": 1}}).names == ("q3", "q1")


NEEDY = {
    "a": [0, 1, 9] * 4,
    "b": [1, 2, 3, 4] * 3,
    "c": [1, 2, 3, -99] * 3,
    "d": ["x", None, None] * 4,
    "e": ["red", "green", "blue"] * 4,
    "f": ["yes", "no", "don't know"] * 4,
    "g": [0, 1, 1] * 4,
}


def test_one_message_names_all_and_its_options_work(door):
    with pytest.raises(AmbiguousColumnsError) as caught:
        open_table(door(NEEDY))
    told = str(caught.value)
    assert told.count("need a decision") == 1
    for name in "abcdef":
        assert f"'{name}'" in told
    assert "'g'" not in told
    options = {"missing": {}, "recode": {}}
    for column in caught.value.profiles:
        for option, said in suggested_options(column).items() if column.is_ambiguous else ():
            options[option] |= said
    table = quietly(door(NEEDY), **options)
    assert table.names == ("a", "b", "c", "d", "e", "f", "g")
    np.testing.assert_array_equal(table.to_float()[:, 0], [0, 1, nan] * 4)
    np.testing.assert_array_equal(table.to_float()[:, 1], [0, 0, 1, 1] * 3)
    assert open_table(door(NEEDY), drop=list("abcdef")).names == ("g",)


def test_a_bit_for_each_value_is_never_advised(door):
    """Such bits exclude each other, so that classes of them say nothing of classes of the answers."""
    long = [f"{color} {'x' * 100}" for color in ("red", "green", "blue")]
    columns = NEEDY | {"h": long * 4, "i": ["E11;I10", "J45", "I10"] * 4}
    for names in (list(columns), ["e", "g"], ["h", "g"], ["i", "g"]):
        with pytest.raises(AmbiguousColumnsError) as caught:
            open_table(door({name: columns[name] for name in names}))
        told = str(caught.value)
        assert "one-hot" not in told
        assert "and all other differences between values are lost" in told
        assert "(they stay with the rows): drop=" in told or "(it stays with the rows): drop=" in told
        seen = hiddenbits.tables.look(door({name: columns[name] for name in names}))
        assert "one-hot" not in f"{seen.suggested()}{seen.recipe()}{seen.lines()}"
    table = open_table(door({"e": columns["e"], "g": columns["g"]}), recode={"e": {"red": 1}})
    np.testing.assert_array_equal(table.to_float()[:3, 0], [1, 0, 0])
    for code in ("each", {"red": 2}):
        with pytest.raises(TypeError, match="must list the values that are 1 and 0") as refused:
            open_table(door({"e": columns["e"]}), recode={"e": code})
        assert "one-hot" not in str(refused.value)


def test_codes_for_missing_never_become_bits(door):
    columns = {"a": [0, 1, 9] * 4, "g": [0, 1, 1] * 4}
    for options in ({"recode": {"a": {1: 1}}}, {"recode": {"a": "one-hot"}}, {"columns": ["a"]}, {}):
        with pytest.raises(AmbiguousColumnsError, match=r"'a': 9 \(4 cells\) looks like a code for missing"):
            open_table(door(columns), **options)
    table = open_table(door({"a": [0, 1, 9] * 4}), missing=[9])
    np.testing.assert_array_equal(table.to_float()[:3, 0], [0, 1, nan])
    table = open_table(door({"a": [0, 1, 9] * 4}), recode={"a": {9: 1, 1: 1}})  # the user knows better
    np.testing.assert_array_equal(table.to_float()[:3, 0], [0, 1, 1])


def test_a_threshold_turns_neither_codes_nor_ids_into_bits(door):
    ages = {"id": range(1, 13), "age": [*range(20, 29), 25, 27, -99], "n": [3.5, 1, 2, 7] * 3}
    with pytest.raises(AmbiguousColumnsError, match=r"'age': -99 \(1 cell\) looks like a code for missing"):
        open_table(door(ages), threshold=25)
    with pytest.warns(ExcludedColumnsWarning, match=r"'id' \(id\)"):
        table = open_table(door(ages), threshold=3, missing=[-99])
    assert table.names == ("age", "n")
    np.testing.assert_array_equal(table.to_float()[[0, 11]], [[1, 1], [nan, 1]])


def test_one_value_or_blank_is_asked(door):
    columns = {"a": ["x", None, "x", None], "b": [0, 1, 1, 0]}
    with pytest.raises(
        AmbiguousColumnsError, match=r"recode=\{'a': \{'x': 1, '': 0\}\}\. If it means .* recode=\{'a': \{'x': 1\}\}"
    ):
        open_table(door(columns))
    for options, blank in (
        ({"recode": {"a": {"x": 1, "": 0}}}, 0),
        ({"recode": {"a": {"x": 1}}}, nan),
        ({"empty": "zero"}, 0),
        ({"empty": "missing"}, nan),
    ):
        np.testing.assert_array_equal(open_table(door(columns), **options).to_float()[:, 0], [1, blank, 1, blank])


def test_a_column_that_was_named_is_never_left_out_silently(door):
    for name in ("id", "weight"):
        with pytest.raises(AmbiguousColumnsError, match=f"'{name}': "):
            open_table(door(SURVEY), columns=[name, "q3"])
    table = open_table(door(SURVEY), columns=["weight", "q3"], recode={"weight": "> 65"})
    np.testing.assert_array_equal(table.to_float()[:, 0], [0] * 5 + [1] * 7)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"drop": ["nobody"]}, TableError, "drop= names 'nobody', but the columns are 'id', 'q1'"),
        ({"recode": {"nobody": {"a": 1}}}, TableError, "recode= names 'nobody'"),
        ({"recode": {"q1": {"yse": 1}}}, TableError, "names 'yse', which does not occur. Its values are 'no', 'yes'"),
        ({"recode": {"q1": {"yes": 2}}}, TypeError, "must list the values that are 1 and 0"),
        ({"recode": {"q1": "two-hot"}}, TypeError, "must list the values that are 1 and 0"),
        ({"recode": 3}, TypeError, "must be a dict by column"),
        ({"missing": [None]}, TypeError, "missing= takes values"),
        ({"drop": [1.5]}, TypeError, "drop= takes names or numbers of columns"),
        ({"drop": ["q1"], "recode": {"q1": {"yes": 1}}}, TableError, "is recoded by recode=, but excluded by drop="),
        ({"columns": ["id"], "recode": {"id": {"p1": 1, "p2": 0}}}, TableError, "lacks 'p0', 'p10'"),
    ],
)
def test_words_that_do_not_fit_are_refused(door, options, error, message):
    with pytest.raises(error, match=message):
        open_table(door(SURVEY), **options)


def test_plain_tables_are_read_as_before(door):
    table = open_table(door({"a": [0, 1, None], "b": [True, False, True]}))
    assert table.read_as is None
    assert table.coding is None
    assert table.beside == {}


def test_rows_are_not_taken_for_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("yes,no\nno,no\nyes,yes\nno,yes\n")
    assert quietly(path).shape == (4, 2)
    path.write_text("red,no\nblue,no\nred,yes\nblue,yes\n")
    with pytest.raises(TableError, match="line 1 looks like a row, not like names: 'red' also occurs below"):
        open_table(path)
    assert quietly(path, header=False).shape == (4, 2)


def test_a_recipe_says_the_same(door, tmp_path):
    found = look(door(SURVEY))
    path = tmp_path / "r.toml"
    path.write_text(found.recipe(), encoding="utf-8")
    table = open_table(door(SURVEY), recipe=path)  # silent: all is said
    np.testing.assert_array_equal(table.to_float(), BITS)
    assert table.coding.ids == ("id",)
    table = open_table(door(SURVEY), recipe=path, recode={"q1": {"no": 1}})  # arguments say more
    assert table.to_float()[0, 0] == 0
    needs = look(door(NEEDY))
    assert "'b'" in needs.question
    for text, message in (
        ("drop = 3.5", "recipe"),
        ("nonsense = 1", "'nonsense' is not an option"),
        ("= 1", "not a recipe"),
    ):
        path.write_text(text)
        with pytest.raises((TableError, TypeError), match=message if "drop" not in text else "drop|iterable"):
            open_table(door(SURVEY), recipe=path)
    with pytest.raises(TableError, match="cannot be read"):
        open_table(door(SURVEY), recipe=tmp_path / "none.toml")


def test_names_in_a_recipe_may_be_anything(tmp_path):
    names = ['a "quoted" name', "tab\there", "ümläut 🎲", "a.b", "\x7f", "line\nbreak"]
    frame = pd.DataFrame({name: ["yes", "no", "no"] for name in names})
    path = tmp_path / "r.toml"
    path.write_text(look(frame).recipe(), encoding="utf-8")
    assert open_table(frame, recipe=path).names == tuple(names)


def test_cells_are_hidden_if_asked(door, monkeypatch):
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    with pytest.raises(AmbiguousColumnsError) as caught:
        open_table(door(NEEDY))
    assert not any(word in str(caught.value) for word in ("'red'", "-99", "don't know", "green"))
    with warnings.catch_warnings(record=True, action="always") as said:
        open_table(door(SURVEY))
    assert not any("yes" in str(one.message) for one in said)


def test_only_the_columns_of_bits(door):
    """No question is asked about the others, and nothing said: that is what was asked for."""
    table = open_table(door({**NEEDY, "bits of text": list("abcdefghijkl")}), columns="binary")
    assert table.names == ("g",)
    assert set(table.beside) == {*"abcdef", "bits of text"}


def test_columns_by_number_and_in_order(door):
    table = open_table(door(SURVEY), columns=[3, 2], recode={"q2": {2: 1}})
    assert table.names == ("q3", "q2")
    np.testing.assert_array_equal(table.to_float()[:2], [[0, 0], [1, 1]])


def test_arrays_of_text_are_read_as_frames_are():
    with pytest.warns(RecodedColumnsWarning, match="yes = 1, no = 0 in '0', '1'"):
        table = open_table(np.array([["yes", "no"], ["no", ""], ["yes", "yes"]]))
    np.testing.assert_array_equal(table.to_float(), [[1, 0], [0, nan], [1, 1]])
    rows = np.array([["1", "0"], ["0", "1"], ["1", "1"], ["0", "0"]] * 3)
    model = hiddenbits.LatentClassAnalysis(1, max_iter=2, tol=1.0).fit(rows)
    np.testing.assert_allclose(model.score_samples(rows), model.score_samples(rows.astype(float)))
    with pytest.raises(TableError, match=r"row 0, column 1 \('1'\): 'x' is not a bit"):
        hiddenbits.LatentClassAnalysis(1, max_iter=2, tol=1.0).fit(rows.astype(int)).transform(np.array([["1", "x"]]))


def test_codes_in_cells_are_never_two_values():
    frame = pd.DataFrame({"codes": ["E11;I10", "J45"] * 4, "a": [0, 1] * 4})
    with pytest.raises(
        AmbiguousColumnsError, match=r"'codes': several codes in a cell, such as 'E11;I10'.*get_dummies\(';'\)"
    ):
        open_table(frame)
    assert quietly(frame, recode={"codes": {"J45": 1}}).names == ("codes", "a")  # the user knows better
    assert quietly(pd.DataFrame({"town": ["Bern, CH", "Rome, IT"] * 4})).names == ("town",)


def test_rows_of_totals_and_counts_in_frames():
    frame = pd.DataFrame({"town": ["Bern", "Rom", "Oslo", "Total"], "a": [1, 0, 1, 2]})
    with pytest.raises(TableError, match=r"The last row seems to be a total: .*'Total'.*frame\.iloc\[:-1\]"):
        open_table(frame)
    counts = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [10, 4, 7, 30]})
    with pytest.raises(
        AmbiguousColumnsError, match=r"'n': seems to count how often each row .* sample_weight='n'; .* drop=\['n'\]"
    ):
        open_table(counts)
    np.testing.assert_array_equal(open_table(counts, sample_weight="n").weights, counts["n"])


def test_the_same_recode_and_the_same_question_are_reported_once():
    rng = np.random.default_rng(0)
    kinds = {"q": ["yes", "no"], "a": ["Yes", "No"], "s": [1, 2], "l": [1, 2, 3, 4, 5], "t": [0, 1, 9]}
    survey = {f"{stem}{j}": rng.choice(values, 50) for stem, values in kinds.items() for j in range(12)}
    with pytest.raises(AmbiguousColumnsError) as refused:
        open_table(pd.DataFrame(survey))
    told = str(refused.value)
    assert len(told) < 800
    assert (
        "'l*' (12 columns): ordinal values 1, 2, 3, 4, 5. Choose those that are 1, such as recode={'l*': {4: 1, 5"
        in told
    )
    assert "'t*' (12 columns): 9" in told
    assert "drop=['l*', 't*']" in told
    with pytest.warns(RecodedColumnsWarning) as said:
        open_table(pd.DataFrame(survey), drop=["l*", "t*"])
    assert str(said[0].message).startswith(
        "Recoded as 0 and 1: yes = 1, no = 0 in 'q*', 'a*' (24 columns); 2 = 1, 1 = 0 in 's*' (12 columns). To change"
    )


def test_a_message_about_very_many_columns_is_short_and_names_them_all():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{j}x": rng.integers(0, 3, 40) * (j + 1) + j for j in range(300)})
    with pytest.raises(hiddenbits.exceptions.TableError) as refused:
        hiddenbits.open_table(frame)
    told = str(refused.value)
    assert len(told) < 20_000
    assert "--write-recipe" in told
    assert all(f"'{name}'" in told for name in frame.columns)


@pytest.mark.parametrize("blank", ["auto", "zero"])
def test_rows_are_coded_some_at_a_time(monkeypatch, blank):
    values = {"a": ["yes", "no", None, "yes", "no", "yes", "no"], "b": ["u", "v", "w", "u", None, "w", "v"]}
    monkeypatch.setattr("hiddenbits.data.columns.source.CHUNK_ROWS", 3)
    with pytest.warns(RecodedColumnsWarning):
        table = open_table(values, recode={"b": "one-hot"}, empty=blank)
    gap = 0 if blank == "zero" else np.nan
    a = [1, 0, gap, 1, 0, 1, 0]
    b = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [gap] * 3, [0, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(table.to_float(), np.column_stack([a, b]))


def test_a_type_of_all_columns_leaves_out_those_of_many_values():
    rng = np.random.default_rng(0)
    columns = {"vote": ["left", "right", "none"] * 40, "age": rng.permutation(120).tolist()}
    with pytest.warns(hiddenbits.exceptions.ExcludedColumnsWarning, match="because of their types: 'age'"):
        assert open_table(columns, column_types="nominal", missing=[]).column_names == ("vote",)
    by_name = open_table(columns, column_types={"*": "nominal", "age": "ordinal"}, missing=[])
    assert (by_name.column_names, by_name.coding.sizes) == (("vote", "age"), (3, 120))


def test_codes_for_missing_stay_missing_where_an_empty_cell_is_0(door):
    columns = {"a": [1, 0, -99, None, 1, 0] * 4, "b": ["yes", "no", "yes", None, "n.a.", "no"] * 4}
    table = quietly(door(columns), missing=[-99, "n.a."], empty="zero", recode={"b": {"yes": 1}})
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 0], [nan, 1], [0, 0], [1, nan], [0, 0]] * 4)

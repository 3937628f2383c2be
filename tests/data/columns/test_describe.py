"""The types inferred of columns: many small columns as people have them, each with what is right to find in it."""

import itertools

import pytest

from hiddenbits.data.coding.vocabulary import is_id_name, positive_value
from hiddenbits.data.columns.describe import describe_column

pytestmark = pytest.mark.core


def look(values, name="q", **options):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return describe_column(name, counts, **options)


def repeat(*values, rows=40):
    return list(itertools.islice(itertools.cycle(values), rows))


@pytest.mark.parametrize(
    ("values", "one", "zero"),
    [
        (("yes", "no"), "yes", "no"),
        (("Nein", "Ja", None), "Ja", "Nein"),
        (("sí", "no"), "sí", "no"),
        (("T", "F"), "T", "F"),
        (("absent", "present"), "present", "absent"),
        (("genannt", "nicht genannt"), "genannt", "nicht genannt"),
        (("(1) Yes", "(2) No"), "(1) Yes", "(2) No"),
        (("+", "-"), "+", "-"),
        (("Yes, every day", "No, less often"), "Yes, every day", "No, less often"),
        (("Strongly agree", "Strongly disagree"), "Strongly agree", "Strongly disagree"),
        ((1.0, 2.0), 2.0, 1.0),
        (("1", "2"), 2, 1),
        ((-1.0, 1.0), 1.0, -1.0),
        (("m", "f"), "m", "f"),
        (("democrat", "republican"), "republican", "democrat"),
        (("yes", "YES", "yes", "no", "?"), "yes", "no"),
    ],
)
def test_two_values_and_which_is_one(values, one, zero):
    column = look(repeat(*values))
    assert (column.inferred_type, column.positive, column.negative) == ("two values", one, zero)
    assert not column.is_ambiguous
    assert not column.is_excluded


@pytest.mark.parametrize(
    ("values", "codes", "inferred_type"),
    [
        ((0.0, 1.0, 9.0), {9.0}, "binary"),
        ((0.0, 1.0, -99.0), {-99.0}, "binary"),
        ((0.0, 1.0, -1.0, 8.0, 9.0), {8.0, 9.0}, "ordinal"),
        ((1.0, 2.0, 9.0), {9.0}, "two values"),
        ((1.0, 2.0, 97.0, 98.0, 99.0), {97.0, 98.0, 99.0}, "two values"),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 9.0), {9.0}, "ordinal"),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 999.0, -9.0), {999.0, -9.0}, "ordinal"),
        (("1", "2", "keine Angabe"), {"keine Angabe"}, "two values"),
        (("0", "1", "don't know"), {"don't know"}, "binary"),
        (("x", "-"), {"-"}, "one value or missing"),
        (("low", "medium", "high", "unknown"), {"unknown"}, "ordinal"),
    ],
)
def test_codes_for_missing_values_are_suspected(values, codes, inferred_type):
    column = look(repeat(*values))
    assert (set(column.suspected_codes), column.inferred_type) == (codes, inferred_type)
    assert column.is_ambiguous
    said = look(repeat(*values), missing=[])  # the user says that there are none
    assert said.suspected_codes == ()


@pytest.mark.parametrize(
    ("values", "inferred_type"),
    [
        (repeat(0.0, 1.0, None), "binary"),
        (repeat(True, False), "binary"),
        (repeat(None), "binary"),
        (repeat(0.0), "binary"),
        (repeat("x", None), "one value or missing"),
        (repeat("Austria"), "constant"),
        (repeat(1.0, 2.0, 3.0, 4.0, 5.0), "ordinal"),
        (repeat(-1.0, 0.0, 1.0), "ordinal"),
        (repeat("never", "sometimes", "always"), "ordinal"),
        (repeat("Strongly agree", "Agree", "Neutral", "Disagree"), "ordinal"),
        (repeat("1 - very bad", "2 - so so", "3 - fine"), "ordinal"),
        (repeat("red", "green", "blue"), "nominal"),
        (repeat(101.0, 205.0, 310.0), "nominal"),
        (repeat(0.0, 50.0, 100.0), "ordinal"),
        (repeat("no", "partial", "full"), "ordinal"),
        (repeat("(10,20]", "(20,30]", "[0,10]"), "ordinal"),
        (repeat("north side", "east side", "west side"), "nominal"),
        (repeat("1-3 months", "1-2 years", "3-5 years"), "nominal"),
        ([float(i % 37) for i in range(60)], "continuous"),
        ([f"2024-01-{1 + i % 28:02d}" for i in range(60)], "date"),
        ([float(i) for i in range(60)], "id"),
        ([f"person{i}" for i in range(60)], "id"),
        ([f"I like the number {i}" for i in range(60)], "text"),
    ],
)
def test_other_columns(values, inferred_type):
    column = look(values)
    assert column.inferred_type == inferred_type
    assert column.suspected_codes == ()
    assert column.is_excluded == (inferred_type in ("continuous", "date", "text", "id", "constant"))


def test_a_name_says_id_where_values_nearly_all_differ():
    values = [float(7 * i) for i in range(50)]
    assert look(values, "value").inferred_type == "continuous"
    assert look([*values, 0.0], "order_id").inferred_type == "id"
    assert look(repeat("a", "b", "c"), "school_id").inferred_type == "nominal"
    for name in ("id", "ID", "caseID", "Unnamed: 0", "", "respondent", "Lfd. Nr.", "e-mail", "row.names"):
        assert is_id_name(name), name
    for name in ("paid", "valid", "q1", "x1", "humid", "age"):
        assert not is_id_name(name), name


def test_dates_and_other_types_are_what_their_type_says():
    assert look(repeat("a", "b"), form="date").inferred_type == "date"
    assert look(repeat("a", "b"), form="other").is_excluded


def test_counts_values_and_blanks():
    column = look(["yes", "Yes", "yes", "no", None, "NA", "-99"], missing=[-99.0])
    assert column.values == (("no", 1), ("yes", 3))
    assert (column.n_rows, column.n_missing) == (7, 3)
    assert look(["b", "b", "a", "c", "b", "c", "a", "a", "b"]).values == (("b", 4), ("a", 3), ("c", 2))


def test_with_a_threshold_columns_of_numbers_are_looked_through():
    ages = [float(20 + i % 37) for i in range(60)]
    assert look([*ages, -99.0]).suspected_codes == ()  # left out anyway
    assert look([*ages, -99.0], threshold=True).suspected_codes == (-99.0,)
    assert look([*ages, 999.0], threshold=True).suspected_codes == (999.0,)
    assert look([0.0, 1.0, 2.0, 3.0, 9.0] * 5, threshold=True).suspected_codes == ()  # counts


@pytest.mark.parametrize("pair", [("unknown", "known"), ("a", "b"), (1.0, "x")])
def test_the_order_of_two_values_does_not_matter(pair):
    assert positive_value(*pair) == positive_value(*pair[::-1])


def test_ranges_and_degrees_come_in_their_order():
    ages = look(repeat("20-29", "under 20", "30-39", "40+"))
    assert [value for value, _ in ages.values] == ["under 20", "20-29", "30-39", "40+"]
    worry = look(repeat("very anxious", "a little anxious", "not anxious at all"))
    assert [value for value, _ in worry.values] == ["not anxious at all", "a little anxious", "very anxious"]
    many = look(repeat("0", "3 or more", "1-2"))
    assert (many.inferred_type, [value for value, _ in many.values]) == ("ordinal", [0, "1-2", "3 or more"])


def test_none_is_a_blank_among_numbers_a_degree_on_a_scale_and_else_asked_about():
    assert look(repeat("0", "1", "None")).suspected_codes == ()
    assert look(repeat("0", "1", "None")).n_missing > 0
    assert look(repeat("none", "mild", "severe")).inferred_type == "ordinal"
    assert look(repeat("none", "current", "former")).suspected_codes == ("none",)

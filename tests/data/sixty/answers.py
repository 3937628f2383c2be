"""Answers: two values in many spellings, and cells that are no answer."""

from tests.data.sixty.judge import Case
from tests.data.sixty.write import cells, lines

YES = {"smokes": "yes no no yes no yes", "drinks": "no no yes yes no yes"}
BITS = {"smokes": "100101", "drinks": "001101"}


LANGUAGES = (
    ("ja", "nein"),
    ("Oui", "Non"),
    ("sí", "no"),
    ("SIM", "NÃO"),
    ("да", "нет"),
    ("tak", "nie"),
    ("evet", "hayır"),  # noqa: RUF001
    ("はい", "いいえ"),
    ("是", "否"),
)


CASES = (
    Case("yes and no", cells(YES), BITS, ones={"smokes": "yes", "drinks": "yes"}),
    Case(
        "Yes, YES, 'yes ', no, No",
        lines("smokes,drinks", "Yes,no", "no,No ", "No, YES", "yes ,yes", "NO,no", "YES,Yes"),
        BITS,
        told=("in 'smokes', 'drinks'",),
    ),
    Case(
        "yes and no in nine languages",
        cells({f"q_{yes}": [yes if bit == "1" else no for bit in "100101"] for yes, no in LANGUAGES}),
        {f"q_{yes}": "100101" for yes, _ in LANGUAGES},
        ones={f"q_{yes}": yes for yes, _ in LANGUAGES},
    ),
    Case(
        "Y and N, with blanks",
        cells({"a": "Y N _ N Y", "b": "N Y Y _ N"}),
        {"a": "10-01", "b": "011-0"},
        ones={"a": "Y", "b": "Y"},
    ),
    Case(
        "TRUE and FALSE of R's write.csv, with row names and NA",
        lines('"","a","b"', '"1",TRUE,NA', '"2",FALSE,TRUE', '"3",TRUE,TRUE', '"4",NA,FALSE', '"5",FALSE,FALSE'),
        {"a": "101-0", "b": "-1100"},
        left_out={"": "id"},
        told=("(id)",),
    ),
    Case("t and f of PostgreSQL", cells({"a": "t f f t", "b": "f f t _"}), {"a": "1001", "b": "001-"}, ones={"a": "t"}),
    Case("+ and -", cells({"a": "+ - - +", "b": "- - + +"}), {"a": "1001", "b": "0011"}, ones={"a": "+", "b": "+"}),
    Case(
        "male and female, next to bits",
        cells({"sex": "male female female male", "a": "0 1 1 0"}),
        {"sex": "1001", "a": "0110"},
        ones={"sex": "male"},
    ),
    Case(
        "1 and 2, and 9 for missing",
        cells({"q1": "1 2 2 1 9", "q2": "2 2 1 9 1", "q3": "1 2 1 2 2"}),
        {"q1": "0110-", "q2": "110-0", "q3": "01011"},
        asks=("q1", "q2"),
        say=("missing=[9]",),
    ),
    Case(
        "0 and 1, and -99 for missing",
        cells({"a": "0 1 1 -99 0", "b": "1 1 0 0 1"}),
        {"a": "011-0", "b": "11001"},
        asks=("a",),
        say=("missing=[-99]",),
    ),
    Case("0 and 1, and . for missing (SAS)", cells({"a": "0 1 . 1", "b": ". 1 0 0"}), {"a": "01-1", "b": "-100"}),
    Case(
        "don't know, keine Angabe",
        lines("a,b,c", "yes,nein,0", "no,nein,1", "don't know,ja,1", "yes,ja,0", "no,keine Angabe,0"),
        {"a": "10-10", "b": "0011-", "c": "01100"},
        asks=("a", "b"),
        say=('missing=["don\'t know"]', "missing=['keine Angabe']"),
    ),
    Case(
        "x or blank",
        cells({"milk": "x _ x _ x", "bread": "_ x x _ _"}),
        {"milk": "10101", "bread": "01100"},
        asks=("milk", "bread"),
        say=("recode={'milk': {'x': 1, '': 0}, 'bread': {'x': 1, '': 0}}",),
    ),
    Case(
        "votes: y and n with ?, and a party",
        cells({"party": "democrat republican democrat republican", "v1": "y n ? y", "v2": "n n y ?"}),
        {"party": "0101", "v1": "10-1", "v2": "001-"},
        ones={"party": "republican", "v1": "y", "v2": "y"},
    ),
)

"""How text files are written: delimiters, encodings, what is above the names and below the rows."""

from tests.data.sixty.judge import Case
from tests.data.sixty.write import cells, lines, text

BITS = {"a": "0110", "b": "1100"}
ROWS = ("0,1", "1,1", "1,0", "0,0")


CASES = (
    Case(
        "Excel's CSV: semicolons, a BOM, CRLF",
        text("Raucher;Über 40\r\nja;nein\r\nnein;ja\r\nja;ja\r\n", encoding="utf-8-sig"),
        {"Raucher": "101", "Über 40": "011"},
        ones={"Raucher": "ja", "Über 40": "ja"},
        told=("';' between cells",),
    ),
    Case(
        "decimal commas",
        cells({"a": "0,0 1,0 1,0 0,0", "b": "1,0 1,0 0,0 0,0", "kg": "70,5 81,25 64,0 59,5"}, ";"),
        BITS,
        left_out={"kg": "continuous"},
        told=("',' as the decimal sign",),
    ),
    Case("tabs", cells({"a": "0 1 1 0", "b": "1 1 0 0"}, "\t", name="t.tsv"), BITS),
    Case(
        "latin-1",
        lines("a,größe", "0,1", "1,1", "1,0", "0,0", encoding="latin-1"),
        {"a": "0110", "größe": "1100"},
        told=("cp1252",),
    ),
    Case(
        "UTF-16, as Excel's Unicode text",
        cells({"a": "0 1 1 0", "größe": "1 1 0 0"}, "\t", encoding="utf-16", end="\r\n"),
        {"a": "0110", "größe": "1100"},
        told=("utf-16",),
    ),
    Case("numbers as text, with spaces and quotes", lines("a, b", " 0 , 1", '"1",1.0', '" 1",0 ', "0, 0.0"), BITS),
    Case(
        "0.0 and 1.0, as pandas writes them after a blank",
        cells({"a": "0.0 1.0 _", "b": "1 1 0"}),
        {"a": "01-", "b": "110"},
    ),
    Case("no names, yes and no", lines("yes,no", "no,no", "yes,yes"), {"0": "101", "1": "001"}, told=("yes = 1",)),
    Case(
        "no names, other words",
        lines("red,big", "blue,big", "red,small", "red,big"),
        {"0": "1011", "1": "0010"},
        say=("header=False",),
        told=("'red' also occurs below",),
    ),
    Case("a title above the names", lines("Survey of 2026", "a,b", *ROWS), BITS, say=("skip_top=1",)),
    Case(
        "a title above the names, as Excel saves it",
        lines("Survey of 2026;", ";", "a;b", *(row.replace(",", ";") for row in ROWS)),
        BITS,
        say=("skip_top=2",),
    ),
    Case(
        "a comment above the names", lines("# exported 2026-11-02, 4 rows, v2", "a,b", *ROWS), BITS, say=("skip_top=1",)
    ),
    Case(
        "empty rows at the end", lines("a;b", "0;1", "1;1", "1;0", "0;0", ";", ";", ";"), BITS, told=("3 empty rows",)
    ),
    Case("empty lines at the end", lines("a,b", *ROWS, "", ""), BITS),
    Case(
        "a row of totals at the end",
        lines("town,a,b", "Bern,0,1", "Rom,1,1", "Oslo,1,0", "Wien,0,0", "Paris,1,1", "Total,3,3"),
        {"a": "01101", "b": "11001"},
        left_out={"town": "id"},
        say=("skip_end=1",),
        told=("'Total'",),
    ),
    Case(
        "two columns of one name",
        lines("a,a,b", "0,1,1", "1,1,0", "0,0,0"),
        {"a": "010", "a.2": "110", "b": "100"},
        asks=("a",),
        say=("names=['a', 'a.2', 'b']",),
    ),
)

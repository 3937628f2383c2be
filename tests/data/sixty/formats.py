"""Files of other programs, and objects in memory."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from tests.data.sixty.judge import Case
from tests.data.sixty.write import lines, thing

BITS = {"a": "0110", "b": "1100"}
YES = {"a": ["no", "yes", "yes", "no"], "b": ["yes", "yes", "no", "no"]}
SAID = {"a": "yes", "b": "yes"}
nan = float("nan")


def _frame(columns: Any, **options: Any) -> Any:
    import pandas

    return pandas.DataFrame(columns, **options)


def _xlsx(folder: Path) -> Path:
    import datetime

    openpyxl = __import__("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    days = [datetime.date(2026, 1, day) for day in (3, 4, 4, 9, 3)]
    people = ["p1", "p2", "p3", "p4", "p5"]
    for row in (
        ["person", "day", "a", "b", "ok"],
        *zip(
            people,
            days,
            ["Yes", "No", "Yes", "No", "No"],
            [1, 0, 0, None, 1],
            [True, False, True, True, False],
            strict=True,
        ),
    ):
        sheet.append(list(row))
    sheet.append([None] * 5)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


LABELS = {"q1": {1.0: "yes", 2.0: "no", 9.0: "refused"}, "q2": {0.0: "no", 1.0: "yes"}}


def _survey() -> Any:
    return _frame({"q1": [1.0, 2.0, 9.0, 2.0], "q2": [0.0, 1.0, 1.0, nan], "caseid": [11.0, 12.0, 13.0, 14.0]})


def _sav(folder: Path) -> Path:
    statistics = __import__("pyreadstat")
    statistics.write_sav(_survey(), folder / "t.sav", variable_value_labels=LABELS, missing_ranges={"q1": [9]})
    return folder / "t.sav"


def _dta(folder: Path) -> Path:
    statistics = __import__("pyreadstat")
    statistics.write_dta(_survey(), folder / "t.dta", variable_value_labels=LABELS)
    return folder / "t.dta"


def _sav_as_frame(folder: Path) -> Any:
    return __import__("pyreadstat").read_sav(_sav(folder), apply_value_formats=True)[0]


def _feather(folder: Path) -> Path:
    _frame(YES).to_feather(folder / "t.feather")
    return folder / "t.feather"


def _nullable() -> Any:
    import pandas

    return _frame(
        {"a": pandas.array([0, 1, None, 1], "Int64"), "b": pandas.array([True, None, False, True], "boolean")}
    )


def _two_levels() -> Any:
    import pandas

    return _frame({"a": pandas.Categorical(YES["a"]), "dose": pandas.Categorical(["high", "low", "low", None])})


def _enum() -> Any:
    polars = __import__("polars")
    kind = polars.Enum(["no", "yes"])
    return polars.DataFrame({name: polars.Series(cells, dtype=kind) for name, cells in YES.items()})


CASES = (
    Case(
        "xlsx: yes and no, bits, true and false, dates, people",
        _xlsx,
        {"a": "10100", "b": "100-1", "ok": "10110"},
        ones={"a": "Yes"},
        left_out={"person": "id", "day": "date"},
    ),
    Case(
        "sav with labels and a declared code for missing",
        _sav,
        {"q1": "10-0", "q2": "011-"},
        ones={"q1": "yes"},
        left_out={"caseid": "id"},
    ),
    Case(
        "dta with labels, among them one for refused",
        _dta,
        {"q1": "10-0", "q2": "011-"},
        left_out={"caseid": "id"},
        asks=("q1",),
        say=("missing=['refused']",),
    ),
    Case(
        "frame of pyreadstat with labels as categories",
        _sav_as_frame,
        {"q1": "10-0", "q2": "011-"},
        ones={"q1": "yes", "q2": "yes"},
        left_out={"caseid": "id"},
    ),
    Case(
        "jsonl: true, false, null",
        lines('{"a": false, "b": true}', '{"a": true, "b": true}', '{"a": null}', name="t.jsonl"),
        {"a": "01-", "b": "11-"},
    ),
    Case("feather: yes and no", _feather, BITS, ones=SAID),
    Case(
        "baskets of item names",
        lines("milk,bread", "bread", "eggs,milk,bread", "eggs", name="t.basket"),
        {"milk": "1010", "bread": "1110", "eggs": "0011"},
        told=("baskets of item names with ',' between them",),
    ),
    Case(
        "array of the texts yes and no",
        thing(lambda: np.array(list(zip(*YES.values(), strict=True)))),
        {"0": "0110", "1": "1100"},
        told=("yes = 1, no = 0",),
    ),
    Case(
        "array of the texts 0 and 1",
        thing(lambda: np.array([["0", "1"], ["1", "1"], ["", "0"]])),
        {"0": "01-", "1": "110"},
    ),
    Case("frame of the texts 0 and 1", thing(lambda: _frame({"a": list("0110"), "b": list("1100")})), BITS),
    Case(
        "pandas categories with two levels",
        thing(_two_levels),
        {"a": "0110", "dose": "100-"},
        ones={"a": "yes", "dose": "high"},
    ),
    Case("pandas' nullable Int64 and boolean", thing(_nullable), {"a": "01-1", "b": "1-01"}),
    Case("polars Enum", thing(_enum), BITS, ones=SAID),
    Case(
        "Decimal",
        thing(lambda: _frame({"a": [Decimal(0), Decimal("1.0"), None], "b": [Decimal(1)] * 2 + [Decimal(0)]})),
        {"a": "01-", "b": "110"},
    ),
    Case("NaN among bits", thing(lambda: np.array([[0, 1], [nan, 1], [1, nan]])), {"0": "0-1", "1": "11-"}),
)

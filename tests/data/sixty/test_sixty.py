"""Sixty tables as people have them: read rightly, or refused with an option that works; none wrongly without a word."""

import importlib

import pytest

from tests.data.sixty.judge import READ, REFUSED, judged
from tests.data.sixty.tables import TABLES

NEEDS = {  # by a word of the name
    "xlsx": ("openpyxl", "python_calamine"),
    "sav": ("pyreadstat", "pandas"),
    "dta": ("pyreadstat", "pandas"),
    "pyreadstat": ("pyreadstat", "pandas"),
    "jsonl": ("pyarrow",),
    "feather": ("pyarrow", "pandas"),
    "order_id": ("pyarrow",),
    "polars": ("polars",),
    "pandas": ("pandas",),
    "frame": ("pandas",),
    "Decimal": ("pandas",),
}


def test_there_are_sixty():
    assert len(TABLES) == len({case.name for case in TABLES}) == 60


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_table(case):
    for word, packages in NEEDS.items():
        if word in case.name:
            for package in packages:
                pytest.importorskip(package)
    verdict, why = judged(case)
    assert verdict == (REFUSED if case.say else READ), why


def test_the_command_counts_them(capsys):
    main = importlib.import_module("tests.data.sixty.__main__").main
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("60 of 60: ")

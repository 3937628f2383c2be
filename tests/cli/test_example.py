"""`hiddenbits example` writes a table that the other commands read."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from hiddenbits import load, open_table
from hiddenbits.datasets import load_baskets
from tests.cli.test_commands import run


@pytest.fixture(autouse=True)
def _in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def test_an_example_is_written_and_read():
    run("example", "baskets")
    table = open_table("baskets.csv")
    assert table.names == load_baskets().names
    assert (table.to_float() == load_baskets().to_float()).all()
    run("example", "exam", "--out", "e.csv")
    assert open_table("e.csv").shape == (500, 20)
    run("example", "cats", code=1)


@pytest.mark.parametrize(
    ("name", "after", "excluded", "n_columns"),
    [("votes", "--by party", ["party"], 16), ("zoo", "--drop legs --by type", ["legs", "type"], 15)],
)
def test_real_tables_come_along_with_columns_to_exclude(name, after, excluded, n_columns):
    output = " ".join(run("example", name).output.split())
    assert "CC BY 4.0" in output
    assert f"hiddenbits report {name}.csv {after}" in output
    drop = [word for column in excluded for word in ("--drop", column)]
    assert name == "votes" or " ".join(drop) in " ".join(run("look", f"{name}.csv").output.split())
    run("fit", f"{name}.csv", "logistic", *drop, "--out", "m.hb")
    assert len(load("m.hb").feature_names_in_) == n_columns

"""`hiddenbits example` writes a table that the other commands read."""

import pytest

from hiddenbits import load, open_table
from hiddenbits.datasets import load_baskets

pytest.importorskip("typer")
pytest.importorskip("rich")
from typer.testing import CliRunner

from hiddenbits.cli.app import app


def test_an_example_is_written_and_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["example", "baskets"])
    assert done.exit_code == 0, done.output
    table = open_table(tmp_path / "baskets.csv")
    assert table.names == load_baskets().names
    assert (table.to_float() == load_baskets().to_float()).all()
    assert CliRunner().invoke(app, ["example", "exam", "--out", "e.csv"]).exit_code == 0
    assert open_table(tmp_path / "e.csv").shape == (500, 20)
    assert CliRunner().invoke(app, ["example", "cats"]).exit_code != 0


def test_votes_come_along_and_are_read_without_options(tmp_path, monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["example", "votes"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "CC BY 4.0" in said
    assert "hiddenbits report votes.csv --by party" in said
    looked = CliRunner().invoke(app, ["look", "votes.csv"])
    assert looked.exit_code == 0, looked.output
    assert "435 rows x 17 columns" in looked.output
    for out, more in (("all.hb", []), ("votes.hb", ["--drop", "party"])):
        fitted = CliRunner().invoke(app, ["fit", "votes.csv", "classes", "--out", out, *more])
        assert fitted.exit_code == 0, fitted.output
    assert len(load("all.hb").feature_names_in_) == 17
    assert "party" not in load("votes.hb").feature_names_in_


def test_zoo_comes_along_and_says_what_to_leave_out(tmp_path, monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["example", "zoo"])
    assert done.exit_code == 0, done.output
    assert "hiddenbits report zoo.csv --drop legs --by type" in " ".join(done.output.split())
    assert "--drop legs --drop type" in " ".join(CliRunner().invoke(app, ["look", "zoo.csv"]).output.split())
    assert (
        CliRunner()
        .invoke(app, ["fit", "zoo.csv", "logistic", "--drop", "legs", "--drop", "type", "--out", "zoo.hb"])
        .exit_code
        == 0
    )

"""`hiddenbits example` writes a table that the other commands read."""

import pytest

from hiddenbits import open_table
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

import json

import pytest

from tests.reporting.reading import Page


@pytest.fixture
def run(tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the cli extra is not installed")
    from typer.testing import CliRunner

    from hiddenbits.cli.app import app

    monkeypatch.chdir(tmp_path)
    lines = ["a,b,who", *(f"{i % 2},{i % 3 // 2},person{i}" for i in range(8))]
    (tmp_path / "few.csv").write_text("\n".join(lines) + "\n")
    return lambda *words: CliRunner().invoke(app, ["report", "few.csv", *words])


def test_the_command_writes_the_report(run, tmp_path):
    done = run("--no-rows", "--out", "found.html")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "found.html").read_text(encoding="utf-8")
    assert "written without individual rows" in text
    assert Page(text).all("h1")[0][1].strip() == "few.csv"
    assert "person1" not in text
    assert "who" not in Page(text).section("table")  # a column that was left out shows only where it is asked for
    assert run("--no-rows", "--out", "named.html", "--id", "who").exit_code == 0
    assert "who" in Page((tmp_path / "named.html").read_text(encoding="utf-8")).section("table")


def test_the_command_writes_the_findings_alone_and_groups_them(run, tmp_path):
    done = run("--by", "who", "--out", "a.html", "--json", "a.json", "--markdown", "a.md")
    assert done.exit_code == 0, done.output
    read = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (read["title"], read["findings"]) == ("few.csv", [])
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# few.csv\n\nA table of 8 rows")
    assert run("--out", "a.html", "--json", "a.html").exit_code == 1
    for option in ("--by", "--color"):
        done = run(option, "age")
        assert done.exit_code == 1
        assert "'age'" in done.output

"""Names and file names can be anything; nothing of them reaches the terminal raw, or a spreadsheet as a formula."""

import csv
import json
import re
import unicodedata

import numpy as np
import pytest

from hiddenbits import evaluate

pytest.importorskip("typer")
pytest.importorskip("rich")
from typer.testing import CliRunner

from hiddenbits.cli.app import app
from hiddenbits.cli.outputs import safe

EVIL = "a\x1b[31m\nb\x9b2J\u202egnp\u2028\u200f\x7f"
NAMES = [EVIL, "", "c\r\x07", "d"]
SHOWN = r"a\x1b[31m\nb\x9b2J\u202egnp\u2028\u200f\x7f"


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words], color=False)
    assert done.exit_code == code, (done.output, done.exception)
    for text in (done.stdout, done.stderr):
        acting = {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert acting <= {"\n"}, acting
    return done


@pytest.fixture
def survey(tmp_path):
    """A CSV file whose names, and its own, contain control characters."""
    X = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(object)
    X[:, 0], X[:, 1] = 1, "word"
    path = tmp_path / f"t{EVIL}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, *X.tolist()])
    return path


def test_look_escapes_names(survey):
    output = run("look", survey)
    assert f"the same in every row: {SHOWN}\n" in output.stdout
    assert re.search(r"^'' +constant +'word' \(60\) +excluded", output.stdout, re.M)  # a column without a name
    assert r"c\r\x07" in output.stdout  # in the table of columns


def test_json_is_escaped_and_has_the_same_names(survey):
    result = json.loads(run("look", survey, "--json").stdout)
    assert [one["name"] for one in result["by_column"]] == [EVIL, "c\r\x07", "d"]
    assert result["constant_columns"] == [EVIL]


def test_written_files_are_named_escaped(survey, tmp_path):
    model = tmp_path / f"m{EVIL}.hb"
    output = run("fit", survey, "classes", "--n-components", 2, "-o", model, "--n-jobs", 1)
    assert rf"m{SHOWN}.hb" in output.stdout
    assert model.exists()
    output = run("score", survey, model, "-o", tmp_path / f"s{EVIL}.csv", "--n-jobs", 1)
    assert rf"s{SHOWN}.csv" in output.stderr
    run("sample", model, "-o", tmp_path / "new.csv", "--rows", 3)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["look", f"missing{EVIL}.csv"], 1),
        (["look", f"one{EVIL}.csv", f"two{EVIL}.csv"], 2),  # as from a pattern of the shell
        (["look", f"--no{EVIL}"], 2),
        ([f"no{EVIL}"], 2),
        (["fit", "x.csv", f"model{EVIL}", "-o", "x.hb"], 1),
        (["fit", "x.csv", "classes", "-o", "x.hb", "--set", f"a{EVIL}=1"], 1),
        (["score", "x.csv", f"missing{EVIL}.hb"], 1),
        (["sample", f"missing{EVIL}.hb", "-o", "x.csv"], 1),
    ],
)
def test_errors_are_escaped(words, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b\n0,1\n")
    output = run(*words, code=code)
    assert "202e" in output.stderr


def test_a_failure_that_is_a_bug_is_escaped(survey, monkeypatch):
    def broken(*_, **__):
        raise KeyError(EVIL)

    monkeypatch.setattr(evaluate, "describe", broken)
    assert "this is a bug" in run("look", survey, code=70).stderr


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_formula_in_csv(sign):
    assert safe(f"{sign}1+2") == f"'{sign}1+2"
    assert safe(f"a{sign}b") == f"a{sign}b"

"""Columns with own values on the command line: inferred types, options and recipes, completed values."""

import csv
import json
import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
import hiddenbits
from tests.cli.test_commands import run


@pytest.fixture
def survey(tmp_path):
    """Answers, two ambiguous columns, an id and a missing value."""
    path = tmp_path / "survey.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["person", "q1", "q2", "mood", "town"])
        for i in range(24):
            q1 = "" if i == 7 else "ja" if i % 2 else "nein"
            lines.writerow([f"p{i:02d}", q1, (0, 1, -99)[i % 3], 1 + i % 4, "Bern"])
    return path


FLAGS = ["--id", "person", "--drop", "town", "--missing", "-99", "--recode", "mood:3=1", "--recode", "mood:4=1"]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_look_shows_columns_and_what_they_need(survey):
    output = run("look", survey).stdout
    for words in ("--missing q2:-99", "--recode mood:3=1 --recode mood:4=1", "--drop q2"):
        assert words in output
    result = json.loads(run("look", survey, "--json").stdout)
    types = ["id", "two values", "binary", "ordinal", "constant"]
    assert result["inferred_types"] == dict(zip(["person", "q1", "q2", "mood", "town"], types, strict=True))
    assert all(word in output for word in types)
    assert "latent class analysis accepts columns of every type: hiddenbits fit" in output
    refused = run("fit", survey, "logistic", "-o", survey.with_name("m.hb"), code=1).stderr
    assert "2 columns need a decision" in refused
    assert "set --missing -99" in refused


def test_latent_classes_of_levels(survey):
    """From a look to rows that are imputed in the user's own values; missing levels are counted as missing."""
    model, out = survey.with_name("m.hb"), survey.with_name("out.csv")
    flags = ["--id", "person", "--drop", "town", "--missing", "-99", "--column-types", "mood:1,2,3,4"]
    output = run("look", survey, *flags, "--column-types", "q1:nominal").stdout
    assert "24 rows x 3 columns" in output
    assert "9 missing values" in output
    assert re.search(r"q1=ja +11 .* 23\n", output)
    assert "mood:1,2,3,4 --column-types q1:nominal --out model.hb" in output.replace("'", "")
    fitted = run("fit", survey, "classes", "-n", "2", "-o", model, *flags).stdout
    assert "rows: 24 x 3 columns" in fitted
    assert re.search(r"\nmood +4 +0\.\d+ +0\.\d+\n", fitted)
    assert "binary columns" in run("report", survey, "-o", out, *flags, code=1).stderr
    assert hiddenbits.load(model).level_names_ == ["q1", "q2", "mood=1", "mood=2", "mood=3", "mood=4"]
    assert run("score", survey, model).stdout.startswith("log likelihood per row: -")
    output = run("complete", survey, model, "-o", out, "--bits").stderr
    assert "9 missing values in 2 columns imputed" in output
    assert {row["mood"] for row in rows_of(out)} == {"1", "2", "3", "4"}
    assert rows_of(out)[7]["q1"] in ("ja", "nein")
    refused = run("fit", survey, "logistic", "-o", model, *flags, code=1).stderr
    assert "or use LatentClassAnalysis" in refused


def test_one_hot_is_explained_and_not_advised(tmp_path):
    (tmp_path / "t.csv").write_text("mood,a\n" + "good,0\nbad,1\nfair,1\n" * 6)
    shown = run("look", str(tmp_path / "t.csv")).output
    assert "one-hot" not in shown
    assert (
        "--recode mood:good=1. With --recode, values that are not listed become 0, and all other differences"
        in " ".join(shown.split())
    )
    assert "--drop mood" in shown
    words = re.sub(r"[│\s]+", " ", run("fit", "--help").output)
    assert "violates the local independence that latent class models assume" in words


def test_flags_and_a_recipe_are_equivalent(survey, tmp_path):
    run("look", survey, *FLAGS, "--write-recipe", tmp_path / "r.toml")
    run("fit", survey, "classes", "-n", 2, *FLAGS, "-o", tmp_path / "a.hb", "--n-jobs", 1)
    run("fit", survey, "classes", "-n", 2, "--recipe", tmp_path / "r.toml", "-o", tmp_path / "b.hb", "--n-jobs", 1)
    for model in "ab":
        run("score", survey, tmp_path / f"{model}.hb", "-o", tmp_path / f"{model}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_model_reads_a_new_file_as_the_fit_did(survey, tmp_path):
    run("fit", survey, "classes", "-n", 2, *FLAGS, "-o", tmp_path / "m.hb", "--n-jobs", 1)
    survey.write_text(survey.read_text().replace("p03,ja", "p03,vielleicht"))
    output = run("score", survey, tmp_path / "m.hb", code=1).stderr
    assert "row 3, column 'q1': 'vielleicht' is not among the values of the fit" in output


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--recode", "q1"], "--recode q1: write column:value=1"),
        (["--recode", "q1:ja=2"], "write column:value=1"),
        (["--drop", "nobody"], "--drop names 'nobody', but the columns are 'person'"),
        (["--recipe", "none.toml"], "the recipe cannot be read"),
    ],
)
def test_flags_that_do_not_fit(survey, tmp_path, flags, message):
    assert message in " ".join(run("fit", survey, "classes", "-o", tmp_path / "m.hb", *flags, code=1).stderr.split())

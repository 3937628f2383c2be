"""Commands on tables with continuous columns and counts: fit, look, score, map, complete, sample, convert, report."""

import csv

import numpy as np
import pytest

from hiddenbits import load

pytest.importorskip("typer")
pytest.importorskip("rich")
from tests.cli.test_commands import run

FLAGS = ["--column-types", "visits:count"]


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Names of rows, an answer, incomes with cents, heights, visits; some incomes and visits are missing."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("numbers") / "rows.csv"
    k = rng.integers(0, 2, 300)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["person", "smokes", "income", "height", "visits"])
        for i in range(300):
            income, visits = f"{rng.normal(30_000 + 20_000 * k[i], 5_000):.2f}", rng.poisson(1 + 4 * k[i])
            answer = "yes" if rng.random() < 0.2 + 0.6 * k[i] else "no"
            row = [f"p{i}", answer, income if i % 10 else "", rng.normal(170 + 8 * k[i], 6), visits if i % 9 else ""]
            lines.writerow(row)
    return path


@pytest.fixture(scope="module")
def model(survey, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "two.hb"
    run("fit", survey, "classes", *FLAGS, "-o", path, "--n-jobs", 1)
    return path


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_fit_prints_the_tables_of_numbers(survey, model, tmp_path):
    printed = run("fit", survey, "classes", *FLAGS, "-o", tmp_path / "m.hb", "--n-jobs", 1).output
    for words in ("Means in each class", "Variances in each class", "Mean counts in each class", "income", "visits"):
        assert words in printed
    covariances = ["--set", "covariance_type=full", "--column-types", "height:quantiles"]
    printed = run("fit", survey, "classes", *covariances, "-o", tmp_path / "m.hb", "--n-jobs", 1).output
    assert "Covariances in each class" in printed
    assert [column.how for column in load(tmp_path / "m.hb").coding_.columns] == [
        "values",
        "continuous",
        "quantiles",
        "continuous",
    ]


def test_look(survey):
    assert "continuous" in run("look", survey).output  # and excluded, because other models need bits
    described = run("look", survey, *FLAGS).output
    assert "300 rows x 4 columns" in described
    lines = {line.split()[0]: line for line in described.splitlines() if line}  # the last table wins
    assert lines["income"].split() == ["income", "270"]
    readings = {line.rstrip().rpartition("read: ")[2] for line in described.splitlines() if "read: " in line}
    assert readings == {"'yes' = 1, 'no' = 0", "continuous", "count"}


def test_score_and_map(survey, model, tmp_path):
    estimator = load(model)
    assert f"{estimator.score(survey):.4f}" in run("score", survey, model).output
    run("score", survey, model, "-o", tmp_path / "scores.csv")
    shown = [float(row["log_likelihood"]) for row in rows_of(tmp_path / "scores.csv")]
    np.testing.assert_allclose(shown, estimator.score_samples(survey), rtol=1e-5)  # six digits
    run("map", survey, model, "-o", tmp_path / "map.csv")
    shown = [float(row["class_1"]) for row in rows_of(tmp_path / "map.csv")]
    np.testing.assert_allclose(shown, estimator.transform(survey)[:, 0], rtol=1e-5)
    assert (
        "A map needs a fitted model with continuous dimensions"
        in run("map", survey, model, "-o", tmp_path / "map.png", code=1).output
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_complete(suffix, survey, model, tmp_path):
    """Recorded cells as they were; a missing number is its mean over the classes, counts, too."""
    out = tmp_path / f"completed.{suffix}"
    assert "missing values in 2 columns imputed" in run("complete", survey, model, "-o", out).output
    if suffix == "parquet":
        completed = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    else:
        completed = rows_of(out)
    estimator, original = load(model), rows_of(survey)
    r = estimator.transform(survey)
    means = {"income": r @ estimator.means_[:, 0], "visits": r @ estimator.rates_[:, 0]}
    assert list(completed[0]) == list(original[0])
    for i, (row, was) in enumerate(zip(completed, original, strict=True)):
        assert (row["person"], row["smokes"]) == (was["person"], was["smokes"])
        for name in ("income", "height", "visits"):
            wanted = float(was[name]) if was[name] else means[name][i]
            assert float(row[name]) == pytest.approx(wanted, rel=1e-14)


def test_sample(model, tmp_path):
    run("sample", model, "-o", tmp_path / "sample.csv")
    sample = rows_of(tmp_path / "sample.csv")
    assert list(sample[0]) == ["smokes", "income", "height", "visits"]
    assert {row["smokes"] for row in sample} == {"yes", "no"}
    assert all(row["visits"].isdigit() for row in sample)
    assert 35_000 < np.mean([float(row["income"]) for row in sample]) < 45_000


def test_convert_keeps_names_and_digits(survey, tmp_path):
    run("convert", survey, tmp_path / "out.csv", *FLAGS, "--column-types", "height:continuous")
    converted, original = rows_of(tmp_path / "out.csv"), rows_of(survey)
    assert list(converted[0]) == ["person", "smokes", "income", "height", "visits"][1:]
    for row, was in zip(converted, original, strict=True):
        assert row["smokes"] == ("1" if was["smokes"] == "yes" else "0")
        assert row["income"] == was["income"] or float(row["income"]) == float(was["income"])
        assert float(row["height"]) == float(was["height"])
        assert row["visits"] == was["visits"]
    run("convert", survey, tmp_path / "out.npz", *FLAGS, "--column-types", "height:continuous")
    with np.load(tmp_path / "out.npz") as file:
        cells = file["X"]
    assert cells.shape == (300, 4)
    np.testing.assert_array_equal(cells[:, 2], [float(row["height"]) for row in original])


def test_a_report_refuses_numbers(survey, tmp_path):
    done = run("report", survey, *FLAGS, "-o", tmp_path / "report.html", code=1)
    assert "A report needs binary columns" in done.output


def test_errors_name_the_cell(survey, tmp_path, model):
    path = tmp_path / "bad.csv"
    path.write_text(survey.read_text().replace("\np7,yes,", "\np7,yes,x").replace("\np7,no,", "\np7,no,x"))
    assert "column 'income' cannot be of type 'continuous'" in run(
        "fit", path, "classes", "--column-types", "income:continuous", "-o", tmp_path / "m.hb", code=1
    ).output.replace("\n", " ")
    assert "row 7, column 'income'" in run("score", path, model, code=1).output.replace("\n", " ")

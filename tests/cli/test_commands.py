"""The commands, run as a user runs them: files in, files out, sentences for errors."""

import csv
import gzip
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, LogisticPCA, evaluate, open_table

pytest.importorskip("typer")
pytest.importorskip("rich")
from typer.testing import CliRunner

from hiddenbits.cli.app import app


def run(*words, code=0):
    """Run a command; return what it printed."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A CSV file of two classes with missing values, and metadata columns."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, (2, 8))
    X = (classes[rng.integers(0, 2, 300)] ^ (rng.random((300, 8)) < 0.1)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    path = tmp_path_factory.mktemp("cli") / "survey.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["=who", *(f"q{j}" for j in range(8)), "age"])
        for i, row in enumerate(X):
            lines.writerow([f"person {i}", *("" if cell != cell else int(cell) for cell in row), 20 + i % 50])
    return path, X


@pytest.fixture(scope="module")
def model(survey, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "two.hb"
    run("fit", survey[0], "classes", "--n-components", 2, "-o", path, "--n-jobs", 1, "--drop", "age")
    return path


def test_look_counts(survey):
    path, X = survey
    result = json.loads(run("look", path, "--json").stdout)
    assert (result["rows"], result["columns"]) == X.shape
    assert result["ones"] == np.nansum(X)
    assert result["blanks"] == np.isnan(X).sum()
    assert result["different_rows"] == len(np.unique(np.nan_to_num(X, nan=2.0), axis=0))
    assert result["excluded_columns"] == ["=who", "age"]
    by_hand = [
        {"name": f"q{j}", "ones": int(np.nansum(X[:, j])), "observed": int((~np.isnan(X[:, j])).sum())}
        for j in range(8)
    ]
    assert result["by_column"] == by_hand
    output = run("look", path)
    assert "300 rows x 8 columns" in output.stdout
    assert "excluded" in output.stdout  # in the table of columns
    assert result["inferred_types"]["=who"] == "text"
    assert result["inferred_types"]["age"] == "continuous"


def test_look_at_baskets_with_names(tmp_path):
    path, names = tmp_path / "b.txt.gz", tmp_path / "items.txt"
    path.write_bytes(gzip.compress(b"0 2\n1\n0 2\n"))
    names.write_text("bread\nmilk\n[red]wine\n")
    output = run("look", path, "--names", names).stdout
    assert "2 distinct rows" in output
    assert "[red]wine" in output  # text, not markup


def test_fit_is_the_fit_of_the_library(survey, model):
    _, X = survey
    want = LatentClassAnalysis(2, random_state=0).fit(open_table(X, names=[f"q{j}" for j in range(8)]))
    np.testing.assert_array_equal(hiddenbits.load(model).probabilities_, want.probabilities_)


def test_settings_reach_the_model(survey, tmp_path):
    out = tmp_path / "m.hb"
    output = run("fit", survey[0], "classes", "-n", 2, "-o", out, "--set", "max_iter=1", "--set", "n_init=1", "--json")
    facts = json.loads(output.stdout)
    assert facts["n_iter"] == 1
    assert not facts["converged"]
    assert "Note: " in output.stderr
    assert "max_iter" in output.stderr
    for wrong in ("max_iter", "color=3"):
        assert "name=value" in run("fit", survey[0], "classes", "-o", out, "--set", wrong, code=1).stderr


def test_rows_out(survey, model, tmp_path):
    """What is written equals what the library computes, in each format."""
    path, X = survey
    fitted, table = hiddenbits.load(model), open_table(X, names=[f"q{j}" for j in range(8)])
    want = fitted.complete(table)
    for suffix in ("csv", "parquet", "npz"):
        out = tmp_path / f"filled.{suffix}"
        if suffix == "parquet":
            pytest.importorskip("pyarrow")
        run("complete", path, model, "-o", out)
        got = read(out)
        if suffix != "npz":  # the other columns come along, as they were
            assert got[5, 9] in (25, "25")
            got = got[:, 1:9].astype(float)
        np.testing.assert_allclose(got, want, rtol=1e-5)
        assert np.array_equal(got[~np.isnan(X)], X[~np.isnan(X)])
    run("complete", path, model, "-o", tmp_path / "bits.csv", "--bits")
    np.testing.assert_array_equal(read(tmp_path / "bits.csv")[:, 1:9], want > 0.5)
    run("score", path, model, "-o", tmp_path / "each.csv")
    np.testing.assert_allclose(read(tmp_path / "each.csv")[:, 2], fitted.score_samples(table), rtol=1e-5)
    assert (tmp_path / "each.csv").read_text().startswith("'=who,age,log_likelihood\nperson 0,20,")
    scores = json.loads(run("score", path, model, "--json").stdout)
    assert scores["log_likelihood_per_row"]["value"] == pytest.approx(fitted.score(table))
    run("map", path, model, "-o", tmp_path / "classes.csv")
    np.testing.assert_allclose(read(tmp_path / "classes.csv")[:, 2:], fitted.transform(table), atol=1e-5)
    run("sample", model, "-r", 5, "--random-state", 3, "-o", tmp_path / "new.csv")
    np.testing.assert_array_equal(read(tmp_path / "new.csv"), fitted.sample(5, random_state=3))


def read(path):
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return arrays["X"]
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return np.column_stack([column.to_numpy() for column in parquet.read_table(path).columns])
    return np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)


@pytest.mark.slow
def test_picture_of_the_map(survey, tmp_path):
    pytest.importorskip("matplotlib")
    LogisticPCA(2, random_state=0).fit(survey[1]).save(tmp_path / "map.hb")
    for color in ("=who", "q1"):
        run("map", survey[0], tmp_path / "map.hb", "-o", tmp_path / "map.png", "--color", color)
        assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert (
        "no column 'size'"
        in run("map", survey[0], tmp_path / "map.hb", "-o", tmp_path / "m.png", "--color", "size", code=1).stderr
    )


def test_converted_tables_read_the_same(survey, tmp_path):
    path, X = survey
    for suffix in ("csv", "parquet", "npz"):
        if suffix == "parquet":
            pytest.importorskip("pyarrow")
        out = tmp_path / f"again.{suffix}"
        run("convert", path, out)
        np.testing.assert_array_equal(open_table(out).to_float(), X)


def test_spreadsheets_run_nothing(tmp_path):
    X = np.array([[0, 1, 1, 0, 1], [1, 0, 1, 0, 1], [1, 1, 0, 0, 0]], float)
    names = ["=HYPERLINK(1)", "+1", "@sum", "-2", "plain"]
    source, out = tmp_path / "in.npy", tmp_path / "out.csv"
    np.save(source, X)
    (tmp_path / "names.txt").write_text("\n".join(names))
    run("convert", source, out, "--names", tmp_path / "names.txt")
    first = out.read_text().splitlines()[0]
    assert first == "'=HYPERLINK(1),+1,'@sum,-2,plain"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["look", "nowhere.csv"], "nowhere.csv: there is no such file."),
        (["fit", "SURVEY", "planets", "-o", "m.hb"], "Unknown model 'planets'"),
        (["fit", "SURVEY", "independent", "-n", "3", "-o", "m.hb"], "has no components"),
        (["convert", "SURVEY", "out.xlsx"], "results can be written to .csv, .parquet, .npz files"),
        (["convert", "SURVEY", "no/such/out.csv"], "there is no folder"),
        (["score", "SURVEY", "SURVEY"], "survey.csv"),
    ],
)
def test_errors_are_one_sentence(survey, words, message):
    done = run(*(survey[0] if word == "SURVEY" else word for word in words), code=1)
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_a_wrong_option_is_a_matter_of_usage(survey):
    run("look", survey[0], "--colors", "3", code=2)


def test_debug_shows_where(survey):
    done = CliRunner().invoke(app, ["--debug", "look", "nowhere.csv"])
    assert isinstance(done.exception, hiddenbits.exceptions.TableError)


def test_models_are_all_families():
    listed = json.loads(run("models", "--json").stdout)
    for model in listed:
        assert hasattr(getattr(hiddenbits, model["estimator"]), "fit")
    assert all(model["word"] in run("models").stdout for model in listed)


@pytest.mark.slow
def test_comparison_is_that_of_the_library(survey, tmp_path):
    words = ["compare", survey[0], "-m", "independent", "-m", "classes", "--folder", tmp_path, "--n-jobs", 1]
    result = json.loads(run(*words, "--json").stdout)
    names = [f"q{j}" for j in range(8)]
    want = evaluate.compare(
        open_table(survey[1], names=names), ["IndependentColumns", "LatentClassAnalysis"], progress=False
    )
    assert [one["model"] for one in result["models"]] == [entry.model for entry in want.entries]
    assert [one["log_likelihood"] for one in result["models"]] == [entry.log_likelihood for entry in want.entries]
    assert "LatentClassAnalysis" in run(*words).stdout


@pytest.mark.slow
def test_rows_of_a_group_are_held_out_together(tmp_path):
    """60 rows of noise, each ten times: without --groups many components win, with it independent columns."""
    rng = np.random.default_rng(0)
    X, path = np.repeat(rng.integers(0, 2, (60, 10)), 10, axis=0), tmp_path / "copies.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["person", *(f"q{j}" for j in range(10))])
        lines.writerows([f"p{i // 10}", *row] for i, row in enumerate(X))
    words = ["compare", path, "-m", "independent", "-m", "clipped", "--json", "--n-jobs", 1]
    done = run(*words)
    assert "Note: 100% of the rows have a duplicate" in done.stderr
    assert "--groups" in done.stderr
    grouped = run(*words, "--groups", "person")
    assert "duplicate" not in grouped.stderr
    output = json.loads(grouped.stdout)
    want = evaluate.compare(X, ["IndependentColumns", "ClippedPCA"], groups=np.arange(600) // 10, measures=())
    assert (output["best"], output["size"], output["verdict"]) == (want.best, want.size, want.verdict)
    assert output["best"] == "IndependentColumns"
    missing = run(*words, "--groups", "q1", code=1)
    assert "--groups q1: the labels must be a metadata column" in " ".join(missing.stderr.split())
    assert "Metadata columns: person." in missing.stderr


def test_help_is_quick_and_light():
    """Under a second where nothing else runs; so it imports none of the slow packages."""
    slow = ("numpy", "scipy", "sklearn", "dask", "matplotlib", "pandas")
    code = f"""
import sys
sys.argv = ["hiddenbits", "--help"]
try:
    import hiddenbits.cli
    hiddenbits.cli.run()
except SystemExit:
    print([name for name in {slow} if name in sys.modules])
"""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "look" in done.stdout
    assert time.perf_counter() - begun < 10.0  # a machine that does other things


def test_as_a_module_and_on_a_cluster_that_is_not_there(survey):
    done = subprocess.run([sys.executable, "-m", "hiddenbits", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"hiddenbits {hiddenbits.__version__}"

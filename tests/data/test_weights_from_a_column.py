"""Weights of rows that are a column of the table: counts of equal rows, or survey weights."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import LatentClassAnalysis, evaluate, load, open_table, tetrachoric
from hiddenbits.exceptions import TableError
from hiddenbits.tables import repeat_rows

pd = pytest.importorskip("pandas")
CliRunner = pytest.importorskip("typer.testing").CliRunner
app = pytest.importorskip("hiddenbits.cli.app").app
pytestmark = pytest.mark.filterwarnings(
    "ignore::hiddenbits.exceptions.RecodedColumnsWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

SHARES = np.array([[0.7, 0.2], [0.8, 0.3], [0.9, 0.25], [0.1, 0.7]])  # of the second value of each column, by class
LEVELS = (("1st", "2nd", "3rd", "Crew"), ("female", "male"), ("adult", "child"), ("no", "yes"))


def titanic() -> pd.DataFrame:
    """Return a 4 x 2 x 2 x 2 table of counts, as `as.data.frame(Titanic)` is, of two classes that differ clearly."""
    of_class = np.array([[0.6, 0.25, 0.1, 0.05], [0.05, 0.1, 0.35, 0.5]]).T
    rows = []
    for cells in itertools.product(*map(range, map(len, LEVELS))):
        p = of_class[cells[0]].copy()
        for cell, share in zip(cells[1:], SHARES, strict=False):
            p *= share if cell else 1 - share
        rows.append([*(values[k] for values, k in zip(LEVELS, cells, strict=True)), round(2000 * p @ [0.4, 0.6])])
    return pd.DataFrame(rows, columns=["Class", "Sex", "Age", "Survived", "Freq"])


def expanded(counts: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each person."""
    return counts.loc[counts.index.repeat(counts.Freq)].drop(columns="Freq").reset_index(drop=True)


MODEL = LatentClassAnalysis(2, n_init=1, max_iter=1000, tol=1e-15, random_state=0)


def test_a_fit_with_a_column_of_counts_is_that_of_the_expanded_table(tmp_path: Path) -> None:
    counts = titanic()
    people = expanded(counts)
    assert len(people) > 1900
    whole, counted = clone(MODEL).fit(people), clone(MODEL).fit(counts, sample_weight="Freq")
    assert counted.feature_names_in_.tolist() == ["Class", "Sex", "Age", "Survived"]
    np.testing.assert_allclose(counted.weights_, whole.weights_, atol=1e-9)
    chances = (model.predict_proba(counts) for model in (counted, whole))
    np.testing.assert_allclose(*chances, atol=1e-9)
    np.testing.assert_allclose(counted.score(counts, sample_weight="Freq"), whole.score(people), rtol=1e-9)
    assert np.array_equal(counted.predict(counts), counted.predict(counts.drop(columns="Freq")))
    for name, write in (("t.csv", counts.to_csv), ("t.parquet", counts.to_parquet)):
        write(tmp_path / name, index=False)
        again = clone(MODEL).fit(tmp_path / name, sample_weight="Freq")
        assert np.array_equal(again.weights_, counted.weights_)


def test_the_column_is_in_no_model_and_stays_with_the_rows(tmp_path: Path) -> None:
    counts = titanic()
    table = open_table(counts, sample_weight="Freq", column_types="auto")
    assert table.column_names == ("Class", "Sex", "Age", "Survived")
    assert table.weights is not None
    assert table.weights.tolist() == table.beside["Freq"] == counts.Freq.tolist()
    assert open_table(table, sample_weight=np.full(32, 2.0)).weights.tolist() == (2 * counts.Freq).tolist()
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('sample_weight = "Freq"\n')
    from_recipe = open_table(counts, recipe=recipe, column_types="auto")
    assert np.array_equal(from_recipe.weights, table.weights)
    clone(MODEL).set_params(max_iter=2).fit(counts, sample_weight="Freq").save(tmp_path / "model.hb")
    assert (
        open_table(counts, recode=load(tmp_path / "model.hb"), sample_weight="Freq").weights.sum() == counts.Freq.sum()
    )


def test_counts_are_repeated_as_rows() -> None:
    counts = titanic()
    table = repeat_rows(open_table(counts, sample_weight="Freq", column_types="auto"))
    assert table.weights is None
    assert table.beside["Freq"] == np.repeat(counts.Freq, counts.Freq).tolist()
    people = open_table(expanded(counts), column_types="auto")
    assert sorted(table.to_float().sum(axis=0)) == sorted(people.to_float().sum(axis=0))  # levels in another order
    with pytest.raises(TableError, match="not counts"):
        repeat_rows(open_table(np.eye(2), sample_weight=[0.5, 1]))


@pytest.mark.slow
def test_commands_count_the_rows(tmp_path: Path) -> None:
    titanic().drop(columns="Class").to_csv(tmp_path / "t.csv", index=False)
    for command in (["look"], ["fit", "classes", "-n", "1", "-o", str(tmp_path / "m.hb")]):
        typed = [command[0], str(tmp_path / "t.csv"), *command[1:], "--sample-weight", "Freq", "--json"]
        found = CliRunner().invoke(app, typed)
        assert found.exit_code == 0, found.output
    assert load(tmp_path / "m.hb").feature_names_in_.tolist() == ["Sex", "Age", "Survived"]
    report = hiddenbits.report(open_table(titanic().drop(columns="Class"), sample_weight="Freq"))
    assert f"{titanic().Freq.sum():,} rows" in report.to_markdown()


def test_measures_take_the_column_by_name() -> None:
    counts = titanic().drop(columns="Class")
    array = counts.Freq.to_numpy()
    assert evaluate.pattern_entropy(counts, "Freq") == evaluate.pattern_entropy(counts.drop(columns="Freq"), array)
    named, given = (
        tetrachoric(counts, sample_weight="Freq"),
        tetrachoric(counts.drop(columns="Freq"), sample_weight=array),
    )
    assert np.array_equal(named.standard_error, given.standard_error)


@pytest.mark.parametrize(
    ("freq", "name", "match"),
    [
        ([1, 2, None], "f", "row 2, column 'f': a missing value is not a weight"),
        ([1, "x", 2], "f", "row 1, column 'f': 'x' is not a weight"),
        ([1, float("inf"), 2], "f", "is not a weight"),
        ([1, -1, 2], "f", "weight of row 1 is -1"),
        ([0, 0, 0], "f", "weight of every row is 0"),
        ([1, 2, 3], "g", "sample_weight= names 'g', but the columns are 'a', 'b', 'f'"),
    ],
)
def test_columns_that_are_no_weights_are_refused(freq: list[object], name: str, match: str) -> None:
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1], "f": freq})
    with pytest.raises(TableError, match=match):
        open_table(frame, sample_weight=name)


@pytest.mark.parametrize("X", [np.eye(3), open_table(np.eye(3))])
def test_arrays_have_no_column_of_weights(X: object) -> None:
    with pytest.raises(TableError, match="Freq"):
        clone(MODEL).fit(X, sample_weight="Freq")

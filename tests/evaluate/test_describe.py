"""What `look` counts, against counting by hand; every storage, any pieces, many different rows."""

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import evaluate, open_table

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_counts(seed, missing, monkeypatch):
    rng = np.random.default_rng(seed)
    X = (rng.random((500, 70)) < 0.03).astype(float)
    X[:, 5], X[7, :] = 1.0, 0.0
    X[rng.random(X.shape) < missing] = np.nan
    X[100:200] = X[0:100]
    if missing:
        X[3], X[:, 9], X[11, 60:] = np.nan, np.nan, np.nan
    monkeypatch.setattr("hiddenbits.evaluate.table_description.PIECE_CELLS", 70 * 33)
    with hiddenbits.run_on(n_jobs=2):
        found = evaluate.describe(X)
    assert (found.n_rows, found.n_columns) == X.shape
    np.testing.assert_array_equal(found.ones, np.nansum(X, axis=0))
    np.testing.assert_array_equal(found.observed, (~np.isnan(X)).sum(axis=0))
    assert found.n_ones + found.n_zeros + found.n_blank == X.size
    assert found.different_exact
    assert found.n_different == len(np.unique(np.nan_to_num(X, nan=2.0), axis=0))
    assert found.most_ones == np.nansum(X, axis=1).max()
    assert found.blank_rows == np.isnan(X).all(axis=1).sum()
    runs = [int(np.isnan(row)[::-1].cumprod().sum()) for row in X]
    assert found.trailing_blanks == sum(runs)
    constant = [f"x{j}" for j in range(70) if len(np.unique(X[~np.isnan(X[:, j]), j])) < 2]
    assert found.constant_columns == constant
    assert found.blank_columns == (["x9"] if missing else [])


@pytest.mark.parametrize("missing", [False, True])
def test_every_storage_and_pieces(missing, monkeypatch):
    """A row without blanks is the same row in a piece with blanks elsewhere and in one without."""
    monkeypatch.setattr("hiddenbits.evaluate.table_description.PIECE_CELLS", 20)
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    if missing:
        X[0, 1] = np.nan
        assert evaluate.describe(X).n_different == len(np.unique(np.nan_to_num(X, nan=2.0), axis=0))
        return
    for table in (
        X,
        sparse.csr_array(X),
        open_table(np.packbits(X.astype(np.uint8), axis=1), packed=True, n_columns=3),
    ):
        found = evaluate.describe(table)
        assert found.n_different == 8
        np.testing.assert_array_equal(found.ones, X.sum(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_many_different_rows_are_estimated(seed, monkeypatch):
    """Beyond the hashes kept the number is an estimate, whose relative error is about 1 / sqrt(hashes kept)."""
    monkeypatch.setattr("hiddenbits.evaluate.table_description.N_HASHES", 1024)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (20_000, 30))
    X[10_000:] = X[:10_000]
    found = evaluate.describe(X)
    assert not found.different_exact
    assert found.n_different == pytest.approx(len(np.unique(X, axis=0)), rel=4 / np.sqrt(1024))


def test_guesses_about_blanks():
    nan = np.nan
    assert evaluate.describe([[0, 1], [1, 1]]).about_blanks == "There are no missing values."
    assert "probably means 0" in evaluate.describe([[1, nan], [nan, 1], [1, nan]]).about_blanks
    stopped = np.array([[0, 1, 1, nan, nan], [1, nan, nan, nan, nan], [0, 1, 0, 1, 1]])
    assert "not reached" in evaluate.describe(stopped).about_blanks
    assert "They count as not observed, not as 0" in evaluate.describe(stopped[:, ::-1]).about_blanks
    assert "no observed cell" in evaluate.describe([[nan, nan], [0, 1]]).describe()


def test_it_prints_what_the_command_line_prints(tmp_path):
    pytest.importorskip("typer", reason="the cli extra is not installed")
    from typer.testing import CliRunner

    from hiddenbits.cli.app import app

    rng = np.random.default_rng(0)
    X = (rng.random((50, 15)) < np.linspace(0.1, 0.9, 15)).astype(int)
    names = [f"q{j}" for j in range(15)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in X)]))
    printed = CliRunner().invoke(app, ["look", str(path)]).stdout
    text = repr(evaluate.describe(open_table(path)))
    assert text in printed
    lines = [line.split() for line in text.splitlines()[-12:]]
    ones = np.sort(X.sum(axis=0))[::-1]
    assert [int(line[1]) for line in lines] == [*ones[:6], *ones[-6:]]
    assert all(line[2] == f"{int(line[1]) / 50:.1%}" for line in lines)
    assert "<td>50</td>" in evaluate.describe(X)._repr_html_()


def test_levels_are_counted_by_column():
    """Three columns, of 3 levels, 0/1 and 2 levels; a blank of each kind of column, two at the end of a row."""
    X = np.array([[1, 0, 5], [2, 1, 5], [3, np.nan, np.nan], [np.nan, 1, 6], [1, 0, 5]])
    table = hiddenbits.open_table(X, column_types={"0": "nominal", "1": "binary", "2": "ordinal"})
    found = evaluate.describe(table)
    assert (found.n_rows, found.n_columns, found.n_blank, found.trailing_blanks) == (5, 3, 3, 2)
    assert found.ones.tolist() == [2, 1, 1, 2, 3, 1]
    assert found.observed.tolist() == [4, 4, 4, 4, 4, 4]
    assert found.means.tolist() == [0.5, 0.25, 0.25, 0.5, 0.75, 0.25]
    assert "5 rows x 3 columns\n4 distinct rows" in str(found)

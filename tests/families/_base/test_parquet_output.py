"""Results written as Parquet files, a part at a time."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.families._base.write_results import METHODS
from hiddenbits.tables import write_results
from tests.contracts.conftest import NotResident

pq = pytest.importorskip("pyarrow.parquet", reason="the files extra is not installed")


def read_folder(folder):
    """Return the columns of all files of a folder, in the order of their names."""
    tables = [pq.read_table(file) for file in sorted(folder.iterdir())]
    return np.concatenate([np.column_stack([c.to_numpy() for c in table.columns]) for table in tables])


@pytest.fixture
def rows():
    X = simulate_mixture(900, 6, 2, random_state=0).X.astype(float)
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "method",
    ["transform", "predict", "predict_proba", "score_samples", "complete", "cell_probabilities"],
)
def test_written_is_what_the_verb_returns(rows, method, n_jobs, tmp_path):
    names = tuple("abcdef")
    model = LatentClassAnalysis(2, random_state=0).fit(hiddenbits.open_table(rows, names=names))
    table = Table(NotResident(hiddenbits.open_table(rows).source), names, None, 12 * 200)
    with hiddenbits.run_on(n_jobs=n_jobs):
        folder = write_results(model, method, table, tmp_path / "out.parquet")
    assert len(list(folder.iterdir())) > 1
    values = getattr(model, METHODS[method])(hiddenbits.open_table(rows, names=names))
    assert np.array_equal(read_folder(folder), values.reshape(len(rows), -1))
    found = pq.read_schema(next(folder.iterdir())).names
    expected = {"predict": ["class"], "score_samples": ["log_likelihood"]}
    expected |= {"complete": [*names], "cell_probabilities": [*names]}
    assert found == expected.get(method, list(model.get_feature_names_out()))


def test_completed_rows_can_be_opened_again(rows, tmp_path):
    model = IndependentColumns().fit(rows)
    folder = write_results(model, "complete", rows, tmp_path / "full.parquet")
    again = hiddenbits.open_table(f"{folder}/*.parquet", threshold=0.5)
    assert again.shape == rows.shape
    assert again.names == tuple(f"x{j}" for j in range(6))


def test_an_existing_folder_is_left_alone(rows, tmp_path):
    model = IndependentColumns().fit(rows)
    (tmp_path / "out.parquet").mkdir()
    with pytest.raises(FileExistsError, match="specify another path"):
        write_results(model, "complete", rows, tmp_path / "out.parquet")


def test_nothing_is_left_of_a_failure(rows, tmp_path, monkeypatch):
    model = LatentClassAnalysis(2, random_state=0).fit(rows)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="disk full"):
        write_results(model, "transform", rows, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_unknown_verbs(rows, tmp_path):
    with pytest.raises(ValueError, match=r"can write: .*score_samples"):
        write_results(LatentClassAnalysis(2, random_state=0).fit(rows), "decode", rows, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="IndependentColumns can write: score_samples"):
        write_results(IndependentColumns().fit(rows), "transform", rows, tmp_path / "out.parquet")


def test_an_address_is_refused(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="not to a URL"):
        write_results(IndependentColumns().fit(rows), "complete", rows, "s3://bucket/out.parquet")
    assert list(tmp_path.iterdir()) == []

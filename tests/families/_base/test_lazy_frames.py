"""Lazy frames and queries: a fit knows the names of their columns, and holds later tables to them."""

import numpy as np
import pytest

from hiddenbits import BinarySparseCoding, LatentClassAnalysis, LogisticPCA

X = np.random.default_rng(0).integers(0, 2, (60, 3))
NAMES = ["a", "b", "c"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def polars_lazy(names):
    polars = pytest.importorskip("polars")
    return polars.DataFrame(X, schema=names).lazy()


def duckdb_relation(names):
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=names)
    return duckdb.from_df(frame)


def wrapped(names):
    narwhals, pandas = pytest.importorskip("narwhals"), pytest.importorskip("pandas")
    return narwhals.from_native(pandas.DataFrame(X, columns=names))


@pytest.mark.parametrize("lazy", [polars_lazy, duckdb_relation, wrapped])
@pytest.mark.parametrize(
    "model",
    [
        LatentClassAnalysis(2, max_iter=3, random_state=0),
        LogisticPCA(1, max_iter=3, random_state=0),
        BinarySparseCoding(2, max_iter=3, random_state=0),
    ],
    ids=["bits", "a map", "reals"],
)
def test_names_are_kept(lazy, model):
    model.fit(lazy(NAMES))
    assert list(model.feature_names_in_) == NAMES
    assert np.isfinite(model.transform(lazy(NAMES))).all()
    with pytest.raises(ValueError, match=r"name|column"):
        model.transform(lazy(["a", "b", "d"]))

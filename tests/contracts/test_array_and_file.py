"""The same rows in memory, whose equal rows are collapsed, and on disk, where they need not be: the same fit.

It begins with the same parameters, and after ten passes the objectives agree, on short tables and on long ones.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import CombinationMachine, LatentClassAnalysis, LogisticPCA, NoisyOrNetwork, TopographicMap
from hiddenbits.data import Table
from hiddenbits.engine.loops.subsample_start import SubsampleStart
from tests.contracts.cases import CASES
from tests.contracts.conftest import STORAGES, NotResident, table_of
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core

FURTHER = {  # what starts from rows, draws random numbers, or has another way through the table
    "CombinationMachine-pursuit": CombinationMachine(2, start="pursuit", random_state=0),
    "CombinationMachine-chains": CombinationMachine(2, method="chains", start="noise", random_state=0),
    "LogisticPCA-ones": LogisticPCA(2, cost="ones", random_state=0),
    "LogisticPCA-default": LogisticPCA(2, random_state=0),
    "NoisyOrNetwork-gibbs": NoisyOrNetwork(3, method="gibbs", random_state=0),
    "TopographicMap-steps": TopographicMap(3, n_points=64, n_features=8, batch_rows=512, random_state=0),
}
ESTIMATORS = {case.name: case.estimator for case in CASES} | FURTHER
NAMES_AND_STORAGES = [  # every day each estimator with one storage, in the full tier with all
    pytest.param(name, storage, marks=[] if (i + j) % len(STORAGES) == 0 else [pytest.mark.full])
    for i, name in enumerate(ESTIMATORS)
    for j, storage in enumerate(STORAGES)
]


@dataclass(frozen=True)
class Regime:
    """A table, and from how many rows on fits to it begin on a subsample."""

    n_rows: int
    missing: bool
    weighted: bool
    start_rows: int

    def rows(self):
        return structured_rows(np.random.default_rng(5), self.n_rows, 8, self.missing)

    @property
    def weights(self):
        return np.random.default_rng(6).uniform(0.5, 2.0, self.n_rows) if self.weighted else None


REGIMES = {
    "short": Regime(900, missing=True, weighted=True, start_rows=4096),
    "long, of few distinct rows": Regime(3400, missing=False, weighted=True, start_rows=100),
    "long": Regime(3400, missing=True, weighted=False, start_rows=100),  # and then on a second subsample
}


@pytest.fixture(params=REGIMES)
def regime(request, monkeypatch):
    regime = REGIMES[request.param]
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", regime.start_rows)
    monkeypatch.setattr("hiddenbits.families._base.sizes.ROWS_PER_COMPONENT", 1)
    if request.param != "short":
        monkeypatch.setattr("hiddenbits.families._base.estimator.SMALL_TABLE_FLOPS", 0)
    return regime


@pytest.fixture
def subsamples(monkeypatch):
    """The subsamples that fits begin on, in order, as floats."""
    taken, real = [], SubsampleStart._subsample_context

    def noted(self, *args, **kwargs):
        few = real(self, *args, **kwargs)
        taken.append(few.grid.as_given.table.to_float())
        return few

    monkeypatch.setattr(SubsampleStart, "_subsample_context", noted)
    return taken


def fits(estimator, X, weights):
    """Return fits that end after one pass and after ten."""
    ended = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for passes in (1, 10):
            short = {"max_iter": passes, "tol": 0.0}
            given = {name: value for name, value in short.items() if name in estimator.get_params()}
            ended.append(clone(estimator).set_params(**given).fit(X, sample_weight=weights))
    return ended


def assert_equal_fits(found, wanted):
    """Parameters after one pass within 1e-9 of the largest, objectives after ten within 1e-10: rounding grows."""
    for name, array in wanted[0]._params.to_arrays().items():
        scale = max(np.abs(array).max(initial=0.0), 1.0)
        np.testing.assert_allclose(found[0]._params.to_arrays()[name], array, rtol=0, atol=1e-9 * scale)
    assert found[1].trace_[-1] == pytest.approx(wanted[1].trace_[-1], rel=1e-10)


@pytest.mark.parametrize(("name", "storage"), NAMES_AND_STORAGES)
def test_the_same_fit(name, storage, regime, subsamples):
    if name == "LogisticPCA-ones" and regime.missing:
        pytest.skip("passes by the ones are for tables without missing values")
    table = table_of(regime.rows(), storage)
    wanted = fits(ESTIMATORS[name], table, regime.weights)
    in_memory = list(subsamples)
    subsamples.clear()
    found = fits(ESTIMATORS[name], Table(NotResident(table.source), part_bytes=9_000), regime.weights)
    assert_equal_fits(found, wanted)
    assert len(subsamples) == len(in_memory)
    for one, other in zip(subsamples, in_memory, strict=True):
        np.testing.assert_array_equal(one, other)


def test_tables_too_large_to_be_shuffled(monkeypatch):
    """Random steps take their rows as they come, in memory as on disk."""
    table, estimator = (
        table_of(structured_rows(np.random.default_rng(0), 300, 8, False)),
        FURTHER["TopographicMap-steps"],
    )
    monkeypatch.setattr("hiddenbits.families._base.inputs.SHUFFLED_CELLS", 2_400)
    shuffled = fits(estimator, table, None)
    monkeypatch.setattr("hiddenbits.families._base.inputs.SHUFFLED_CELLS", 2_399)
    in_order = fits(estimator, table, None)
    assert in_order[1].trace_[-1] != shuffled[1].trace_[-1]
    assert_equal_fits(fits(estimator, Table(NotResident(table.source)), None), in_order)


def test_files(regime, subsamples, tmp_path):
    """A memory map, a CSV file and a Parquet file, of the same rows as an array."""
    estimator, rows = LatentClassAnalysis(3, random_state=0), regime.rows()
    wanted = fits(estimator, rows, regime.weights)
    assert len(subsamples) == (4 if regime is REGIMES["long"] else 0)  # two for each of the two fits
    for path in files_of(rows, tmp_path):
        assert_equal_fits(fits(estimator, path, regime.weights), wanted)
    for number, some in enumerate(subsamples):
        np.testing.assert_array_equal(some, subsamples[number % 4])


def files_of(rows, folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"q{j}": pa.array(column, mask=np.isnan(column)) for j, column in enumerate(rows.T)}
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=500)
    cells = np.where(np.isnan(rows), "", np.nan_to_num(rows).astype(int).astype(str))
    lines = [",".join(columns), *(",".join(row) for row in cells)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    paths = [folder / "rows.parquet", folder / "rows.csv"]
    if not np.isnan(rows).any():  # only then a file of bytes is mapped
        np.save(folder / "rows.npy", rows.astype(np.uint8))
        paths.append(folder / "rows.npy")
    return paths

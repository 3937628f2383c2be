"""Zarr stores and .h5ad files on a cluster of real processes: each worker reads its own rows."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import LatentClassAnalysis
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["dense", "blanks", "csr"])
@pytest.mark.parametrize("suffix", ["zarr", "h5ad"])
def test_same_bits(client, tmp_path, suffix, kind):
    ad = pytest.importorskip("anndata")
    pytest.importorskip("h5py" if suffix == "h5ad" else "zarr")
    cells = simulate_mixture(3000, 12, 3, random_state=0).X.astype("f4")
    if kind == "blanks":
        cells[np.random.default_rng(0).random(cells.shape) < 0.05] = np.nan
    elif kind == "csr":
        cells = sparse.csr_matrix(cells)
    path = tmp_path / f"x.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of AnnData, about the format of the future
        getattr(ad.AnnData(cells), f"write_{suffix}")(path)
    model = LatentClassAnalysis(3, n_init=1, max_iter=10, random_state=0)
    memory = hiddenbits.open_table(cells if kind != "dense" else cells.astype(np.uint8))
    alone = model.fit(Table(NotResident(memory.source)))._params
    table = hiddenbits.open_table(path, part_bytes=12 * 700, empty="zero" if kind == "dense" else "auto")
    assert not table.source.resident
    with hiddenbits.run_on(client):
        there = model.fit(table)
        assert same(alone, there._params)
        scores = there.score_samples(table)
    assert np.array_equal(scores, there.score_samples(table))


def test_a_file_that_was_cut_short(client, tmp_path):
    ad = pytest.importorskip("anndata")
    path = tmp_path / "x.h5ad"
    ad.AnnData(simulate_mixture(3000, 12, 3, random_state=0).X.astype("f4")).write_h5ad(path)
    table = hiddenbits.open_table(path, part_bytes=12 * 700)
    path.write_bytes(path.read_bytes()[:-1000])
    with (
        hiddenbits.run_on(client),
        pytest.raises(hiddenbits.exceptions.TableError, match=r"x\.h5ad: the file has changed"),
    ):
        LatentClassAnalysis(3, random_state=0).fit(table)

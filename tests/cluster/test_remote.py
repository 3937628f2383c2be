"""Workers read addresses themselves, with the credentials that came with the table."""

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import LatentClassAnalysis
from hiddenbits.datasets import simulate_mixture
from tests.contracts.test_same_bits import same
from tests.data.locations.servers import FileServer
from tests.data.tables import frame, write_parquet

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
pytestmark = pytest.mark.timeout(120)

OPTIONS = {"headers": {"Authorization": "hush"}}


@pytest.fixture
def server(tmp_path):
    """A server of one table, in Parquet and .npy files; requests need a password."""
    rows = simulate_mixture(3000, 12, 3, random_state=0).X.astype(np.uint8)
    np.save(tmp_path / "whole.npy", rows)
    for i in range(3):
        part = rows[1000 * i : 1000 * i + 1000]
        np.save(tmp_path / f"part{i}.npy", part)
        write_parquet(tmp_path / f"part{i}.parquet", frame(part, "uint8"), group=400)
    with FileServer({path.name: path.read_bytes() for path in tmp_path.iterdir()}) as server:
        server.token = "hush"
        yield server


@pytest.mark.parametrize("name", ["*.parquet", "part*.npy", "whole.npy"])
def test_the_same_bits_as_from_local_files(client, server, tmp_path, name):
    model = LatentClassAnalysis(3, n_init=2, max_iter=8, random_state=0)
    near = clone(model).fit(hiddenbits.open_table(f"{tmp_path}/{name}"))
    table = hiddenbits.open_table(f"{server.url}/{name}", part_bytes=12 * 700, storage_options=OPTIONS)
    server.requests.clear()
    with hiddenbits.run_on(client):
        far = clone(model).fit(table)
    assert any(method == "GET" for method, _, _ in server.requests)
    assert same(near._params, far._params)
    assert np.array_equal(near.trace_, far.trace_)
    assert "hush" not in repr(table)


@pytest.mark.parametrize(("fault", "message"), [(403, "access was refused"), ("drop", "the connection was lost")])
def test_a_server_that_fails_the_workers(client, server, fault, message):
    table = hiddenbits.open_table(f"{server.url}/*.parquet", part_bytes=12 * 700, storage_options=OPTIONS)
    server.fault = fault
    with hiddenbits.run_on(client), pytest.raises(hiddenbits.exceptions.TableError, match=message) as caught:
        LatentClassAnalysis(3, random_state=0).fit(table)
    assert "hush" not in str(caught.value)

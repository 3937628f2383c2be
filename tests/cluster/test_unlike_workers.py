"""Workers that are not like the driver: another hiddenbits, another NumPy, files that they cannot see."""

import shutil
import subprocess

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis
from hiddenbits.datasets import simulate_mixture
from tests.cluster.processes import running
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def fit_with(folder, table, **otherwise):
    """Fit on two workers that are started otherwise: an ordinary one could take all the work of a slower one."""
    with running(folder, 2, **otherwise) as (_cluster, client), hiddenbits.run_on(client, stall_timeout=60):
        return LatentClassAnalysis(3, n_init=1, max_iter=5, tol=0.0, random_state=0).fit(table)


def rows():
    """Return rows that make eight parts of two blocks or more."""
    return simulate_mixture(80_000, 12, 3, random_state=0).X


def test_another_hiddenbits_is_refused(tmp_path):
    """Another version, as Python's own record of what is installed says."""
    record = tmp_path / "site" / "hiddenbits-99.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: hiddenbits\nVersion: 99.0\n")
    table = hiddenbits.open_table(rows(), part_bytes=12 * 10_000)
    with pytest.raises(hiddenbits.exceptions.ClusterError, match=r"worker tcp://\S+ has hiddenbits 99\.0, but"):
        fit_with(tmp_path, table, first=tmp_path / "site")


def test_another_numpy_is_warned_of_once(tmp_path):
    """A NumPy that says so of itself, from Python's start on; the numbers are those of the one that is there."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import numpy\nnumpy.__version__ = '2.0.99'\n")
    table = hiddenbits.open_table(rows(), part_bytes=12 * 10_000)
    with pytest.warns(hiddenbits.exceptions.EnvironmentChangedWarning, match=r"numpy 2\.0\.99 instead of") as caught:
        there = fit_with(tmp_path, table, first=tmp_path / "site")
    assert len([w for w in caught if w.category is hiddenbits.exceptions.EnvironmentChangedWarning]) == 1
    assert same(there._params, LatentClassAnalysis(3, n_init=1, max_iter=5, tol=0.0, random_state=0).fit(table)._params)


def test_a_file_that_workers_cannot_see(tmp_path):
    """The workers have an empty folder mounted where the files are."""
    apart = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {tmp_path}/rows && exec "$@"', "sh")
    (tmp_path / "rows").mkdir()
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("a process cannot have mounts of its own here")
    for i, part in enumerate(np.split(rows(), 4)):
        np.save(tmp_path / "rows" / f"part{i}.npy", part)
    table = hiddenbits.open_table(f"{tmp_path}/rows/*.npy", part_bytes=12 * 10_000)
    with pytest.raises(
        hiddenbits.exceptions.TableError, match=r"part\d\.npy: there is no such file.*worker tcp://\S+ reads this"
    ):
        fit_with(tmp_path, table, within=apart)

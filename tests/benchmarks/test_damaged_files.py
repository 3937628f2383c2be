"""The counts in SECURITY.md are those of the recorded run, and the program counts rightly."""

import json

import numpy as np
import pytest

for library in ("h5py", "pyarrow", "zarr"):
    pytest.importorskip(library, reason="the files extra is not installed")

from benchmarks.damaged_files import run as damaged_files  # noqa: E402  (after the libraries that it needs)
from benchmarks.record import result  # noqa: E402


def test_the_page_has_the_counts_of_the_recorded_run():
    recorded = json.loads(result("damaged_files/counts").read_text())
    page = damaged_files.PAGE.read_text(encoding="utf-8")
    assert damaged_files.counted(recorded["figures"]) in page
    assert recorded["command"] == "python -m benchmarks.damaged_files.run --full"
    for kind, files in damaged_files.FILES.items():
        found = recorded["figures"][kind]
        assert found["files"] == files
        assert not {"crashed", "hung"} & set(found["guarded"])
        for how in ("unguarded", "guarded"):
            assert sum(many for said, many in found[how].items() if said != "more than 1 GB") == files


def test_verdicts(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3, dtype="u1"))
    assert damaged_files.verdict(tmp_path / "x.npy", np.eye(3)) == "read rightly"
    assert damaged_files.verdict(tmp_path / "x.npy", np.eye(4)) == "wrong rows"
    assert damaged_files.verdict(tmp_path / "x.npy", np.ones((3, 3))) == "wrong rows"
    (tmp_path / "x.npy").write_bytes(b"nothing")
    assert damaged_files.verdict(tmp_path / "x.npy", np.eye(3)) == "refused"
    for kind in damaged_files.FILES:
        (tmp_path / kind).mkdir()
        (tmp_path / f"{kind}-again").mkdir()
        path, cells = damaged_files.damaged(kind, 5, tmp_path / kind)
        again, _ = damaged_files.damaged(kind, 5, tmp_path / f"{kind}-again")
        assert cells.shape == (60, 7)
        if path.is_file():
            assert path.read_bytes() == again.read_bytes()

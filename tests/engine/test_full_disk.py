"""A disk that fills up during a fit costs the checkpoints after it, and nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hiddenbits

pytestmark = pytest.mark.core

MESSAGES = {"file": "File too large", "tmpfs": "No space left on device"}


@pytest.mark.parametrize("how", ["file", pytest.param("tmpfs", marks=pytest.mark.slow)])
def test_the_fit_goes_on_and_the_last_checkpoint_stays(how, tmp_path):
    pytest.importorskip("resource", reason="the system has no limits on the size of files")
    before = []
    if how == "tmpfs":
        before = ["unshare", "--mount"]
        trial = [*before, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
        if shutil.which("unshare") is None or subprocess.run(trial, capture_output=True, check=False).returncode:
            pytest.skip("no right to mount")
    paths = os.pathsep.join(map(str, [Path(hiddenbits.__file__).parents[1], Path.cwd()]))
    done = subprocess.run(
        [*before, sys.executable, "-m", "tests.engine.full_disk", str(tmp_path), how],
        capture_output=True, text=True, timeout=200, check=False, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert MESSAGES[how] in done.stdout
    assert "the last one that was written is still there" in done.stdout

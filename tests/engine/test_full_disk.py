"""A disk that fills up during a fit costs the checkpoints after it, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hiddenbits

pytestmark = pytest.mark.core


def test_the_fit_goes_on_and_the_last_checkpoint_stays(tmp_path):
    pytest.importorskip("resource", reason="the system has no limits on the size of files")
    paths = os.pathsep.join(map(str, [Path(hiddenbits.__file__).parents[1], Path.cwd()]))
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.full_disk", str(tmp_path)],
        capture_output=True, text=True, timeout=200, check=False, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "File too large" in done.stdout
    assert "the last one that was written is still there" in done.stdout

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The continuous integration tries the same examples every time; at a desk new ones are tried.
settings.register_profile("here", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")


@pytest.fixture
def real_data():
    """The folder of real tables; tests that need it are skipped where it is not at hand."""
    folder = os.environ.get("HIDDENBITS_DATA")
    if not folder:
        pytest.skip("HIDDENBITS_DATA is not set: the real tables are not part of the project")
    return Path(folder)

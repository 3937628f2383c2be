import os
from pathlib import Path

import pytest
from hypothesis import settings

# The continuous integration tries the same examples every time; at a desk new ones are tried.
settings.register_profile("here", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")


def pytest_addoption(parser):
    parser.addoption("--one-seed", action="store_true", help="of tests repeated over seeds run the first only")


def pytest_collection_modifyitems(config, items):
    """Leave further seeds out where asked to: other versions of packages fail with the first seed or with none."""
    if not config.getoption("--one-seed"):
        return
    seeds = [getattr(item, "callspec", None) and item.callspec.params.get("seed", 0) for item in items]
    config.hook.pytest_deselected(items=[item for item, seed in zip(items, seeds, strict=True) if seed])
    items[:] = [item for item, seed in zip(items, seeds, strict=True) if not seed]


@pytest.fixture
def real_data():
    """The folder of real tables; tests that need it are skipped where it is not at hand."""
    folder = os.environ.get("HIDDENBITS_DATA")
    if not folder:
        pytest.skip("HIDDENBITS_DATA is not set: the real tables are not part of the project")
    return Path(folder)

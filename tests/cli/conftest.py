import pytest


@pytest.fixture(autouse=True, scope="module")
def _few_starts(few_starts):
    """What n_init="auto" adds on small tables is tested in tests/engine/test_more_restarts.py."""

import pytest

from tests.families._base import damage

pytestmark = pytest.mark.core


@pytest.mark.slow
def test_damaged_model_files_are_refused_or_lawful(short):
    n = 1000 if short else 2000
    counts = damage.main(n, room=None)  # the cap on memory is for the command: it would outlive this test
    assert sum(counts[outcome] for outcome in ("refused", "valid", "untouched")) == n
    assert 0.4 * n <= counts["checksum recomputed"] <= 0.6 * n
    assert counts["refused"] > n // 2
    assert counts["valid"] > n // 200

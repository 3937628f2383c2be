import pytest

from tests.families._base import damage

pytestmark = pytest.mark.core


def test_damaged_model_files_are_refused_or_lawful():
    counts = damage.main(2000, room=None)  # the cap on memory is for the command: it would outlive this test
    assert sum(counts[outcome] for outcome in ("refused", "valid", "untouched")) == 2000
    assert 800 <= counts["checksum recomputed"] <= 1200
    assert counts["refused"] > 1000
    assert counts["valid"] > 10

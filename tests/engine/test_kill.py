import pytest

from tests.engine import kill

pytestmark = [pytest.mark.core, pytest.mark.slow]


def test_killed_fits_resume_to_the_same_bits():
    kills, readable = kill.main(times=20)
    assert kills >= 20
    assert readable >= 5  # these kills came after the first checkpoint, so resuming is what was tested

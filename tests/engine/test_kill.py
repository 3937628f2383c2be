import pytest

from tests.engine import kill

pytestmark = [pytest.mark.core, pytest.mark.slow]


def test_killed_fits_resume_to_the_same_bits(short):
    times = 4 if short else 20
    kills, readable = kill.main(times=times)
    assert kills >= times
    assert readable >= times // 4  # these kills came after the first checkpoint, so resuming is what was tested

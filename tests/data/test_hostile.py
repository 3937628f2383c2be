"""A thousand hostile tables; `python tests/data/hostile.py --n 10000` runs more."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import hostile

pytestmark = pytest.mark.core


@pytest.mark.slow
def test_a_thousand_hostile_tables(short):
    """Half of them in a short run."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts, wrong = hostile.run(range(500 if short else 1000))
    assert not wrong, "\n\n".join(wrong[:5])
    least = 5 if short else 20
    for kind in {maker.__name__ for maker in hostile.MAKERS}:
        assert counts[kind, "refused"] >= least, kind
        assert counts[kind, "table"] >= least or kind == "no_table", kind
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 300, f"memory grew by {grown:.0f} MB"


def test_the_judge_can_find_fault():
    data, options = [[0, 1], [1, 0]], {}
    assert hostile.verdict(data, options, hostile.REFUSED)[1].startswith("accepted")
    assert hostile.verdict(data, options, hostile.np.zeros((2, 2)))[1].startswith("read as")
    assert hostile.verdict([[2]], options, hostile.np.ones((1, 1)))[1].startswith("refused: row 0")
    assert "RuntimeError" in hostile.verdict(data, {"names": Broken()}, hostile.EITHER)[1]


class Broken:
    def __iter__(self):
        raise RuntimeError

"""Hundreds of hostile tables: each is read as it is meant, or refused with one TableError, in little memory."""

from __future__ import annotations

import resource
from collections import Counter

import numpy as np
import pytest

from tests.data import hostile

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seeds", [range(500), pytest.param(range(500, 10_000), marks=pytest.mark.full)], ids=len)
def test_hostile_tables(seeds):
    before, counts, wrong = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, Counter(), []
    for seed in seeds:
        kind, (data, options, wanted) = hostile.case(seed)
        outcome, fault = hostile.verdict(data, options, wanted)
        counts[kind, outcome] += 1
        if fault is not None:
            wrong.append(f"seed {seed}, {kind}: {type(data)} {options}\n{fault}")
    assert not wrong, "\n\n".join(wrong[:5])
    for kind in {maker.__name__ for maker in hostile.MAKERS}:
        assert counts[kind, "refused"] >= 5, kind
        assert counts[kind, "table"] >= 5 or kind == "no_table", kind
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 300, f"memory grew by {grown:.0f} MB"


class Broken:
    def __iter__(self):
        raise RuntimeError


def test_the_judge_can_find_fault():
    data, options = [[0, 1], [1, 0]], {}
    assert hostile.verdict(data, options, hostile.REFUSED)[1].startswith("accepted")
    assert hostile.verdict(data, options, np.zeros((2, 2)))[1].startswith("read as")
    assert hostile.verdict([[2]], options, np.ones((1, 1)))[1].startswith("refused: row 0")
    assert "RuntimeError" in hostile.verdict(data, {"names": Broken()}, hostile.EITHER)[1]

"""Where little is hidden, the strongest pairs are named: their shares by hand, and nothing where columns are chance."""

import numpy as np
import pytest

from hiddenbits.reporting.findings import find
from hiddenbits.reporting.findings.directions import strongest_pairs
from tests.reporting import planted


def one_pair(seed, n=1500):
    """Six columns; the second is the first in a third of the rows."""
    rng = np.random.default_rng([seed, 9])
    X = (rng.random((n, 6)) < [0.3, 0.5, 0.4, 0.2, 0.6, 0.5]).astype(float)
    X[:, 1] = np.where(rng.random(n) < 0.35, X[:, 0], X[:, 1])
    X[rng.random(X.shape) < 0.02] = np.nan
    return X


@pytest.mark.parametrize("seed", range(3))
def test_the_strongest_pair_comes_first(seed):
    X = one_pair(seed)
    found = find(planted.context_of(X))
    assert found.picture.startswith("The columns are only weakly associated.")
    finding = found.findings[0]
    assert (finding.kind, finding.evidence) == ("connections", "table")
    numbers = finding.numbers
    a, b = (int(numbers[key][-1]) for key in ("first 1", "second 1"))
    assert {a, b} == {0, 1}
    for key, value in (("with 1", 1), ("without 1", 0)):
        assert numbers[key] == pytest.approx(np.nanmean(X[X[:, b] == value, a]))
    assert numbers["association 1"] > 5.0


def test_columns_of_chance_have_none():
    """At most 1 of 20 tables may name a pair: the rule allows 0.05 pairs a table."""
    named = [
        strongest_pairs(planted.context_of(planted.nothing(seed), {"IndependentColumns": []}).sample)
        for seed in range(20)
    ]
    assert sum(map(len, named)) <= 2


def test_blanks_that_follow_a_column_make_no_connection():
    rng = np.random.default_rng(0)
    X = (rng.random((600, 4)) < 0.5).astype(float)
    X[:, 2] = np.where(rng.random(600) < 0.4, X[:, 1], X[:, 2])
    pairs = strongest_pairs(planted.context_of(X, {"IndependentColumns": []}).sample)
    assert [{pair.first, pair.second} for pair in pairs] == [{1, 2}]
    X[(X[:, 1] == 0) & (rng.random(600) < 0.6), 2] = np.nan
    assert strongest_pairs(planted.context_of(X, {"IndependentColumns": []}).sample) == []


def test_more_kinds_than_columns_are_no_picture():
    """Three pairs of columns, each nearly a copy: many kinds, and the pairs are named instead."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.random((3000, 3)) < 0.5, 2, axis=1) ^ (rng.random((3000, 6)) < 0.1)
    found = find(planted.context_of(X.astype(float), {"IndependentColumns": [], "LatentClassAnalysis": [8]}))
    assert found.picture.startswith("The columns are associated, but without a simple structure: a model of them has 8")
    assert found.findings[0].kind == "connections"
    assert "classes" not in {one.kind for one in found.findings}
    numbers = found.findings[0].numbers
    pairs = [{int(numbers[f"{key} {at}"][-1]) for key in ("first", "second")} for at in (1, 2, 3)]
    assert sorted(map(sorted, pairs)) == [[0, 1], [2, 3], [4, 5]]

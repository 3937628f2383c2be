"""As many kinds, scales and causes are described as the opening says, and the map says whose scales it shows."""

import re

import numpy as np
import pytest

from hiddenbits.reporting.findings import find
from hiddenbits.reporting.findings.opening import how_many
from hiddenbits.reporting.findings.words import WORDS
from hiddenbits.reporting.row_map import chart
from tests.reporting import planted
from tests.reporting.reading import differences

UNITS = {"classes": "class", "directions": "dimension", "causes": "cause"}


def announced(found):
    """Return how many units the opening announces, and how many of them it says are described."""
    size = found.numbers["size"]
    said = re.search(r"Of the (\w+) ([a-z ]+), (\w+) (?:is|are) described below", found.picture)
    if said is None:
        return size, 0 if "described below" in found.picture else size
    return WORDS.index(said[1]), WORDS.index(said[3])


def described(found):
    told = [one for one in found.found if one.kind in UNITS]
    both = [one for one in told if "share of the other kind" in one.numbers]  # two kinds in one finding
    return len(told) + len(both)


def check(context):
    found = find(context)
    size, shown = announced(found)
    assert size == found.numbers["size"]
    assert shown == described(found) == found.numbers["described"]
    drawn = chart(context)
    scales = len(drawn.parts[0].same.heads) - 1
    assert all(abs(value) <= 100.0 for row in drawn.parts[0].same.rows for value in differences(" ".join(row[1:])))
    ours = "a model of its own with two scales" not in str(drawn.opening)
    if ours:
        assert scales == size
        assert (f"the first two of the {size} scales" in str(drawn.opening)) == (size > 2)
    else:
        assert scales == 2
        assert re.search(rf"\({size} (class(es)?|dimensions?|causes?)\)\.$", str(drawn.opening))
    return found


def test_four_kinds_are_announced_and_the_three_largest_described():
    found = check(planted.context_of(planted.kinds(0)[0], {"IndependentColumns": [], "LatentClassAnalysis": [4]}))
    assert found.picture.startswith("The rows fall into four kinds.")
    assert found.picture.endswith("Of the four classes, three are described below: the largest.")


def test_two_kinds_are_described_in_one_finding():
    found = check(planted.context_of(planted.odd(0), {"IndependentColumns": [], "LatentClassAnalysis": [2]}))
    assert "described below" not in found.picture


@pytest.mark.parametrize("size", [1, 2, 4])
def test_scales_of_which_not_all_are_real(size):
    """Two scales with six columns each; of a model with four, two have nothing that is certain."""
    rng = np.random.default_rng(0)
    places, loadings = rng.standard_normal((400, 2)), np.kron(np.eye(2), np.full(6, 2.0))
    X = (rng.random((400, 12)) < 1 / (1 + np.exp(-places @ loadings))).astype(float)
    found = check(planted.context_of(X, {"IndependentColumns": [], "LogisticPCA": [size]}))
    if size == 4:
        assert re.search(r"what sets the two ends of the others? apart is too uncertain", found.picture)
    assert ("as on a map" in found.picture) == (size == 2)


@pytest.mark.full
def test_causes():
    check(planted.context_of(planted.causes(1)[0], planted.CAUSES))


def test_groups_and_pairs_that_are_not_all_named_are_counted():
    X, kind = planted.kinds(0, n=600)
    groups = [f"{'own' if k else 'other'}{i % 3}" for i, k in enumerate(kind)]
    sizes = {"IndependentColumns": [], "LatentClassAnalysis": [4]}
    found = find(planted.context_of(X, sizes, beside={"group": groups}, by="group")).found
    (sentence,) = (one.sentence for one in found if one.kind == "groups")
    assert re.search(r"; the four largest of 6: |; the two highest and the two lowest of 6: ", sentence)
    assert sentence.count(" ± ") == 4
    copies = np.where(np.random.default_rng(0).random((600, 4)) < 0.9, X[:, [0, 3, 6, 9]], 1 - X[:, [0, 3, 6, 9]])
    X = np.column_stack([X, copies])
    found = find(planted.context_of(X, {"IndependentColumns": [], "LatentClassAnalysis": [2]})).found
    (pairs,) = (one for one in found if one.kind == "pairs")
    assert pairs.numbers["pairs"] > 2
    assert ". The two that stand out most: " in pairs.sentence
    assert pairs.sentence.count("are both 1 in") == 2


def test_a_tie_claims_neither_equal_scores_nor_the_fewest_parameters():
    """One scale has as many parameters with one link as with the other, and a tie is a matter of error."""
    found = find(planted.context_of(planted.scale(0, n=200)[0], {"LogisticPCA": [1], "ClippedPCA": [1]}))
    assert found.numbers["tied"] == 1
    assert "predicts unseen rows as well within two standard errors" in found.picture
    assert "the one described here has no more parameters than the other." in found.picture


def test_the_sentence():
    """Every case: all, some for want of room, some for want of certainty, both, none."""
    found = list(range(8))

    def said(model, size, every, shown):
        return how_many(model, size, found[:every], found[:shown])[0].strip()

    kinds, scales, causes = "LatentClassAnalysis", "ClippedPCA", "NoisyOrNetwork"
    assert said(kinds, 3, 3, 3) == said(kinds, 2, 1, 1) == said(scales, 1, 1, 1) == ""
    assert said(causes, 4, 4, 1) == "Of the four causes, one is described below: the one that explains most."
    assert said(scales, 4, 4, 3) == "Of the four dimensions, three are described below: the first."
    assert said(kinds, 8, 6, 3).endswith(
        "three are described below: the largest of those about which enough is certain."
    )
    unsure = "apart is too uncertain to be named."
    assert said(kinds, 3, 2, 2) == f"Of the three classes, two are described below; what sets the other {unsure}"
    assert said(scales, 4, 1, 1).endswith(f"one is described below; what sets the two ends of the others {unsure}")
    assert said(scales, 1, 0, 0) == f"The dimension is not described below: what sets the two ends of it {unsure}"
    assert said(kinds, 2, 0, 0) == f"None of the two classes is described below: what sets them {unsure}"

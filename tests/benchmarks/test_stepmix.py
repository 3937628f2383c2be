"""The comparison with StepMix on tables that are drawn: ratios, gains and losses from what both programs wrote."""

import numpy as np
import pytest
from benchmarks.mixture.stepmix import drawn_tables, side_by_side

pytestmark = pytest.mark.core


def turn(seconds, probabilities):
    """Return what a program writes of two seeds of a model with one class and one column."""
    return {
        "default_seconds": np.array(seconds),
        "default_passes": np.array([3, 4]),
        "default_weights": np.ones((2, 1)),
        "default_probabilities": np.array(probabilities).reshape(2, 1, 1),
    }


def test_seeds_are_compared_one_by_one_in_medians_over_turns():
    X = np.array([[1], [1], [0], [0]], np.uint8)
    ours = [turn([1.0, 2.0], [0.5, 0.9]), turn([3.0, 2.0], [0.5, 0.9]), turn([1.0, 2.0], [0.5, 0.9])]
    theirs = [turn([4.0, 1.0], [0.5, 0.5])] * 3
    figures = side_by_side(X, ours, theirs, "default")
    assert figures["hiddenbits"]["seconds"] == [1.0, 2.0]
    assert figures["times_faster_each"] == [4.0, 0.5]
    assert figures["times_faster"] == 2.25
    assert (figures["seeds_where_ours_is_lower"], figures["seeds_where_ours_is_higher"]) == (1, 0)
    assert figures["stepmix"]["log_likelihood_a_row"] == [round(float(np.log(0.5)), 5)] * 2


def test_tables_are_named_by_their_classes_and_sizes():
    for name, (classes, X) in drawn_tables().items():
        assert name.startswith(f"{classes} ")
        assert name.endswith(f"{X.shape[0]:,} x {X.shape[1]}")
        assert set(np.unique(X)) == {0, 1}

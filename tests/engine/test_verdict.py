"""`judge` as a table: what a pass is, and what it means."""

import numpy as np
import pytest

from hiddenbits.engine.loops.em import APPROXIMATION, Verdict, judge

pytestmark = pytest.mark.core


FREE = {"rounding": APPROXIMATION}
FORGOT = {"memory_may_be_missing": True}
EXTRAPOLATED = {"extrapolated": True}

TABLE = [
    # The first pass of a stage has nothing to be compared with.
    ("first pass", -500.0, {"before": -np.inf}, Verdict.CONTINUE),
    ("a gain", -50.0, {}, Verdict.CONTINUE),
    ("a gain at the limit", -99.0, {}, Verdict.CONVERGED),
    ("just above it", -98.99, {}, Verdict.CONTINUE),
    ("no gain", -100.0, {}, Verdict.CONVERGED),
    ("rounding", -100.0 - 0.9e-8, {}, Verdict.CONVERGED),
    ("a fall", -100.0 - 1.1e-8, {}, Verdict.FELL),
    ("an approximation: rounding", -100.0 - 0.9e-3, FREE, Verdict.CONVERGED),
    ("an approximation: a fall", -100.0 - 1.1e-3, FREE, Verdict.FELL),
    # Extrapolations have a way back.
    ("a good extrapolation", -99.9, EXTRAPOLATED, Verdict.ACCEPTED),
    ("one that changes nothing", -100.0, EXTRAPOLATED, Verdict.ACCEPTED),
    ("a bad one", -100.1, EXTRAPOLATED, Verdict.REFUSED),
    ("one that is not a number", np.nan, EXTRAPOLATED, Verdict.REFUSED),
    ("one at +inf", np.inf, EXTRAPOLATED, Verdict.DIVERGED),
    # Without a way back there is no fit.
    ("not a number", np.nan, {}, Verdict.DIVERGED),
    ("-inf", -np.inf, {}, Verdict.DIVERGED),
    # Memory that was lost with a worker.
    ("a fall", -101.0, FORGOT, Verdict.RECOVERING),
    ("a small gain, quick before", -99.5, FORGOT | {"last_gain": 5.0}, Verdict.CONTINUE),
    ("a small gain, slow before", -99.5, FORGOT | {"last_gain": 0.5}, Verdict.CONVERGED),
    ("a small gain, first", -99.5, FORGOT | {"last_gain": None}, Verdict.CONVERGED),
    ("a small gain, after a refused pass", -99.5, FORGOT | {"last_gain": np.inf}, Verdict.CONTINUE),
    ("a small gain, quick before, no memory", -99.5, {"last_gain": 5.0}, Verdict.CONVERGED),
]


@pytest.mark.parametrize(("objective", "given", "verdict"), [row[1:] for row in TABLE])
def test_verdicts(objective, given, verdict):
    usual = {"before": -100.0, "limit": 1.0, "weight": 100.0}
    assert judge(objective, **usual | given) is verdict


def test_the_table_has_every_verdict():
    assert {row[-1] for row in TABLE} == set(Verdict)

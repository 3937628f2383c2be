"""`judge` as a table: what a pass is, and what it means."""

from dataclasses import dataclass

import numpy as np
import pytest

from hiddenbits.engine.loops.em import Rules, Verdict, judge

pytestmark = pytest.mark.core


@dataclass(frozen=True)
class Pass:
    objective: float
    memory_may_be_missing: bool = False


@dataclass(frozen=True)
class Forgot(Pass):
    memory_may_be_missing: bool = True


PLAIN = Rules(limit=1.0, weight=100.0, monotone=True)
FREE = Rules(limit=1.0, weight=100.0, monotone=False)
EXTRAPOLATED = {"extrapolated": True}

TABLE = [
    # The first pass of a stage has nothing to be compared with.
    ("first pass", Pass(-500.0), PLAIN, {"before": -np.inf}, Verdict.CONTINUE),
    ("a gain", Pass(-50.0), PLAIN, {}, Verdict.CONTINUE),
    ("a gain at the limit", Pass(-99.0), PLAIN, {}, Verdict.CONVERGED),
    ("just above it", Pass(-98.99), PLAIN, {}, Verdict.CONTINUE),
    ("no gain", Pass(-100.0), PLAIN, {}, Verdict.CONVERGED),
    ("rounding", Pass(-100.0 - 0.9e-8), PLAIN, {}, Verdict.CONVERGED),
    ("a fall", Pass(-100.0 - 1.1e-8), PLAIN, {}, Verdict.FELL),
    ("float32: rounding", Pass(-100.0 - 0.9e-3), FREE, {}, Verdict.CONVERGED),
    ("float32: a fall", Pass(-100.0 - 1.1e-3), FREE, {}, Verdict.FELL),
    # Extrapolations have a way back.
    ("a good extrapolation", Pass(-99.9), PLAIN, EXTRAPOLATED, Verdict.ACCEPTED),
    ("one that changes nothing", Pass(-100.0), PLAIN, EXTRAPOLATED, Verdict.ACCEPTED),
    ("a bad one", Pass(-100.1), PLAIN, EXTRAPOLATED, Verdict.REVERT),
    ("one that is not a number", Pass(np.nan), PLAIN, EXTRAPOLATED, Verdict.REVERT),
    ("one at +inf", Pass(np.inf), PLAIN, EXTRAPOLATED, Verdict.DIVERGED),
    # Without a way back there is no fit.
    ("not a number", Pass(np.nan), PLAIN, {}, Verdict.DIVERGED),
    ("-inf", Pass(-np.inf), PLAIN, {}, Verdict.DIVERGED),
    # Memory that was lost with a worker.
    ("a fall", Forgot(-101.0), PLAIN, {}, Verdict.RECOVERING),
    ("a small gain, quick before", Forgot(-99.5), PLAIN, {"last_gain": 5.0}, Verdict.CONTINUE),
    ("a small gain, slow before", Forgot(-99.5), PLAIN, {"last_gain": 0.5}, Verdict.CONVERGED),
    ("a small gain, first", Forgot(-99.5), PLAIN, {"last_gain": None}, Verdict.CONVERGED),
    ("a small gain, after a refused pass", Forgot(-99.5), PLAIN, {"last_gain": np.inf}, Verdict.CONTINUE),
    ("a small gain, quick before, no memory", Pass(-99.5), PLAIN, {"last_gain": 5.0}, Verdict.CONVERGED),
]


@pytest.mark.parametrize(("seen", "rules", "given", "verdict"), [row[1:] for row in TABLE])
def test_verdicts(seen, rules, given, verdict):
    usual = {"before": -100.0, "extrapolated": False, "last_gain": None}
    assert judge(seen, rules, **{**usual, **given}) is verdict


def test_the_table_has_every_verdict():
    assert {row[-1] for row in TABLE} == set(Verdict)

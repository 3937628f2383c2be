"""The log: restarts, stages, stops and continuing at INFO, passes at DEBUG, nothing unless it is asked for."""

import logging

import numpy as np
import pytest

from hiddenbits import CombinationMachine, LatentClassAnalysis, LogisticPCA
from hiddenbits.datasets import simulate_mixture

pytestmark = pytest.mark.core


@pytest.fixture
def X():  # noqa: N802
    return simulate_mixture(300, 6, 3, random_state=0).X


def logged(caplog, level):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_restarts_and_stops_are_info_and_passes_debug(X, caplog):
    caplog.set_level(logging.DEBUG, "hiddenbits")
    model = LatentClassAnalysis(3, n_init=3, random_state=0).fit(X)
    info, debug = logged(caplog, logging.INFO), logged(caplog, logging.DEBUG)
    assert info[0].startswith("LatentClassAnalysis: fit to ")
    stops = [
        f"stopped: {one.reason} after {one.n_iter} passes, objective {one.objective:.10g}" for one in model.restarts_
    ]
    expected = [[f"Restart {k} of 3 begins.", f"Restart {k} of 3 {stop}."] for k, stop in enumerate(stops, 1)]
    assert info[1:] == [line for lines in expected for line in lines]
    passes = [line for line in debug if ": pass " in line]
    assert len(passes) == sum(one.n_iter for one in model.restarts_)
    best = int(np.argmax([one.objective for one in model.restarts_]))
    of_best = [line for line in passes if line.startswith(f"Restart {best + 1}:")]
    assert of_best == [
        f"Restart {best + 1}: pass {number}, objective {value:.10g}." for number, value in enumerate(model.trace_, 1)
    ]
    assert all(record.name.startswith("hiddenbits.") for record in caplog.records)


@pytest.mark.parametrize(
    "model",
    [
        LogisticPCA(1, random_state=0),  # variational, then refined
        CombinationMachine(2, random_state=0),  # grows unit by unit, by a climb
    ],
    ids=lambda model: type(model).__name__,
)
def test_stages_are_info(model, X, caplog):
    caplog.set_level(logging.DEBUG, "hiddenbits")
    model.fit(X)
    assert any(": stage 2 begins after " in line for line in logged(caplog, logging.INFO))
    assert any(": pass 1, objective " in line for line in logged(caplog, logging.DEBUG))
    stops = [line for line in logged(caplog, logging.INFO) if " stopped: " in line]
    assert len(stops) == len(model.restarts_)


def test_random_steps_are_logged_too(X, caplog):
    caplog.set_level(logging.DEBUG, "hiddenbits")
    model = CombinationMachine(2, method="chains", max_iter=3, random_state=0).fit(X)
    assert any(f"stopped: schedule_done after {model.n_iter_} passes" in line for line in logged(caplog, logging.INFO))
    assert sum(": pass " in line for line in logged(caplog, logging.DEBUG)) == model.n_iter_


def test_silent_by_default(X, capfd):
    LatentClassAnalysis(2, random_state=0).fit(X)
    assert capfd.readouterr() == ("", "")
    logger = logging.getLogger("hiddenbits")
    assert [type(handler) for handler in logger.handlers] == [logging.NullHandler]
    assert logger.level == logging.NOTSET

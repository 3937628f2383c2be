"""Carry, randomness and monotonicity checks of the loop, on a toy model that has what the real ones do not yet need."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hiddenbits.data import Arrays
from hiddenbits.engine import Local, Settings, fit_em
from hiddenbits.engine.row_memory import LocalRowMemory
from hiddenbits.model_api import Footprint, Promises
from tests.contracts.conftest import table_of
from tests.contracts.test_same_bits import (
    InterruptAfter,
    InterruptedFitError,
    fit_in_ways,
    fit_with_interruptions,
    same,
)

pytestmark = pytest.mark.core


@dataclass(frozen=True, eq=False)
class Mean(Arrays):
    mean: np.ndarray

    def flaw(self):
        return None


@dataclass(frozen=True, eq=False)
class Stats(Arrays):
    bound: np.ndarray
    weight: np.ndarray
    ones: np.ndarray


@dataclass(frozen=True, eq=False)
class Memory(Arrays):
    noise: np.ndarray
    visits: np.ndarray


@dataclass(frozen=True)
class Toy:
    """A noisy mean: each row keeps a random number that drifts from pass to pass."""

    falls: bool = False
    promises = Promises(
        likelihood="estimate",
        monotone=True,
        deterministic=False,
        carry=True,
        accelerates=False,
        oracle="enumeration",
        why={"deterministic": "a test"},
    )
    params_type, stats_type, carry_type = Mean, Stats, Memory

    def footprint(self, n_columns, row_cells):
        return Footprint(1, 1, 1)

    def mismatch(self, params):
        return None

    def start(self, summary, key, passes):
        return Mean(key.rng().random(1))

    def prepare(self, params):
        return None

    def expect(self, params, shared, block, carry, key):
        carry = carry or Memory(np.zeros(block.n_rows), np.zeros(()))
        carry = Memory(0.5 * carry.noise + key.rng().standard_normal(block.n_rows), np.asarray(carry.visits + 1))
        ones = block.x.operand().sum(axis=1) + carry.noise
        bound = -carry.visits if self.falls else carry.visits
        return Stats(np.asarray(bound * 1.0), np.asarray(float(block.n_rows)), np.array([ones.sum()])), carry

    def objective(self, params, stats):
        return float(stats.bound)

    def update(self, params, stats):
        return Mean(0.5 * params.mean + 0.5 * stats.ones / stats.weight)


@pytest.fixture
def table():
    return table_of(np.random.default_rng(0).integers(0, 2, (1000, 4)).astype(float))


def test_random_models_give_the_same_bits_on_threads_and_parts(table):
    ways = [(1, 10), (1, 10**6), (3, 10), (3, 10**6)]
    outcome = fit_in_ways(fit_em, Toy(), table, 64, Settings(max_iter=5), ways)
    other_seed = fit_em(Toy(), table.grid(64), Local(), Settings(max_iter=5, seed=1), None, None)
    assert not same(outcome.params, other_seed.params)


def test_carry_is_in_the_checkpoint(table, tmp_path):
    fit_with_interruptions(fit_em, Toy(), table.grid(64), Settings(max_iter=9), tmp_path / "fit.hb", 1)


def test_a_falling_objective_stops_a_monotone_model(table):
    outcome = fit_em(Toy(falls=True), table.grid(64), Local(), Settings(max_iter=9), None, None)
    assert outcome.restarts[0].reason == "objective_fell"
    assert outcome.restarts[0].n_iter == 2


def test_errors_inside_a_thread_reach_the_caller(table):
    def broken(block):
        raise ZeroDivisionError(f"block {block.number}")

    with pytest.raises(ZeroDivisionError, match="block"):
        Local(3).reduce(broken, table.grid(64))


class Forgetful:
    """Keeps positions in memory and loses the rows' memory, as a cluster's checkpoint does."""

    kept = None

    def load(self, summary):
        return self.kept and replace(self.kept, row_memory=LocalRowMemory(None, {}))

    def save(self, position, summary):
        self.kept = position


def test_a_fit_goes_on_without_the_memory_of_its_rows(table):
    settings, checkpoints = Settings(max_iter=12), Forgetful()
    with suppress(InterruptedFitError):
        fit_em(Toy(), table.grid(64), Local(), settings, checkpoints, InterruptAfter(5))
    resumed = fit_em(Toy(), table.grid(64), Local(), settings, checkpoints, None)
    passes = len(checkpoints.kept.best.trace)
    assert passes == 12
    assert (np.diff(resumed.trace) < 0).sum() == 1  # the bound counts visits: it fell once, and the fit went on
    assert resumed.restarts[0].reason == "max_iter"

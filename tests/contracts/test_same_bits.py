"""Serial, threads, any part size, any interruption, saved and loaded: the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits.data import Table
from hiddenbits.engine import Checkpoint, Local, Settings
from hiddenbits.families.combination_machine.growth import TRIAL, fit_machine
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core


def same(a, b):
    return all(np.array_equal(x, b.to_arrays()[name]) for name, x in a.to_arrays().items())


class InterruptedFitError(Exception):
    pass


class InterruptAfter:
    """A watch that lets a few passes go by and then breaks off."""

    def __init__(self, passes):
        self.left = passes

    def __call__(self, position, last):
        self.left -= 1
        if self.left < 0:
            raise InterruptedFitError
        return False


def fit_in_ways(loop, model, table, height, settings, ways):
    """Fit with threads, from parts of so many bytes (None: whole); return the outcome, the same to the last bit."""
    outcomes = []
    for n_jobs, part_bytes in ways:
        walked = table if part_bytes is None else Table(NotResident(table.source), None, None, part_bytes)
        executor = Local(n_jobs)
        outcomes.append(loop(model, walked.grid(height), executor, settings, None, None))
        executor.close()
    for other in outcomes[1:]:
        assert same(outcomes[0].params, other.params)
        assert np.array_equal(outcomes[0].trace, other.trace)
    return outcomes[0]


def fit_with_interruptions(loop, model, grid, settings, path, passes, *, least=2):
    """Fit in one go, and broken off after every few passes and resumed from the file alone: the same to the last bit.

    Return the outcome and the number of interruptions, which is `least` or more.
    """
    whole = loop(model, grid, Local(), settings, None, None)
    checkpoints = Checkpoint(path, model, settings, grid.table.shape, grid.height)
    interruptions, resumed = 0, None
    while resumed is None:
        try:
            resumed = loop(model, grid, Local(), settings, checkpoints, InterruptAfter(passes))
        except InterruptedFitError:
            interruptions += 1
            assert interruptions < 500
    assert interruptions >= least
    assert same(whole.params, resumed.params)
    assert np.array_equal(whole.trace, resumed.trace)
    assert whole.restarts == resumed.restarts
    again = loop(model, grid, Local(), settings, checkpoints, InterruptAfter(0))  # nothing is left to do
    assert same(whole.params, again.params)
    return whole, interruptions


@pytest.mark.thin(7)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [True, False])
def test_serial_threads_and_part_sizes(case, storage, missing, seed, short, monkeypatch):
    """One table, walked by one thread or three, in memory or loaded in parts of many sizes.

    One seed with an online pass first, in groups of three blocks that cross the edges of parts.
    """
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 700)
    if case.heavy and seed > 1:
        pytest.skip("two seeds are enough for a model whose passes take long")
    table = table_of(structured_rows(np.random.default_rng(seed), 2200, 12, missing), storage)
    settings = Settings(n_init=1, max_iter=12, seed=seed, online_passes=seed % 2)
    others = [(1, 7000), (3, None), (3, 1)]
    ways = ((1, None), *(others[1 + missing :][:1] if short else others))
    fit_in_ways(case.loop, case.model, table, 256, settings, ways)


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", [1, 0, 7])
def test_resumed_equals_uninterrupted(case, seed, tmp_path, monkeypatch):
    """Broken off after every few passes, each time resumed from the file alone; one seed with an online pass first."""
    passes = seed + 1 if seed < 2 else seed
    if case.loop is fit_machine:  # positions are kept after a leg of several iterations
        monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 4)
        passes += 4
    table = table_of(structured_rows(np.random.default_rng(seed), 400, 10, missing=True))
    settings = Settings(n_init=2, max_iter=16, seed=seed, online_passes=seed == 1)
    whole, interruptions = fit_with_interruptions(
        case.loop, case.model, table.grid(128), settings, tmp_path / "fit.hb", passes, least=0
    )
    n_passes = sum(restart.n_iter for restart in whole.restarts)
    if whole.stages and case.loop is fit_machine:  # a stage is grown in one go
        n_passes = len(whole.trace) - whole.stages[-1] - TRIAL
    assert interruptions >= n_passes // (passes + 1) - 1


def test_checkpoint_of_another_fit_is_refused(case, tmp_path):
    rng = np.random.default_rng(0)
    tables = [table_of(structured_rows(rng, 300, 10, missing=True)) for _ in range(2)]
    settings = Settings(max_iter=5)

    def fit(table, settings=settings, model=case.model):
        checkpoints = Checkpoint(tmp_path / "fit.hb", model, settings, table.shape, 256)
        return case.loop(model, table.grid(256), Local(), settings, checkpoints, None)

    fit(tables[0])
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="other data"):
        fit(tables[1])
    shuffled = np.column_stack([rng.permutation(column) for column in tables[0].to_float().T])  # the same counts
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="other data"):
        fit(table_of(shuffled))
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="its settings"):
        fit(tables[0], settings=Settings(max_iter=6))
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="its hyperparameters"):
        fit(tables[0], model=replace(case.model, **case.other))
    hiddenbits.IndependentColumns().fit(tables[0].to_float()).save(tmp_path / "fit.hb")
    with pytest.raises(hiddenbits.exceptions.CheckpointError, match="not a checkpoint"):
        fit(tables[0])


def test_saved_and_loaded(case, tmp_path):
    rows = structured_rows(np.random.default_rng(0), 300, 8, missing=True)
    model = clone(case.estimator).fit(rows)
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    assert same(model._params, loaded._params)
    assert np.array_equal(loaded.score_samples(rows), model.score_samples(rows))
    assert np.array_equal(loaded.complete(rows), model.complete(rows))
    assert np.array_equal(loaded.trace_, model.trace_)
    assert loaded.restarts_ == model.restarts_
    assert np.array_equal(loaded.sample(5), model.sample(5))


@pytest.mark.thin(2)
def test_online_fit_goes_on_after_loading(case, tmp_path):
    rows = structured_rows(np.random.default_rng(0), 300, 8, missing=True)
    model = clone(case.estimator).partial_fit(rows[:150])
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    assert same(model.partial_fit(rows[150:])._params, loaded.partial_fit(rows[150:])._params)


@pytest.mark.thin(3)
def test_methods_on_threads(case, monkeypatch):
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 200)  # 8 blocks
    rows = structured_rows(np.random.default_rng(0), 1500, 8, missing=True)
    model = clone(case.estimator).fit(rows)
    with hiddenbits.run_on(n_jobs=3):
        threaded = clone(case.estimator).fit(rows)
        assert same(model._params, threaded._params)
        scores, completed = model.score_samples(rows), model.complete(rows)
    assert np.array_equal(scores, model.score_samples(rows))
    assert np.array_equal(completed, model.complete(rows))

"""Tables of real numbers keep the promises of tables of bits: serial, threads, any parts, resumed."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits.engine import Local, Settings
from tests.contracts.cases import REALS, reals_table
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import fit_with_interruptions, same

pytestmark = pytest.mark.core


@pytest.fixture(params=REALS, ids=lambda case: case.name)
def case(request):
    return request.param


def in_parts(table, part_bytes):
    """The same rows, to be loaded part by part."""
    return replace(table, source=NotResident(table.source), part_bytes=part_bytes)


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.1, 0.0])
def test_serial_threads_and_part_sizes(case, missing, seed, short, monkeypatch):
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 150)
    table = reals_table(seed, missing=missing)
    settings = Settings(max_iter=8, tol=0.0, seed=seed, online_passes=seed % 2)
    outcomes = []
    ways = list(product((1, 3), (table, in_parts(table, 1), in_parts(table, 20_000))))
    for n_jobs, walked in (ways[0], ways[4], ways[5]) if short else ways:
        executor = Local(n_jobs)
        outcomes.append(case.loop(case.model, walked.grid(64), executor, settings, None, None))
        executor.close()
    assert len(outcomes[0].trace) == 8
    for other in outcomes[1:]:
        assert same(outcomes[0].params, other.params)
        assert np.array_equal(outcomes[0].trace, other.trace)


@pytest.mark.thin(3)
@pytest.mark.parametrize("passes", [1, 3])
def test_resumed_equals_uninterrupted(case, passes, tmp_path):
    table = reals_table(0, n=400)
    grid, settings = table.grid(64), Settings(n_init=2, max_iter=8, tol=0.0, online_passes=1)
    fit_with_interruptions(case.loop, case.model, grid, settings, tmp_path / "fit.hb", passes)


@pytest.mark.slow
@pytest.mark.thin(3)
def test_methods_on_threads_and_from_parts(case, monkeypatch):
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 64)
    table = reals_table(0, n=300)
    model = clone(case.estimator).fit(table)
    with hiddenbits.run_on(n_jobs=3):
        for walked in (table, in_parts(table, 9000)):
            there = clone(case.estimator).fit(walked)
            assert same(model._params, there._params)
            for method in ("transform", "score_samples", "complete"):
                with hiddenbits.run_on(n_jobs=1):
                    alone = getattr(model, method)(table)
                assert np.array_equal(getattr(there, method)(walked), alone)

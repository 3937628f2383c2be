"""Curved maps by random steps: what is split off, when they stop, and the same bits everywhere."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import TopographicMap
from hiddenbits.engine import Key, Settings, fit_persistent, online_form
from hiddenbits.families.topographic_map.model import Topographic
from hiddenbits.families.topographic_map.model_steps import TopographicSteps
from tests.contracts.conftest import random_rows, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import fit_in_ways, fit_with_interruptions, same
from tests.families.topographic_map.map_data import random_map

pytestmark = pytest.mark.core
LOOP = partial(fit_persistent, after_epoch=TopographicSteps.after_epoch)
MODEL = TopographicSteps(3, n_points=64, n_features=16, length_scale=1.5, batch_rows=100)
SMALL = TopographicMap(3, n_points=256, n_features=32, batch_rows=64, random_state=0)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_split_off_are_not_learned_from(seed):
    rng = np.random.default_rng(seed)
    params = random_map(6, rng, M=16)
    rows = random_rows(rng, 200, 6, missing=True)
    block = table_of(rows).grid(200).blocks[0]
    off = MODEL.validation_rows(block, Key(seed))
    assert np.array_equal(off, MODEL.validation_rows(block, Key(seed, restart=2, pass_number=9)))  # always the same
    assert 8 <= off.sum() <= 35  # of 200, a tenth expected; 3.5 standard deviations
    stats = MODEL.expect(params, MODEL.prepare(params), block, None, Key(seed))[0]
    learned = table_of(rows[~off]).grid(200).blocks[0]
    alone = Topographic(3, 64, 16).expect(params, MODEL.prepare(params), learned, None, Key(seed))[0]
    assert same(stats, alone)
    online = online_form(MODEL)
    assert online.expect(params, online.prepare(params), block, None, Key(seed))[0].weight == 200  # partial_fit: all


@pytest.mark.thin(3)
@pytest.mark.parametrize("storage", ["dense", "csr", "packed"])
@pytest.mark.parametrize("seed", range(3))
def test_serial_threads_and_parts_give_the_same_bits(seed, storage):
    table = table_of(structured_rows(np.random.default_rng(seed), 700, 10, missing=True), storage)
    ways = [(1, None), (3, None), (1, 2000), (3, 1)]
    fit_in_ways(LOOP, MODEL, table, 50, Settings(max_iter=4, seed=seed), ways)


@pytest.mark.parametrize("passes", [1, 3])
def test_resumed_equals_uninterrupted(passes, tmp_path):
    table = table_of(structured_rows(np.random.default_rng(0), 400, 10, missing=True))
    settings = Settings(n_init=2, max_iter=7, seed=0)
    fit_with_interruptions(LOOP, MODEL, table.grid(100), settings, tmp_path / "fit.hb", passes)


@pytest.mark.parametrize("seed", range(3))
def test_it_stops_where_new_rows_do_not_gain_and_keeps_the_best(seed):
    rows = structured_rows(np.random.default_rng(seed), 700, 12, missing=False)
    model = clone(SMALL).set_params(random_state=seed).fit(rows[:400])
    assert model.stop_reason_ == "converged"
    assert 13 <= model.n_iter_ < 300  # three epochs without a rise, four times over
    assert np.argmax(model.trace_) < len(model.trace_) - 3
    independent = hiddenbits.IndependentColumns().fit(rows[:400])
    assert model.score(rows[400:]) > independent.score(rows[400:]) + 1.0  # 1.4 to 2.7 seen, 1.5 to 3.0 of a mixture
    assert model._likelihood_kind == "exact"


def test_too_few_passes_are_said():
    rows = structured_rows(np.random.default_rng(0), 300, 8, missing=False)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = clone(SMALL).set_params(max_iter=2).fit(rows)
    assert model.stop_reason_ == "max_iter"


def test_a_table_without_rows_to_split_off_is_refused():
    with pytest.raises(ValueError, match=r"too few rows for validation_share=0\.001"):
        clone(SMALL).set_params(validation_share=0.001).fit(random_rows(np.random.default_rng(0), 20, 5, missing=False))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_sorted_table_is_shuffled(seed):
    """Rows sorted by class are learned as well as shuffled ones, within .3 nats a row (of 3 above independent bits)."""
    rows = structured_rows(np.random.default_rng(seed), 300, 12, missing=False)
    ordered = rows[np.lexsort(rows.T)]
    scores = [clone(SMALL).set_params(random_state=seed).fit(some).score(rows) for some in (rows, ordered)]
    assert scores[0] == pytest.approx(scores[1], abs=0.3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_as_many_dimensions_as_wide_tables_have():
    """No grid is made of them on the way, whose points no array could number."""
    X = np.random.default_rng(0).integers(0, 2, (50, 80))
    model = TopographicMap(70, n_points=64, n_features=8, max_iter=1, random_state=0).fit(X)
    assert model.points_.shape == (64, 70)
    assert np.isfinite(model.transform(X)).all()

"""A start on few rows: near the end of the fit, the same bits everywhere, and refused where it has no place."""

import numpy as np
import pytest

from hiddenbits import CombinationMachine, run_on
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_influences
from hiddenbits.engine import Checkpoint, Local, Settings, fit_em, fit_gradient, restarts
from hiddenbits.models import Combination, Mixture
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptAfter, InterruptedFitError, same
from tests.models.test_growth import switches

pytestmark = pytest.mark.core


@pytest.fixture(name="grids")
def walked_grids(monkeypatch):
    """The number of rows of each grid that a restart went through, in order."""
    found, real = [], restarts.all_restarts

    def noting(one, *args):
        def noted(course, position):
            found.append(course.grid.table.shape[0])
            return one(course, position)

        return real(noted, *args)

    monkeypatch.setattr("hiddenbits.engine.climb.all_restarts", noting)
    monkeypatch.setattr("hiddenbits.engine.em.all_restarts", noting)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("start", ["noise", "grow"])
def test_it_ends_as_high_and_sooner(start, seed, grids):
    """Against the fit on all rows: both find the four switches, and stop within some tolerances of the top."""
    X = switches(seed, 4, 20_000)
    few = CombinationMachine(4, start=start, start_rows=1_000, random_state=seed).fit(X)
    rows = list(grids)
    all_of_them = CombinationMachine(4, start=start, start_rows=None, random_state=seed).fit(X)
    assert few.converged_
    assert few.trace_[-1] > all_of_them.trace_[-1] - 1e-4 * len(X)
    assert np.all(np.diff(few.trace_) >= 0)
    assert few.trace_[0] > few.trace_[-1] - 0.2 * len(X)  # it begins near its end
    assert len(few.trace_) < len(all_of_them.trace_)
    assert 850 < rows[0] < 1_150  # 4.7 standard deviations
    assert rows[-1] > 10_000  # equal rows are one
    assert len(grids) == len(rows) + 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("model", "loop"), [(Combination(2), fit_gradient), (Mixture(3), fit_em)])
def test_the_same_bits_on_threads_and_in_parts(model, loop, missing, grids):
    rows = structured_rows(np.random.default_rng(0), 2_000, 8, missing)
    table, settings = table_of(rows), Settings(max_iter=12, start_rows=400)
    outcomes = []
    for walked, n_jobs in ((table, 1), (table, 3), (Table(NotResident(table.source), part_bytes=2_000), 2)):
        executor = Local(n_jobs)
        outcomes.append(loop(model, walked.grid(128), executor, settings, None, None))
        executor.close()
    for other in outcomes[1:]:
        assert same(outcomes[0].params, other.params)
        assert np.array_equal(outcomes[0].trace, other.trace)
    assert 300 < grids[0] < 500
    assert grids[-1] == 2_000


@pytest.mark.parametrize(("model", "loop"), [(Combination(2), fit_gradient), (Mixture(3), fit_em)])
def test_resumed_equals_uninterrupted(model, loop, tmp_path, monkeypatch, grids):
    """Broken off on the way over all rows, each time resumed from the file: rows are not drawn again."""
    monkeypatch.setattr("hiddenbits.engine.climb.LEG", 4)
    table = table_of(structured_rows(np.random.default_rng(1), 2_000, 8, missing=True))
    grid, settings = table.grid(256), Settings(n_init=2, max_iter=20, tol=0.0, seed=3, start_rows=300)
    whole = loop(model, grid, Local(), settings, None, None)
    keeper, resumed, interruptions = Checkpoint(tmp_path / "fit.hb", model, settings, table.shape, 256), None, 0
    grids.clear()
    while resumed is None:
        try:
            resumed = loop(model, grid, Local(), settings, keeper, InterruptAfter(6))
        except InterruptedFitError:
            interruptions += 1
    assert interruptions >= 4
    assert sum(rows < 2_000 for rows in grids) == 2  # once for each restart
    assert same(whole.params, resumed.params)
    assert np.array_equal(whole.trace, resumed.trace)
    assert np.array_equal(whole.marks, resumed.marks)


def test_only_where_it_is_worth_it(grids):
    X = structured_rows(np.random.default_rng(0), 900, 6, missing=False)
    table = table_of(X)
    for start_rows, begins in ((None, 900), (226, 900), (225, 225)):  # four times as many rows, at least
        grids.clear()
        fit_gradient(Combination(1), table.grid(256), Local(), Settings(max_iter=3, start_rows=start_rows), None, None)
        assert abs(grids[0] - begins) < 60
    CombinationMachine(1, tol=1.0, random_state=0).fit(X)  # "auto": not for so few
    assert grids[-1] == len(np.unique(X, axis=0))
    assert len(grids) == 2 + 1  # the last of the three above, and this


def test_rows_are_told_of_and_rivals_are_tried_on_few_alone(grids, monkeypatch):
    tried, real = [], Combination.rivals
    monkeypatch.setattr(Combination, "rivals", lambda self: tried.append(self) or real(self))
    X = simulate_influences("A", n_rows=5_000, seed=0).train
    walked = []
    with run_on(tell=walked.append):
        model = CombinationMachine(3, start_rows=500, random_state=0).fit(X)
    n = grids[-1]
    assert sum(walked) % n == 0  # whole passes over all rows: what few rows are walked for is not told
    assert sum(walked) // n >= model.n_iter_
    assert [machine.start_from for machine in real(tried[0])] == ["noise"]
    assert not real(Combination(3, start_from="noise"))
    assert not real(Combination(3, chooses=True))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_components": "bic"}, 'n_components="bic"'),
        ({"method": "chains"}, 'method="chains"'),
        ({"optimiser": "momentum"}, "momentum"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"online_passes": 1}, "online_passes"),
    ],
)
def test_refused_where_fits_begin_with_all_rows(settings, said):
    with pytest.raises(ValueError, match=f"start_rows=50 does not go with {said}, .* Leave start_rows out"):
        CombinationMachine(start_rows=50, **settings).fit(np.eye(4))

"""A start on few rows: near the end of the fit, the same bits everywhere, and refused where it has no place."""

from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import (
    CombinationMachine,
    HiddenTree,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
    load,
    run_on,
)
from hiddenbits.data.summary import summarize
from hiddenbits.datasets import simulate_influences
from hiddenbits.engine import Checkpoint, Local, Position, Restart, Settings, StopReason, fit_em
from hiddenbits.engine.loops import restarts
from hiddenbits.engine.state import Best
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.tree_mixture.estimator import TreeSearch
from hiddenbits.model_api import Key
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptedFitError, fit_in_ways, same
from tests.families.combination_machine.test_growth import switches

pytestmark = pytest.mark.core


@pytest.fixture(name="grids")
def walked_grids(monkeypatch):
    """The number of rows, equal ones included, that each restart and alternative went through, in order."""
    found, real = [], restarts.restart

    def noting(model, loop, context, position):
        found.append(context.grid.as_given.table.shape[0])
        return real(model, loop, context, position)

    monkeypatch.setattr("hiddenbits.engine.loops.restarts.restart", noting)
    monkeypatch.setattr("hiddenbits.families.combination_machine.growth.restart", noting)
    return found


@pytest.mark.full
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
    assert rows[-1] == 20_000
    assert len(rows) == (3 if start == "grow" else 2)  # growth has an alternative on few rows
    assert len(grids) == len(rows) + 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("start_rows", [400, 60])  # from 60 rows it goes on to 480
@pytest.mark.parametrize(("model", "loop"), [(Combination(2), fit_machine), (Classes(3), fit_em)])
def test_the_same_bits_on_threads_and_in_parts(model, loop, start_rows, missing, grids):
    rows = structured_rows(np.random.default_rng(0), 2_000, 8, missing)
    settings = Settings(max_iter=6, start_rows=start_rows)
    fit_in_ways(loop, model, table_of(rows), 128, settings, [(1, None), (3, None), (2, 2_000)])
    for rows, wanted in ((grids[0], start_rows), (grids[-2], 480 if start_rows == 60 else 400)):
        assert abs(rows - wanted) < 4.5 * np.sqrt(wanted)
    assert grids[-1] == 2_000


@dataclass(frozen=True)
class Breaking(Checkpoint):
    """A checkpoint that breaks off after some positions, which all files beside it count together."""

    left: list = field(default_factory=list)

    def save(self, position, summary):
        super().save(position, summary)
        self.left[0] -= 1
        if self.left[0] < 0:
            raise InterruptedFitError


@pytest.mark.slow
@pytest.mark.thin(5)
@pytest.mark.parametrize("after", [1, 4])
@pytest.mark.parametrize("start_rows", [300, 60])  # from 60 rows it goes on to 480
@pytest.mark.parametrize(
    ("model", "loop"), [(Combination(2, n_candidates=2), fit_machine), (Classes(3), fit_em), (Logistic(1), fit_em)]
)
def test_resumed_equals_uninterrupted(model, loop, start_rows, after, tmp_path, monkeypatch, grids):
    """Broken off after every few positions, on few rows and on all, each time resumed from the files alone."""
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 4)
    monkeypatch.setattr("hiddenbits.families.combination_machine.growth.TRIAL", 3)
    table = table_of(structured_rows(np.random.default_rng(1), 2_000, 8, missing=True))
    grid, settings = table.grid(256), Settings(n_init=2, max_iter=12, tol=0.0, seed=3, start_rows=start_rows)
    whole = loop(model, grid, Local(), settings, None, None)
    grids.clear()
    resumed, on_subsample = None, set()
    while resumed is None:
        checkpoints = Breaking(tmp_path / "fit.hb", model, settings, table.shape, 256, [after])
        try:
            resumed = loop(model, grid, Local(), settings, checkpoints, None)
        except InterruptedFitError:
            on_subsample |= {path.name for path in tmp_path.iterdir()} - {"fit.hb"}
    ways = 2 if loop is fit_machine else 1
    assert on_subsample == {f"fit.hb.few{restart}-{way}" for restart in range(4) for way in range(ways)}
    assert [path.name for path in tmp_path.iterdir()] == ["fit.hb"]  # the others are not needed any more
    assert sum(rows < 2_000 for rows in grids) >= 4 * ways  # broken off there, too
    assert same(whole.params, resumed.params)
    assert np.array_equal(whole.trace, resumed.trace)


@pytest.mark.parametrize("n_init", [1, 2])
def test_the_best_goes_on_over_a_larger_subsample(n_init, monkeypatch):
    """Of long tables, and of longer ones over several; a pass over them must gain as much, in nats, as one over all."""
    grids, tols = [], []

    def go(model, loop, context, position):
        rows = context.grid.as_given.table.shape[0]
        grids.append(rows)
        tols.append(context.settings.tol * rows)
        params = f"{position.params or position.restart} {len(grids)}"
        end = Restart(0.0 if position.restart else 1.0, 1, StopReason.CONVERGED)
        best = Best(position.restart, params, trace=(end.objective,))
        return Position(restart=position.restart + 1, finished=(*position.finished, end), best=best)

    table = table_of(np.tile(np.eye(4), (4_000, 1)))
    settings = Settings(start_rows=50, n_init=n_init, tol=1e-3)
    monkeypatch.setattr("hiddenbits.engine.loops.restarts.restart", go)
    outcome = fit_em(Classes(3), table.grid(256), Local(), settings, None, None)
    n_starts = 1 if n_init == 1 else 4
    assert [round(np.log(rows / 50) / np.log(8)) for rows in grids] == [0] * n_starts + [1, 2, 3]
    assert grids[-1] == 16_000
    assert outcome.params == f"0 1 {n_starts + 1} {n_starts + 2} {n_starts + 3}"  # where the best of them ended
    assert tols[n_starts:] == pytest.approx([16.0] * 3, rel=1e-12)
    assert len(outcome.restarts) == n_starts


def test_only_where_it_is_worth_it(grids):
    X = structured_rows(np.random.default_rng(0), 900, 6, missing=False)
    table = table_of(X)
    for start_rows, begins in ((None, 900), (226, 900), (225, 225)):  # four times as many rows, at least
        grids.clear()
        fit_machine(Combination(1), table.grid(256), Local(), Settings(max_iter=3, start_rows=start_rows), None, None)
        assert abs(grids[0] - begins) < 60
    CombinationMachine(1, tol=1.0, n_init=1, random_state=0).fit(X)  # "auto": not for so few
    assert grids[-1] == 900
    assert len(grids) == 3 + 1  # two ways on few rows and one on all for the last above, and this


@pytest.mark.slow
def test_only_passes_over_all_rows_are_told_of(grids):
    X = simulate_influences("A", n_rows=5_000, random_state=0).train
    walked = []
    with run_on(on_progress=walked.append):
        model = CombinationMachine(3, start_rows=500, random_state=0).fit(X)
    assert sum(walked) % grids[-1] == 0
    assert sum(walked) // grids[-1] >= model.n_iter_


def test_the_best_of_twice_as_many_restarts_goes_on(grids):
    """Restarts are judged on few rows; one goes on over all, and the others are on record."""
    table = table_of(structured_rows(np.random.default_rng(0), 2_000, 8, missing=False))
    outcome = fit_em(Classes(3), table.grid(256), Local(), Settings(n_init=2, start_rows=400), None, None)
    assert [rows < 2_000 for rows in grids] == [True] * 4 + [False]
    assert [str(restart.reason) for restart in outcome.restarts] == ["behind_on_subsample"] * 3 + ["converged"]
    assert outcome.best == 3
    assert outcome.trace[0] > outcome.trace[-1] - 0.1 * 2_000  # it begins near its end
    behind = np.array([restart.objective for restart in outcome.restarts[:3]])
    assert np.all(np.abs(behind - outcome.trace[-1]) < 0.05 * abs(outcome.trace[-1]))  # on the scale of all rows


FAMILIES = {
    "LatentClassAnalysis": LatentClassAnalysis(4, n_init=4),
    "TreeMixture": TreeMixture(4, n_init=4),
    "HiddenTree": HiddenTree(2),
    "LogisticPCA": LogisticPCA(1),
    "TopographicMap": TopographicMap(1),
    "NoisyOrNetwork": NoisyOrNetwork(4, n_init=2),
}


def four_classes(seed):
    """Return 4,400 rows of 24 bits from classes that lie apart."""
    rng = np.random.default_rng(seed)
    profiles = np.where(rng.random((4, 24)) < 0.5, 0.8, 0.2)
    return (rng.random((4_400, 24)) < profiles[rng.integers(4, size=4_400)]).astype(np.uint8)


def four_causes(seed):
    """Return 4,400 rows of 24 bits, each of which one or two of four causes switch on."""
    rng = np.random.default_rng(seed)
    strengths = np.where(rng.random((4, 24)) < 0.3, 0.8, 0.0)
    on = (rng.random((4_400, 4)) < 0.4).astype(float)
    return (rng.random((4_400, 24)) > 0.9 * np.exp(on @ np.log1p(-strengths))).astype(np.uint8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "NoisyOrNetwork"])
def test_columns_that_do_not_vary_on_few_rows(name, seed, monkeypatch, grids):
    """Three ones in all: few rows have none. A prior keeps parameters finite there, and all rows have the last word."""
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 500)
    monkeypatch.setattr("hiddenbits.families._base.sizes.ROWS_PER_COMPONENT", 1)
    X = four_classes(seed)
    X[:, :2] = 0
    X[:3, 0], X[3:6, 1] = 1, 1
    few = clone(FAMILIES[name]).set_params(random_state=seed).fit(X)
    assert grids[0] < 1_100
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 10**6)
    all_of_them = clone(FAMILIES[name]).set_params(random_state=seed).fit(X)
    assert few.trace_[-1] > all_of_them.trace_[-1] - 0.02 * len(X)  # maxima of their own: as below
    alone = np.full((2, 24), np.nan)
    alone[[0, 1], [0, 1]] = 1.0  # how probable such a one is
    np.testing.assert_allclose(few.score_samples(alone), np.log(3 / 4_400), atol=np.log(1.5))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FAMILIES)
def test_long_tables_are_fitted_as_well_as_by_all_rows(name, seed, monkeypatch, grids):
    """Four classes or causes. Where starts differ, fits end in maxima of their own: those may differ by 0.02."""
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 500)
    monkeypatch.setattr("hiddenbits.families._base.sizes.ROWS_PER_COMPONENT", 1)
    X = four_causes(seed) if name == "NoisyOrNetwork" else four_classes(seed)
    few = clone(FAMILIES[name]).set_params(random_state=seed).fit(X)
    assert grids[0] < 1_100
    assert grids[-1] > 2_500  # equal rows are one
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 10**6)
    all_of_them = clone(FAMILIES[name]).set_params(random_state=seed).fit(X)
    assert few.converged_
    assert few.trace_[-1] > all_of_them.trace_[-1] - 0.02 * len(X)
    assert few.score(X) > all_of_them.score(X) - 0.02


@pytest.mark.parametrize("name", FAMILIES)
def test_a_fit_whose_time_is_over_ends_on_the_subsample(name, monkeypatch, grids, tmp_path):
    """The clock goes on by a second whenever it is looked at: time is over in the first restart."""
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 500)
    monkeypatch.setattr("hiddenbits.families._base.sizes.ROWS_PER_COMPONENT", 1)
    monkeypatch.setattr("hiddenbits.engine.loops.fit_context.time.monotonic", count().__next__)
    X = four_classes(0)
    with run_on(max_time=20.0), pytest.warns(ConvergenceWarning, match="reached the max_time of run_on"):
        model = clone(FAMILIES[name]).set_params(random_state=0, tol=0.0).fit(X)
    assert max(grids) < 1_100
    assert model.stop_reason_ == "time"
    assert len(model.restarts_) == 1
    assert 1 <= model.n_iter_ == len(model.trace_) < 12
    assert model.score(X) == pytest.approx(model.trace_[-1] / len(X), rel=0.1)  # on the scale of all rows
    model.save(tmp_path / "model.hb")
    assert load(tmp_path / "model.hb").stop_reason_ == "time"


def test_time_that_ends_between_restarts_on_the_subsample(monkeypatch):
    """All rows weigh less than the subsample, but a pass over them takes longer: the fit ends with one restart."""
    X = four_classes(0)
    table = table_of(X).with_weights(np.full(len(X), 1e-3))
    monkeypatch.setattr("hiddenbits.engine.loops.fit_context.FitContext.out_of_time", lambda _, length=1.0: length >= 1)
    outcome = fit_em(Classes(4), table.grid(256), Local(), Settings(n_init=2, start_rows=500, max_time=1.0), None, None)
    assert [end.reason for end in outcome.restarts] == [StopReason.TIME]
    assert outcome.best == 0


def test_the_prior_of_trees_is_that_of_all_rows():
    """`sharing` draws trees towards the pairs of all rows, not of those that a fit began on."""
    X = structured_rows(np.random.default_rng(0), 2_000, 8, missing=False)
    table = table_of(X)
    started = TreeSearch(2).start(
        Local().reduce(summarize, table.grid(256)), Key(0), partial(Local().reduce, grid=table.grid(256))
    )
    outcome = fit_em(TreeSearch(2), table.grid(256), Local(), Settings(start_rows=300, max_iter=30), None, None)
    np.testing.assert_allclose(outcome.params.prior_both, started.prior_both, rtol=1e-12)
    np.testing.assert_allclose(outcome.params.prior_mean, started.prior_mean, rtol=1e-12)


@pytest.mark.parametrize("seed", range(1, 4))  # at 0 and 4 the one start on few rows leads to a low maximum
@pytest.mark.parametrize(("share", "begins_on_few"), [(0.02, True), (0.001, False)])
def test_rare_ones_ask_for_more_rows(share, begins_on_few, seed, grids):
    """Columns with few ones: among 500 rows some would have none, and no finite parameters without a prior."""
    rng = np.random.default_rng(seed)
    X = np.hstack([switches(seed, 4, 20_000), rng.random((20_000, 4)) < share]).astype(np.uint8)
    settings = {"ridge": 0.0, "start": "noise", "random_state": seed}
    few = CombinationMachine(4, start_rows=500, **settings).fit(X)
    assert len(grids) == 1 + begins_on_few
    if begins_on_few:  # 20 ones of the rarest column, within 4.5 standard deviations
        wanted = 20 * 20_000 / X.sum(axis=0).min()
        assert abs(grids[0] - wanted) < 4.5 * np.sqrt(wanted)
    all_of_them = CombinationMachine(4, start_rows=None, **settings).fit(X)
    assert few.trace_[-1] > all_of_them.trace_[-1] - 1e-4 * len(X)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "chains"}, 'method="chains"'),
        ({"max_iter": 0}, "max_iter=0"),
        ({"online_passes": 1}, "online_passes"),
    ],
)
def test_refused_where_fits_begin_with_all_rows(settings, said):
    with pytest.raises(ValueError, match=f"start_rows=50 does not apply to {said}, .* Remove start_rows"):
        CombinationMachine(start_rows=50, **settings).fit(np.eye(4))

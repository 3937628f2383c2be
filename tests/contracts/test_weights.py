"""Weights of rows on any scale: fits, scores and measures, or an error in a sentence."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import (
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    LatentClassAnalysis,
    evaluate,
    load,
    open_table,
)
from hiddenbits.exceptions import SmallWeightsWarning, TableError
from hiddenbits.options import Chains, Growth
from tests.contracts.test_fit import structured_rows

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

ROWS = structured_rows(np.random.default_rng(0), 60, 6, missing=True)
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2.0, len(ROWS))
SCALES = (1e-300, 1e-160, 1e160)


def fit(estimator, scale, **settings):
    names = estimator.get_params()
    model = clone(estimator).set_params(**{name: value for name, value in settings.items() if name in names})
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SmallWeightsWarning)
        return model.fit(ROWS, sample_weight=scale * WEIGHTS)


@pytest.mark.thin(2)
@pytest.mark.parametrize("scale", SCALES)
def test_a_prior_outweighs_small_weights_and_large_ones_outweigh_it(case, scale):
    """Priors count in rows: at weights of 1e-100 and of 1e100 one of the two is nothing next to the other.

    Beyond, fits change by rounding alone: a thousandth of a nat a row, for maps whose likelihood has no maximum
    without a prior and quasi-Newton paths, which part.
    """
    limit, model = (fit(case.estimator, at, max_iter=20, n_init=1) for at in (1e-100 if scale < 1 else 1e100, scale))
    assert np.isfinite(model.trace_).all()
    assert model.score(ROWS, sample_weight=scale * WEIGHTS) == pytest.approx(limit.score(ROWS, None, WEIGHTS), abs=1e-3)
    assert np.isfinite(model.score_samples(ROWS)).all()


@pytest.mark.thin(2)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "estimator",
    [
        IndependentColumns(prior_strength=0.0),
        LatentClassAnalysis(2, prior_strength=0.0, n_init=1, random_state=0),
        CombinationMachine(2, ridge=0.0, start=Growth(n_candidates=1), n_init=1, random_state=0),
        CombinationMachine.paper(2, max_iter=20, random_state=0),
        HiddenTree(2, prior_strength=0.0, move_strength=0.0, random_state=0),
    ],
    ids=["independent", "mixture", "machine", "machine-paper", "tree"],
)
def test_without_a_prior_the_scale_changes_nothing(estimator, scale):
    """But where fits begin, half a row from the middle; they end within their tolerance."""
    plain, scaled = fit(estimator, 1.0), fit(estimator, scale)
    assert scaled.score(ROWS, None, WEIGHTS) == pytest.approx(plain.score(ROWS, None, WEIGHTS), abs=2e-3)
    assert scaled.stop_reason_ == plain.stop_reason_


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("start", ["noise", "pursuit"])
@pytest.mark.parametrize("method", ["exact", "chains"])
def test_a_machine_with_a_ridge_takes_any_weights(method, start, scale):
    """By every way to fit: with weights of nothing its units do nothing."""
    machine = CombinationMachine(2, method=method, start=start, chains=Chains(n_chains=20), random_state=0)
    model = fit(machine, scale, max_iter=5)
    assert np.isfinite(model.weights_).all()
    if scale < 1.0 and method != "chains":
        assert np.abs(model.weights_).max() < 1e-3


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["mean_log_likelihood", "bits_per_cell", "leave_one_out_error", "code_length"])
def test_measures_and_their_errors_do_not_depend_on_the_scale(name, scale):
    model, measure = IndependentColumns().fit(ROWS), getattr(evaluate, name)
    rows = np.nan_to_num(ROWS) if name == "code_length" else ROWS
    plain, scaled = measure(model, rows, WEIGHTS), measure(model, rows, scale * WEIGHTS)
    assert plain.standard_error > 0.0
    assert (scaled.value, scaled.standard_error) == pytest.approx((plain.value, plain.standard_error), rel=1e-9)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.SmallWeightsWarning")
@pytest.mark.parametrize("scale", SCALES)
def test_entropies_and_hidden_cells_do_not_depend_on_the_scale(scale):
    plain, scaled = (evaluate.pattern_entropy(ROWS, sample_weight=by * WEIGHTS) for by in (1.0, scale))
    assert scaled == pytest.approx(plain, rel=1e-9)
    tables = (open_table(ROWS).with_sample_weight(by * WEIGHTS) for by in (1.0, scale))
    plain, scaled = (evaluate.held_out_cells(IndependentColumns(prior_strength=0.0), table) for table in tables)
    assert (scaled.value, scaled.standard_error) == pytest.approx((plain.value, plain.standard_error), rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_a_file_holds_a_fit_to_weights_on_any_scale(scale, tmp_path):
    model = fit(LatentClassAnalysis(2, n_init=1, random_state=0), scale)
    model.save(tmp_path / "model.hb")
    assert load(tmp_path / "model.hb")._fit_weight == model._fit_weight


@pytest.mark.parametrize("weight", [1e-310, 1.5e308])
def test_weights_that_are_no_use_are_refused(case, weight):
    with pytest.raises(TableError, match=r"The weights of the rows add up to .* Scale them to a mean of 1"):
        clone(case.estimator).fit(ROWS, sample_weight=np.full(len(ROWS), weight))

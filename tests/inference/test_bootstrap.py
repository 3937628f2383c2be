"""Bootstrap: closed forms of variances, alignment, survey designs, and the same numbers however they are run."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    TreeMixture,
    inference,
)
from hiddenbits.inference.bootstrapping import aligned, replicate_weights
from hiddenbits.options import Annealing

pl = pytest.importorskip("polars")


def classes(seed, n=400, d=6, K=2):
    rng = np.random.default_rng(seed)
    theta = np.where(np.arange(d) % K == np.arange(K)[:, None], 0.85, 0.2)
    return (rng.random((n, d)) < theta[rng.integers(0, K, n)]).astype(np.float64)


def mixture(X, K=2, **settings):
    return LatentClassAnalysis(
        K, **{"prior_strength": 0.0, "tol": 1e-9, "n_init": 1, "random_state": 0, **settings}
    ).fit(X)


@pytest.mark.parametrize(
    "model",
    [
        LatentClassAnalysis(2, random_state=0),
        LogisticPCA(2, random_state=0),
        ItemResponseModel(random_state=0),
        IndependentColumns(),
        ClippedPCA(1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_refit_begins_where_the_fit_ended(model):
    X = classes(0)
    model.fit(X)
    before = model.score(X)
    again = model._refit(X)
    assert again is not model
    assert model.score(X) == before  # untouched
    assert again.trace_[-1] > model.trace_[-1] - 1e-3  # the objective, in nats over the table
    assert again.n_iter_ <= max(model.n_iter_, 6)
    # Weights are repeats: both refits end at the same maximum.
    w = np.random.default_rng(1).integers(0, 3, len(X))
    weighted, repeated = model._refit(X, sample_weight=w, tol=1e-9), model._refit(np.repeat(X, w, axis=0), tol=1e-9)
    assert weighted.score(X, sample_weight=w) == pytest.approx(repeated.score(X, sample_weight=w), abs=1e-6)
    assert weighted.score(X, sample_weight=w) >= model.score(X, sample_weight=w) - 1e-5


def test_refit_of_random_steps_is_refused():
    machine = CombinationMachine(2, random_state=0, max_iter=3)
    with pytest.warns(ConvergenceWarning):
        machine.fit(classes(0, 60))
    with pytest.raises(ValueError, match="Use fit"):
        machine._refit(classes(0, 60))
    coding = BinarySparseCoding(2, schedule=Annealing(n_passes=3), random_state=0).fit(classes(0, 60))
    with pytest.raises(ValueError, match="schedule"):  # its schedule is over: it would stop after a pass
        coding._refit(classes(0, 60))


@pytest.mark.parametrize("seed", range(3))
def test_one_class_has_the_errors_of_shares(seed):
    """The standard error of 200 replicates has a relative error of 1/sqrt(400), 5%; we allow four of them."""
    X = classes(seed, 300, 3)
    model = mixture(X, 1)
    found = inference.bootstrap(model, X, n_replicates=200, random_state=seed)
    p = X.mean(axis=0)
    expected = np.sqrt(p * (1 - p) / len(X))
    np.testing.assert_allclose(found.se["probabilities"][0], expected, rtol=0.2)
    low, high = found.interval["probabilities"]
    np.testing.assert_allclose(high - low, 2 * 1.96 * expected[None], rtol=0.3)  # quantiles vary more
    assert (found.estimate["probabilities"] == model.probabilities_).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_mixture_agrees_with_its_information(seed):
    """Far from borders both estimate the same; 100 replicates have a relative error of 7%; median over 12 numbers."""
    X = classes(seed, 800)
    model = mixture(X)
    found, exact = (
        inference.bootstrap(model, X, n_replicates=100, random_state=seed),
        inference.standard_errors(model, X),
    )
    ratio = found.se["probabilities"] / exact.se["probabilities"]
    assert 0.85 < np.median(ratio) < 1.15
    assert ratio.min() > 0.6
    assert ratio.max() < 1.6


def test_replicates_are_keyed():
    X = classes(0, 150, 4)
    model = mixture(X)
    many, few = (
        inference.bootstrap(model, X, n_replicates=12, random_state=3),
        inference.bootstrap(model, X, n_replicates=5, random_state=3),
    )
    assert (many.replicates[:5] == few.replicates).all()
    assert not (inference.bootstrap(model, X, n_replicates=5, random_state=4).replicates == few.replicates).any()
    with hiddenbits.run_on(n_jobs=2):
        threads = inference.bootstrap(model, X, n_replicates=5, random_state=3)
    assert (threads.replicates == few.replicates).all()


@pytest.mark.parametrize("labels", [None, np.arange(150) // 3])
def test_replicates_are_refits_to_weighted_rows(labels):
    """Equal rows are collapsed before the weights are drawn: each row still has its own."""
    X = classes(1, 150, 4)
    assert len(np.unique(X, axis=0)) < 17
    model = mixture(X)
    found = inference.bootstrap(model, X, n_replicates=3, random_state=5, clusters=labels)
    for number, numbers in enumerate(found.replicates):
        w = replicate_weights(5, number, np.ones(150), labels, None, counts=True)
        assert w.max() > 1.0
        alone = aligned(model._refit(X, sample_weight=w, tol=1e-8), model, hiddenbits.open_table(X))
        np.testing.assert_allclose(numbers, np.r_[alone.weights_, alone.probabilities_.ravel()], atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_tables_given_their_trees(seed):
    """A chain of four bits: P(bit | parent) is a share of rows. 200 replicates: 5% for a standard error, times four."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.random((500, 4)) < [0.5, 0.2, 0.2, 0.2], axis=1) % 2
    model = TreeMixture(1, smoothing=0, sharing=0, random_state=0).fit(X)
    found = inference.bootstrap(model, X, n_replicates=200, random_state=seed)
    child = int(np.flatnonzero(model.parents_[0] >= 0)[0])
    p, parent = model.conditionals_[0, child], X[:, model.parents_[0, child]]
    expected = np.sqrt(p * (1 - p) / np.array([(parent == 0).sum(), (parent == 1).sum()]))
    np.testing.assert_allclose(found.se["conditionals"][0, child], expected, rtol=0.2)
    assert found.to_frame("polars").columns[:4] == ["quantity", "class", "column", "parent"]


def test_replicates_keep_trees_unless_the_statistic_is_theirs():
    X = np.random.default_rng(0).integers(0, 2, (80, 5))  # no links: every replicate would have other trees
    model = TreeMixture(2, smoothing=1, sharing=0, n_init=1, random_state=0).fit(X)
    kept = inference.bootstrap(model, X, n_replicates=3)
    roots = model.parents_ < 0
    conditionals = kept.replicates[:, kept.parts["conditionals"].indices].reshape(3, 2, 5, 2)
    assert (conditionals[:, roots, 0] == conditionals[:, roots, 1]).all()
    assert (conditionals[:, ~roots, 0] != conditionals[:, ~roots, 1]).all()
    assert (
        inference.bootstrap(model, X, n_replicates=3, statistic=lambda m: m.parents_).replicates
        != model.parents_.ravel()
    ).any()


def test_alignment_undoes_a_permutation_and_a_rotation():
    X = classes(0, 300, 6, 3)
    model = mixture(X, 3)
    shuffled = mixture(X, 3)
    order = [2, 0, 1]
    shuffled._params = replace(
        model._params, weights=model._params.weights[order], probabilities=model._params.probabilities[:, order]
    )
    back = aligned(shuffled, model, hiddenbits.open_table(X))
    assert (back.probabilities_ == model.probabilities_).all()
    assert (back.weights_ == model.weights_).all()
    plane = LogisticPCA(2, random_state=0).fit(X)
    turned = LogisticPCA(2, random_state=0).fit(X)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    turned._params = replace(plane._params, loadings=plane._params.loadings @ turn)
    again = aligned(turned, plane, hiddenbits.open_table(X))
    np.testing.assert_allclose(again.components_, plane.components_, atol=1e-12)


FACTORS = {"a": [0, 1, 2], "b": [3, 4, 5]}


@pytest.mark.parametrize("pattern", [None, FACTORS, {"g": "all", **FACTORS}], ids=["free", "pattern", "bifactor"])
def test_alignment_of_item_response_models(pattern):
    """Axes are rotated, those of a pattern reflected, and each group factor of a bifactor model on its own."""
    X = classes(0, 300, 6, 3)
    model = ItemResponseModel(2, loadings_pattern=pattern, max_iter=5, tol=1.0, random_state=0).fit(X)
    turned, params = copy(model), model._params
    if pattern is None:
        turned._params = params.rotated(np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0])
    else:
        signs = np.ones((6, 2))
        signs[:3, 0 if len(pattern) == 2 else 1] = -1.0
        signs[3:, 0] = signs[0, 0]
        turned._params = replace(params, slopes=params.slopes * signs)
    assert np.abs(turned.slopes_ - model.slopes_).max() > 0.1
    back = aligned(turned, model, hiddenbits.open_table(X))
    np.testing.assert_allclose(back.slopes_, model.slopes_, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_an_item_response_model_agrees_with_its_information(seed):
    """100 replicates have a relative error of 7%; the median over 15 numbers."""
    rng = np.random.default_rng(seed)
    X = (rng.random((800, 5)) < 1 / (1 + np.exp(-1.3 * (rng.normal(size=(800, 1)) + np.linspace(-1, 1, 5))))) * 1.0
    model = ItemResponseModel(tol=1e-10, random_state=0).fit(X)
    found = inference.bootstrap(model, X, n_replicates=100, random_state=seed)
    exact = inference.standard_errors(model, X)
    assert found.se.keys() == exact.se.keys() == {"slopes", "intercepts", "difficulties"}
    ratio = np.concatenate([(found.se[name] / exact.se[name]).ravel() for name in exact.se])
    assert 0.85 < np.median(ratio) < 1.15


@pytest.mark.slow
def test_a_statistic_of_a_rotated_map():
    X = classes(1, 300, 6, 2)
    model = LogisticPCA(2, random_state=0).fit(X)
    target = model.rotate("varimax").loadings
    found = inference.bootstrap(
        model,
        X,
        n_replicates=10,
        tol=1e-6,
        statistic=lambda m: {"loadings": m.rotate("varimax").aligned(target).loadings},
    )
    assert found.estimate["loadings"].shape == (6, 2)
    assert (found.se["loadings"] < 0.6).all()  # factors that change places or signs would vary by their size


@pytest.mark.parametrize("design", ["rows", "clusters", "strata", "both"])
def test_weights_have_the_variance_of_the_design(design):
    """Variance of a weighted total over 2500 draws against its formula; its relative error is sqrt(2/2500), 2.8%."""
    rng = np.random.default_rng(0)
    y, base = rng.normal(size=24), np.ones(24)
    clusters = np.repeat(np.arange(8), 3) if design in ("clusters", "both") else None
    strata = np.repeat([0, 1], 12) if design in ("strata", "both") else None
    totals = [replicate_weights(1, i, base, clusters, strata, counts=True) @ y for i in range(2500)]
    sums = y if clusters is None else y.reshape(8, 3).sum(axis=1)
    if design == "rows":
        expected = 24 * y.var()
    else:
        groups = np.split(sums, 2) if strata is not None else [sums]
        expected = sum(len(g) * g.var(ddof=1) for g in groups)
    assert np.var(totals) == pytest.approx(expected, rel=0.13)
    assert np.mean(totals) == pytest.approx(y.sum(), abs=5 * np.sqrt(expected / 2500))


@pytest.mark.slow
def test_clusters_and_strata_reach_the_fits():
    X = classes(0, 100, 3)
    X[:, 2] = np.repeat([0, 1], 50)
    model = mixture(X, 1)
    strata = np.repeat(["north", "south"], 50)
    found = inference.bootstrap(model, X, n_replicates=20, strata=strata)
    assert found.se["probabilities"][0, 2] < 1e-12  # the strata are as large in every replicate
    assert found.se["probabilities"][0, 0] > 0.01
    assert "within strata" in found.method
    copies = np.repeat(X, 4, axis=0)
    model = mixture(copies, 1)
    rows = inference.bootstrap(model, copies, n_replicates=100)
    whole = inference.bootstrap(model, copies, n_replicates=100, clusters=np.repeat(np.arange(100), 4))
    np.testing.assert_allclose(whole.se["probabilities"] / rows.se["probabilities"], 2.0, rtol=0.4)
    counted = inference.bootstrap(mixture(X, 1), X, n_replicates=100, sample_weight=np.full(100, 4.0))
    np.testing.assert_allclose(counted.se["probabilities"] / rows.se["probabilities"], 1.0, rtol=0.35)
    sampled = inference.bootstrap(
        mixture(X, 1), X, n_replicates=100, sample_weight=np.full(100, 4.0), weight_type="sampling"
    )
    np.testing.assert_allclose(sampled.se["probabilities"] / whole.se["probabilities"], 1.0, rtol=0.35)


def test_frames_and_what_is_refused():
    X = classes(0, 120, 3)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    model = mixture(frame, 1)
    assert isinstance(inference.bootstrap(model, frame, n_replicates=3).to_frame(), pl.DataFrame)
    with pytest.raises(ValueError, match="several strata"):
        inference.bootstrap(model, frame, clusters=np.repeat(np.arange(60), 2), strata=np.arange(120) % 2)
    with pytest.raises(ValueError, match="single row"):
        inference.bootstrap(model, frame, strata=[1] + [0] * 119)
    with pytest.raises(ValueError, match="at least two"):
        inference.bootstrap(model, frame, n_replicates=1)
    with pytest.raises(TypeError, match="cannot be aligned"):
        inference.bootstrap(IndependentColumns().fit(X), X)
    with pytest.warns(ConvergenceWarning, match="replicates did not converge"):
        inference.bootstrap(mixture(X, 2, max_iter=1000).set_params(max_iter=1), X, n_replicates=2, tol=1e-14)


def test_levels_keep_their_classes():
    """Two classes that are far apart: a replicate in another order would spread over the distance between them."""
    rng = np.random.default_rng(0)
    h = rng.random(400) < 0.5
    X = np.where(rng.random((400, 4)) < 0.2, rng.integers(1, 4, (400, 4)), np.where(h, 1, 3)[:, None]).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    model = LatentClassAnalysis(2, column_types="ordinal", prior_strength=0, tol=1e-9, random_state=0).fit(X)
    found = inference.bootstrap(model, X, n_replicates=60)
    assert [one["column"] for one in found.records()[2:5]] == ["x0=1", "x0=2", "x0=3"]
    expected = inference.standard_errors(model, X).se
    for name in ("weights", "probabilities"):  # with 60 replicates an error has an error of 9%
        np.testing.assert_allclose(found.se[name], expected[name], rtol=0.4)

"""Federated fits against one fit to all rows, against EM written out in NumPy, and against closed forms."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import BernoulliMixture, IndependentBits, LogisticPCA, Statistics, merge
from hiddenbits.store import read
from tests.federated import hospitals
from tests.federated.hospitals import federated, gather, parts_of, rows

pytestmark = pytest.mark.core
SEEDS = range(3)
# Sums over three tables and over one differ by rounding, about 1e-16 of their size; passes of EM may amplify it.
CLOSE = {"rtol": 0, "atol": 1e-10}


def table(kind, seed):
    """A pooled table and its row weights."""
    X = rows(seed, missing=0.0 if kind == "csr" else 0.2)
    weights = np.random.default_rng(seed).integers(0, 4, len(X)) * 0.5 if kind == "weights" else None
    return (sparse.csr_array(X) if kind == "csr" else X), weights


def assert_same_fit(model, pooled):
    for name, array in pooled.params_.to_arrays().items():
        np.testing.assert_allclose(model.params_.to_arrays()[name], array, **CLOSE)
    np.testing.assert_allclose(model.trace_, pooled.trace_, rtol=1e-12)
    assert (model.n_iter_, model.stop_reason_, model.converged_) == (
        pooled.n_iter_,
        pooled.stop_reason_,
        pooled.converged_,
    )
    assert [(r.n_iter, r.reason) for r in model.restarts_] == [(r.n_iter, r.reason) for r in pooled.restarts_]
    assert model.weight_seen_ == pytest.approx(pooled.weight_seen_, rel=1e-12)


# ---- three processes

KINDS = ("blanks", "csr", "weights")


@pytest.fixture(scope="module")
def post(tmp_path_factory, short):
    """The folder that three hospitals leave behind after a fit of every kind and seed."""
    folder = tmp_path_factory.mktemp("hospitals")
    jobs = {}
    for kind in KINDS:
        for seed in SEEDS[:1] if short else SEEDS:
            job = f"{kind}-{seed}"
            hospitals.keep_rows(folder, job, *table(kind, seed))
            jobs[job] = BernoulliMixture(3, accelerate=False, n_init=1, tol=1e-5, random_state=seed)
    jobs["leaps-0"] = BernoulliMixture(3, n_init=2, random_state=0)  # leaps and restarts, as by default
    hospitals.keep_rows(folder, "leaps-0", *table("blanks", 0))
    hospitals.run(folder, jobs)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_processes_that_exchange_statistics_reach_the_pooled_fit(post, kind, seed):
    X, weights = table(kind, seed)
    pooled = BernoulliMixture(3, accelerate=False, n_init=1, tol=1e-5, random_state=seed)
    pooled.fit(X, sample_weight=weights)
    assert pooled.converged_
    for site in hospitals.SITES:
        assert_same_fit(hiddenbits.load(post / site / f"{kind}-{seed}.hb"), pooled)


@pytest.mark.slow
def test_processes_with_leaps_and_restarts_reach_the_pooled_fit(post):
    pooled = BernoulliMixture(3, n_init=2, random_state=0).fit(table("blanks", 0)[0])
    for site in hospitals.SITES:
        assert_same_fit(hiddenbits.load(post / site / "leaps-0.hb"), pooled)


def test_only_statistics_travel_and_all_sites_end_with_the_same_model(post):
    files = sorted((post / "post").iterdir())
    assert {read(file).kind for file in files} == {"statistics"}
    rows_of_sites = {len(hospitals.own_rows(post / site / "blanks-0.npz")[0]) for site in hospitals.SITES}
    for file in files:  # nothing in them is as long as a site's table
        assert not any(n in rows_of_sites for array in read(file).arrays.values() for n in array.shape)
    for job in {file.name.rsplit("-", 2)[0] for file in files}:
        assert len({(post / site / f"{job}.hb").read_bytes() for site in hospitals.SITES}) == 1


def test_updating_again_with_the_files_gives_the_same_model(post):
    """A site that lost its process stands where it did after the same updates, in order, without any rows."""
    model, number = BernoulliMixture(3, accelerate=False, n_init=1, tol=1e-5, random_state=0), 0
    while model.unfinished_:
        files = (post / "post").glob(f"weights-0-{number}-*.hb")
        model.update(merge(Statistics.load(file) for file in files))
        number += 1
    there = hiddenbits.load(post / "north" / "weights-0.hb")
    assert all(
        np.array_equal(array, there.params_.to_arrays()[name]) for name, array in model.params_.to_arrays().items()
    )
    assert model.n_features_in_ == 12
    assert number == model.n_iter_ + 1  # one round for the start


# ---- the same loop


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"accelerate": False},
        {"start": "split", "n_init": 2, "tol": 1e-5},
        {"start": "split", "accelerate": False, "n_init": 1, "n_components": 4, "max_iter": 6},
        {"prior_strength": 0.0, "n_init": 2},
        {"prior_mean": 0.3, "prior_strength": 4.0, "n_init": 1},
        {"max_iter": 3, "n_init": 1},
        {"n_components": 1},
    ],
    ids=str,
)
def test_every_setting_of_fit_works_and_gives_the_pooled_fit(settings, seed):
    X = rows(seed, 400, 8)
    model = BernoulliMixture(**{"n_components": 3, "n_init": 4, **settings}, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pooled, ours = clone(model).fit(X), federated(clone(model), parts_of(X))
    assert_same_fit(ours, pooled)


def test_running_out_of_passes_is_said_aloud():
    X = rows(0, 600)
    model = BernoulliMixture(3, max_iter=2, n_init=1, random_state=0)
    model.update(gather(model, parts_of(X))).update(gather(model, parts_of(X)))
    assert (model.unfinished_, model.stop_reason_, model.converged_) == (True, "unfinished", False)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.update(gather(model, parts_of(X)))
    assert (model.unfinished_, model.stop_reason_, model.converged_) == (False, "max_iter", False)


def em_by_hand(X, weights, pi, theta, centre, strength, n_passes):
    """EM for a mixture, written out: the responsibilities of each row, then shares; blanks count for nothing."""
    seen, ones, objectives = ~np.isnan(X), np.nan_to_num(X), []
    for _ in range(n_passes):
        log_p = np.log(pi) + ones @ np.log(theta) + (seen - ones) @ np.log(1 - theta)
        p = np.exp(log_p)
        objective = weights @ np.log(p.sum(axis=1))
        prior = centre[:, None] * np.log(theta) + (1 - centre[:, None]) * np.log(1 - theta)
        objectives.append(objective + strength * prior.sum())
        r = weights[:, None] * p / p.sum(axis=1, keepdims=True)
        pi = r.sum(axis=0) / weights.sum()
        theta = (ones.T @ r + strength * centre[:, None]) / (seen.T @ r + strength)
    return pi, theta, objectives


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strength", [0.5, 3.0])
def test_rounds_are_steps_of_em(seed, strength):
    X, weights = rows(seed, 500), np.random.default_rng(seed).uniform(0.1, 3.0, 500)
    parts = parts_of(X, weights)
    model = BernoulliMixture(3, prior_strength=strength, accelerate=False, n_init=1, random_state=seed, tol=0)
    model.update(gather(model, parts))
    start = model.params_
    np.testing.assert_allclose(
        start.prior_mean, (weights @ np.nan_to_num(X) + 0.5) / (weights @ ~np.isnan(X) + 1), rtol=1e-12
    )
    for _ in range(7):
        model.update(gather(model, parts))
    pi, theta, objectives = em_by_hand(
        X, weights, start.weights, start.probabilities, start.prior_mean, strength, n_passes=7
    )
    np.testing.assert_allclose(model.weights_, pi, **CLOSE)
    np.testing.assert_allclose(model.probabilities_.T, theta, **CLOSE)
    np.testing.assert_allclose(model.trace_, objectives, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_independent_bits_reach_their_closed_form(seed):
    X, weights = rows(seed), np.random.default_rng(seed).uniform(0, 2, 900)
    model = federated(IndependentBits(prior_strength=2.0, prior_mean=0.4, random_state=0), parts_of(X, weights))
    seen, ones = weights @ ~np.isnan(X), weights @ np.nan_to_num(X)
    np.testing.assert_allclose(model.probabilities_, (ones + 2.0 * 0.4) / (seen + 2.0), rtol=1e-12)
    assert model.converged_


def test_a_map_from_noise_reaches_the_pooled_fit():
    """Sites keep no posteriors between rounds, so the passes differ; the fits end within the tolerance."""
    X = rows(0)
    map_of_bits = LogisticPCA(1, start="noise", n_init=1, tol=1e-5, random_state=0)
    model, pooled = federated(clone(map_of_bits), parts_of(X)), clone(map_of_bits).fit(X)
    assert model.converged_
    assert model.cost_ == "cells"
    assert abs(model.score(X) - pooled.score(X)) < 1e-3
    gain = pooled.score(X) - IndependentBits().fit(X).score(X)
    assert gain > 0.1


# ---- merging


def test_merging_in_any_order_gives_the_same_bits():
    X = rows(1)
    model = BernoulliMixture(3, random_state=0)
    for _ in range(3):
        of = [model.stats(part, site=site, minimum_count=0) for site, (part, _) in parts_of(X).items()]
        a, b, c = of
        merged = merge(of)
        for order in ([c, a, b], [b, c, a], [c, b, a]):
            again = merge(order)
            assert again.sites == merged.sites == ("east", "north", "south")
            for name, array in merged.sums.to_arrays().items():
                assert np.array_equal(again.sums.to_arrays()[name], array)
        nested = merge([c, merge([b, a])])
        assert nested.rows == merged.rows == 900
        for name, array in merged.sums.to_arrays().items():
            np.testing.assert_allclose(nested.sums.to_arrays()[name], array, rtol=1e-13)
        model.update(merged)


def test_merging_leaves_what_it_merges_alone_and_equals_the_whole():
    X = rows(2)
    model = BernoulliMixture(3, random_state=0)
    model.update(gather(model, parts_of(X)))
    of = [model.stats(part, site=site, minimum_count=0) for site, (part, _) in parts_of(X).items()]
    before = [{name: array.copy() for name, array in one.sums.to_arrays().items()} for one in of]
    merged = merge(of)
    for one, arrays in zip(of, before, strict=True):
        assert all(np.array_equal(one.sums.to_arrays()[name], array) for name, array in arrays.items())
    whole = model.stats(X, site="all", minimum_count=0)
    for name, array in whole.sums.to_arrays().items():
        np.testing.assert_allclose(merged.sums.to_arrays()[name], array, rtol=1e-12)
    assert merged.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert (merged.weight, merged.rows) == (900.0, 900)


def test_a_site_without_blanks_merges_with_one_that_has_some():
    full, holes = rows(0, missing=0.0)[:300], rows(1)[:500]
    pooled = BernoulliMixture(2, n_init=1, random_state=0).fit(np.concatenate([full, holes]))
    assert_same_fit(
        federated(BernoulliMixture(2, n_init=1, random_state=0), {"a": (full, None), "b": (holes, None)}), pooled
    )


# ---- other ways to go about it


def test_threads_give_the_same_bits():
    X = rows(0, 20_000, 30)
    model = BernoulliMixture(3, random_state=0)
    model.update(model.stats(X, site="a"))
    alone = model.stats(X, site="a")
    with hiddenbits.run_on(n_jobs=2):
        threads = model.stats(X, site="a")
    assert all(np.array_equal(v, threads.sums.to_arrays()[k]) for k, v in alone.sums.to_arrays().items())


@pytest.mark.slow
def test_sites_that_only_load_the_model(tmp_path):
    """One collects and updates; the others load its model anew in every round and hand out statistics."""
    X = rows(0)
    settings = {"n_components": 3, "accelerate": False, "n_init": 1, "random_state": 0}
    centre = BernoulliMixture(**settings)
    centre.update(merge(BernoulliMixture(**settings).stats(part, site=site) for site, (part, _) in parts_of(X).items()))
    while centre.unfinished_:
        centre.save(tmp_path / "model.hb")
        loaded = [(hiddenbits.load(tmp_path / "model.hb"), *part) for part in parts_of(X).items()]
        centre.update(merge(model.stats(part, site=site) for model, site, (part, _) in loaded))
    assert_same_fit(centre, BernoulliMixture(**settings).fit(X))


@pytest.mark.parametrize("seed", SEEDS)
def test_going_on_from_a_fit(seed):
    X = rows(seed)
    model = BernoulliMixture(3, accelerate=False, n_init=1, max_iter=4, random_state=seed)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    model.set_params(max_iter=1000)
    assert not model.unfinished_
    model.update(gather(model, parts_of(X)))
    assert model.unfinished_
    federated(model, parts_of(X))
    pooled = clone(model).fit(X)
    np.testing.assert_allclose(model.probabilities_, pooled.probabilities_, **CLOSE)
    np.testing.assert_allclose(model.trace_, pooled.trace_[4:], rtol=1e-12)
    assert model.converged_


def test_names_travel(tmp_path):
    X, names = rows(0), [f"question {j}" for j in range(12)]
    parts = {site: hiddenbits.open_table(part, names=names) for site, (part, _) in parts_of(X).items()}
    collector = BernoulliMixture(3, random_state=0)  # sees no rows
    site = BernoulliMixture(3, random_state=0)
    for _ in range(3):
        merge(site.stats(part, site=name) for name, part in parts.items()).save(tmp_path / "round.hb")
        received = Statistics.load(tmp_path / "round.hb")
        assert received.names == tuple(names)
        collector.update(received)
        site.update(received)
    assert list(collector.feature_names_in_) == names
    assert collector.n_features_in_ == 12
    assert np.array_equal(collector.probabilities_, site.probabilities_)
    collector.save(tmp_path / "model.hb")
    assert hiddenbits.load(tmp_path / "model.hb").unfinished_

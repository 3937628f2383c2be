"""`Ensemble` against enumeration: the verbs follow from the members' probabilities of every row of six bits."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import hiddenbits
from hiddenbits import BernoulliMixture, ClippedPCA, CombinationMachine, Ensemble, Growth, IndependentBits, open_table
from hiddenbits.datasets import simulate_mixture
from tests.contracts.test_fit import structured_rows
from tests.oracle.enumeration import fillings

pytestmark = pytest.mark.core
ALL = np.array(list(product((0.0, 1.0), repeat=6)))


@pytest.fixture(scope="module")
def rows():
    return structured_rows(np.random.default_rng(0), 300, 6, missing=True)


@pytest.fixture(scope="module")
def fitted(rows):
    members = [
        BernoulliMixture(3, n_init=1),
        IndependentBits(),
        CombinationMachine(2, ridge=1.0, start=Growth(n_candidates=2)),
    ]
    return Ensemble(members, n_estimators=2, random_state=0).fit(rows)


def probabilities(model):
    """P of each of the 64 rows, from the members alone."""
    return sum(w * np.exp(m.score_samples(ALL)) for w, m in zip(model.weights_, model.estimators_, strict=True))


def test_verbs_equal_enumeration(rows, fitted):
    p = dict(zip(map(tuple, ALL), probabilities(fitted), strict=True))
    assert sum(p.values()) == pytest.approx(1.0, abs=1e-9)
    some = rows[:30]

    def total(row):
        return sum(p[tuple(x)] for x in fillings(row))

    np.testing.assert_allclose(fitted.score_samples(some), [np.log(total(row)) for row in some], rtol=0, atol=1e-10)
    completed, left_out = fitted.complete(some), fitted.bit_probabilities(some)
    for row, mine, single in zip(some, completed, left_out, strict=True):
        for j in range(6):
            without, one = row.copy(), row.copy()
            without[j], one[j] = np.nan, 1.0
            truth = total(one) / total(without)
            assert single[j] == pytest.approx(truth, abs=1e-9)
            assert mine[j] == (pytest.approx(truth, abs=1e-9) if np.isnan(row[j]) else row[j])


def test_posterior_is_bayes_rule_over_members(rows, fitted):
    joint = np.stack([m.score_samples(rows) for m in fitted.estimators_], axis=1) + np.log(fitted.weights_)
    truth = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(fitted.posterior(rows), truth, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fitted.transform(rows), fitted.posterior(rows))
    assert fitted.get_feature_names_out().tolist() == [f"member_{m + 1}" for m in range(6)]


@pytest.mark.parametrize("seed", range(2))
def test_sampling_moments(fitted, seed):
    """Frequencies of all 64 rows among 50,000 within 5 standard errors."""
    n, p = 50_000, probabilities(fitted)
    codes = fitted.sample(n, random_state=seed) @ (1 << np.arange(6)[::-1])
    counts = np.bincount(codes, minlength=64) / n
    assert (np.abs(counts - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()
    assert np.array_equal(fitted.sample(20, random_state=seed), fitted.sample(20, random_state=seed))


def test_members_differ_and_do_not_see_what_is_kept_back(monkeypatch):
    X = simulate_mixture(400, 12, 3, seed=0).X
    seen = []
    plain = BernoulliMixture.fit

    def watched(self, table, *args, **more):
        seen.append(table.weights.copy())
        return plain(self, table, *args, **more)

    monkeypatch.setattr(BernoulliMixture, "fit", watched)
    for rows, possible in (("all", {0.0, 1.0}), ("half", {0.0, 1.0}), ("bootstrap", set(map(float, range(12))))):
        seen.clear()
        model = Ensemble(BernoulliMixture(2, n_init=1), n_estimators=5, rows=rows, validation=0.2, random_state=1)
        model.fit(X)
        held = np.all([weights == 0 for weights in seen], axis=0)
        assert held.sum() >= 80
        assert set(np.unique(seen)) <= possible
        assert {"all": 320, "half": 160, "bootstrap": 320}[rows] == seen[0].sum() == seen[4].sum()
        assert rows == "all" or not np.array_equal(seen[0], seen[1])
        assert len({member.random_state for member in model.estimators_}) == 5


def test_weights_come_from_the_rows_kept_back():
    """A member that fits, beside one that cannot: all weight goes to the first; with validation=0 weights are equal."""
    X = simulate_mixture(3000, 15, 4, seed=0).X
    kinds = [BernoulliMixture(4, n_init=2), IndependentBits()]
    model = Ensemble(kinds, n_estimators=1, rows="all", random_state=0).fit(X)
    assert model.weights_[0] > 0.95
    equal = Ensemble(kinds, n_estimators=1, validation=0, random_state=0).fit(X)
    assert equal.weights_.tolist() == [0.5, 0.5]
    given = Ensemble(kinds, n_estimators=1, rows="all", random_state=0).fit(X[:2000], X_valid=X[2000:])
    again = Ensemble.of(given.estimators_, X[2000:])
    assert np.array_equal(given.weights_, again.weights_)
    assert np.array_equal(given.score_samples(X[:50]), again.score_samples(X[:50]))
    strong = Ensemble.of(given.estimators_, X[2000:], prior_strength=1e9)
    np.testing.assert_allclose(strong.weights_, 0.5, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_of_fits_beats_its_members_on_long_rows(seed):
    X = simulate_mixture(1500, 60, 12, seed=seed).X
    model = Ensemble(BernoulliMixture(8, n_init=1, tol=1e-4), n_estimators=6, random_state=seed).fit(X[:1000])
    assert model.score(X[1000:]) > max(member.score(X[1000:]) for member in model.estimators_)


def test_it_says_what_its_likelihood_is():
    X = simulate_mixture(200, 6, 2, seed=0).X
    exact, estimated = IndependentBits().fit(X), ClippedPCA(5, random_state=0).fit(X)
    assert Ensemble.of([exact, exact]).likelihood_ == "exact"
    assert Ensemble.of([exact, estimated]).likelihood_ == estimated.likelihood_ != "exact"


def test_files(tmp_path, rows, fitted):
    fitted.save(tmp_path / "ensemble.hb")
    for loaded in (hiddenbits.load(tmp_path / "ensemble.hb"), Ensemble.load(tmp_path / "ensemble.hb")):
        assert np.array_equal(loaded.score_samples(rows), fitted.score_samples(rows))
        assert np.array_equal(loaded.sample(50, random_state=3), fitted.sample(50, random_state=3))
        assert repr(loaded) == repr(fitted)
        assert loaded.converged_ == fitted.converged_
    named = Ensemble(random_state=np.random.RandomState(0), n_estimators=2).fit(
        open_table(np.nan_to_num(rows), names=[f"q{j}" for j in range(6)])
    )
    named.save(tmp_path / "named.hb")
    assert list(hiddenbits.load(tmp_path / "named.hb").feature_names_in_) == [f"q{j}" for j in range(6)]
    with pytest.raises(hiddenbits.StoreError, match="not a BernoulliMixture"):
        BernoulliMixture.load(tmp_path / "named.hb")


def damaged(path, change):
    """Write the file again with something changed, and a checksum that fits."""
    stored = hiddenbits.store.read(path)
    meta, arrays = stored.meta, stored.arrays
    change(meta, arrays)
    hiddenbits.store.write(path, stored.kind, meta, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta["members"].pop(),
        lambda meta, arrays: meta["members"].reverse(),
        lambda meta, arrays: meta["hyperparameters"].update(n_estimators=3),
        lambda meta, arrays: meta["hyperparameters"].update(estimator={"kind": "os", "hyperparameters": {}}),
        lambda meta, arrays: arrays.update(weights=np.array([0.5, 0.6, 0.1, 0.1, 0.1, 0.1])),
        lambda meta, arrays: arrays.update({"9/trace": np.zeros(3)}),
        lambda meta, arrays: arrays.update({"0/more": np.zeros(3)}),
        lambda meta, arrays: meta.update(n_features_in=7),
    ],
)
def test_unlawful_files_are_refused(tmp_path, fitted, change):
    import hiddenbits.store

    fitted.save(tmp_path / "ensemble.hb")
    damaged(tmp_path / "ensemble.hb", change)
    with pytest.raises(hiddenbits.StoreError, match="not a valid Ensemble"):
        hiddenbits.load(tmp_path / "ensemble.hb")


def test_errors(rows):
    with pytest.raises(NotFittedError):
        Ensemble().score(rows)
    with pytest.raises(TypeError, match="not an estimator of hiddenbits"):
        Ensemble([IndependentBits(), "mixture"]).fit(rows)
    with pytest.raises(ValueError, match="at least one estimator"):
        Ensemble([]).fit(rows)
    with pytest.raises(ValueError, match="no row is left"):
        Ensemble(IndependentBits()).fit(rows[:1])
    one, other = IndependentBits().fit(rows), IndependentBits().fit(rows[:, :5])
    with pytest.raises(ValueError, match=r"\[5, 6\] columns"):
        Ensemble.of([one, other])
    with pytest.raises(NotFittedError):
        Ensemble.of([one, IndependentBits()])


def test_it_says_when_a_member_did_not_converge(rows):
    short = Ensemble(BernoulliMixture(3, n_init=1, max_iter=2), n_estimators=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert not short.fit(rows).converged_
    assert clone(short).set_params(estimator=IndependentBits()).fit(rows).converged_


def test_each_member_has_a_checkpoint_of_its_own(rows, tmp_path):
    def fit():
        with hiddenbits.run_on(checkpoint=tmp_path / "fit.hb"):
            return Ensemble(BernoulliMixture(2, n_init=1), n_estimators=2, random_state=0).fit(rows)

    alone = Ensemble(BernoulliMixture(2, n_init=1), n_estimators=2, random_state=0).fit(rows)
    assert np.array_equal(fit().score_samples(ALL), alone.score_samples(ALL))
    assert {path.name for path in tmp_path.iterdir()} == {"fit.hb.member1", "fit.hb.member2"}
    assert np.array_equal(fit().score_samples(ALL), alone.score_samples(ALL))  # continues from what is there

"""Rounds of a federated fit: what begins them, what ends them, and what does not belong to them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hiddenbits import BernoulliMixture, StatisticsError, merge
from hiddenbits.families.bernoulli_mixture.model import Mixture
from tests.federated.hospitals import federated, gather, parts_of, rows

pytestmark = pytest.mark.core


def test_fitting_again_forgets_the_rounds():
    X = rows(0)
    model = BernoulliMixture(3, random_state=0)
    model.update(gather(model, parts_of(X)))
    assert model.unfinished_
    model.fit(X)
    assert not model.unfinished_
    assert np.array_equal(model.stats(X[:500]).params.weights, model.params_.weights)  # other rows: a new beginning
    model.update(gather(model, parts_of(X)))
    assert model.unfinished_
    model.partial_fit(X)
    assert not model.unfinished_
    model.stats(X[:400])


def test_a_clone_begins_anew_and_stats_do_not_fit():
    X = rows(0)
    model = BernoulliMixture(3, random_state=0)
    first = model.stats(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert model.stats(X).sites == first.sites  # random, but kept
    assert clone(model).stats(X).sites != first.sites
    assert clone(model.update(first)).unfinished_
    assert not hasattr(clone(model), "params_")


def test_what_a_federated_fit_cannot_use_is_refused(tmp_path):
    X = rows(0)
    with pytest.raises(ValueError, match="an integer random_state=, the same at every site"):
        BernoulliMixture(3).stats(X)
    with pytest.raises(ValueError, match="online_passes=0"):
        BernoulliMixture(3, online_passes=1, random_state=0).stats(X)
    model = BernoulliMixture(3, random_state=0)
    for bad in (-1, 2.5, None, True):
        with pytest.raises(ValueError, match="minimum_count="):
            model.stats(X, minimum_count=bad)
    for bad in ("", "x" * 129, "a\nb", 7):
        with pytest.raises(ValueError, match="printable name"):
            model.stats(X, site=bad)
    with pytest.raises(TypeError, match="Expected Statistics"):
        model.update({"ones": 3})
    staged = BernoulliMixture(4, start="split", random_state=0)
    staged.update(staged.stats(X))
    with pytest.raises(ValueError, match="cannot be saved yet"):
        staged.save(tmp_path / "model.hb")


def test_a_start_that_asks_for_other_sums_is_refused(monkeypatch):
    monkeypatch.setattr(Mixture, "start", lambda self, summary, key, passes: passes(lambda block: block.weights.sum()))
    model = BernoulliMixture(3, random_state=0)
    with pytest.raises(StatisticsError, match=r"start of this model needs further passes.*Choose another start"):
        model.update(model.stats(rows(0)))
    assert not hasattr(model, "params_")


def test_a_site_whose_rows_change_is_refused():
    X = rows(0)
    X[:2, 0] = [0.0, 1.0]
    swapped = X.copy()
    swapped[:2, 0] = [1.0, 0.0]  # the same counts in every column, in other rows
    model = BernoulliMixture(3, random_state=0)
    model.update(model.stats(X))
    for other in (swapped, X[1:], np.concatenate([X, X[:1]])):
        with pytest.raises(StatisticsError, match=r"not the table that site .* started with"):
            model.stats(other)
    with pytest.raises(StatisticsError, match="name them, as in stats"):
        model.stats(rows(1))
    model.stats(X)
    model.stats(rows(1), site="another")


def test_every_round_needs_the_same_sites_and_rows():
    X = rows(0)
    parts = parts_of(X)

    first = gather(BernoulliMixture(3, random_state=0), parts)

    def begun():  # a new process each time, which does not remember any rows
        return BernoulliMixture(3, random_state=0).update(first)

    model = begun()
    of = {site: begun().stats(part, site=site) for site, (part, _) in parts.items()}
    refused = {
        "'south' is missing": [of["east"], of["north"]],
        "'west' was not there at the start": [*of.values(), begun().stats(X[:200], site="west")],
        "'north' is missing, 'west' was not": [of["east"], of["south"], begun().stats(parts["north"][0], site="west")],
        "899 rows of weight 899, but the fit started with 900": [
            *(of[site] for site in ("east", "north")),
            begun().stats(parts["south"][0][1:], site="south"),
        ],
        "900 rows of weight 1350": [
            *(of[site] for site in ("east", "north")),
            begun().stats(parts["south"][0], np.full(450, 2.0), site="south"),
        ],
    }
    before = dict(vars(model))
    for message, several in refused.items():
        with pytest.raises(StatisticsError, match=message):
            model.update(merge(several))
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
    model.update(merge(of.values()))
    assert model.n_iter_ == 1


@pytest.mark.parametrize("seed", range(3))
def test_totals_of_a_secure_aggregation_can_be_used(seed):
    """Each site adds masks that cancel in the sum; only the total goes into `update`."""
    rng, X = np.random.default_rng(seed), rows(seed)
    hidden, open_ = (BernoulliMixture(3, n_init=1, random_state=seed) for _ in range(2))
    for _ in range(4):
        of = [hidden.stats(part, site=site) for site, (part, _) in parts_of(X).items()]
        sent = [one.sums.to_arrays() for one in of]
        for name in sent[0]:
            masks = rng.integers(-(2**20), 2**20, (3, *sent[0][name].shape)).astype(float)
            for one, mask in zip(sent, masks - np.roll(masks, 1, axis=0), strict=True):
                one[name] = one[name] + mask
        total = of[0].sums.from_arrays({name: sum(one[name] for one in sent) for name in sent[0]})
        rows_of_all = sum(one.rows for one in of)
        hidden.update(replace(of[0], sums=total, sites=("east", "north", "south"), rows=rows_of_all))
        open_.update(gather(open_, parts_of(X)))
    np.testing.assert_allclose(hidden.probabilities_, open_.probabilities_, rtol=0, atol=1e-9)


def test_rounds_out_of_order_are_refused():
    X = rows(0)
    parts = parts_of(X)
    model = BernoulliMixture(3, accelerate=False, n_init=1, random_state=0)
    first = gather(model, parts)
    second = gather(model.update(first), parts)
    third = gather(model.update(second), parts)
    with pytest.raises(StatisticsError, match=r"different parameters.*compute again"):
        model.update(second)
    with pytest.raises(StatisticsError, match="is at the start, the other is not"):
        model.update(first)
    with pytest.raises(StatisticsError, match="Repeat the updates it missed"):
        clone(model).update(third)
    federated(model, parts)
    assert model.converged_
    assert model.stats(X, site="all").log_likelihood == pytest.approx(model.score(X) * len(X), rel=1e-12)
    with pytest.raises(StatisticsError, match=r"has stopped \(converged\)"):
        model.update(gather(model, parts))

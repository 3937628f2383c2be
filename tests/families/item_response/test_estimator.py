"""What users see of `ItemResponseModel`: refusals, nodes, conversions, scikit-learn."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from hiddenbits import ItemResponseModel
from hiddenbits.exceptions import AmbiguousColumnsError


def rasch_rows(n=500, d=6, seed=0, slopes=1.0):
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(n, 1))
    return (rng.random((n, d)) < expit(slopes * (t - np.linspace(-1, 1, d)))).astype(float)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 4}, "LogisticPCA"),
        ({"correlated": True}, "loadings_pattern"),
        ({"n_components": 2, "slopes": "equal"}, "one dimension"),
        ({"loadings_pattern": {"a": [0, 1], "b": [2, 9]}}, "9"),
        ({"loadings_pattern": {"a": [0, 1], "b": [2, 3]}}, "no dimension for"),
        ({"loadings_pattern": {"a": "some"}}, "list of columns"),
        ({"guessing": (0.0, -1.0)}, "positive standard deviation"),
        ({"loadings_pattern": dict.fromkeys("abcd", "all")}, "quadrature"),
    ],
)
def test_refusals_say_what_to_do(options, words):
    with pytest.raises(ValueError, match=words):
        ItemResponseModel(**options).fit(rasch_rows())


@pytest.mark.parametrize("seed", range(3))
def test_more_nodes_where_slopes_are_steep(seed):
    flat, steep = (ItemResponseModel().fit(rasch_rows(800, 15, seed, slopes)) for slopes in (1.0, 4.0))
    assert steep.n_nodes_ > flat.n_nodes_
    assert max(flat.quadrature_error_, steep.quadrature_error_) < 1e-3


def test_weights_are_counts():
    X = rasch_rows(60, 4)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = ItemResponseModel(tol=1e-10).fit(X, sample_weight=weights)
    repeated = ItemResponseModel(tol=1e-10).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.slopes_, repeated.slopes_, atol=1e-6)


def test_it_is_a_transformer():
    X = rasch_rows()
    model = clone(ItemResponseModel(slopes="equal", random_state=0)).set_output(transform="default")
    scores = model.fit_transform(X)
    assert scores.shape == (len(X), 1)
    assert np.corrcoef(scores[:, 0], X.sum(axis=1))[0, 1] > 0.999
    assert len(np.unique(model.slopes_)) == 1
    loadings = ItemResponseModel(2).fit(X).rotate("oblimin")
    assert np.asarray(loadings.loadings).shape == (6, 2)


def test_partial_fit_comes_close_to_fit():
    X = rasch_rows(6000, 8)
    model = ItemResponseModel(random_state=0)
    for start in range(0, 6000, 1000):
        model.partial_fit(X[start : start + 1000])
    assert model.score(X) > ItemResponseModel(random_state=0).fit(X).score(X) - 0.005


def test_words_of_no_known_order_are_not_ordered_by_chance():
    pd = pytest.importorskip("pandas")
    words = np.array(["nee", "soms", "vaak", "altijd"])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{j}": words[rng.integers(0, 4, 200)] for j in range(3)})
    with pytest.raises(AmbiguousColumnsError, match=r"order of the levels of 'q0', 'q1', 'q2'.*lowest, ..., highest"):
        ItemResponseModel(column_types="ordinal").fit(frame)
    model = ItemResponseModel(column_types={name: list(words) for name in frame}).fit(frame)
    assert model.answer_names_[:3] == ["q0=soms", "q0=vaak", "q0=altijd"]


def test_an_item_that_all_answer_alike_is_named():
    X = rasch_rows(300, 4)
    X[:, 2] = 1.0
    assert "no estimate: the slopes or intercepts of x2 are not finite" in str(ItemResponseModel().fit(X).summary())

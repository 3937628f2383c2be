"""scikit-learn's conventions beyond its own checks: names, tags, order of classes, samples with their latent part."""

from email.message import Message

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from hiddenbits import LatentClassAnalysis, TreeMixture
from hiddenbits.datasets import simulate_mixture
from hiddenbits.families._base.persistence import ESTIMATORS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pd = pytest.importorskip("pandas")
REALS = {"BinarySparseCoding"}
SMALL = {
    "CombinationMachine": {"max_iter": 20},
    "BinarySparseCoding": {"n_init": 1},
    "TopographicMap": {"n_points": 64, "n_features": 16},
}


@pytest.fixture(scope="module")
def rows():
    return simulate_mixture(300, 8, 3, random_state=0).X.astype(float)


@pytest.fixture(scope="module", params=sorted(ESTIMATORS))
def fitted(request, rows):
    return ESTIMATORS[request.param]()(random_state=0, **SMALL.get(request.param, {})).fit(rows)


def public_names(model):
    return [name for name in dir(model) if not name.startswith("_") and hasattr(model, name)]


def test_a_fitted_mixture_has_few_public_names(rows):
    assert len(public_names(LatentClassAnalysis(3, random_state=0).fit(rows))) <= 48  # of which 12 are parameters


def test_no_attribute_holds_a_value_for_each_row(fitted, rows):
    for name in public_names(fitted):
        value = getattr(fitted, name)
        assert not (isinstance(value, np.ndarray) and len(rows) in value.shape), name
    for name, value in vars(fitted).items():
        assert not (isinstance(value, np.ndarray) and len(rows) in value.shape), name


def test_tags(fitted):
    tags = get_tags(fitted)
    assert tags.estimator_type == "density_estimator"
    assert tags.input_tags.allow_nan
    takes_values = type(fitted).__name__ not in REALS
    assert tags.input_tags.string == tags.input_tags.categorical == tags.input_tags.sparse == takes_values


def test_the_html_links_to_the_documentation_that_the_package_names(monkeypatch):
    model = LatentClassAnalysis()
    assert model._get_doc_link() == ""  # no site yet
    message = Message()
    message["Project-URL"] = "Documentation, https://example.org/docs/"
    monkeypatch.setattr("hiddenbits.families._base.estimator.metadata", lambda _: message)
    page = "https://example.org/docs/api/generated/hiddenbits.LatentClassAnalysis.html"
    assert model._get_doc_link() == page
    assert page in model._repr_html_()


def test_samples_are_rows_and_the_latent_part_is_extra(fitted, rows):
    sampled = fitted.sample(7, random_state=3)
    assert np.shape(sampled) == (7, rows.shape[1])
    if not hasattr(fitted, "transform"):
        return
    again, latent = fitted.sample(7, return_latent=True, random_state=3)
    assert np.array_equal(again, sampled)
    width = () if hasattr(fitted, "predict_proba") else np.shape(fitted.transform(rows[:1]))[1:]
    assert latent.shape == (7, *width)


@pytest.mark.parametrize("cls", [LatentClassAnalysis, TreeMixture])
@pytest.mark.parametrize("seed", range(3))
def test_classes_are_ordered_by_size_in_every_result(cls, seed, rows):
    model = cls(3, random_state=seed).fit(rows)
    assert (np.diff(model.weights_) <= 0.0).all()
    shares = model.predict_proba(rows).mean(axis=0)
    np.testing.assert_allclose(shares, model.weights_, atol=0.02)  # the prior and `tol` keep them apart a little
    labels = model.fit_predict(rows)
    assert np.array_equal(labels, model.transform(rows).argmax(axis=1))
    assert model.get_feature_names_out().tolist() == ["class_1", "class_2", "class_3"]
    assert model.summary().tables["classes"].iloc[:, 1].tolist() == pytest.approx(model.weights_.tolist(), abs=1e-3)
    _, classes = model.sample(4000, return_latent=True)
    np.testing.assert_allclose(np.bincount(classes, minlength=3) / 4000, model.weights_, atol=0.04)  # 5 errors


def test_partial_fit_and_refits_keep_the_order(rows):
    model = LatentClassAnalysis(2, random_state=0).fit(np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [60, 40], axis=0))
    first = model.probabilities_[0, 0]
    weights = np.repeat([1.0, 9.0], [60, 40])
    table = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [60, 40], axis=0)
    refitted = model._refit(table, weights)
    assert refitted.weights_[0] < refitted.weights_[1]
    assert refitted.probabilities_[0, 0] == pytest.approx(first, abs=0.1)
    for _ in range(20):
        model.partial_fit(table[60:])
    assert model.weights_[0] < model.weights_[1]


def test_grid_search_pipelines_routing_and_containers(rows):
    model = LatentClassAnalysis(random_state=0)
    search = GridSearchCV(model, {"n_components": [1, 2, 3]}, cv=3).fit(rows)
    assert search.best_params_ == {"n_components": 3}
    weights = np.random.default_rng(0).integers(1, 3, len(rows))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), asking).fit(rows, sample_weight=weights)
    weighted = clone(model).fit(rows, sample_weight=weights)
    assert np.array_equal(pipeline[-1].weights_, weighted.weights_)
    frame = pd.DataFrame(rows, columns=list("abcdefgh"))
    probabilities = model.set_output(transform="pandas").fit(frame).transform(frame)
    assert probabilities.columns.tolist() == ["class_1", "class_2"]


def test_a_frame_of_categories_and_words_is_taken_as_it_is():
    frame = pd.DataFrame({"q": ["yes", "no", None] * 20, "size": pd.Categorical(["s", "m", "l"] * 20)})
    model = LatentClassAnalysis(2, random_state=0).fit(frame)
    assert model.predict_proba(frame).shape == (60, 2)

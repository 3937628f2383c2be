"""Standard errors from the information: closed forms, numerical derivatives, and what R's programs print."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import hiddenbits
from hiddenbits import IndependentColumns, ItemResponseModel, LatentClassAnalysis, LogisticPCA, inference
from hiddenbits.datasets import load_gss82
from hiddenbits.exceptions import NotAtMaximumWarning

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def two_classes(seed, n=300, d=4):
    rng = np.random.default_rng(seed)
    theta = rng.uniform(0.15, 0.85, (2, d))
    return (rng.random((n, d)) < theta[(rng.random(n) < 0.4).astype(int)]).astype(np.float64)


def with_blanks(X, seed, share=0.1):
    X = X.copy()
    X[np.random.default_rng([seed, 1]).random(X.shape) < share] = np.nan
    return X


def mixture(X, K=2, w=None, **settings):
    settings = {"prior_strength": 0.0, "tol": 1e-11, "max_iter": 20000, "n_init": 1, "random_state": 0, **settings}
    return LatentClassAnalysis(K, **settings).fit(X, sample_weight=w)


@pytest.mark.parametrize("seed", range(3))
def test_one_class_has_the_errors_of_shares(seed):
    X = two_classes(seed)
    p, n = X.mean(axis=0), len(X)
    model = mixture(X, 1)
    expected = np.sqrt(p * (1 - p) / n)
    for robust in (True, False):
        found = inference.standard_errors(model, X, robust=robust)
        np.testing.assert_allclose(found.se["probabilities"][0], expected, rtol=1e-6)
    outer = inference.standard_errors(mixture(X[:, :1], 1), X[:, :1], robust=False, kind="outer")
    np.testing.assert_allclose(outer.se["probabilities"][0], expected[:1], rtol=1e-6)
    np.testing.assert_allclose(found.covariance[1:, 1:][0, 0], expected[0] ** 2, rtol=1e-6)
    low, high = found.interval["probabilities"]
    z = 1.959963984540054
    np.testing.assert_allclose(
        np.log(low / (1 - low))[0], np.log(p / (1 - p)) - z / np.sqrt(n * p * (1 - p)), rtol=1e-6
    )
    assert (low[0] < p).all()
    assert (p < high[0]).all()


@pytest.mark.parametrize("seed", range(2))
def test_gradients_and_information_are_derivatives_of_the_likelihood(seed):
    X = with_blanks(two_classes(seed, 80, 5), seed)
    w = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    model = mixture(X, w=w, tol=1e-6, prior_strength=1.0)
    at, h = model._free_parameters().vector, 1e-5

    def slopes(function):
        return np.array([(function(at + h * e) - function(at - h * e)) / (2 * h) for e in np.eye(len(at))])

    np.testing.assert_allclose(
        model._row_gradients(X), slopes(lambda v: model._with_vector(v).score_samples(X)).T, atol=1e-8
    )
    bent = -slopes(lambda v: w @ model._with_vector(v)._row_gradients(X))
    np.testing.assert_allclose(model._observed_information(X, w), bent, atol=1e-6 * np.abs(bent).max())


@pytest.mark.parametrize("kind", ["mixture", "guessing"])
def test_the_prior_has_its_gradient_and_curvature(kind):
    """At the penalized maximum the gradients of rows and prior cancel; the curvature of the prior is its derivative."""
    X = two_classes(0, 120, 4)
    if kind == "guessing":
        rng = np.random.default_rng(0)
        p = 1 / (1 + np.exp(-1.5 * (rng.standard_normal((300, 1)) - np.linspace(-1, 1, 5))))
        X = (rng.random(p.shape) < 0.2 + 0.8 * p).astype(float)
        model = ItemResponseModel(guessing=True, tol=1e-12, random_state=0).fit(X)
    else:
        model = mixture(X, prior_strength=2.0)
    free = model._free_parameters()
    np.testing.assert_allclose(model._row_gradients(X).sum(axis=0) + free.prior_gradient, 0.0, atol=2e-3)
    h, slopes = 1e-6, []
    for at in range(len(free.vector)):
        step = h * np.eye(len(free.vector))[at]
        up, down = (model._with_vector(free.vector + s)._free_parameters().prior_gradient for s in (step, -step))
        slopes.append((down - up) / (2 * h))
    np.testing.assert_allclose(free.prior_curvature, slopes, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_weights_are_repeats_and_storages_agree(seed):
    X = with_blanks(two_classes(seed), seed)
    w = np.random.default_rng(seed).integers(1, 4, len(X))
    model = mixture(X, w=w)
    found = inference.standard_errors(model, X, sample_weight=w)
    repeated = inference.standard_errors(model, np.repeat(X, w, axis=0))
    np.testing.assert_allclose(found.covariance, repeated.covariance, rtol=1e-9)
    complete = np.nan_to_num(X)
    of_dense, of_sparse, of_packed = (
        inference.standard_errors(mixture(complete), table)
        for table in (
            complete,
            csr_array(complete),
            hiddenbits.open_table(np.packbits(complete.astype(np.uint8), axis=1), packed=True, n_columns=4),
        )
    )
    np.testing.assert_allclose(of_sparse.covariance, of_dense.covariance, rtol=1e-9)
    np.testing.assert_allclose(of_packed.covariance, of_dense.covariance, rtol=1e-9)


def test_rows_without_weight_do_not_matter(monkeypatch):
    X = two_classes(0, 700, 4)
    w = np.where(np.arange(700) < 300, 0.0, 1.0)  # the first piece has no weight at all
    model = mixture(X, w=w)
    expected = inference.standard_errors(model, X[300:])
    monkeypatch.setattr("hiddenbits.inference.information_matrix.PIECE_NUMBERS", 1)
    found = inference.standard_errors(model, X, sample_weight=w)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)


def test_pieces_and_threads_give_the_same_bits(monkeypatch):
    X = two_classes(0, 700, 4)
    model = mixture(X)
    alone = inference.standard_errors(model, X)
    monkeypatch.setattr("hiddenbits.inference.information_matrix.PIECE_NUMBERS", 1)  # pieces of 256 rows
    pieces = inference.standard_errors(model, X)
    np.testing.assert_allclose(pieces.covariance, alone.covariance, rtol=1e-10)
    with hiddenbits.run_on(n_jobs=2):
        threads = inference.standard_errors(model, X)
    assert (threads.covariance == pieces.covariance).all()


@pytest.mark.parametrize("seed", range(2))
def test_clusters(seed):
    X = two_classes(seed, 200)
    model = mixture(X)
    n = len(X)
    rows = inference.standard_errors(model, X)
    apart = inference.standard_errors(model, X, clusters=np.arange(n))
    np.testing.assert_allclose(apart.covariance, rows.covariance * n / (n - 1), rtol=1e-9)
    # Every row three times, in a cluster of its own: nothing was learned from the copies.
    copies = inference.standard_errors(model, np.repeat(X, 3, axis=0), clusters=np.repeat(np.arange(n).astype(str), 3))
    np.testing.assert_allclose(copies.covariance, apart.covariance, rtol=1e-6)
    sampled = inference.standard_errors(model, X, sample_weight=np.full(n, 3.0), weight_type="sampling")
    np.testing.assert_allclose(sampled.covariance, rows.covariance, rtol=1e-9)


def test_a_statistic_has_the_errors_of_the_delta_method():
    X = two_classes(1)
    model = mixture(X)
    plain = inference.standard_errors(model, X)
    again = inference.standard_errors(model, X, statistic=lambda m: {"p": m.probabilities_, "size": m.weights_})
    np.testing.assert_allclose(again.se["p"], plain.se["probabilities"], rtol=1e-6)
    np.testing.assert_allclose(again.se["size"], plain.se["weights"], rtol=1e-6)
    apart = inference.standard_errors(model, X, statistic=lambda m: m.probabilities_[0] - m.probabilities_[1])
    places = np.arange(2, 10).reshape(2, 4)
    for j in range(4):
        i, k = places[:, j]
        variance = plain.covariance[i, i] + plain.covariance[k, k] - 2 * plain.covariance[i, k]
        assert apart.se["statistic"][j] == pytest.approx(np.sqrt(variance), rel=1e-5)


@pytest.mark.slow
def test_the_orientation_of_dimensions_does_not_change_what_they_say():
    """Errors of what does not depend on the rotation are the same with and without a condition on it."""
    rng = np.random.default_rng(2)  # of a table whose slopes are moderate
    W, b = rng.normal(size=(6, 2)) * 1.2, rng.normal(size=6) * 0.5
    X = (rng.random((1500, 6)) < 1 / (1 + np.exp(-(rng.normal(size=(1500, 2)) @ W.T + b)))).astype(float)
    model = ItemResponseModel(2, tol=1e-10, random_state=0).fit(X)
    found = inference.standard_errors(model, X, robust=False, statistic=lambda m: m.components_.T @ m.components_)
    free = model._free_parameters()
    bent = model._observed_information(X)
    assert np.abs(np.linalg.eigvalsh(bent)[0]) < 1e-3 * np.abs(bent).max()  # a rotation costs nothing
    loose = np.linalg.pinv(bent, rcond=1e-5)
    J = np.zeros((36, 18))
    for i in range(18):
        step = np.zeros(18)
        step[i] = 1e-5
        moved = [model._with_vector(free.vector + s).components_ for s in (step, -step)]
        J[:, i] = (moved[0].T @ moved[0] - moved[1].T @ moved[1]).ravel() / 2e-5
    np.testing.assert_allclose(found.covariance, J @ loose @ J.T, atol=1e-3 * found.covariance.max())


def test_probabilities_at_the_border_have_no_error():
    X = np.column_stack([two_classes(0), np.ones(300)])
    found = inference.standard_errors(mixture(X), X)
    assert np.isnan(found.se["probabilities"][:, 4]).all()
    assert np.isfinite(found.se["probabilities"][:, :4]).all()
    assert np.isnan(found.interval["probabilities"][0][:, 4]).all()


def test_frames_are_of_the_users_kind():
    X = two_classes(0)
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    found = inference.standard_errors(mixture(frame), frame)
    table = found.to_frame()
    assert isinstance(table, pl.DataFrame)
    assert table.columns == ["quantity", "class", "column", "estimate", "se", "lower", "upper"]
    assert table.height == 10
    assert table["column"].to_list()[2:6] == ["a", "b", "c", "d"]
    covariance = inference.standard_errors(mixture(X), X).covariance_frame("pandas")
    assert list(covariance.index) == list(covariance.columns)
    assert covariance.columns[2] == "probabilities[0, x0]"


def test_frames_name_answers_and_dimensions():
    rng = np.random.default_rng(0)
    t = rng.standard_normal((400, 2)) @ np.array([[1.0, 0.5], [0.0, 0.9]])
    A = t[:, [0, 0, 0, 1, 1, 1]] + rng.logistic(size=(400, 6))
    frame = pd.DataFrame(
        {
            "a": (A[:, 0] > 0) * 1,
            "b": (A[:, 3] > 0) * 1,
            "grade": np.digitize(A[:, 1], [0, 1]),
            "color": np.array(["red", "green", "blue"])[np.digitize(A[:, 4], [-1, 1])],
            "mark": 10 + A[:, 2],
            "visits": rng.poisson(np.exp(0.3 * t[:, 1])),
        }
    )
    types = {"grade": "ordinal", "color": "nominal", "mark": "continuous", "visits": "count"}
    pattern = {"math": ["a", "grade", "mark"], "art": ["b", "color", "visits"]}
    model = ItemResponseModel(
        column_types=types, loadings_pattern=pattern, correlated=True, guessing=True, tol=1e-9, random_state=0
    ).fit(frame)
    found = inference.standard_errors(model, frame)
    table = found.to_frame()
    assert table.columns.tolist() == ["quantity", "column", "dimension", "estimate", "se", "lower", "upper"]
    named = {name: part[["column", "dimension"]].values.tolist() for name, part in table.groupby("quantity")}
    assert named["slopes"][:4] == [["a", "math"], ["a", "art"], ["b", "math"], ["b", "art"]]
    assert [column for column, _ in named["intercepts"]] == model.answer_names_
    assert [*named["number_slopes"][0], *named["number_slopes"][3]] == ["mark", "math", "visits", "art"]
    assert [column for column, _ in named["number_intercepts"]] == ["mark", "visits"]
    assert [column for column, _ in named["guessing"]] == ["a", "b"]
    assert [column for column, _ in named["noise"]] == ["mark"]
    assert [dimension for _, dimension in named["correlations"]] == ["math with art"]
    assert found.covariance_frame("pandas").columns[0] == "slopes[a, math]"
    again = inference.bootstrap(model, frame, n_replicates=2, tol=1e-4).to_frame()
    assert (again[["quantity", "column", "dimension"]].fillna("") == table[again.columns[:3]].fillna("")).all(axis=None)


def test_what_is_refused_and_what_is_warned_of():
    X = two_classes(0)
    model = mixture(X)
    for other in (IndependentColumns(), LogisticPCA(1, random_state=0)):
        with pytest.raises(TypeError, match="no exact scores"):
            inference.standard_errors(other.fit(X), X)
    with pytest.raises(ValueError, match="robust=True"):
        inference.standard_errors(model, X, robust=False, clusters=np.arange(300))
    with pytest.raises(ValueError, match="sandwich"):
        inference.standard_errors(model, X, kind="outer")
    with pytest.raises(ValueError, match="one label per row"):
        inference.standard_errors(model, X, clusters=np.arange(3))
    with pytest.raises(ValueError, match="one cluster"):
        inference.standard_errors(model, X, clusters=np.zeros(300))
    with pytest.raises(ValueError, match="not identified"):
        inference.standard_errors(mixture(X[:, :2]), X[:, :2])  # two classes behind two columns
    wide = np.eye(2, 3000)
    with pytest.raises(ValueError, match="6,001 parameters"):
        inference.standard_errors(LatentClassAnalysis(2, max_iter=50, random_state=0).fit(wide), wide)
    with pytest.warns(NotAtMaximumWarning, match="standard errors from the maximum"):
        inference.standard_errors(model, 1 - X)


# --------------------------------------------------------------------------------------------------- R's programs


@pytest.mark.parametrize("K", [2, 3, 4])
def test_carcinoma_as_polca(real_data, K):
    """PoLCA inverts the sum of outer products: kind="outer". tol=1e-12; profiles between .02 and .98."""
    X = pd.read_csv(real_data / "survey" / "carcinoma.csv")
    model = mixture(X, K, tol=1e-12, n_init=10)
    found = inference.standard_errors(model, X, robust=False, kind="outer")
    polca = pd.read_csv(real_data / "reference" / f"carcinoma_lca{K}_poLCA.csv")
    order = np.argsort(-model.weights_)
    p, errors = polca.filter(like="prob.").to_numpy(), polca.filter(regex=r"^se\.").to_numpy()
    inner = (p > 0.02) & (p < 0.98)
    np.testing.assert_allclose(model.probabilities_[order], p, atol=1e-3)
    np.testing.assert_allclose(found.se["probabilities"][order][inner], errors[inner], rtol=0.005)
    np.testing.assert_allclose(found.se["weights"][order], polca["share_se"], rtol=0.005)


def test_errors_of_levels_as_polca(real_data):
    """And none for levels at 0 or 1, of which poLCA prints errors such as 6e-22."""
    X, counts = load_gss82()
    model = mixture(X, 3, counts, column_types="nominal", n_init=10)
    found = inference.standard_errors(model, X, robust=False, kind="outer", sample_weight=counts)
    polca = pd.read_csv(real_data / "reference" / "gss82_lca3_poLCA.csv").set_index("what")
    order = np.argsort(model.weights_)[[2, 0, 1]]  # poLCA's largest class, smallest, middle
    names = [[f"P({name}|{k})" for name in model.level_names_] for k in (1, 2, 3)]
    p, errors = (polca[what].loc[np.ravel(names)].to_numpy().reshape(3, -1) for what in ("estimate", "se"))
    at_border = (p < 1e-6) | (p > 1 - 1e-6)
    assert at_border.sum() == 3
    np.testing.assert_allclose(model.probabilities_[order], p, atol=1e-4)
    np.testing.assert_array_equal(np.isnan(found.se["probabilities"][order]), at_border)
    inner = ~at_border
    np.testing.assert_allclose(found.se["probabilities"][order][inner], errors[inner], rtol=0.001)
    np.testing.assert_allclose(found.se["weights"][order], polca["se"][[f"share[{k}]" for k in (1, 2, 3)]], rtol=0.001)

"""`LogisticPCA` of frames with columns of several kinds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

import hiddenbits
from hiddenbits import BernoulliMixture, ColumnsCodedWarning, LogisticPCA, TableError, open_table
from hiddenbits.data.mixed.encode import open_mixed
from hiddenbits.store import StoreError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def make(library, n=300, seed=0, missing=0.1):
    """A frame of all kinds, blanks in each."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    columns = {
        "b": (x[:, 0] + rng.standard_normal(n) > 0).astype(object),
        "r": (50 + 9 * (x[:, 1] + 0.5 * rng.standard_normal(n))).astype(object),
        "s": (x @ [1, -1] + 0.5 * rng.standard_normal(n)).astype(object),
        "n": np.array(["u", "v", "w"], object)[
            np.argmax(x @ rng.standard_normal((2, 3)) * 2 + rng.gumbel(size=(n, 3)), 1)
        ],
        "o": np.array(["low", "mid", "top"], object)[np.digitize(x[:, 0], [-0.7, 0.7])],
        "two": np.array(["no", "yes"], object)[(x[:, 0] > 0).astype(int)],
    }
    for values in columns.values():
        values[rng.random(n) < missing] = None
    if library is pd:
        frame = pd.DataFrame(columns, index=np.arange(n) + 1000)
        frame["r"], frame["s"] = frame["r"].astype(float), frame["s"].astype(float)
        frame["b"] = frame["b"].astype("boolean")
        frame["o"] = pd.Categorical(frame["o"], categories=["low", "mid", "top"], ordered=True)
        return frame, "auto"
    lists = {name: values.tolist() for name, values in columns.items()}
    types = {"b": pl.Boolean, "r": pl.Float64, "s": pl.Float64, "n": pl.String, "two": pl.Categorical}
    types["o"] = pl.Enum(["low", "mid", "top"])
    return pl.DataFrame({name: pl.Series(lists[name], dtype=types[name]) for name in lists}), {"o": "ordered"}


@pytest.fixture(scope="module", params=[pd, pl], ids=["pandas", "polars"])
def fitted(request):
    frame, kinds = make(request.param)
    return frame, LogisticPCA(2, kinds=kinds, tol=1e-6, random_state=0).fit(frame)


def blanks(frame, name):
    column = frame[name]
    return np.asarray(column.isna() if isinstance(frame, pd.DataFrame) else column.is_null())


def test_fit_says_what_it_took_the_columns_for(fitted):
    frame, model = fitted
    assert model.kinds_ == {"b": "binary", "r": "real", "s": "real", "n": "nominal", "o": "ordered", "two": "nominal"}
    assert model.categories_ == {"n": ["u", "v", "w"], "o": ["low", "mid", "top"], "two": ["no", "yes"]}
    assert model.activation_names_ == ["b", "o>low", "o>mid", "two>no", "r", "s", "n=u", "n=v", "n=w"]
    assert model.components_.shape == (2, 9)
    assert model.converged_
    assert model.n_features_in_ == 6
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_parameters_ == 8 * 3 + 2 - 1
    assert (np.diff(model.trace_) >= -1e-9).all()
    r = np.asarray(frame["r"], float)
    at = model.activation_names_.index("r")
    assert model.intercepts_[at] == pytest.approx(np.nanmean(r), abs=2.0)  # in the units of the column
    total = (model.components_[:, at] ** 2).sum() + model.noise_variances_["r"]
    assert total == pytest.approx(np.nanvar(r), rel=0.1)


def test_both_libraries_fit_the_same():
    models = []
    for library in (pd, pl):
        frame, kinds = make(library)
        models.append(LogisticPCA(2, kinds=kinds, random_state=0, max_iter=1000).fit(frame))
    np.testing.assert_allclose(models[0].components_, models[1].components_, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_likelihoods_and_posteriors(fitted):
    frame, model = fitted
    assert model.likelihood_ == "exact"
    scores, errors = model.score_samples(frame, return_std=True)
    assert (errors == 0).all()
    assert (model.bound_samples(frame) <= scores + 1e-8).all()
    means, covariances = model.posterior(frame, return_cov=True)
    assert np.array_equal(means, model.transform(frame))
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    assert model.code(frame).shape == (300, 2)
    assert model.score(frame) == pytest.approx(scores.mean())
    wide = clone(model).set_params(n_components=4, tol=1e-2, max_iter=1000).fit(frame)
    assert wide.likelihood_ == "estimate"
    scores, errors = wide.score_samples(frame, return_std=True)
    assert (errors > 0).all()
    assert (wide.bound_samples(frame) <= scores + 5 * errors).all()


def test_density_is_in_the_units_of_the_table(fitted):
    frame, model = fitted
    if isinstance(frame, pd.DataFrame):
        scaled = frame.assign(r=frame["r"] * 10)
    else:
        scaled = frame.with_columns(pl.col("r") * 10)
    other = clone(model).fit(scaled)
    seen = ~blanks(frame, "r")
    np.testing.assert_allclose(
        other.score_samples(scaled), model.score_samples(frame) - np.log(10) * seen, rtol=0, atol=1e-6
    )


def test_complete_fills_what_was_blank_and_nothing_else(fitted):
    frame, model = fitted
    full = model.complete(frame)
    assert type(full) is type(frame)
    assert list(full.columns) == list(frame.columns)
    assert not any(blanks(full, name).any() for name in full.columns)
    if isinstance(frame, pd.DataFrame):
        assert (full.index == frame.index).all()
        assert full["o"].dtype == frame["o"].dtype
    else:
        assert full["o"].dtype == frame["o"].dtype
        assert full["two"].dtype == frame["two"].dtype
    probabilities = model.category_probabilities(frame)
    assert set(probabilities) == {"n", "o", "two"}
    for name, p in probabilities.items():
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        best = np.array(model.categories_[name], object)[p.argmax(axis=1)]
        assert (np.asarray(full[name], object) == best).all()
        known = ~blanks(frame, name)
        assert (np.asarray(frame[name], object)[known] == best[known]).all()
        assert (p[~known].max(axis=1) < 1.0).all()
    r, known = np.asarray(full["r"], float), ~blanks(frame, "r")
    assert np.array_equal(r[known], np.asarray(frame["r"], float)[known])
    b = np.asarray(full["b"], float)
    assert ((b[blanks(frame, "b")] > 0) & (b[blanks(frame, "b")] < 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_completion_beats_the_margins(seed):
    """Cells hidden from the fit: real ones closer than the mean, categories more often right than the commonest."""
    frame, _ = make(pd, n=800, seed=seed, missing=0.0)
    rng = np.random.default_rng(seed)
    holed = frame.copy()
    hidden = {name: rng.random(800) < 0.2 for name in frame.columns}
    for name, where in hidden.items():
        holed.loc[where, name] = pd.NA if name == "b" else None if name in ("n", "two", "o") else np.nan
    model = LogisticPCA(2, random_state=0).fit(holed)
    full = model.complete(holed)
    for name in ("r", "s"):
        where = hidden[name]
        error = np.mean((full[name][where] - frame[name][where]) ** 2)
        assert error < 0.8 * np.var(frame[name][where])
    for name in ("n", "o", "two"):
        where = hidden[name]
        right = np.mean(full[name].astype(object)[where] == frame[name].astype(object)[where])
        assert right > frame[name].value_counts(normalize=True).max() + 0.05
        p = model.category_probabilities(holed)[name][where]
        truth = [model.categories_[name].index(value) for value in frame[name][where]]
        log_loss = -np.log(p[np.arange(len(p)), truth]).mean()
        shares = frame[name].value_counts(normalize=True)
        assert log_loss < -(shares * np.log(shares)).sum()


def test_sample_has_the_types_of_the_fit(fitted):
    frame, model = fitted
    drawn = model.sample(5000, random_state=0)
    assert type(drawn) is type(frame)
    assert list(drawn.columns) == list(frame.columns)
    if isinstance(frame, pd.DataFrame):
        assert drawn["o"].dtype == frame["o"].dtype
        assert drawn["b"].dtype == bool
    else:
        assert drawn.schema == frame.schema
    r = np.asarray(frame["r"], float)
    assert np.asarray(drawn["r"]).mean() == pytest.approx(np.nanmean(r), abs=1.5)
    shares = [np.mean(np.asarray(drawn["n"], object) == c) for c in "uvw"]
    truth = [np.mean(np.asarray(frame["n"], object)[~blanks(frame, "n")] == c) for c in "uvw"]
    np.testing.assert_allclose(shares, truth, atol=0.08)
    assert np.isfinite(model.score_samples(drawn)).all()
    same = model.sample(5, random_state=3)
    assert same.equals(model.sample(5, random_state=3))


def test_inverse_transform_gives_means_and_probabilities(fitted):
    frame, model = fitted
    back = model.inverse_transform(model.transform(frame))
    assert list(back.columns) == ["b", "r", "s", "n=u", "n=v", "n=w", "o=low", "o=mid", "o=top", "two=no", "two=yes"]
    np.testing.assert_allclose(sum(np.asarray(back[f"o={c}"]) for c in ("low", "mid", "top")), 1.0, atol=1e-12)
    at = model.activation_names_.index("r")
    expected = model.transform(frame) @ model.components_[:, at] + model.intercepts_[at]
    np.testing.assert_allclose(np.asarray(back["r"]), expected, rtol=1e-10)


def test_saved_and_loaded(fitted, tmp_path):
    frame, model = fitted
    model.save(tmp_path / "model.hb")
    back = hiddenbits.load(tmp_path / "model.hb")
    assert np.array_equal(back.transform(frame), model.transform(frame))
    assert back.categories_ == model.categories_
    assert back.sample(4, random_state=1).equals(model.sample(4, random_state=1))
    assert back.complete(frame).equals(model.complete(frame))


def test_damaged_kinds_are_refused(fitted, tmp_path):
    from hiddenbits.store import read, write

    _, model = fitted
    model.save(tmp_path / "model.hb")
    stored = read(tmp_path / "model.hb")
    good = stored.meta["kinds"]
    columns = good["columns"]
    for kinds in (
        None,
        {**good, "frame": 3},
        {**good, "columns": columns[:-1]},
        {**good, "columns": columns[::-1]},
        {**good, "columns": [*columns[:3], ["n", "nominal", "text", ["u", "v"]], *columns[4:]]},
        {**good, "columns": [[name, "binary", "bool", []] for name, *_ in columns]},
    ):
        write(tmp_path / "bad.hb", "LogisticPCA", {**stored.meta, "kinds": kinds}, stored.arrays)
        with pytest.raises(StoreError):
            hiddenbits.load(tmp_path / "bad.hb")
    meta = {name: value for name, value in stored.meta.items() if name != "kinds"}
    write(tmp_path / "bad.hb", "LogisticPCA", meta, stored.arrays)
    with pytest.raises(StoreError):
        hiddenbits.load(tmp_path / "bad.hb")


def test_columns_and_categories_must_be_those_of_the_fit(fitted):
    frame, model = fitted
    fewer = frame[["b", "r", "s", "n", "o"]]
    with pytest.raises(ValueError, match="two"):
        model.transform(fewer)
    strange = frame.assign(n="x") if isinstance(frame, pd.DataFrame) else frame.with_columns(n=pl.lit("x"))
    with pytest.raises(TableError, match=r"row 0, column 3 \('n'\): 'x' is not among the categories of the fit"):
        model.transform(strange)
    with pytest.raises(TableError, match="bits"):
        model.transform(open_table(np.eye(6)))
    with pytest.raises(ValueError, match="bit_probabilities needs a table of bits"):
        model.bit_probabilities(frame)


@pytest.mark.filterwarnings("ignore::hiddenbits.UnrecordedColumnsWarning")
def test_what_cannot_be_is_refused():
    frame, _ = make(pd)
    with pytest.raises(ValueError, match="method='quadrature' is for tables of bits"):
        LogisticPCA(1, method="quadrature").fit(frame)
    with pytest.raises(ValueError, match="Give one of the two"):
        LogisticPCA(1, threshold=0.0, kinds={"r": "real"}).fit(frame)
    with pytest.raises(TableError, match="blank"):
        LogisticPCA(1, kinds="real").fit(np.array([[nan := np.nan, 1.0], [nan, 2.0]]))
    with pytest.raises(TableError, match="LogisticPCA"):
        BernoulliMixture(2).fit(open_mixed(frame))
    with pytest.raises(TableError, match="need a decision"):
        BernoulliMixture(2).fit(frame)
    with pytest.raises(TableError, match="inf"):
        LogisticPCA(1).fit(frame.assign(r=np.inf))


def test_bits_go_the_way_of_bits():
    X = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(float)
    X[0, 0] = np.nan
    plain = LogisticPCA(1, random_state=0).fit(X)
    framed = LogisticPCA(1, random_state=0).fit(pd.DataFrame(X, columns=list("abcde")))
    assert np.array_equal(plain.components_, framed.components_)
    assert framed.kinds_ is None
    again = LogisticPCA(1, random_state=0).fit(make(pd)[0]).fit(X)  # a fit forgets the last one
    assert np.array_equal(plain.components_, again.components_)
    with pytest.raises(ValueError, match="no categories"):
        plain.category_probabilities(X)


def test_real_arrays_are_probabilistic_pca():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2)) @ rng.standard_normal((2, 6)) + 0.5 * rng.standard_normal((500, 6)) + 3
    model = LogisticPCA(2, kinds="real", noise="shared", ridge=0.0, tol=1e-13, random_state=0).fit(X)
    peer = PCA(2).fit(X)
    assert model.likelihood_ == "exact"
    assert model.score(X) == pytest.approx(peer.score(X), abs=1e-4)  # scikit-learn divides by n - 1
    assert model.score(X) > peer.score(X)
    cosines = np.linalg.svd(np.linalg.qr(model.components_.T)[0].T @ peer.components_.T)[1]
    np.testing.assert_allclose(cosines, 1.0, rtol=0, atol=1e-10)
    assert model.sample(3).shape == (3, 6)
    assert model.inverse_transform(model.transform(X)).shape == (500, 6)


def test_online_and_weights():
    frame, _ = make(pd, n=600)
    full = LogisticPCA(2, random_state=0, tol=1e-4).fit(frame)
    online = LogisticPCA(2, random_state=0)
    for _ in range(4):
        online.partial_fit(frame)
    assert online.score(frame) > full.score(frame) - 0.6
    before = full.components_.copy()
    full.partial_fit(frame.iloc[:100])
    assert 1e-6 < np.abs((full.components_ - before) / (1 + np.abs(before))).max() < 0.5
    counts = np.random.default_rng(0).integers(0, 3, 600)
    weighted = LogisticPCA(2, random_state=0, tol=1e-7).fit(frame, sample_weight=counts)
    repeated = LogisticPCA(2, random_state=0, tol=1e-7).fit(frame.loc[frame.index.repeat(counts)])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-5, atol=1e-5)


def test_checkpoint_threads_and_written_results(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    frame, _ = make(pd)
    plain = LogisticPCA(2, random_state=0, tol=1e-4).fit(frame)
    with hiddenbits.run_on(n_jobs=2, checkpoint=tmp_path / "fit.hb"):
        other = clone(plain).fit(frame)
    assert np.array_equal(plain.components_, other.components_)
    with hiddenbits.run_on(checkpoint=tmp_path / "fit.hb"):
        resumed = clone(plain).fit(frame)
    assert np.array_equal(plain.components_, resumed.components_)
    folder = plain.write("transform", frame, tmp_path / "codes.parquet")
    written = np.column_stack([column.to_numpy() for column in pq.read_table(folder).columns])
    np.testing.assert_allclose(written, plain.transform(frame), rtol=0, atol=1e-12)


@pytest.mark.parametrize("legs", ["real", "ordered", "nominal"])
def test_zoo(real_data, legs):
    """Animals: 15 yes/no columns, the number of legs, and the class: the map knows the class of hidden animals."""
    frame = pd.read_csv(real_data / "tables" / "zoo.csv")
    with pytest.warns(ColumnsCodedWarning, match=r"Kinds of columns were guessed\. ordered: 'legs'"):
        assert open_table(frame, kinds="auto").layout.columns[list(frame.columns).index("legs")].kind == "ordered"
    hidden = np.arange(len(frame)) % 5 == 0
    holed = frame.copy()
    holed.loc[hidden, "type"] = None
    model = LogisticPCA(2, kinds={"legs": legs}, random_state=0).fit(holed)
    assert model.converged_
    assert (model.bound_samples(frame) <= model.score_samples(frame) + 1e-8).all()
    right = model.complete(holed)["type"][hidden] == frame["type"][hidden]
    assert right.mean() > 0.75  # the commonest class is 41%
    two = model.transform(frame)
    mammals, birds = (two[frame["type"] == name].mean(axis=0) for name in ("mammal", "bird"))
    assert np.linalg.norm(mammals - birds) > 1.0

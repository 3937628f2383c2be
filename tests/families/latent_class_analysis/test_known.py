"""Known classes of some rows, parameters to start with, and fixed parameters, against EM in twenty lines."""

import csv
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, TreeMixture, inference, load, open_table
from hiddenbits.data.bits import AllOnes, Complement, Dense, Packed, Pattern, pattern_of, with_columns
from hiddenbits.exceptions import CheckpointError, FileError
from hiddenbits.families._base.persistence import file_content, restored
from hiddenbits.store import write

pytestmark = pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.RecodedColumnsWarning")
pd = pytest.importorskip("pandas")
LEVELS = (2, 2, 2, 3, 4)  # the first three columns are binary
TO_MAXIMUM = {"tol": 1e-13, "max_iter": 5000}


def rows_of(n=300, seed=0, missing=0.1):
    """Codes of rows, -1 if missing, from three classes, and these classes."""
    rng = np.random.default_rng(seed)
    h = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    p = [rng.dirichlet(np.full(size, 0.7), 3) for size in LEVELS]
    codes = np.column_stack([[rng.choice(size, p=q[k]) for k in h] for size, q in zip(LEVELS, p, strict=True)])
    return np.where(rng.random(codes.shape) < missing, -1, codes), h


def frame_of(codes):
    values = np.where(codes < 0, np.nan, codes)
    return pd.DataFrame({f"q{j}": values[:, j] for j in range(codes.shape[1])})


def em(codes, pi, p, *, s=0.0, m=None, known=None, fixed=None, weights=None, n_iter=200):
    """EM with a list of (levels, classes) for each column: the definition. Return shares, probabilities, objective."""
    m = [np.zeros(len(q)) for q in p] if m is None else m
    known = np.full(len(codes), -1) if known is None else known
    weights = np.ones(len(codes)) if weights is None else weights
    fixed = [np.zeros(q.shape, bool) for q in p] if fixed is None else fixed
    for _ in range(n_iter):
        with np.errstate(divide="ignore"):
            scores = np.log(pi) + sum(
                np.where(codes[:, j, None] < 0, 0.0, np.log(q)[codes[:, j]]) for j, q in enumerate(p)
            )
        scores[known >= 0] = np.where(np.eye(len(pi)) == 1, scores[known >= 0][:, None], -np.inf)[
            np.arange((known >= 0).sum()), known[known >= 0]
        ]
        log_p = np.logaddexp.reduce(scores, axis=1)
        r = weights[:, None] * np.exp(scores - log_p[:, None])
        free = [
            s * (center[:, None] * np.log(np.maximum(q, 1e-300)))[~f].sum()
            for q, center, f in zip(p, m, fixed, strict=True)
        ]
        objective = weights @ log_p + sum(free)
        pi = r.sum(axis=0) / weights.sum()
        for j, q in enumerate(p):
            counts = np.array([r[codes[:, j] == level].sum(axis=0) for level in range(len(q))]) + s * m[j][:, None]
            p[j] = np.where(fixed[j], q, counts / counts.sum(axis=0))
    return pi, p, objective


def as_levels(model, values):
    """The numbers of a (bits, ...) array as one array for each column, both values of binary columns included."""
    ends = np.cumsum([1, 1, 1, *LEVELS[3:]])
    parts = np.split(values, ends[:-1])
    return [np.concatenate([1.0 - part, part]) if j < 3 else part for j, part in enumerate(parts)]


def estimator(**settings):
    types = {f"q{j}": "binary" if j < 3 else "nominal" for j in range(len(LEVELS))}
    return LatentClassAnalysis(3, column_types=types, random_state=0, **{**TO_MAXIMUM, **settings})


def agrees_with_em(model, codes, *, p=None, **settings):
    """The fit is the end of plain EM that begins at it, and so a maximum of the same objective."""
    m = as_levels(model, model._params.prior_mean)
    start = [part.copy() for part in (as_levels(model, model._params.probabilities) if p is None else p)]
    pi, p, objective = em(codes, model.weights_, start, s=model.prior_strength, m=m, **settings)
    np.testing.assert_allclose(model.weights_, pi, atol=1e-5)
    for ours, theirs in zip(as_levels(model, model._params.probabilities), p, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)  # tol=1e-13 leaves about the root of 1e-10 nats
    assert model.trace_[-1] == pytest.approx(objective, abs=1e-6)


# ------------------------------------------------------------------------------------------------- known classes


@pytest.mark.parametrize("s", [0.0, 1.0, 7.0])
@pytest.mark.parametrize("n", [60, 300])
def test_all_classes_known_is_a_mean_in_each_class(n, s):
    """Every row counts in its class alone, however improbable: only a row of weight 0 has no class."""
    codes, h = rows_of(n)
    wide = np.repeat(codes[:, :3], 40, axis=1)  # 120 columns: a likelihood of e^100 does not change a known class
    h = np.random.default_rng(1).permutation(h)  # classes that do not fit to the rows
    weights, y = np.random.default_rng(2).uniform(0.5, 2.0, n), h.astype(float)
    y[0], weights[0] = np.nan, 0.0
    X = np.where(wide < 0, np.nan, wide)
    model = LatentClassAnalysis(3, prior_strength=s, random_state=0).fit(X, y, sample_weight=weights)
    member = (h[:, None] == np.arange(3)) * weights[:, None]
    np.testing.assert_allclose(model.weights_, member.sum(axis=0) / weights.sum(), rtol=1e-12)
    m = model._params.prior_mean
    ones, cells = member.T @ (wide == 1), member.T @ (wide >= 0)
    np.testing.assert_allclose(model.probabilities_, (ones + s * m) / (cells + s), atol=1e-11)
    theta, pi = model.probabilities_[h], model.weights_[h]
    log_p = np.log(pi) + np.where(wide < 0, 0.0, np.log(np.where(wide == 1, theta, 1 - theta))).sum(axis=1)
    prior = s * (m * np.log(model.probabilities_) + (1 - m) * np.log1p(-model.probabilities_)).sum() if s else 0.0
    assert model.trace_[-1] == pytest.approx(weights @ log_p + prior, rel=1e-9)


@pytest.mark.parametrize("s", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_part_of_the_classes_known(s, seed):
    codes, h = rows_of(seed=seed)
    known = np.where(np.random.default_rng(seed + 100).random(len(h)) < 0.2, (h + 1) % 3, -1)  # the largest class is 1
    model = estimator(prior_strength=s).fit(frame_of(codes), known)
    agrees_with_em(model, codes, known=known)
    unknown = estimator(prior_strength=s).fit(frame_of(codes))
    assert model.n_parameters_ == unknown.n_parameters_
    assert model.level_names_ == unknown.level_names_
    assert model._params.flaw() is None
    assert model._model().mismatch(model._params) is None
    for missing in (np.where(known < 0, np.nan, known), [None if k < 0 else int(k) for k in known], pd.Series(known)):
        again = estimator(prior_strength=s).fit(frame_of(codes), missing)
        assert np.array_equal(again.probabilities_, model.probabilities_)
    assert np.array_equal(
        estimator(prior_strength=s).fit_predict(frame_of(codes), known), model.predict(frame_of(codes))
    )


@pytest.mark.parametrize("restart", [1, 4])
def test_one_known_row_decides_the_order(restart):
    X = np.repeat([[1, 1, 1, 1, 0], [0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], [50, 30, 20], axis=0)
    for row, number in ((0, 2), (60, 0), (99, 1)):
        y = np.full(100, np.nan)
        y[row] = number
        model = LatentClassAnalysis(3, n_init=restart, random_state=0).fit(X, y)
        assert model.predict(X[[row]])[0] == number
        assert model.weights_[number] == pytest.approx({0: 0.5, 60: 0.3, 99: 0.2}[row], abs=0.05)


def forms_of(X, folder):
    yield "array", X
    yield "sparse", sparse.csr_array(X)
    yield "packed", open_table(np.packbits(X, axis=1), packed=True, n_columns=X.shape[1])
    np.save(folder / "x.npy", X)
    yield "npy", folder / "x.npy"
    pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).to_csv(folder / "x.csv", index=False)
    yield "csv", folder / "x.csv"
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), folder / "x.parquet", row_group_size=70)
    yield "parquet", open_table(folder / "x.parquet", part_bytes=500)


def test_the_same_fit_in_every_storage(tmp_path):
    rng = np.random.default_rng(0)
    h = rng.integers(0, 3, 400)
    X = (rng.random((400, 11)) < rng.uniform(0.1, 0.9, (3, 11))[h]).astype(np.uint8)
    y = np.where(rng.random(400) < 0.1, h, -1)
    wanted = LatentClassAnalysis(3, random_state=0).fit(X, y)
    on_disk = 0
    for name, table in forms_of(X, tmp_path):
        with hiddenbits.run_on(n_jobs=2):
            model = LatentClassAnalysis(3, random_state=0).fit(table, y)
        np.testing.assert_allclose(model.probabilities_, wanted.probabilities_, rtol=1e-9, err_msg=name)
        on_disk += isinstance(table, hiddenbits.data.Table) and not table.source.resident
    assert on_disk


@pytest.mark.parametrize("offset", [0, 3, 8])
def test_columns_are_added_to_bits_of_every_storage(offset):
    rng = np.random.default_rng(offset)
    x, added = rng.integers(0, 2, (9, 8 + offset), dtype=np.uint8), rng.integers(0, 2, (9, 3), dtype=np.uint8)
    wanted = np.hstack([x, added])
    storages = [Dense(x), Packed(np.packbits(x, axis=1), x.shape[1]), Pattern(*pattern_of(x), x.shape[1])]
    for bits in [*storages, *(Complement(one) for one in storages)]:
        truth = wanted if not isinstance(bits, Complement) else np.hstack([1 - x, added])
        both = with_columns(bits, added)
        assert type(both) is type(bits)
        assert np.array_equal(both.to_dense(), truth)
        assert np.array_equal(both.rows(2, 5).operand() @ np.eye(truth.shape[1]), truth[2:5])
    assert np.array_equal(with_columns(AllOnes(x.shape), added).to_dense(), np.hstack([np.ones_like(x), added]))


@pytest.mark.parametrize("n_known", [12, 6000])
def test_known_rows_of_a_long_table(n_known):
    """They decide the order of the classes, also if the fit begins on a subsample: it has some of each class."""
    rng = np.random.default_rng(0)
    h = rng.choice(3, 40_000, p=[0.5, 0.3, 0.2])
    X = (rng.random((40_000, 24)) < rng.uniform(0.2, 0.8, (3, 24))[h]).astype(np.uint8)
    y = np.full(40_000, -1)
    for k in range(3):
        y[np.flatnonzero(h[:n_known] == k)] = 2 - k
    model = LatentClassAnalysis(3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.weights_, [0.2, 0.3, 0.5], atol=0.02)  # errors of shares are below .005
    assert any(end.reason == "behind_on_subsample" for end in model.restarts_) == (n_known == 6000)


def test_a_target_is_ignored():
    """As in all of scikit-learn's estimators without a target: pipelines pass it to every step."""
    codes, h = rows_of(missing=0.0)
    X, plain = codes[:, :3], LatentClassAnalysis(2, random_state=0).fit(codes[:, :3])
    for y in (h, h == 1, h.astype(str), h + 0.5, np.eye(3)[h], [["a"]] * 3):
        assert np.array_equal(LatentClassAnalysis(2, random_state=0).fit(X, y).probabilities_, plain.probabilities_)
    make_pipeline(LatentClassAnalysis(2, random_state=0), LogisticRegression()).fit(X, h)
    some = np.where(h == 0, -1, 0)
    trees = TreeMixture(2, random_state=0)
    assert np.array_equal(trees.fit(X, some).probabilities_, clone(trees).fit(X).probabilities_)
    one = LatentClassAnalysis(1).fit(X, some)
    assert np.array_equal(one.probabilities_, LatentClassAnalysis(1).fit(X).probabilities_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, 2, 0], r"y has the value 2.* from 0 to 1"),
        ([None, "a", 0], r"y has the value 'a'"),
        ([np.nan, 0.5, 0], r"y has the value 0.5"),
        ([-2, -1, 0], r"y has the value -2"),
        ([-1, 0], r"y has 2 values, but the table has 3 rows"),
        ([-1, 1, 1], r"only -1 and 1"),
    ],
)
def test_a_bad_y_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        LatentClassAnalysis(2).fit(np.eye(3), y)


def test_online_passes_and_batches_after_known_classes():
    codes, h = rows_of(2000)
    y = np.where(np.arange(2000) < 200, (h + 1) % 3, -1)
    model = estimator(online_passes=2, tol=1e-9).fit(frame_of(codes), y)
    np.testing.assert_allclose(model.trace_[-1], estimator(tol=1e-9).fit(frame_of(codes), y).trace_[-1], rtol=1e-6)
    before = model.probabilities_
    model.partial_fit(frame_of(codes))
    np.testing.assert_allclose(model.probabilities_, before, atol=0.1)  # the same rows again


def test_what_would_forget_the_known_classes_is_refused(tmp_path):
    codes, h = rows_of()
    model = estimator().fit(frame_of(codes), np.where(h == 0, 0, -1))
    model.save(tmp_path / "m.hb")
    for fitted in (model, load(tmp_path / "m.hb")):
        with pytest.raises(ValueError, match="known classes"):
            inference.bootstrap(fitted, frame_of(codes), n_replicates=2)
    assert not hasattr(clone(model), "weights_")
    assert model.fit(frame_of(codes))._refit(frame_of(codes)).converged_


def test_checkpoint_with_known_classes(tmp_path):
    codes, h = rows_of()
    y = np.where(h == 1, 0, -1)
    whole = estimator(n_init=2).fit(frame_of(codes), y)
    stopped = estimator(n_init=2, max_iter=7)
    with pytest.warns(UserWarning, match="did not converge"):
        stopped.fit(frame_of(codes), y)
    for _ in range(2):
        with hiddenbits.run_on(checkpoint=tmp_path / "c.hb"):
            assert np.array_equal(estimator(n_init=2).fit(frame_of(codes), y).probabilities_, whole.probabilities_)
    with hiddenbits.run_on(checkpoint=tmp_path / "c.hb"), pytest.raises(CheckpointError):
        estimator(n_init=2).fit(frame_of(codes), np.where(h == 2, 0, -1))


# ------------------------------------------------------------------------------------------ parameters to start with


def tables_of(model):
    return model.summary().tables


@pytest.mark.parametrize("library", ["pandas", "polars", "dict"])
def test_a_fit_restarted_at_its_end_stays(library):
    codes, _ = rows_of()
    X, model = frame_of(codes), estimator(prior_strength=1.0).fit(frame_of(codes))
    order = [2, 0, 1]  # the classes keep the order of the start
    tables = {name: table.copy() for name, table in tables_of(model).items()}
    names = model.get_feature_names_out()
    tables["profiles"][list(names)] = tables["profiles"][[names[k] for k in order]].to_numpy()
    tables["classes"]["share"] = model.weights_[order]
    if library == "polars":
        tables = {name: pytest.importorskip("polars").from_pandas(table) for name, table in tables.items()}
    elif library == "dict":
        tables = {name: table.sample(frac=1.0, random_state=0).to_dict("list") for name, table in tables.items()}
    again = estimator(start=tables, tol=1e-9).fit(X)
    assert again.n_iter_ <= 2
    assert len(again.restarts_) == 1
    np.testing.assert_allclose(again.probabilities_, model.probabilities_[order], atol=1e-6)
    np.testing.assert_allclose(again.weights_, model.weights_[order], atol=1e-6)
    from_model = estimator(start=model, tol=1e-9).fit(X)
    np.testing.assert_allclose(from_model.probabilities_, model.probabilities_, atol=1e-6)
    assert from_model.n_iter_ <= 2


def test_plain_em_from_the_same_start():
    """One restart, which ends where EM ends, and not where another start would."""
    codes, _ = rows_of(seed=3)
    rng = np.random.default_rng(0)
    profiles = tables_of(estimator().fit(frame_of(codes)))["profiles"]
    p = [rng.dirichlet(np.ones(size), 3).T for size in LEVELS]
    profiles[["class_1", "class_2", "class_3"]] = np.concatenate([q[1:] if j < 3 else q for j, q in enumerate(p)])
    model = estimator(prior_strength=0.0, start={"profiles": profiles}).fit(frame_of(codes))
    assert len(model.restarts_) == 1
    pi, p, objective = em(codes, np.full(3, 1 / 3), p, n_iter=3000)
    assert model.trace_[-1] == pytest.approx(objective, abs=1e-6)
    np.testing.assert_allclose(model.weights_, pi, atol=1e-5)
    for ours, theirs in zip(as_levels(model, model._params.probabilities), p, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_start_at_the_figures_of_polca(real_data):
    """Its printed estimates as a start (`probs.start`) lead to its log-likelihood, in its order of classes."""
    with (real_data / "reference" / "gss82_lca3_poLCA.csv").open() as file:
        theirs = {line["what"]: float(line["estimate"]) for line in csv.DictReader(file) if line["estimate"] != "NA"}
    table = open_table(real_data / "survey" / "gss82.csv", column_types="nominal")
    settings = {"prior_strength": 0, "tol": 1e-10, "random_state": 0}
    profiles = tables_of(LatentClassAnalysis(3, **settings).fit(table))["profiles"]
    classes = [f"class_{k}" for k in (1, 2, 3)]
    for k, name in enumerate(classes, start=1):
        lines = zip(profiles["column"], profiles["level"], strict=True)
        profiles[name] = [round(theirs[f"P({column}={level}|{k})"], 2) for column, level in lines]
    model = LatentClassAnalysis(3, start={"profiles": profiles}, **settings).fit(table)
    assert model.trace_[-1] == pytest.approx(theirs["loglik"], abs=1e-3)
    np.testing.assert_allclose(model.weights_, [theirs[f"share[{k}]"] for k in (1, 2, 3)], atol=1e-3)


def test_clone_save_repr_and_partial_fit(tmp_path):
    codes, _ = rows_of()
    X, model = frame_of(codes), estimator(max_iter=50, tol=1e-6).fit(frame_of(codes))
    begun = clone(estimator(start=model, fixed={"classes": tables_of(model)["classes"]}, tol=1e-6))
    assert begun.start is model
    assert begun.get_params()["fixed"] is begun.fixed
    fitted = clone(begun).fit(X)
    assert "start=LatentClassAnalysis" in repr(fitted)
    assert fitted._repr_html_()
    fitted.save(tmp_path / "m.hb")
    again = load(tmp_path / "m.hb")
    assert again.start is again.fixed is None
    assert again.n_parameters_ == fitted.n_parameters_ == model.n_parameters_ - 2
    assert np.array_equal(again.probabilities_, fitted.probabilities_)
    again.partial_fit(X)
    np.testing.assert_allclose(again.weights_, model.weights_, atol=1e-12)
    assert not np.array_equal(again.probabilities_, fitted.probabilities_)
    first = clone(begun).partial_fit(X)
    np.testing.assert_allclose(first.weights_, model.weights_, atol=1e-12)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    with hiddenbits.run_on(checkpoint=tmp_path / "c.hb"):
        assert np.array_equal(clone(begun).fit(X).probabilities_, fitted.probabilities_)
    other = clone(begun).set_params(
        fixed={"classes": {"class": ["class_1", "class_2", "class_3"], "share": [0.4, 0.3, 0.3]}}
    )
    with hiddenbits.run_on(checkpoint=tmp_path / "c.hb"), pytest.raises(CheckpointError, match="hyperparameters"):
        other.fit(X)


@pytest.mark.parametrize(
    "damaged",
    [
        {"fixed": {"probabilities": [[9, 3], "ff"]}},
        {"fixed": {"probabilities": [[8, 3], "ffffff"]}},
        {"fixed": {"probabilities": [[2**40, 2**40], "ffffff"]}},
        {"fixed": {"shares": [[3], "e0"]}},
        {"fixed": {"weights": "e0"}},
        {"fixes": {}},
    ],
)
def test_damaged_files_are_refused(damaged, tmp_path):
    codes, _ = rows_of()
    model = estimator(fixed=FIXED_Q1, tol=1e-6).fit(frame_of(codes))
    meta, arrays = file_content(model)
    assert restored("LatentClassAnalysis", meta, arrays).n_parameters_ == model.n_parameters_
    write(tmp_path / "m.hb", "LatentClassAnalysis", {**meta, **damaged}, arrays)
    with pytest.raises(FileError):
        load(tmp_path / "m.hb")


# --------------------------------------------------------------------------------------------------- fixed parameters

FIXED_Q1 = {"profiles": {"column": ["q1"], "level": ["1"], "class_2": [0.05]}}
FIXED_Q3 = {"column": ["q3"] * 3, "level": ["0", "1", "2"], "class_1": [0.1, 0.2, 0.7], "class_3": [0.0, 0.5, 0.5]}


@pytest.mark.parametrize("s", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_fixed_parameters_stay_and_the_others_are_at_the_maximum(s, seed):
    codes, _ = rows_of(seed=seed)
    shares = {"class": ["class_1", "class_2", "class_3"], "share": [0.2, 0.5, 0.3]}
    q1 = {**FIXED_Q3, "class_2": [np.nan] * 3}
    for name in q1:
        q1[name] = [*q1[name], {"column": "q1", "level": "1", "class_2": 0.05}.get(name)]
    model = estimator(prior_strength=s, fixed={"profiles": q1}).fit(frame_of(codes))
    fixed = [np.zeros((size, 3), bool) for size in LEVELS]
    fixed[1][:, 1] = fixed[3][:, [0, 2]] = True
    p = as_levels(model, model._params.probabilities)
    np.testing.assert_allclose(p[1][1, 1], 0.05, rtol=1e-12)
    np.testing.assert_allclose(p[3][:, 0], [0.1, 0.2, 0.7], rtol=1e-9)
    np.testing.assert_allclose(p[3][:, 2], [0.0, 0.5, 0.5], atol=1e-11)
    agrees_with_em(model, codes, fixed=fixed)
    free = estimator(prior_strength=s).fit(frame_of(codes))
    assert model.n_parameters_ == free.n_parameters_ - 1 - 2 * 2
    if s == 0.0:
        assert model.trace_[-1] < free.trace_[-1]
        assert model.bic(frame_of(codes)) == pytest.approx(-2 * model.trace_[-1] + model.n_parameters_ * np.log(300))
    held = estimator(prior_strength=s, fixed={"profiles": q1, "classes": shares}).fit(frame_of(codes))
    np.testing.assert_allclose(held.weights_, [0.2, 0.5, 0.3], rtol=1e-12)
    assert held.n_parameters_ == model.n_parameters_ - 2
    assert held.trace_[-1] < model.trace_[-1]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("of_truth", range(3))
def test_one_start_places_its_classes_by_what_is_fixed(number, of_truth):
    """Three classes of disjoint columns: a fixed probability leads its class to where it fits."""
    rng = np.random.default_rng(0)
    h, theta = rng.choice(3, 600, p=[0.5, 0.3, 0.2]), np.kron(np.eye(3), np.ones(4)) * 0.8 + 0.1
    X = (rng.random((600, 12)) < theta[h]).astype(int)
    profiles = {"column": [f"x{4 * of_truth}"], f"class_{number + 1}": [0.9]}
    model = LatentClassAnalysis(3, n_init=1, fixed={"profiles": profiles}, random_state=0).fit(X)
    assert model.weights_[number] == pytest.approx((h == of_truth).mean(), abs=0.02)
    assert np.sort(model.weights_) == pytest.approx(np.sort(np.bincount(h) / 600), abs=0.02)


def test_all_parameters_fixed():
    codes, _ = rows_of()
    model = estimator().fit(frame_of(codes))
    same = estimator(fixed=model).fit(frame_of(codes[:100]))
    assert same.n_parameters_ == 0
    assert np.array_equal(same.probabilities_, model.probabilities_)
    assert np.array_equal(same.weights_, model.weights_)
    assert same.score(frame_of(codes[:100])) * 100 == pytest.approx(same.trace_[-1])  # fixed parameters have no prior


def test_fixed_and_known_together():
    codes, h = rows_of()
    known = np.where(np.arange(300) < 50, h, -1)
    model = estimator(prior_strength=1.0, fixed=FIXED_Q1).fit(frame_of(codes), known)
    fixed = [np.zeros((size, 3), bool) for size in LEVELS]
    fixed[1][:, 1] = True
    agrees_with_em(model, codes, fixed=fixed, known=known)
    assert model.probabilities_[1, 1] == pytest.approx(0.05)
    begun = estimator(prior_strength=1.0, fixed=FIXED_Q1, start=model).fit(frame_of(codes), known)
    assert begun.n_iter_ <= 3
    np.testing.assert_allclose(begun.probabilities_, model.probabilities_, atol=1e-6)


def test_standard_errors_leave_fixed_parameters_out():
    """Those of the others are the inverse of the curvature that finite differences give."""
    codes, _ = rows_of(600, seed=1)
    X = frame_of(codes)
    shares = {"class": ["class_1", "class_2"], "share": [0.6, 0.4]}
    types = {f"q{j}": "binary" if j < 3 else "nominal" for j in range(len(LEVELS))}
    model = LatentClassAnalysis(
        2,
        column_types=types,
        prior_strength=0,
        fixed={"profiles": FIXED_Q1["profiles"], "classes": shares},
        random_state=0,
        **TO_MAXIMUM,
    ).fit(X)
    free = model._free_parameters()
    assert len(free.vector) == model.n_parameters_

    np.testing.assert_allclose(model._with_vector(free.vector).probabilities_, model.probabilities_, rtol=1e-9)
    rng = np.random.default_rng(0)
    away = model._with_vector(free.vector + rng.normal(size=len(free.vector)))
    assert away.probabilities_[1, 1] == model.probabilities_[1, 1]
    for fitted in (model, away):  # at the maximum the gradient is 0
        vector = fitted._free_parameters().vector
        ends = [[fitted._with_vector(vector + sign * 1e-4 * unit) for sign in (1, -1)] for unit in np.eye(len(vector))]
        slopes = [(up.score(X) - down.score(X)) * len(X) / 2e-4 for up, down in ends]
        curvature = [(up._row_gradients(X) - down._row_gradients(X)).sum(axis=0) / 2e-4 for up, down in ends]
        np.testing.assert_allclose(fitted._row_gradients(X).sum(axis=0), slopes, atol=1e-4)
        np.testing.assert_allclose(fitted._observed_information(X), -np.array(curvature), atol=1e-3)
    errors = inference.standard_errors(model, X, robust=False)
    assert (errors.se["weights"] == 0.0).all()
    assert errors.se["probabilities"][1, 1] == 0.0
    assert errors.se["probabilities"][0, 1] > 0.0


def test_refits_keep_fixed_parameters():
    codes, _ = rows_of()
    model = estimator(fixed=FIXED_Q1, tol=1e-6).fit(frame_of(codes))
    refitted = model._refit(frame_of(codes[:150]))
    assert refitted.probabilities_[1, 1] == model.probabilities_[1, 1]
    assert not np.array_equal(refitted.probabilities_, model.probabilities_)
    replicates = inference.bootstrap(model, frame_of(codes), n_replicates=3, random_state=0)
    assert replicates.se["probabilities"][1, 1] == pytest.approx(0.0, abs=1e-12)
    free = model.set_params(fixed=None).fit(frame_of(codes))
    assert free.n_parameters_ == 3 * (3 + 2 + 3) + 2


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"profile": {}}, "'classes', 'profiles'"),
        ({}, "'classes', 'profiles'"),
        (IndependentColumns(), "fitted LatentClassAnalysis"),
        ({"profiles": {"column": ["q1"], "class_1": [0.5]}}, "table 'profiles': its columns are"),
        ({"profiles": {"column": ["q1"], "level": ["1"], "class_9": [0.5]}}, "its columns are"),
        ({"profiles": {"column": ["q9"], "level": ["1"], "class_1": [0.5]}}, "there is no 'q9' = '1'"),
        ({"profiles": {"column": ["q1"] * 2, "level": ["1"] * 2, "class_1": [0.5] * 2}}, "a line twice"),
        ({"profiles": {"column": ["q1"], "level": ["1"], "class_1": [1.5]}}, "1.5 is not a probability"),
        ({"profiles": {"column": ["q3"], "level": ["1"], "class_1": [0.5]}}, "'q3' in 'class_1' must add up to 1"),
        ({"profiles": {**FIXED_Q3, "class_1": [0.1, 0.1, 0.1]}}, "'q3' in 'class_1' must add up to 1"),
        ({"classes": {"class": ["class_1"], "share": [0.5]}}, "table 'classes': 'share' in 'share' must add up to 1"),
    ],
)
def test_bad_tables_are_refused(tables, message):
    codes, _ = rows_of()
    for option in ("start", "fixed"):
        with pytest.raises(ValueError, match=message):
            estimator(**{option: tables}).fit(frame_of(codes))


def test_a_start_is_complete_and_of_the_same_model():
    codes, _ = rows_of()
    with pytest.raises(ValueError, match=r"start= lacks probabilities of 'q0'"):
        estimator(start={"profiles": FIXED_Q3}).fit(frame_of(codes))
    two = LatentClassAnalysis(2, random_state=0).fit(codes[:, :3] > 0)
    with pytest.raises(ValueError, match="other classes or columns"):
        estimator(start=two).fit(frame_of(codes))
    with pytest.raises(ValueError, match="start"):
        estimator(start=3).fit(frame_of(codes))

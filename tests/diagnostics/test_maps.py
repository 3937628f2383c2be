"""Item fit, person fit, M2 and C2: against enumeration of all patterns, plain loops, and mirt."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from hiddenbits import ClippedPCA, ItemResponseModel, LatentClassAnalysis, LogisticPCA, diagnostics
from hiddenbits.diagnostics.item_fit import merged_cells
from hiddenbits.diagnostics.maps import score_distribution

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

HERE = Path(__file__).parent
SCIENCE = ["Comfort", "Work", "Future", "Benefit"]


def simulated(seed, n=400, d=5, q=1):
    rng = np.random.default_rng(seed)
    W, b = rng.uniform(0.6, 1.6, (d, q)), rng.uniform(-0.8, 0.8, d)
    W[::2, 1:] *= -1.0
    return (rng.random((n, d)) < 1 / (1 + np.exp(-(rng.standard_normal((n, q)) @ W.T + b)))).astype(int)


def with_levels(seed, n=600, d=5, n_levels=3, q=1, slope=1.5):
    """Graded answers; in two dimensions the first and the last columns, which have positions correlated by 1/2."""
    rng = np.random.default_rng([7, seed])
    z = rng.standard_normal((n, q)) @ np.linalg.cholesky(np.full((q, q), 0.5) + 0.5 * np.eye(q)).T
    latent = slope * z[:, np.arange(d) * q // d] + rng.logistic(size=(n, d)) + rng.uniform(-0.5, 0.5, d)
    return np.digitize(latent, np.linspace(-1.2, 1.2, n_levels - 1))


def trait(X, q=1, **settings):
    return ItemResponseModel(q, **{"tol": 1e-9, "max_iter": 10000, **settings}).fit(X)


def test_scores_are_those_of_enumeration():
    rng = np.random.default_rng(0)
    items = [rng.dirichlet(np.ones(n), 3) for n in (2, 4, 2, 3)]
    expected = np.zeros((3, 8))
    for levels in product(*(range(p.shape[1]) for p in items)):
        expected[:, sum(levels)] += np.prod([p[:, level] for p, level in zip(items, levels, strict=True)], axis=0)
    np.testing.assert_allclose(score_distribution(items), expected, rtol=1e-12)


@pytest.mark.parametrize("n_levels", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_s_x2_is_that_of_enumeration(seed, n_levels):
    """Shares of levels among patterns with the same score, from the likelihood of all patterns; then cells are merged.

    Of binary items no cell is merged.
    """
    X = with_levels(seed, 1500, n_levels=n_levels, slope=1.2)
    model = trait(X, column_types="auto" if n_levels == 2 else "ordinal")
    patterns = np.array(list(product(range(n_levels), repeat=5)))
    P, scores = np.exp(model.score_samples(patterns)), patterns.sum(axis=1)
    inner = range(1, 5 * (n_levels - 1))
    rows = np.array([(X.sum(axis=1) == s).sum() for s in inner])
    found = diagnostics.item_fit(model, X)
    for j in range(5):
        observed, expected = np.zeros((2, len(inner), n_levels))
        for row, s in enumerate(inner):
            for level in range(n_levels):
                observed[row, level] = (X[X.sum(axis=1) == s, j] == level).sum()
                share = P[(scores == s) & (patterns[:, j] == level)].sum() / P[scores == s].sum()
                expected[row, level] = rows[row] * share
        assert n_levels > 2 or expected.min() >= 1
        observed, expected = merged_cells(observed, expected)
        kept = expected > 0
        statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
        assert found["s_x2"][j] == pytest.approx(statistic, rel=1e-6)
        assert found["df"][j] == kept.sum() - len(expected) - n_levels  # a slope and thresholds


def test_merged_cells_by_hand():
    """Each rule once: impossible and empty scores, scores of one row, rare levels."""
    expected = np.array([[9, 1, 0], [8, 4, 2], [3, 0.5, 6.5], [0, 0, 0], [4, 5, 0.4], [0, 3, 7.0]])
    observed = np.array([[10, 0, 0], [6, 5, 3], [4, 0, 6], [0, 0, 0], [3, 6, 0.4], [0, 1, 9.0]])
    x, e = merged_cells(observed, expected)
    # The last score, at which level 0 is impossible, joins the one before; there no level is rare any more.
    np.testing.assert_allclose(e, [[17, 5, 2], [3.5, 6.5, 0], [4, 8, 7.4]])
    np.testing.assert_allclose(x, [[16, 5, 3], [4, 6, 0], [3, 7, 9.4]])
    x, e = merged_cells(
        np.array([[1.0, 0.0], [3, 2], [2, 2], [0, 1]]), np.array([[0.6, 0.4], [2, 3], [3, 1], [0.4, 0.6]])
    )
    np.testing.assert_allclose(e, [[2.6, 3.4], [3.4, 1.6]])
    np.testing.assert_allclose(x, [[4, 2], [2, 3]])


def by_enumeration(model, X, n_levels):
    """M2 or C2 as printed: covariance of the moments from all patterns, slopes by differences of the model."""
    d = X.shape[1]
    patterns = np.array(list(product(range(n_levels), repeat=d)))
    first, second = np.triu_indices(d, 1)

    def moments(x):
        margins = [(x == level).astype(float) for level in range(1, n_levels)]
        return np.concatenate([*margins, x[:, first] * x[:, second]], axis=1)

    def expected(fitted):
        return np.exp(fitted.score_samples(patterns)) @ moments(patterns)

    P, at, h = np.exp(model.score_samples(patterns)), model._free_parameters().vector, 1e-5
    A = moments(patterns)
    covariance = (A * P[:, None]).T @ A - np.outer(P @ A, P @ A)
    steps = [[expected(model._with_vector(at + sign * h * e)) for sign in (1, -1)] for e in np.eye(len(at))]
    slopes = np.stack([(up - down) / (2 * h) for up, down in steps], axis=1)
    back = np.linalg.inv(covariance)
    inner = back - back @ slopes @ np.linalg.pinv(slopes.T @ back @ slopes, rcond=1e-7) @ slopes.T @ back
    away = moments(X).mean(axis=0) - P @ A
    return len(X) * away @ inner @ away


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_m2_is_that_of_enumeration(q, seed):
    X = simulated(seed, 2000, 7, q)
    model = trait(X, q)
    assert np.abs(model.slopes_).max() < 10  # with a slope at its bound, some derivatives are 0
    found = diagnostics.m2_test(model, X)
    assert found.name == "M2"
    assert found.m2 == pytest.approx(by_enumeration(model, X, 2), rel=1e-4, abs=1e-6)
    assert found.df == 28 - (7 * (q + 1) - q * (q - 1) // 2)


KINDS = {
    "graded": ({}, 15),
    "partial_credit": ({"ordinal": "partial_credit"}, 15),
    "equal slopes": ({"slopes": "equal"}, 11),
    "correlated": ({"loadings_pattern": {"a": [0, 1, 2], "b": [3, 4]}, "correlated": True}, 16),
}


@pytest.mark.parametrize("kind", KINDS)
def test_c2_is_that_of_enumeration(kind):
    settings, n_parameters = KINDS[kind]
    X = with_levels(1, q=2 if kind == "correlated" else 1)
    model = trait(X, column_types="ordinal", **settings)
    found = diagnostics.m2_test(model, X)
    assert found.name == "C2"
    assert found.m2 == pytest.approx(by_enumeration(model, X, 3), rel=1e-4)
    assert found.df == 20 - n_parameters


@pytest.mark.slow
def test_a_true_model_has_uniform_p_values():
    """40 tables: the mean of their p has a standard error of .046, and that of 5 items each at most as much."""
    of_c2, of_items = [], []
    for seed in range(40):
        X = with_levels(100 + seed)
        model = trait(X, column_types="ordinal", tol=1e-7)
        of_c2.append(diagnostics.m2_test(model, X).p)
        of_items.append(diagnostics.item_fit(model, X)["p"])
    assert np.mean(of_c2) == pytest.approx(0.5, abs=0.14)
    assert np.mean(of_items) == pytest.approx(0.5, abs=0.14)


@pytest.mark.parametrize("n_levels", [2, 4])
def test_mean_squares_and_l_z_by_plain_loops(n_levels):
    X = with_levels(0, 60, n_levels=n_levels).astype(float)
    X[3, 2] = X[10, 0] = np.nan
    model = trait(X, column_types="auto" if n_levels == 2 else "ordinal", slopes="equal")
    p = np.asarray(model.inverse_transform(model.transform(X)))
    p = np.stack([1 - p, p], axis=2) if n_levels == 2 else p.reshape(60, 5, n_levels)
    scores = np.arange(n_levels)
    mean = p @ scores
    variance = (p * (scores - mean[..., None]) ** 2).sum(axis=2)
    persons, items = diagnostics.person_fit(model, X), diagnostics.item_fit(model, X)
    assert np.isnan(items["s_x2"]).all()  # blanks
    for n in (0, 3, 10):
        seen = np.flatnonzero(~np.isnan(X[n]))
        squares, v = (X[n] - mean[n])[seen] ** 2, variance[n, seen]
        assert persons["outfit"][n] == pytest.approx((squares / v).mean())
        assert persons["infit"][n] == pytest.approx(squares.sum() / v.sum())
        likelihood = expectation = spread = 0.0
        for j in seen:
            logs = np.log(p[n, j])
            likelihood += logs[int(X[n, j])]
            expectation += p[n, j] @ logs
            spread += p[n, j] @ logs**2 - (p[n, j] @ logs) ** 2
        assert persons["l_z"][n] == pytest.approx((likelihood - expectation) / np.sqrt(spread))
    seen = ~np.isnan(X[:, 0])
    squares, v = (X - mean)[seen, 0] ** 2, variance[seen, 0]
    assert items["outfit"][0] == pytest.approx((squares / v).mean())
    assert items["infit"][0] == pytest.approx(squares.sum() / v.sum())


def test_columns_of_numbers_are_left_out():
    """The test of the items of a model of numbers, too, has a margin less for each of their parameters."""
    X = with_levels(2)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        height=X.sum(axis=1) + rng.normal(size=len(X)), visits=rng.poisson(np.exp(0.2 * X[:, 0]))
    )
    types = dict.fromkeys("abcde", "ordinal") | {"height": "continuous", "visits": "count"}
    model = trait(frame, column_types=types, tol=1e-7)
    items = diagnostics.item_fit(model, frame)
    assert items["item"].tolist() == list("abcde")
    assert (items["df"] > 0).all()
    found = diagnostics.m2_test(model, frame)
    assert (found.name, found.df) == ("C2", 5)
    assert found.p > 0.001
    assert np.isfinite(diagnostics.person_fit(model, frame)).all(axis=None)


def test_planted_misfit_is_found():
    """A column that depends on the map the wrong way round at the top, and two columns that repeat each other."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1500, 1))
    X = (rng.random((1500, 8)) < 1 / (1 + np.exp(-1.3 * z))).astype(int)
    fine = trait(X, tol=1e-8)
    assert diagnostics.m2_test(fine, X).p > 0.001
    assert (diagnostics.item_fit(fine, X)["p"] > 0.0005).all()
    X[:, 0] = (np.abs(z[:, 0]) < 0.8) ^ (rng.random(1500) < 0.1)
    X[:, 7] = np.where(rng.random(1500) < 0.5, X[:, 6], X[:, 7])
    bad = trait(X, tol=1e-8)
    assert diagnostics.m2_test(bad, X).p < 1e-6
    assert diagnostics.item_fit(bad, X)["p"][0] < 1e-6


def test_frames_weights_and_what_is_refused():
    X = simulated(0, 200)
    w = np.arange(200) % 3 + 1
    frame = pl.DataFrame(X, schema=list("abcde"))
    model = trait(frame, tol=1e-6)
    found = diagnostics.item_fit(model, frame, w)
    assert isinstance(found, pl.DataFrame)
    assert found["item"].to_list() == list("abcde")
    assert isinstance(diagnostics.person_fit(model, frame), pl.DataFrame)
    repeated = diagnostics.item_fit(model, frame[np.repeat(np.arange(200), w)])
    np.testing.assert_allclose(found.drop("item").to_numpy(), repeated.drop("item").to_numpy(), rtol=1e-9)
    counted = diagnostics.m2_test(model, frame[np.repeat(np.arange(200), w)])
    np.testing.assert_allclose(diagnostics.m2_test(model, frame, w)[1:], counted[1:], rtol=1e-7)
    with pytest.raises(ValueError, match="model of 1 to 3"):
        diagnostics.item_fit(LatentClassAnalysis(2, random_state=0).fit(X), X)
    with pytest.raises(TypeError, match="not ClippedPCA"):
        diagnostics.m2_test(ClippedPCA(1).fit(X), X)
    assert diagnostics.item_fit(LogisticPCA(1, random_state=0).fit(X), X)["df"].tolist() == [2] * 5
    blank = X.astype(float)
    blank[0, 0] = np.nan
    with pytest.raises(ValueError, match="complete rows"):
        diagnostics.m2_test(trait(X, tol=1e-6), blank)


# --------------------------------------------------------------------------------------------------------- mirt


@pytest.mark.parametrize(("table", "reference"), [("lsat", "lsat"), ("sat12_binary", "sat12")])
def test_fit_as_mirt(real_data, table, reference):
    """All results to .1% (tol=1e-11, 121 nodes)."""
    X = pd.read_csv(real_data / "survey" / f"{table}.csv")
    model = trait(X, tol=1e-11)
    mirt = pd.read_csv(real_data / "reference" / f"{reference}_M2_mirt.csv").iloc[0]
    found = diagnostics.m2_test(model, X)
    assert found.df == mirt["df"]
    for name in ("M2", "p", "SRMSR", "TLI", "CFI"):
        assert getattr(found, name.lower()) == pytest.approx(mirt[name], rel=1e-3)
    assert found.rmsea == pytest.approx(mirt["RMSEA"], abs=1e-5)
    items, theirs = (
        diagnostics.item_fit(model, X),
        pd.read_csv(real_data / "reference" / f"{reference}_itemfit_mirt.csv"),
    )
    assert (items["df"].to_numpy() == theirs["df.S_X2"].to_numpy()).all()
    for ours, name in (("outfit", "outfit"), ("infit", "infit"), ("s_x2", "S_X2"), ("p", "p.S_X2")):
        np.testing.assert_allclose(items[ours], theirs[name], rtol=1e-3)
    for ours, name in (("z_outfit", "z.outfit"), ("z_infit", "z.infit")):
        np.testing.assert_allclose(items[ours], theirs[name], atol=1e-3)


def test_persons_as_mirt(real_data):
    X = pd.read_csv(real_data / "survey" / "lsat.csv")
    found = diagnostics.person_fit(trait(X, tol=1e-11), X)[:20]
    mirt = pd.read_csv(real_data / "reference" / "lsat_personfit_mirt_first20.csv")
    for ours, name in (("outfit", "outfit"), ("infit", "infit"), ("z_outfit", "z.outfit"), ("l_z", "Zh")):
        np.testing.assert_allclose(found[ours], mirt[name], rtol=1e-3)


@pytest.fixture
def science(real_data):
    """392 answers to seven items of four levels (Karlheinz and Melich 1992), which come with R's mirt and ltm."""
    return pd.read_csv(real_data / "survey" / "science_items.csv")


# M2(model, type = "C2", quadpts = 121) of R's mirt 1.47 (commit 2fc2b236); models fitted with 121 nodes and TOL = 1e-9.
# For partial credit with a correction: two lines of R/02b-item_methods.R multiply ak by `num`, where it must be P.
C2 = {
    ("graded", 4): (
        19.1769221417,
        2,
        6.85147799093e-05,
        0.148207198148,
        0.0725905738215,
        0.73013240432,
        0.910044134773,
    ),
    ("partial_credit", 4): (
        (19.0393733035, 2, 7.33926582105e-05, 0.147612600843, 0.0713373046812, 0.732293441901, 0.910764480634)
    ),
    ("graded", 7): (192.476428099, 14, 0.0, 0.180566856027, 0.146509206095, 0.225309974331, 0.483539982887),
}


@pytest.mark.parametrize(("kind", "n_items"), C2)
def test_items_with_levels_as_mirt(science, kind, n_items):
    X = science[SCIENCE] if n_items == 4 else science
    model = trait(X, column_types="ordinal", ordinal=kind, tol=1e-11)
    found, theirs = diagnostics.m2_test(model, X), C2[kind, n_items]
    np.testing.assert_allclose(found[1:], theirs, rtol=1e-3, atol=1e-8)
    items, mirt = diagnostics.item_fit(model, X), pd.read_csv(HERE / "science_itemfit_mirt.csv")
    mirt = mirt[mirt["model"] == f"science{n_items}_{'graded' if kind == 'graded' else 'gpcm'}"]
    assert items["item"].tolist() == mirt["item"].tolist()
    assert items["df"].tolist() == mirt["df.S_X2"].tolist()
    for ours, name in (("outfit", "outfit"), ("infit", "infit"), ("s_x2", "S_X2"), ("p", "p.S_X2")):
        np.testing.assert_allclose(items[ours], mirt[name], rtol=1e-3)
    for ours, name in (("z_outfit", "z.outfit"), ("z_infit", "z.infit"), ("rmsea", "RMSEA.S_X2")):
        np.testing.assert_allclose(items[ours], mirt[name], atol=1e-3)


# personfit(model, quadpts = 121) of the graded model of four items: outfit, z.outfit, infit, z.infit, Zh.
PERSONS = {
    0: (1.81973430456, 1.08139657951, 1.97492546509, 1.19074378092, -1.30247761519),
    1: (0.0517807964522, -1.78979115296, 0.0572301580945, -1.84481626451, 1.22373374055),
    4: (3.41520617516, 2.31376002487, 4.11271430681, 2.57976459935, -2.75533161902),
    9: (0.628898632213, -0.238153447733, 0.476040772033, -0.4965157261, 0.547872865451),
    18: (0.361666776864, -0.74906893626, 0.442481550845, -0.661082444563, 0.632923666091),
}


def test_persons_with_levels_as_mirt(science):
    X = science[SCIENCE]
    found = diagnostics.person_fit(trait(X, column_types="ordinal", tol=1e-11), X)
    np.testing.assert_allclose(found.to_numpy()[list(PERSONS)], list(PERSONS.values()), rtol=1e-3)

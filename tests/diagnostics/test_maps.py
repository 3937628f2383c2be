"""Item fit, person fit and M2: against enumeration of all patterns, plain loops, and mirt."""

from itertools import product

import numpy as np
import pytest

from hiddenbits import ClippedPCA, LatentClassAnalysis, LogisticPCA, diagnostics
from hiddenbits.diagnostics.maps import score_distribution

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def simulated(seed, n=400, d=5, q=1):
    rng = np.random.default_rng(seed)
    W, b = rng.uniform(0.6, 1.6, (d, q)), rng.uniform(-0.8, 0.8, d)
    return (rng.random((n, d)) < 1 / (1 + np.exp(-(rng.standard_normal((n, q)) @ W.T + b)))).astype(int)


def trait(X, q=1, **settings):
    settings = {"method": "quadrature", "ridge": 0.0, "tol": 1e-9, "max_iter": 10000, "random_state": 0, **settings}
    return LogisticPCA(q, **settings).fit(X)


def test_scores_are_those_of_enumeration():
    p = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4))
    expected = np.zeros((3, 5))
    for bits in product([0, 1], repeat=4):
        expected[:, sum(bits)] += np.where(np.array(bits) == 1, p, 1 - p).prod(axis=1)
    np.testing.assert_allclose(score_distribution(p), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_s_x2_is_that_of_enumeration(seed):
    """Shares of ones among patterns with the same score, from the likelihood of all patterns; no cell is joined."""
    X = simulated(seed, 1500)
    model = trait(X)
    patterns = np.array(list(product([0, 1], repeat=5)))
    P, scores = np.exp(model.score_samples(patterns)), patterns.sum(axis=1)
    found = diagnostics.item_fit(model, X)
    for j in range(5):
        statistic = 0.0
        for s in range(1, 5):
            rows = X[X.sum(axis=1) == s]
            share = P[(scores == s) & (patterns[:, j] == 1)].sum() / P[scores == s].sum()
            assert len(rows) * min(share, 1 - share) >= 1
            statistic += (rows[:, j].sum() - len(rows) * share) ** 2 / (len(rows) * share * (1 - share))
        assert found["s_x2"][j] == pytest.approx(statistic, rel=1e-6)
        assert found["df"][j] == 2


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_m2_is_that_of_enumeration(q, seed):
    """Covariance of margins and pairs from all patterns, slopes by differences, and the formula as printed."""
    X = simulated(seed, 500, 5, q)
    model = trait(X, q, ridge=0.2 if q == 2 else 0.0)
    patterns = np.array(list(product([0, 1], repeat=5)))
    first, second = np.triu_indices(5, 1)
    A = np.concatenate([patterns, patterns[:, first] * patterns[:, second]], axis=1)
    shares = np.concatenate([X, X[:, first] * X[:, second]], axis=1).mean(axis=0)

    def expected(fitted):
        return np.exp(fitted.score_samples(patterns)) @ A

    P, at, h = np.exp(model.score_samples(patterns)), model._free_parameters().vector, 1e-5
    cov = (A * P[:, None]).T @ A - np.outer(P @ A, P @ A)
    slopes = np.stack(
        [
            (expected(model._with_vector(at + h * e)) - expected(model._with_vector(at - h * e))) / (2 * h)
            for e in np.eye(len(at))
        ],
        axis=1,
    )
    back = np.linalg.inv(cov)
    inner = back - back @ slopes @ np.linalg.pinv(slopes.T @ back @ slopes, rcond=1e-7) @ slopes.T @ back
    away = shares - P @ A
    found = diagnostics.m2_test(model, X)
    assert found.m2 == pytest.approx(500 * away @ inner @ away, rel=1e-4, abs=1e-6)
    assert found.df == 15 - (5 * (q + 1) - q * (q - 1) // 2)


def test_mean_squares_and_l_z_by_plain_loops():
    X = simulated(0, 60).astype(float)
    X[3, 2] = X[10, 0] = np.nan
    model = trait(X, ridge=0.1)
    p = model.inverse_transform(model.transform(X))
    persons, items = diagnostics.person_fit(model, X), diagnostics.item_fit(model, X)
    assert np.isnan(items["s_x2"]).all()  # blanks
    for n in (0, 3, 10):
        seen = ~np.isnan(X[n])
        x, c = X[n, seen], p[n, seen]
        v = c * (1 - c)
        assert persons["outfit"][n] == pytest.approx(((x - c) ** 2 / v).mean())
        assert persons["infit"][n] == pytest.approx(((x - c) ** 2).sum() / v.sum())
        logs = np.where(x == 1, np.log(c), np.log(1 - c)).sum()
        mean = (c * np.log(c) + (1 - c) * np.log(1 - c)).sum()
        spread = np.sqrt((v * np.log(c / (1 - c)) ** 2).sum())
        assert persons["l_z"][n] == pytest.approx((logs - mean) / spread)
    seen = ~np.isnan(X[:, 0])
    x, c = X[seen, 0], p[seen, 0]
    assert items["outfit"][0] == pytest.approx(((x - c) ** 2 / (c * (1 - c))).mean())
    assert items["infit"][0] == pytest.approx(((x - c) ** 2).sum() / (c * (1 - c)).sum())


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
    np.testing.assert_allclose(diagnostics.m2_test(model, frame, w), counted, rtol=1e-7)
    with pytest.raises(ValueError, match="model of 1 to 3"):
        diagnostics.item_fit(LatentClassAnalysis(2, random_state=0).fit(X), X)
    with pytest.raises(TypeError, match="LogisticPCA"):
        diagnostics.m2_test(ClippedPCA(1).fit(X), X)
    blank = X.astype(float)
    blank[0, 0] = np.nan
    with pytest.raises(ValueError, match="complete rows"):
        diagnostics.m2_test(trait(X, tol=1e-6), blank)


# --------------------------------------------------------------------------------------------------------- mirt


@pytest.mark.parametrize(("table", "reference"), [("lsat", "lsat"), ("sat12_binary", "sat12")])
def test_fit_as_mirt(real_data, table, reference):
    """All figures to .1% (tol=1e-11, 121 nodes)."""
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

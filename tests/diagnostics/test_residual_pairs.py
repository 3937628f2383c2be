"""Residuals of pairs of columns, against sums over all rows of bits that a model can make."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import hiddenbits
from hiddenbits import diagnostics
from hiddenbits.datasets import simulate_mixture

D = 6
EVERY = np.array(list(itertools.product([0.0, 1.0], repeat=D)))
MODELS = {
    "independent": hiddenbits.IndependentColumns(),
    "classes": hiddenbits.LatentClassAnalysis(3, random_state=0),
    "scale": hiddenbits.LogisticPCA(1, random_state=0),
    "map": hiddenbits.LogisticPCA(2, random_state=0),
    "item response": hiddenbits.ItemResponseModel(2, tol=1e-5),
    "clipped": hiddenbits.ClippedPCA(2, random_state=0),
    "influences": hiddenbits.CombinationMachine(2, random_state=0),
    "causes": hiddenbits.NoisyOrNetwork(2, random_state=0),
}


def rows(n=300, seed=0, blanks=0.1):
    rng = np.random.default_rng(seed)
    X = simulate_mixture(n, D, 3, random_state=seed).X.astype(float)
    X[rng.random(X.shape) < blanks] = np.nan
    return X


def by_pair(found):
    return {(one["first"], one["second"]): one for one in found}


@pytest.mark.parametrize("kind", MODELS)
def test_the_same_as_the_sum_over_all_rows_of_bits(kind):
    """P(both are 1) is the total probability of the rows that have both; observed are counts by hand."""
    X = rows()
    model = MODELS[kind].fit(X)
    shares = np.exp(model.score_samples(EVERY))
    assert shares.sum() == pytest.approx(1.0, abs=1e-5)
    found = by_pair(diagnostics.residual_pairs(model, X))
    assert len(found) == D * (D - 1) // 2
    for j, k in itertools.combinations(range(D), 2):
        one = found[f"x{j}", f"x{k}"]
        seen = ~np.isnan(X[:, j]) & ~np.isnan(X[:, k])
        n, both = seen.sum(), shares[(EVERY[:, j] == 1) & (EVERY[:, k] == 1)].sum()
        assert one["rows"] == n
        assert one["observed"] == ((X[:, j] == 1) & (X[:, k] == 1)).sum()
        assert one["expected"] == pytest.approx(n * both, rel=1e-4)
        by_hand = (one["observed"] - n * both) / np.sqrt(n * both * (1 - both))
        assert one["residual"] == pytest.approx(by_hand, abs=2e-3)


def test_other_families_are_sampled_and_their_error_is_added():
    X = rows(2000, blanks=0.0)
    model = hiddenbits.TreeMixture(2, random_state=0).fit(X)
    shares = np.exp(model.score_samples(EVERY))
    for one in diagnostics.residual_pairs(model, X):
        j, k = int(one["first"][1:]), int(one["second"][1:])
        both = shares[(EVERY[:, j] == 1) & (EVERY[:, k] == 1)].sum()
        draws = 2**16
        assert one["expected"] / 2000 == pytest.approx(both, abs=5 * np.sqrt(both * (1 - both) / draws))
        share = one["expected"] / 2000
        spread = np.sqrt(2000 * share * (1 - share) * (1 + 2000 / draws))
        assert one["residual"] == pytest.approx((one["observed"] - one["expected"]) / spread, rel=1e-9)


def test_four_dimensions_are_integrated_by_draws():
    X = rows(200)
    model = hiddenbits.LogisticPCA(4, random_state=0).fit(X)
    drawn = np.asarray(model.sample(100_000, random_state=1), float)
    for one in diagnostics.residual_pairs(model, X):
        j, k = int(one["first"][1:]), int(one["second"][1:])
        assert one["expected"] / one["rows"] == pytest.approx((drawn[:, j] * drawn[:, k]).mean(), abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_residuals_of_a_true_model_have_unit_spread(seed):
    """New rows of the model itself: 45 residuals share 10 margins: their mean square varies like that of 10 deviates.

    Its standard error is sqrt(2 / 10), .45; we allow three of them above 1.
    """
    model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(simulate_mixture(2000, 10, 2, random_state=seed).X)
    fresh = model.sample(3000, random_state=seed)
    found = diagnostics.residual_pairs(model, fresh)["residual"]
    assert 0.3 < np.mean(found**2) < 2.35
    assert np.abs(found).max() < 4.5


def test_a_copied_column_comes_first_and_weights_count_rows():
    X = simulate_mixture(400, D, 2, random_state=0).X
    X[:, 5] = X[:, 4]
    model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(X)
    first = diagnostics.residual_pairs(model, X, n_pairs=1)
    assert first[["first", "second"]].tolist() == [("x4", "x5")]
    assert first["residual"][0] > 5
    twice = diagnostics.residual_pairs(model, X, np.full(400, 2.0), n_pairs=1)
    assert twice["observed"][0] == 2 * first["observed"][0]
    assert twice["rows"][0] == 800


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_back_as_a_frame(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(rows(blanks=0.0), **{"columns" if library == "pandas" else "schema": list("abcdef")})
    model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(frame)
    found = diagnostics.residual_pairs(model, frame)
    assert type(found) is frames.DataFrame
    assert list(found.columns) == ["first", "second", "rows", "observed", "expected", "residual", "x2", "df"]
    assert set(found["first"]) | set(found["second"]) == set("abcdef")
    sizes = np.abs(found["residual"].to_numpy())
    assert (np.diff(sizes) <= 0).all()


def test_errors_say_what_to_do():
    X = rows()
    model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="n_pairs=0"):
        diagnostics.residual_pairs(model, X, n_pairs=0)
    with pytest.raises(ValueError, match="fitted to 6 columns, and X has 5"):
        diagnostics.residual_pairs(model, X[:, :5])


TYPES = {"0": "nominal", "1": "ordinal", "2": "nominal", "3": "binary", "4": "binary"}


def levels(n=400, seed=0, missing=0.0):
    """Two classes, columns of 3, 3 and 4 levels, two binary ones; the second repeats the first in half of the rows."""
    rng = np.random.default_rng(seed)
    h, noise = rng.integers(0, 2, (n, 1)), rng.random((n, 5)) < 0.3
    X = np.where(noise, rng.integers(0, [3, 3, 4, 2, 2], (n, 5)), h * [2, 2, 3, 1, 1]).astype(float)
    X[:, 1] = np.where(rng.random(n) < 0.5, X[:, 0], X[:, 1])
    X[:, :3] += 1.0
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize("seed", range(3))
def test_levels_of_independent_columns_as_in_a_contingency_table(seed):
    X = levels(seed=seed)
    model = hiddenbits.IndependentColumns(column_types=TYPES, prior_strength=0).fit(X)
    found = diagnostics.residual_pairs(model, X)
    assert len(found) == 10
    for one in found:
        j, k = (int(one[key][1]) for key in ("first", "second"))
        counts = np.array(
            [[((X[:, j] == a) & (X[:, k] == b)).sum() for b in np.unique(X[:, k])] for a in np.unique(X[:, j])]
        )
        test = chi2_contingency(counts, correction=False)
        assert one["x2"] == pytest.approx(test.statistic, rel=1e-9)
        assert one["df"] == test.dof
        if k < 3:  # the two levels that are furthest off
            p = test.expected_freq / 400
            z = (counts - 400 * p) / np.sqrt(400 * p * (1 - p))
            assert abs(one["residual"]) == pytest.approx(np.abs(z).max(), rel=1e-9)
            assert one["observed"] in counts


def test_levels_in_classes_with_missing_cells():
    """Observed counts among the rows that have both; expected shares as a sum over the classes."""
    X = levels(missing=0.15)
    model = hiddenbits.LatentClassAnalysis(2, column_types=TYPES, random_state=0).fit(X)
    at = {name: number for number, name in enumerate(model.level_names_)}
    for one in diagnostics.residual_pairs(model, X):
        j, k = (int(one[key][1]) for key in ("first", "second"))
        both = ~np.isnan(X[:, [j, k]]).any(axis=1)
        x2 = 0.0
        for a, b in itertools.product(*(np.unique(X[both, c]) for c in (j, k))):
            shares = model.weights_
            for c, v in ((j, a), (k, b)):
                theta = model.probabilities_[:, at[f"x{c}" if c > 2 else f"x{c}={v:.0f}"]]
                shares = shares * (1 - theta if c > 2 and v == 0 else theta)
            expected = both.sum() * shares.sum()
            x2 += (((X[:, j] == a) & (X[:, k] == b)).sum() - expected) ** 2 / expected
        assert one["rows"] == both.sum()
        assert one["x2"] == pytest.approx(x2, rel=1e-9)


def test_a_pair_of_levels_has_a_p_value():
    X = levels(missing=0.05)
    model = hiddenbits.LatentClassAnalysis(2, column_types=TYPES, prior_strength=0, random_state=0).fit(X)
    found = diagnostics.residual_pairs(model, X, n_replicates=19)
    assert {found["first"][0][:2], found["second"][0][:2]} == {"x0", "x1"}
    assert found["p"][0] == found["p_corrected"][0] == 0.05

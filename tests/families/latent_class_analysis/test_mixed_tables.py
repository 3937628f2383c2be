"""What else takes a table or a model with columns of numbers: each result is right, or a clear refusal."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm, poisson

from hiddenbits import (
    CombinationMachine,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    TreeMixture,
    diagnostics,
    evaluate,
    inference,
    open_table,
    plots,
    tetrachoric,
)
from hiddenbits.exceptions import TableError
from hiddenbits.tables import hide_cells, map_pieces, repeat_rows, take_rows

pd = pytest.importorskip("pandas")

TYPES = {"visits": "count", "size": "nominal"}
BITS = ["smokes", "size=1", "size=2", "size=3", "drinks"]


def some_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "smokes": (rng.random(n) < 0.2 + 0.6 * k).astype(float),
            "size": rng.integers(1, 4, n),
            "drinks": (rng.random(n) < 0.3 + 0.4 * k).astype(int),
            "income": rng.normal(30_000 + 20_000 * k, 5_000),
            "height": rng.normal(170 + 8 * k, 6),
            "visits": rng.poisson(1 + 4 * k),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "smokes"] = np.nan
    return frame


def analysis(K=2, **options):
    return LatentClassAnalysis(K, **({"column_types": TYPES, "n_init": 2, "random_state": 0, "tol": 1e-8} | options))


@pytest.fixture(scope="module")
def frame():
    return some_rows()


@pytest.fixture(scope="module")
def models(frame):
    """One and two classes at maximum likelihood."""
    return [analysis(K, prior_strength=0).fit(frame) for K in (1, 2)]


@pytest.fixture(scope="module")
def table(frame, models):
    return open_table(frame, recode=models[1])


def test_describe(table, frame):
    described = evaluate.describe(table)
    assert described.names == (*BITS, "income", "height", "visits")
    assert described.observed[-3:].tolist() == frame[["income", "height", "visits"]].notna().sum().tolist()
    assert described.n_blank == table.n_missing == frame.isna().sum().sum()
    assert described.n_different == len(frame)
    assert (described.n_columns, described.n_numbers) == (6, 3)
    assert "income" in str(described)


def test_rows_are_taken_repeated_and_mapped_with_their_numbers(table, models):
    scores, cells = models[1].score_samples(table), table.to_float()
    rows = np.array([3, 7, 250])
    taken = take_rows(table, rows)
    np.testing.assert_array_equal(taken.to_float(), cells[rows])
    np.testing.assert_array_equal(models[1].score_samples(taken), scores[rows])
    counts = np.arange(300) % 3
    repeated = repeat_rows(table.with_weights(counts.astype(float)))
    np.testing.assert_array_equal(repeated.to_float(), np.repeat(cells, counts, axis=0))
    pieces = list(map_pieces(lambda piece: (piece.table.to_float(), models[1].score_samples(piece.table)), table, 77))
    np.testing.assert_array_equal(np.concatenate([piece for piece, _ in pieces]), cells)
    np.testing.assert_array_equal(np.concatenate([piece for _, piece in pieces]), scores)


def test_cells_are_not_held_out(table, frame, models):
    """Nor are patterns of numbers counted."""
    calls = [
        lambda: hide_cells(table, 0.2),
        lambda: evaluate.held_out_cells(models[1], frame),
        lambda: evaluate.select(analysis(), frame, [1, 2], by="cells"),
    ]
    for call in calls:
        with pytest.raises(TableError, match="Cells of columns of numbers cannot be held out"):
            call()
    with pytest.raises(TableError, match="pattern_entropy needs binary, nominal or ordinal columns"):
        evaluate.pattern_entropy(table)
    for measure in (evaluate.leave_one_out_error, evaluate.code_length):
        with pytest.raises(ValueError, match="needs binary data, but this table has columns that are not binary"):
            measure(models[1], frame)


def test_models_of_bits_refuse_numbers(table):
    for estimator in (TreeMixture(2), LogisticPCA(1), CombinationMachine(2)):
        with pytest.raises(TableError, match=r"needs binary columns, but this table has others"):
            estimator.fit(table)
    with pytest.raises(TableError, match="tetrachoric needs binary columns"):
        tetrachoric(table)


def test_log_likelihoods_and_sizes(frame, models):
    """Of one class by scipy; the smallest BIC and the best rows name two."""
    one, n = models[0], len(frame)
    total = 0.0
    for name in ("income", "height"):
        x = frame[name].dropna()
        total += norm(x.mean(), x.std(ddof=0)).logpdf(x).sum()
    total += poisson(frame["visits"].mean()).logpmf(frame["visits"]).sum()
    for name in ("smokes", "size", "drinks"):
        counts = frame[name].value_counts()
        total += (counts * np.log(counts / counts.sum())).sum()
    assert one.score_samples(frame).sum() == pytest.approx(total, abs=1e-8)
    assert evaluate.mean_log_likelihood(one, frame).value == pytest.approx(total / n)
    assert one.n_parameters_ == 1 + 2 + 1 + 2 * 2 + 1
    by_bic = evaluate.select(analysis(), frame, [1, 2, 3], by="bic")
    assert by_bic.figures[0].value == pytest.approx(-2 * total + np.log(n) * 9)
    assert [figure.chosen for figure in by_bic.figures] == [False, True, False]
    by_rows = evaluate.select(analysis(), frame, [1, 2], by="rows")
    assert by_rows.figures[1].chosen


def test_comparisons(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = evaluate.compare(open_table(frame, column_types=TYPES))
    parameters = {entry.model: entry.n_parameters for entry in compared.entries}
    assert parameters == {"LatentClassAnalysis": 19, "IndependentColumns": 9, "ItemResponseModel": 16}
    assert compared.entries[0].model == "LatentClassAnalysis"


def test_diagnostics_of_classes(frame, models):
    r = models[1].predict_proba(frame)
    modal = r.argmax(axis=1)
    wanted = [[r[modal == k, j].sum() for j in range(2)] for k in range(2)]
    np.testing.assert_allclose(np.asarray(diagnostics.classification_table(models[1], frame), float), wanted)
    entropy = 1 + (r * np.log(np.maximum(r, 1e-300))).sum() / (len(frame) * np.log(2))
    assert diagnostics.entropy(models[1], frame) == pytest.approx(entropy)


def test_cell_probabilities(frame, models):
    """Of a number its mean over the classes, given the rest of the row."""
    model = models[1]
    shown = diagnostics.cell_probabilities(model, frame)
    assert list(shown) == [*BITS, "income", "height", "visits"]
    for name, of_classes in (("income", model.means_[:, 0]), ("visits", model.rates_[:, 0])):
        without = frame.assign(**{name: np.nan})
        np.testing.assert_allclose(shown[name], model.predict_proba(without) @ of_classes, rtol=1e-10)


def test_fit_statistics_have_no_table_of_patterns(frame, models):
    complete = frame.dropna()
    for rows, model in ((frame, models[1]), (complete, analysis(prior_strength=0).fit(complete))):
        fit = diagnostics.fit_statistics(model, rows)
        assert fit.bic == pytest.approx(model.bic(rows))
        assert fit.log_likelihood == pytest.approx(model.score_samples(rows).sum())
        assert fit.df == 0
        assert np.isnan([fit.g2, fit.x2, fit.g2_p, fit.x2_p, fit.expected]).all()


def test_residual_pairs_are_those_of_bits(frame, models):
    """Observed and expected rows of "smokes and drinks", by hand; numbers alone are refused."""
    model = models[1]
    pairs = diagnostics.residual_pairs(model, frame)
    assert len(pairs) == 3
    pair = pairs[(pairs["first"] == "smokes") & (pairs["second"] == "drinks")].iloc[0]
    both = frame[["smokes", "drinks"]].dropna()
    assert pair["rows"] == len(both)
    assert pair["observed"] == (both == 1).all(axis=1).sum()
    p = (model.weights_ * model.probabilities_[:, 0] * model.probabilities_[:, 4]).sum()
    assert pair["expected"] == pytest.approx(len(both) * p)
    simulated = diagnostics.residual_pairs(model, frame, n_replicates=9)
    assert ((simulated["p"] >= 0.1) & (simulated["p_corrected"] >= simulated["p"])).all()
    numbers = frame[["income", "height"]].dropna()
    with pytest.raises(ValueError, match="residual_pairs needs two binary, nominal or ordinal columns"):
        diagnostics.residual_pairs(LatentClassAnalysis(2, random_state=0).fit(numbers), numbers)


def test_simulated_tables_have_the_missing_cells(table, models):
    """And the means and rates of the model, within 5 standard errors."""
    from hiddenbits.diagnostics.tables import table_simulator

    cells = table.to_float()
    for simulated in map(table_simulator(models[0], table, 0, 1), range(3)):
        drawn = simulated.to_float()
        np.testing.assert_array_equal(np.isnan(drawn), np.isnan(cells))
        assert simulated.coding_of_levels == table.coding_of_levels
        for j in (5, 6, 7):
            spread = np.nanstd(cells[:, j])
            assert abs(np.nanmean(drawn[:, j]) - np.nanmean(cells[:, j])) < 5 * spread / np.sqrt(270)
            assert np.nanstd(drawn[:, j]) == pytest.approx(spread, rel=0.3) or j == 7


def test_bootstrap_likelihood_ratio(frame, models):
    """One class is rejected; two are not."""
    assert diagnostics.bootstrap_lrt(*models, frame, n_replicates=19).p == 0.05
    three = analysis(3, prior_strength=0, n_init=2).fit(frame)
    assert diagnostics.bootstrap_lrt(models[1], three, frame, n_replicates=9).p > 0.1


def test_diagnostics_of_scales_refuse_classes(frame, models):
    for function in (diagnostics.person_fit, diagnostics.m2_test, diagnostics.item_fit, diagnostics.reliability):
        with pytest.raises(ValueError, match="not LatentClassAnalysis"):
            function(models[1], frame)


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_bootstrap_of_numbers(covariance_type, frame):
    """Replicates have the classes of the fit, and about the errors of one mean."""
    model = analysis(prior_strength=0, n_init=1, covariance_type=covariance_type).fit(frame)
    found = inference.bootstrap(model, frame, n_replicates=30)
    r = model.predict_proba(frame)
    weight = r[frame["height"].notna()].sum(axis=0)
    variances = model.covariances_[:, 1] if covariance_type == "diag" else model.covariances_[:, 1, 1]
    np.testing.assert_allclose(found.se["means"][:, 1], np.sqrt(variances / weight), rtol=0.5)
    np.testing.assert_allclose(found.se["rates"][:, 0], np.sqrt(model.rates_[:, 0] / weight), rtol=0.5)
    shown = found.to_frame()
    means = shown[shown["quantity"] == "means"]
    assert means["column"].tolist() == ["income", "height"] * 2
    assert shown[shown["quantity"] == "rates"]["column"].tolist() == ["visits"] * 2
    if covariance_type == "full":
        covariances = shown[shown["quantity"] == "covariances"]
        assert covariances["other column"].tolist() == ["income", "height"] * 4
    else:
        errors = inference.standard_errors(model, frame)
        for name in ("means", "covariances", "rates"):
            np.testing.assert_allclose(errors.se[name], found.se[name], rtol=0.6)


def test_profiles_without_numbers(frame, models):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = plots.profiles(models[1], frame, errors=inference.standard_errors(models[1], frame))
    labels = {label.get_text() for label in ax.get_yticklabels()}
    assert {"size", "1", "2", "3"} <= labels
    assert not any("income" in label or "visits" in label for label in labels)
    numbers = frame[["income", "height"]].dropna()
    with pytest.raises(ValueError, match="all columns of the fit are numbers"):
        plots.profiles(LatentClassAnalysis(2, random_state=0).fit(numbers))
    matplotlib.pyplot.close("all")


def test_partial_fit(frame):
    """Batches of a stream; the first decides the scale. The classes are those of a fit."""
    whole = analysis().fit(frame)
    model = analysis()
    for start in range(0, 300, 100):
        model.partial_fit(frame[start : start + 100])
    order = np.argsort(model.means_[:, 0])
    np.testing.assert_allclose(model.means_[order, 0], np.sort(whole.means_[:, 0]), rtol=0.05)


def test_tables_read_otherwise_are_refused(frame, models):
    with pytest.raises(TableError, match="column 'visits' was read differently from the fit"):
        models[1].predict(open_table(frame, column_types={"size": "nominal"}))
    with pytest.raises(TableError, match=r"lacks a column of the fit: 'income'"):
        models[1].predict(frame.drop(columns="income"))
    assert np.isfinite(models[1].score_samples(frame.assign(income=np.nan))).all()
    shuffled = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(models[1].predict_proba(shuffled), models[1].predict_proba(frame))


def test_independent_columns(frame, models):
    """One class."""
    independent = IndependentColumns(column_types=TYPES, prior_strength=0).fit(frame)
    np.testing.assert_allclose(independent.score_samples(frame), models[0].score_samples(frame), rtol=0, atol=1e-10)

"""`compare` against the same figures by hand, with scikit-learn, and on tables that it must not look at."""

import itertools

import numpy as np
import pytest
from sklearn.decomposition import PCA, FactorAnalysis

import hiddenbits
from hiddenbits import (
    ClippedPCA,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    evaluate,
    open_table,
)
from hiddenbits.datasets import simulate_mixture
from hiddenbits.evaluate.held_out_cells import calibration_bins, calibration_error
from hiddenbits.evaluate.row_scores import RowLogLikelihoods, difference, error_and_bias
from hiddenbits.evaluate.same_models import chosen_families
from hiddenbits.evaluate.splits import splits

pytestmark = [pytest.mark.core, pytest.mark.usefixtures("few_starts")]

TIMES = ("fit_seconds", "all_seconds", "peak_memory")


def figures(found):
    return [{name: value for name, value in entry.items() if name not in TIMES} for entry in found.records()]


@pytest.mark.parametrize("seed", range(2))
def test_figures_by_hand(seed):
    rng = np.random.default_rng(seed)
    X = simulate_mixture(500, 7, 3, random_state=seed).X.astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.random(500)
    train, test = np.arange(300), np.arange(300, 500)
    models = {"plain": IndependentColumns(), "three": LatentClassAnalysis(3, random_state=1)}
    found = evaluate.compare(
        X, models, cv=[(train, test)], sizes={"three": []}, sample_weight=weights, measures=["leave_one_out_error"]
    )
    fits = {name: model.fit(X[train], sample_weight=weights[train]) for name, model in models.items()}
    rows = {name: model.score_samples(X[test]) for name, model in fits.items()}
    w = weights[test]
    for entry in found.entries:
        ll = rows[entry.model]
        mean = np.average(ll, weights=w)
        error = np.sqrt((w**2 * (ll - mean) ** 2).sum() * 200 / 199) / w.sum()
        assert entry.log_likelihood == pytest.approx(mean, abs=1e-12)
        assert entry.log_likelihood_error == pytest.approx(error, rel=1e-9)
        cells = (~np.isnan(X[test])).sum(axis=1)
        assert entry.bits_per_cell == pytest.approx(-(w @ ll) / np.log(2) / (w @ cells), rel=1e-12)
        own = evaluate.leave_one_out_error(fits[entry.model], X[test], w).value
        assert entry.leave_one_out_error == pytest.approx(own, rel=1e-12)
        assert entry.code_length is None
        assert entry.kind == "exact"
        assert entry.estimate_error == entry.estimate_bias == 0.0
    best, other = found.entries
    assert (best.model, best.difference, best.difference_error) == ("three", 0.0, 0.0)
    apart = rows["plain"] - rows["three"]
    mean = np.average(apart, weights=w)
    assert other.difference == pytest.approx(mean, abs=1e-12)
    assert other.difference_error == pytest.approx(
        np.sqrt((w**2 * (apart - mean) ** 2).sum() * 200 / 199) / w.sum(), rel=1e-9
    )
    assert found.n_test == 200
    ours, by_hand = found.models["three"], fits["three"]
    np.testing.assert_allclose(ours.probabilities_, by_hand.probabilities_, atol=1e-9)  # masks are stored otherwise


@pytest.mark.full
def test_sizes_by_hand():
    """Every size is judged on the rows of all splits; the smallest within one standard error of the best is chosen."""
    X = simulate_mixture(400, 8, 3, random_state=1).X
    found = evaluate.compare(X, ["LatentClassAnalysis"], measures=(), random_state=3, one_standard_error=False)
    assert (found.n_splits, found.n_test, found.n_train) == (4, 400, 300)
    tried = found.tried
    dealt = splits(hiddenbits.open_table(X), None, 3)
    rows = [
        np.concatenate(
            [LatentClassAnalysis(int(s.size), random_state=3).fit(X[a]).score_samples(X[b]) for a, b in dealt]
        )
        for s in tried
    ]
    for step, values in zip(tried, rows, strict=True):
        assert step.value == pytest.approx(values.mean(), abs=1e-9)
        assert step.n_parameters == int(step.size) * 9 - 1
    at = int(np.argmax([values.mean() for values in rows]))
    assert [step.chosen for step in tried] == [place == at for place in range(len(tried))]
    apart = [rows[at] - values for values in rows]
    errors = [one.std(ddof=1) / np.sqrt(len(one)) for one in apart]
    clearly = [one.mean() > 2.0 * error for one, error in zip(apart, errors, strict=True)]
    assert len(tried) == at + (2 if clearly[at + 1] else 3)  # one was clearly worse, or two in a row worse
    simplest = evaluate.compare(X, ["LatentClassAnalysis"], measures=(), random_state=3)
    within = [one.mean() <= error for one, error in zip(apart, errors, strict=True)]
    assert simplest.size == tried[within.index(True)].size
    assert simplest.tried[at].difference_error == 0.0
    assert len(simplest.models["LatentClassAnalysis"].weights_) == int(simplest.size)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_a_family_that_cannot_catch_up_stops_growing(seed):
    """Its last step by hand; without a family before it, it grows further and stays behind."""
    X = simulate_mixture(1200, 10, 6, random_state=seed).X
    pair = ["LatentClassAnalysis", "NoisyOrNetwork"]
    found, alone = (evaluate.compare(X, names, measures=(), random_state=seed) for names in (pair, pair[1:]))
    assert found.best == "LatentClassAnalysis"
    tried, usual = ([one for one in both.tried if one.model == pair[1]] for both in (found, alone))
    assert len(tried) < len(usual)
    assert [one.value for one in tried] == [one.value for one in usual[: len(tried)]]
    ahead = max(one.value for one in found.tried if one.model == pair[0])
    for one, two in itertools.pairwise(tried):
        most = two.value + (two.value - one.value) / (int(two.size) - int(one.size)) * (12 - int(two.size))
        assert (most < ahead) >= (two is tried[-1])
    assert max(one.value for one in usual) < ahead
    assert "larger sizes were not tried" in found.entry(pair[1]).note
    assert "larger sizes were not tried" not in alone.entry(pair[1]).note


def test_machines_stay_small_where_every_row_would_be_summed_over_all_states():
    sizes = evaluate.known_families()["CombinationMachine"].sizes_for
    X = np.zeros((8000, 50), np.float32)
    assert sizes(open_table(X))[-1] == 12
    X[7999, 3] = np.nan
    assert sizes(open_table(X)) == (1, 2, 3, 4, 6, 8)  # 8000 x 50 x 2^8 is the last below 200 million
    assert sizes(open_table(X[7000:]))[-1] == 8
    assert sizes(open_table(X[7100:]))[-1] == 12


def test_quarters_are_held_out_until_a_thousand_rows_are_judged():
    for n, number in ((3, 3), (400, 4), (1333, 4), (1334, 3), (2000, 2), (3999, 2), (4000, 1), (9000, 1)):
        dealt = splits(hiddenbits.open_table(np.zeros((n, 1))), None, 0)
        assert len(dealt) == number
        judged = np.concatenate([split.test for split in dealt])
        assert len(np.unique(judged)) == len(judged) >= min(n, 999)
    with pytest.raises(ValueError, match="only one row"):
        splits(hiddenbits.open_table(np.zeros((1, 1))), None, 0)


def test_some_rows_of_a_long_table_take_part():
    table = hiddenbits.open_table(np.zeros((100_000, 1)))
    (split,) = splits(table, None, seed=3)
    assert (len(split.train), len(split.test)) == (30_000, 10_000)
    assert len(np.union1d(*split)) == 40_000
    assert abs(np.mean(np.union1d(*split)) - 50_000) < 500  # from everywhere: a standard error is 113
    groups = np.repeat(np.arange(10_000), 10)
    (grouped,) = splits(table, None, 3, groups)
    assert len(np.union1d(*grouped)) == 40_000
    assert not np.intersect1d(groups[grouped.train], groups[grouped.test]).size
    few = np.repeat(np.arange(5), 20_000)  # two groups are the most that stay below 40,000 rows: four take part
    (of_few,) = splits(table, None, 3, few)
    assert (len(of_few.train), len(of_few.test)) == (60_000, 20_000)
    (whole,) = splits(table, 0.25, 3)
    assert len(whole.train) == 75_000


def test_folds_judge_every_row_once():
    X = simulate_mixture(203, 6, 2, random_state=0).X
    table = hiddenbits.open_table(X)
    dealt = splits(table, 4, seed=2)
    assert np.array_equal(np.sort(np.concatenate([split.test for split in dealt])), np.arange(203))
    assert all(len(np.union1d(*split)) == 203 for split in dealt)
    found = evaluate.compare(X, [IndependentColumns()], cv=4, measures=(), random_state=2)
    rows = np.concatenate([IndependentColumns().fit(X[a]).score_samples(X[b]) for a, b in dealt])
    assert found.entries[0].log_likelihood == pytest.approx(rows.mean(), abs=1e-12)
    assert (found.n_test, found.n_splits) == (203, 4)
    assert "152 training rows, 203 test rows in 4 splits" in str(found)


def test_cells_choose_sizes_too():
    X = simulate_mixture(1500, 12, 3, random_state=0).X
    sizes = {"LatentClassAnalysis": [1, 3]}
    found = evaluate.compare(X, list(sizes), sizes=sizes, by="cells", measures=(), cv=0.3)
    model = LatentClassAnalysis(3, random_state=0)
    assert found.tried[1].value == pytest.approx(-evaluate.held_out_cells(model, X).value, abs=1e-9)
    assert found.entries[0].size == "3"
    train, test = splits(hiddenbits.open_table(X), 0.3, 0)[0]
    assert found.entries[0].log_likelihood == pytest.approx(model.fit(X[train]).score(X[test]), abs=1e-9)


def test_real_columns_against_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(600, 6)) * [0.2, 0.4, 0.6, 0.8, 1, 1.2]
    split = (np.arange(400), np.arange(400, 600))
    sizes = {"BinarySparseCoding": [3], "PCA": [2], "FactorAnalysis": [2]}
    found = evaluate.compare(X, list(sizes), reals=True, cv=[split], sizes=sizes)
    by_name = {entry.model: entry for entry in found.entries}
    for theirs in (PCA(2, random_state=0), FactorAnalysis(2, random_state=0)):
        entry = by_name[type(theirs).__name__]
        assert entry.log_likelihood == pytest.approx(theirs.fit(X[:400]).score(X[400:]), abs=1e-10)
        assert entry.leave_one_out_error is None
        assert entry.calibration is None
    assert found.best == "FactorAnalysis"
    assert by_name["BinarySparseCoding"].kind in ("exact", "bound")
    assert set(found.models) == {"BinarySparseCoding"}


def test_machines_are_left_out_of_wide_tables_unless_named():
    X = (np.random.default_rng(0).random((40, 201)) < 0.3).astype(int)
    table = open_table(X)
    contenders, left_out = chosen_families(None, {}, table, 0)
    assert "CombinationMachine" not in {one.name for one in contenders}
    assert "more than 200 columns" in left_out["CombinationMachine"]
    named, _ = chosen_families(["CombinationMachine"], {}, table, 0)
    assert named[0].sizes[0] == 1
    narrow, _ = chosen_families(None, {}, open_table(X[:, :200]), 0)
    assert "CombinationMachine" in {one.name for one in narrow}


@pytest.mark.slow
def test_what_does_not_apply_is_left_out_with_a_reason():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    few = {"BinarySparseCoding": [2], "PCA": [1], "FactorAnalysis": [1], "ClippedPCA": [1]}
    found = evaluate.compare(X, [*few, "IndependentColumns"], sizes=few, reals=True)
    assert set(found.left_out) == {"ClippedPCA", "IndependentColumns"}
    assert "cannot be compared with a density" in found.left_out["ClippedPCA"]
    X[0, 0] = np.nan
    blank = evaluate.compare(X, ["PCA", "BinarySparseCoding"], sizes={"BinarySparseCoding": [2]}, reals=True)
    assert "missing values" in blank.left_out["PCA"]
    bits = evaluate.compare((X > 0).astype(int), ["BinarySparseCoding", "IndependentColumns"])
    assert "models real numbers" in bits.left_out["BinarySparseCoding"]
    assert "models real numbers" in str(bits)
    with pytest.raises(ValueError, match="No family is left to compare"):
        evaluate.compare((X > 0).astype(int), ["PCA"])


def test_default_families_of_reals_and_bits():
    X = np.random.default_rng(0).normal(size=(40, 5))
    names = [c.name for c in chosen_families(None, {}, hiddenbits.open_table(X, reals=True), 0)[0]]
    assert names == ["BinarySparseCoding", "PCA", "FactorAnalysis"]
    contenders, left_out = chosen_families(None, {}, hiddenbits.open_table((X > 0).astype(int)), 0)
    names = "IndependentColumns LatentClassAnalysis LogisticPCA ClippedPCA CombinationMachine NoisyOrNetwork"
    assert " ".join(c.name for c in contenders).startswith(names)
    assert {"BinarySparseCoding", "PCA", "FactorAnalysis"} <= set(left_out)
    assert next(c.sizes for c in contenders if c.name == "ClippedPCA") == (1, 2, 3, 4)  # below the five columns


def test_what_is_refused_is_said():
    X = simulate_mixture(200, 6, 2, random_state=0).X
    models = {"many": NoisyOrNetwork(13, method="exact"), "none": IndependentColumns()}
    found = evaluate.compare(X, models, sizes={"many": []})
    assert found.best == "none"
    assert "2^13" in found.left_out["many"]
    short = evaluate.compare(X, {"short": LatentClassAnalysis(3, max_iter=1, n_init=1)}, sizes={"short": []})
    assert short.entries[0].note == "did not converge"
    assert "short: did not converge" in str(short)


def test_estimates_say_how_sure_they_are():
    X = simulate_mixture(400, 10, 3, random_state=0).X
    found = evaluate.compare(
        X, {"map": LogisticPCA(4, n_draws=50, random_state=0)}, sizes={"map": []}, measures=(), cv=0.25
    )
    entry, model = found.entries[0], found.models["map"]
    test = splits(hiddenbits.open_table(X), 0.25, 0)[0].test
    values, errors = model.score_samples(X[test], return_std=True)
    assert entry.kind == "estimate"
    assert entry.log_likelihood == pytest.approx(values.mean(), abs=1e-12)
    assert entry.estimate_error == pytest.approx(np.sqrt((errors**2).sum()) / 100, rel=1e-9)
    assert entry.estimate_bias == pytest.approx((errors**2).mean() / 2, rel=1e-9)
    assert "Likelihood not exact: map" in str(found)


def test_errors_that_all_rows_share_are_no_error_of_rows():
    rng = np.random.default_rng(0)
    a = RowLogLikelihoods(rng.normal(size=50), np.zeros(50), 0.3, "estimate")
    b = RowLogLikelihoods(rng.normal(size=50), np.zeros(50), 0.4, "estimate")
    mean, error = difference(a, b, np.ones(50))
    apart = a.values - b.values
    assert mean == pytest.approx(apart.mean(), abs=1e-12)
    assert error == pytest.approx(np.sqrt(apart.var(ddof=1) / 50 + 0.25), rel=1e-9)
    assert error_and_bias(a, np.ones(50))[0] == pytest.approx(0.3)


def test_calibration_by_hand_and_of_the_truth():
    X = simulate_mixture(300, 6, 2, random_state=0).X.astype(float)
    table = hiddenbits.open_table(X)
    model = LatentClassAnalysis(2, random_state=0).fit(X)
    masked = hiddenbits.tables.hide_cells(table, 0.2, random_state=1).to_float()
    asked = np.isnan(masked)
    p, y = model.complete(masked)[asked], X[asked]
    apart = sum(abs((y - p)[np.minimum((p * 10).astype(int), 9) == b].sum()) for b in range(10))
    found = calibration_error(calibration_bins(model, table, 0.2, 1))
    assert found.value == pytest.approx(apart / len(p), rel=1e-9)
    assert found.n_cells == len(p)
    # right probabilities show what chance shows; probabilities pushed to the borders show more
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = rng.random(20_000) < p

    class Says:
        def __init__(self, p):
            self.p = p

        def complete(self, masked):
            return np.where(np.isnan(masked.to_float()), self.p[:, None], y[:, None])

    column = hiddenbits.open_table(y[:, None].astype(int))
    right, wrong = (
        calibration_error(calibration_bins(Says(q), column, 0.99, 0)) for q in (p, np.clip(2 * p - 0.5, 0.001, 0.999))
    )
    assert right.value < 2.5 * right.by_chance
    assert wrong.value > 0.1 > 5 * wrong.by_chance


@pytest.mark.slow
def test_threads_change_nothing():
    X = simulate_mixture(600, 8, 3, random_state=0).X
    sizes = {"LatentClassAnalysis": [2, 3], "ClippedPCA": [1]}
    alone = evaluate.compare(X, list(sizes), sizes=sizes)
    with hiddenbits.run_on(n_jobs=2):
        assert figures(evaluate.compare(X, list(sizes), sizes=sizes)) == figures(alone)


def test_shown_as_text_html_and_frame():
    X = simulate_mixture(300, 6, 2, random_state=0).X
    models = {"<b>": LatentClassAnalysis(2, random_state=0), "none": IndependentColumns(), "PCA": "PCA"}
    found = evaluate.compare(X, models, sizes={"<b>": []})
    assert "<b>" in str(found)
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()
    assert found.ties(1e9) == [entry.model for entry in found.entries]
    pd = pytest.importorskip("pandas")
    frame = found.to_frame(backend="pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame.log_likelihood.tolist() == [entry.log_likelihood for entry in found.entries]
    assert np.isnan(frame.code_length).tolist() == [False, False]


def test_progress_is_told():
    told = []
    X = simulate_mixture(200, 6, 2, random_state=0).X
    evaluate.compare(
        X, ["IndependentColumns", "ClippedPCA"], sizes={"ClippedPCA": [1, 2]}, cv=2, progress=lambda *a: told.append(a)
    )
    words = ["IndependentColumns"] * 2 + ["ClippedPCA(1)"] * 2 + ["ClippedPCA(2)"] * 2
    assert told == [(one, done, 6) for done, one in enumerate(words)]


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        (["Mixture"], {}, "Choose from IndependentColumns"),
        ([ClippedPCA(1), ClippedPCA(2)], {}, "appears twice"),
        (["IndependentColumns"], {"sizes": {"ClippedPCA": [1]}}, "not in models="),
        (["IndependentColumns"], {"cv": [([0, 1, 2], [2, 3])]}, "rows in both training and test"),
        (["IndependentColumns"], {"cv": [([0, 1, 2], [60])]}, "outside the table, which has 50 rows"),
        (["IndependentColumns"], {"cv": 1}, "2 to 50 folds"),
        (["IndependentColumns"], {"cv": 1.5}, "between 0 and 1"),
        (["IndependentColumns"], {"cv": "five"}, "a share of the rows"),
        (["IndependentColumns"], {"by": "columns"}, "by='columns'"),
        (["IndependentColumns"], {"measures": ["speed"]}, "measures="),
    ],
)
def test_refusals(models, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate.compare(simulate_mixture(50, 4, 2, random_state=0).X, models, **options)


def test_a_checkpoint_is_refused():
    with hiddenbits.run_on(checkpoint="none.hb"), pytest.raises(ValueError, match="folder="):
        evaluate.compare(np.eye(4), ["IndependentColumns"])

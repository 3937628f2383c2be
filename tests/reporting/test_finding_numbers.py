"""Every number in a finding, computed again from the models and the table."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from hiddenbits.reporting.findings import find
from hiddenbits.reporting.findings.effects import Contrast, least_rows
from hiddenbits.reporting.text import percent, times
from tests.reporting import planted


def one(found, kind):
    return next(finding for finding in found.findings if finding.kind == kind)


def shares(numbers):
    """Return the columns whose shares a finding has."""
    return [key[9:] for key in numbers if key.startswith("share of item") and not key.endswith(", others")]


def weighted_share(weights, column):
    """Return the share of ones among the observed cells, and the weight of these."""
    ones = seen = 0.0
    for weight, cell in zip(weights, column, strict=True):
        if not np.isnan(cell):
            ones += weight * cell
            seen += weight
    return ones / seen, seen


@pytest.fixture(scope="module")
def survey():
    """Four kinds of rows, blanks, and two groups; the models use two thirds of the rows."""
    from hiddenbits.reporting import sample

    X, kind = planted.kinds(3, n=600)
    X[np.random.default_rng(0).random(X.shape) < 0.03] = np.nan
    X[::2, 0] = np.nan
    groups = ["own" if k == 0 else "other" for k in kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "MOST_ROWS", 400)
        context = planted.context_of(X, planted.CLASSES, beside={"group": groups}, by="group")
    return X, groups, context, find(context)


def test_the_table_and_the_picture(survey):
    X, _, context, found = survey
    seen = ~np.isnan(X)
    assert found.numbers["rows"] == 600
    assert found.numbers["columns"] == 12
    assert found.numbers["share of 1s"] == pytest.approx((X == 1).sum() / seen.sum())
    assert found.numbers["share missing"] == pytest.approx(1 - seen.mean())
    scores = {e.model: e.log_likelihood for e in context.fits.compared.entries}
    assert found.numbers["gain"] == pytest.approx(scores["LatentClassAnalysis"] - scores["IndependentColumns"])


def test_kinds_are_counted_over_all_rows(survey):
    X, _, context, found = survey
    assert len(context.sample.rows) == 400
    codes = context.fits.best.model.transform(X)
    order = np.argsort(-context.fits.best.model.transform(context.sample.cells).sum(axis=0))
    told = [finding for finding in found.findings if finding.kind == "classes"]
    assert told
    for finding in told:
        assert (finding.rows, finding.of_rows) == (600, 600)
        r = codes[:, order[finding.numbers["class"] - 1]]
        assert finding.numbers["share"] == pytest.approx(r.mean())
        for column in shares(finding.numbers):
            j = int(column[4:])
            (p, n), (q, m) = weighted_share(r, X[:, j]), weighted_share(1 - r, X[:, j])
            assert finding.numbers[f"share of {column}"] == pytest.approx(p)
            assert finding.numbers[f"share of {column}, others"] == pytest.approx(q)
            p, q = (p * n + 0.5) / (n + 1), (q * m + 0.5) / (m + 1)
            error = np.sqrt(p * (1 - p) / n + q * (1 - q) / m)
            assert finding.numbers[f"error of {column}"] == pytest.approx(error)


@pytest.fixture(scope="module")
def copied():
    """Two kinds of rows, no further kind to choose, and a column that is often a copy of another."""
    rng = np.random.default_rng(0)
    kind = rng.random(400) < 0.5
    X = (rng.random((400, 10)) < np.where(kind[:, None], 0.8, 0.2)).astype(float)
    X[:, 8] = np.where(rng.random(400) < 0.6, X[:, 5], X[:, 8])
    X[rng.random(X.shape) < 0.05] = np.nan
    context = planted.context_of(X, {"IndependentColumns": [], "LatentClassAnalysis": [2]})
    return context, find(context)


def test_pairs_left_unexplained(copied):
    context, found = copied
    finding, model, cells = one(found, "pairs"), context.fits.best.model, context.sample.cells
    assert {finding.numbers["first 1"], finding.numbers["second 1"]} == {"item5", "item8"}
    both = ~np.isnan(cells[:, 5]) & ~np.isnan(cells[:, 8])
    seen = ((cells[:, 5] == 1) & (cells[:, 8] == 1)).sum() / both.sum()
    expected = (model.weights_ * model.probabilities_[:, 5] * model.probabilities_[:, 8]).sum()
    assert finding.numbers["observed 1"] == pytest.approx(seen)
    assert finding.numbers["expected 1"] == pytest.approx(expected)
    residual = (seen - expected) * both.sum() / np.sqrt(both.sum() * expected * (1 - expected))
    assert finding.numbers["residual 1"] == pytest.approx(residual)


def test_blanks(survey):
    X, _, context, found = survey
    numbers = one(found, "missing").numbers
    assert numbers["share"] == pytest.approx(np.isnan(X).mean())
    assert numbers["share of item0"] == pytest.approx(np.isnan(X[:, 0]).mean())
    cells = context.sample.cells
    filled = context.fits.best.model._cell_probabilities(cells)[np.isnan(cells)]
    assert numbers["sure"] == pytest.approx(((filled > 0.9) | (filled < 0.1)).mean())


def test_groups(survey):
    _, groups, context, found = survey
    numbers = one(found, "groups").numbers
    codes = context.fits.best.model.transform(context.sample.cells)
    order = np.argsort(-codes.sum(axis=0))
    for group in ("own", "other"):
        rows = [at for at, i in enumerate(context.sample.rows) if groups[i] == group]
        k = order[numbers[f"unit of {group}"] - 1]
        assert numbers[f"rows of {group}"] == len(rows)
        assert numbers[f"mean of {group}"] == pytest.approx(codes[rows, k].mean())
        assert numbers[f"error of {group}"] == pytest.approx(codes[rows, k].std(ddof=1) / np.sqrt(len(rows)))
    assert abs(numbers["mean of own"] - numbers["mean of other"]) > 0.3


@pytest.fixture(scope="module")
def exam():
    X, place = planted.scale(1)
    context = planted.context_of(X, beside={"z": [f"{z:.3f}" for z in place]}, by="z")
    return X, context, find(context)


@pytest.mark.slow
def test_the_ends_of_a_scale_by_integration(exam):
    """P(bit = 1) over a quarter of a normal scale, with clipped PCA's own equation."""
    X, context, found = exam
    finding, model = one(found, "directions"), context.fits.best.model
    z = np.linspace(norm.isf(0.25), 8, 20_001)
    density = norm.pdf(z) / norm.pdf(z).sum()
    at = [
        norm.cdf((model.intercepts_ + s * z[:, None] * model.components_[0]) / np.sqrt(model.noise_variances_))
        for s in (1, -1)
    ]
    upper, lower = (density @ p for p in at)
    assert finding.numbers["1s, upper end"] == pytest.approx(upper.sum(), abs=1e-3)
    assert finding.numbers["1s, lower end"] == pytest.approx(lower.sum(), abs=1e-3)
    known = np.asarray(model.transform(X)).var()
    for column in shares(finding.numbers):
        p, q, n = upper[int(column[4:])], lower[int(column[4:])], len(X) * known / 4
        assert finding.numbers[f"share of {column}"] == pytest.approx(p, abs=1e-3)
        assert finding.numbers[f"share of {column}, others"] == pytest.approx(q, abs=1e-3)
        p, q = (p * n + 0.5) / (n + 1), (q * n + 0.5) / (n + 1)
        error = np.sqrt((p * (1 - p) + q * (1 - q)) / n)
        assert finding.numbers[f"error of {column}"] == pytest.approx(error, rel=1e-2)


@pytest.mark.slow
def test_groups_on_a_scale_in_standard_deviations(exam):
    X, context, found = exam
    numbers, place = one(found, "groups").numbers, np.array([float(z) for z in context.sample.beside["z"]])
    codes = np.asarray(context.fits.best.model.transform(X))[:, 0]
    low, high = np.quantile(place, [1 / 3, 2 / 3])
    for name, rows in {f"up to {low:g}": place <= low, f"above {high:g}": place > high}.items():
        mean = (codes[rows].mean() - codes.mean()) / codes.std()
        assert numbers[f"mean of {name}"] == pytest.approx(mean)
        assert numbers[f"error of {name}"] == pytest.approx(codes[rows].std(ddof=1) / codes.std() / np.sqrt(rows.sum()))


def scores_by_common_kinds(model, X):
    """Return the likelihood of each row of a table without blanks, by the classes that hold at least 5 of the rows."""
    common = [k for k, weight in enumerate(model.weights_) if weight * len(X) >= 5]
    total = sum(model.weights_[k] for k in common)
    scores = []
    for row in X:
        each = [model.weights_[k] / total * np.where(row, p := model.probabilities_[k], 1 - p).prod() for k in common]
        scores.append(np.log(sum(each)))
    return np.array(scores)


@pytest.fixture(scope="module")
def odd():
    context = planted.context_of(planted.odd(0), planted.CLASSES)
    return context, find(context)


@pytest.mark.slow
def test_odd_rows(odd):
    context, found = odd
    finding = one(found, "odd_rows")
    scores = scores_by_common_kinds(context.fits.best.model, planted.odd(0))
    assert {finding.numbers["row 1"], finding.numbers["row 2"]} == {int(i) + 1 for i in np.argsort(scores)[:2]}
    assert finding.numbers["times less likely, ln"] == pytest.approx(np.median(scores) - scores.min())
    assert finding.names_rows


@pytest.fixture(scope="module")
def mistaken():
    X, wrong = planted.mistakes(0)
    context = planted.context_of(X, planted.CLASSES)
    return X, wrong, context, find(context)


@pytest.mark.slow
def test_suspect_cells(mistaken):
    X, wrong, context, found = mistaken
    finding = one(found, "cells")
    expected = context.fits.best.model._cell_probabilities(X)
    for at in (1, 2, 3):
        i, j = finding.numbers[f"row {at}"] - 1, int(finding.numbers[f"column {at}"][4:])
        assert (i, j) in wrong
        given = expected[i, j] if X[i, j] else 1 - expected[i, j]
        assert finding.numbers[f"probability {at}"] == pytest.approx(given)
    j = int(finding.numbers["column 1"][4:])
    certain = ~np.isnan(X[:, j]) & (np.minimum(expected[:, j], 1 - expected[:, j]) < 0.01)
    assert finding.numbers["certain"] == certain.sum()
    assert finding.numbers["broken"] == sum(column == j for _, column in wrong)


@pytest.mark.full
def test_causes():
    X, _ = planted.causes(1)
    context = planted.context_of(X, planted.CAUSES)
    codes = np.asarray(context.fits.best.model.transform(X))
    order = np.argsort(-codes.sum(axis=0))
    told = [finding for finding in find(context).findings if finding.kind == "causes"]
    assert told
    for finding in told:
        r = codes[:, order[finding.numbers["cause"] - 1]]
        assert finding.numbers["share"] == pytest.approx(r.mean())
        for column in shares(finding.numbers):
            share, _ = weighted_share(r, X[:, int(column[4:])])
            assert finding.numbers[f"share of {column}"] == pytest.approx(share)


ALLOWED = {"90%", "0", "1", "1,", "0,"}  # of the wording, and recorded bits


@pytest.mark.slow
def test_every_number_of_a_sentence_is_listed(survey, copied, exam, odd, mistaken):
    """A sentence's numbers are roundings of those in `numbers`; names of columns are left aside."""
    every = [
        finding for found in (survey[-1], copied[-1], exam[-1], odd[-1], mistaken[-1]) for finding in found.findings
    ]
    assert {finding.kind for finding in every} >= {
        "classes",
        "directions",
        "pairs",
        "odd_rows",
        "cells",
        "missing",
        "groups",
    }
    for finding in every:
        values = [v for v in finding.numbers.values() if not isinstance(v, str)]
        values += [
            finding.rows,
            finding.of_rows,
            finding.numbers.get("certain", 0) - finding.numbers.get("broken", 0),
            12,
            14,
        ]
        values += [1 - v for v in values if 0 < v < 1]
        known = {
            f(v)
            for v in values
            for f in (percent, times, "{:,}".format, "{:.1f}".format, "{:+.2f}".format, "{:.2f}".format)
        }
        known |= {f"{100 * v:.1f}" for v in values}
        known = {part for text in known for part in re.findall(r"[+-]?\d[\d,.]*%?", text)}
        said = re.sub("“.*?”", "", finding.sentence)
        for token in re.findall(r"[+-]?\d[\d,.]*%?", said):
            assert token.rstrip(".,") in known | ALLOWED, (token, finding.sentence)


def test_without_rows_no_row_is_named(odd):
    found = find(replace(odd[0], rows=False)).findings
    assert "odd_rows" in {finding.kind for finding in found}
    for finding in found:
        assert not finding.names_rows
        assert not re.search(r"\brow \d", finding.sentence)
        assert not any(key.startswith("row ") for key in finding.numbers)


def test_rare_columns_and_small_effects_are_not_named():
    """40 times as frequent, but in 10 rows; 30 points, but of 12 rows; one point of 100,000; and a plain effect."""
    seen = np.array([[4000.0, 30.0, 50_000.0, 4000.0], [6000.0, 12.0, 50_000.0, 6000.0]])
    ones = np.array([[10.0, 24.0, 10_500.0, 2400.0], [0.4, 6.0, 10_000.0, 1200.0]])
    assert Contrast(ones, seen).named(least_rows(10_000)) == [3]
    assert [least_rows(n) for n in (100_000, 200, 101, 40)] == [20, 20, 10, 5]


def test_a_fit_that_was_cut_short_is_not_described(odd):
    context, _ = odd
    size = context.fits.compared.size
    whole = context.fits.of("LatentClassAnalysis", size)
    context.fits._made["LatentClassAnalysis", size] = replace(whole, note="stopped before it had converged")
    try:
        found = find(context)
    finally:
        context.fits._made["LatentClassAnalysis", size] = whole
    assert "did not converge" in found.picture
    assert not {"classes", "causes", "directions"} & {finding.kind for finding in found.findings}


@pytest.mark.slow
def test_a_dimension_that_is_stronger_than_the_others_is_reported():
    """Two scales with the columns' loadings 2 on one and .7 on the other: 4 of 4.49 of the squared loadings."""
    rng = np.random.default_rng(0)
    places = rng.standard_normal((600, 2))
    loadings = np.stack([np.full(12, 2.0), np.tile([0.7, -0.7], 6)])
    X = (rng.random((600, 12)) < 1 / (1 + np.exp(-places @ loadings))).astype(float)
    found = find(planted.context_of(X, {"IndependentColumns": [], "LogisticPCA": [2]}))
    share = found.numbers["share of the strongest dimension"]
    assert share == pytest.approx(4 / 4.49, abs=0.05)
    assert f"The strong one has {percent(share)} of the squared loadings." in found.picture
    even = np.stack([np.r_[np.full(6, 1.5), np.zeros(6)], np.r_[np.zeros(6), np.full(6, 1.5)]])
    Y = (rng.random((600, 12)) < 1 / (1 + np.exp(-places @ even))).astype(float)
    assert "strong" not in find(planted.context_of(Y, {"IndependentColumns": [], "LogisticPCA": [2]})).picture


def test_next_steps_open_the_table_as_the_report_did_and_say_what_they_add(survey):
    from hiddenbits.reporting.origin import of_python

    *_, context, _ = survey
    steps = find(replace(context, origin=of_python("my votes.csv", {"by": "group"}, {"drop": ["group"]}))).next_steps
    fit = "hiddenbits.LatentClassAnalysis(n_components=4, random_state=0).fit"
    opened = "hiddenbits.open_table('my votes.csv', drop=['group'])"
    more = ", fitted to all 600 rows (the report used 400)"
    codes = "`hiddenbits.load('model.hb').transform('my votes.csv')`"
    assert steps[0].startswith(f"`{fit}({opened}).save('model.hb')` keeps this model{more}. Then {codes} gives ")

"""Continuous columns and counts among binary and nominal ones: latent classes equal plain loops with scipy.stats."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone

from hiddenbits import LatentClassAnalysis, evaluate, inference, open_table
from hiddenbits.data import MemorySource, Table
from hiddenbits.data.layout import Layout
from hiddenbits.data.numbers import BitsAndNumbers, NumberSums
from hiddenbits.engine import Key, Local, Settings
from hiddenbits.families.latent_class_analysis.estimator import ClassScoreFunction
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.real import VARIANCE_FLOOR
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeParams
from tests.contracts.conftest import MASKS, STORAGES, NotResident
from tests.contracts.test_same_bits import fit_with_interruptions, same
from tests.oracle.mixed import MixedClasses, some_mixed_classes

pytestmark = pytest.mark.core

LEVELS, BINARY = (3, 2, 2), (False, True, True)
TYPES = ("diag", "full", "tied", "tied_diag")
ROUNDING = 1e-10  # relative to logs of some tens and sums of some dozens of products, after a solve with 3 x 3 matrices


def classes_of(rng, covariance_type, K=3, q=3, c=2, levels=LEVELS, binary=BINARY):
    return some_mixed_classes(rng, K, levels, binary, q, c, covariance_type)


def model_of(truth, covariance_type, strength=1.0):
    K, q = truth.means.shape
    sizes, n_counts = truth.levels.sizes, truth.rates.shape[1]
    return Classes(K, strength, sizes=sizes, n_continuous=q, n_counts=n_counts, covariance_type=covariance_type)


def of_table(rng, truth):
    """Proportions of levels, means and standard deviations, and mean counts, as of a table."""
    center = [rng.dirichlet(np.full(p.shape[1], 3.0)) for p in truth.levels.columns]
    q, c = truth.q, truth.rates.shape[1]
    spread = np.sqrt(np.diagonal(truth.covariances, axis1=1, axis2=2)).mean(axis=0)
    return center, truth.means.mean(axis=0), spread * rng.uniform(0.5, 2.0, q), rng.uniform(1.0, 5.0, c)


def params_of(truth, covariance_type, table):
    """The package's parameters of the same classes, standardized by `of_table`."""
    center, centers, scales, prior_rates = table
    K, q = truth.means.shape
    bits = [truth.levels.bits_of([p[k] for p in truth.levels.columns]) if center else [] for k in range(K)]
    of_prior = truth.levels.bits_of(center) if center else np.zeros(0)
    params = NodeParams.of(truth.weights, np.array(bits).T.reshape(-1, K), of_prior, Layout(truth.levels.sizes))
    unit, has_covariances = truth.covariances / np.outer(scales, scales), covariance_type in ("full", "tied") and q
    unit = unit if has_covariances else np.diagonal(unit, axis1=1, axis2=2)[:, :, None]
    means = ((truth.means - centers) / scales).T
    numbers = {"centers": centers, "scales": scales, "means": means, "covariances": unit.transpose(1, 2, 0).copy()}
    return MixedParams(**params.to_arrays(), **numbers, prior_rates=prior_rates, rates=truth.rates.T.copy())


def table_of(truth, rows, storage="dense", mask="dense", weights=None):
    n_levels = truth.n_levels
    x, observed = truth.levels.bits(rows[:, :n_levels]) if n_levels else np.zeros((2, len(rows), 0), np.uint8)
    bits = BitsAndNumbers(STORAGES[storage](x), np.ascontiguousarray(rows[:, n_levels:]))
    return Table(MemorySource(bits, MASKS[mask](observed)), None, weights)


def block_of(*args, **options):
    table = table_of(*args, **options)
    return table.grid(table.shape[0]).blocks[0]


def truth_at(params, binary):
    """The oracle at parameters of the package."""
    p, at, columns = params.probabilities.T, 0, []
    for size, is_binary in zip(params.layout.sizes, binary, strict=True):
        columns.append(np.stack([1.0 - p[:, at], p[:, at]], axis=1) if is_binary else p[:, at : at + size])
        at += size
    covariances = params.original_covariances.transpose(2, 0, 1)
    if not params.has_covariances:
        covariances = np.array([np.diag(of_class[:, 0]) for of_class in covariances])
    return MixedClasses(params.weights, columns, binary, params.original_means.T, covariances, params.rates.T)


def close(values, wanted, tolerance=ROUNDING):
    np.testing.assert_allclose(values, wanted, rtol=tolerance, atol=tolerance)


def check_rows_and_counts(truth, rows, covariance_type, table, storage, mask, weights):
    """Log-likelihood, posterior, missing cells, cells given the others, and what a pass adds, weighted."""
    model, params = model_of(truth, covariance_type), params_of(truth, covariance_type, table)
    block, shared = block_of(truth, rows, storage, mask, weights), model.prepare(params)
    assert params.flaw() is None
    assert model.mismatch(params) is None
    close(model.log_likelihood(params, shared, block), [truth.log_likelihood(row) for row in rows])
    posterior = np.array([truth.posterior(row) for row in rows])
    close(model.posterior(params, shared, block), posterior)
    expected = np.array([truth.cells(row) for row in rows])
    close(model.leave_one_out(params, shared, block), expected)
    missing = np.repeat(np.isnan(rows), [*truth.levels.sizes, *[1] * (rows.shape[1] - truth.n_levels)], axis=1)
    close(model.fill(params, shared, block)[missing], expected[missing])

    stats, (K, q) = model.expect(params, shared, block, None, Key(0))[0], truth.means.shape
    has_covariances = covariance_type in ("full", "tied") and q > 1
    close(stats.classes, weights @ posterior)
    close(stats.bound, sum(w * truth.log_likelihood(row) for w, row in zip(weights, rows, strict=True)))
    of_levels = truth.levels.counts(rows[:, : truth.n_levels], weights)[1] if truth.n_levels else []
    for level_counts in of_levels:  # they know the levels only: count again with the posterior of all columns
        level_counts[:] = 0.0
    sums, products = np.zeros((q, K)), np.zeros((q, q, K))
    recorded, events, counted = np.zeros((q, K)), np.zeros((rows.shape[1] - truth.n_levels - q, K)), 0.0
    for row, r in zip(rows, posterior * weights[:, None], strict=True):
        levels, x, counts = truth.parts(row)
        for k in range(K):
            for j, level in enumerate(levels):
                if not np.isnan(level):
                    of_levels[j][k, int(level)] += r[k]
            z, spread = truth.of_missing(x, k)
            z, spread = (z - table[1]) / table[2], spread / np.outer(table[2], table[2])
            o = np.ones(q) if has_covariances else ~np.isnan(x)
            sums[:, k] += r[k] * o * z
            products[:, :, k] += r[k] * np.outer(o, o) * (np.outer(z, z) + spread)
            recorded[:, k] += r[k] * o
            events[:, k] += r[k] * np.nan_to_num(counts)
        counted = counted + np.outer(~np.isnan(counts), r)
    products = products if has_covariances else np.array([products[j, j] for j in range(q)])[:, None].reshape(q, 1, K)
    close(stats.sums, sums)
    close(stats.products, products)
    close(np.broadcast_to(stats.recorded, (q, K)), recorded)
    close(stats.events, events)
    close(np.broadcast_to(stats.counted, events.shape), counted)
    if truth.n_levels:
        close(stats.ones.T, [truth.levels.bits_of([count[k] for count in of_levels]) for k in range(K)])


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("storage", STORAGES)
def test_rows_and_counts(storage, mask, covariance_type, seed):
    rng = np.random.default_rng(seed)
    truth = classes_of(rng, covariance_type)
    rows = truth.draw(rng, 16, missing=0.3)
    rows[0] = np.nan
    rows[1, truth.n_levels :] = np.nan
    rows[2, : truth.n_levels] = np.nan
    rows[3:6] = truth.draw(rng, 3)
    if mask == "full":  # then only levels and numbers are missing, which need no mask
        rows[:, 1:3] = np.nan_to_num(rows[:, 1:3])
    weights = rng.uniform(0.5, 2.0, len(rows))
    check_rows_and_counts(truth, rows, covariance_type, of_table(rng, truth), storage, mask, weights)


@pytest.mark.parametrize("missing", [0.3, 0.0])
@pytest.mark.parametrize(
    ("q", "c", "has_bits"), [(3, 2, False), (1, 0, False), (0, 1, False), (1, 1, True), (0, 2, True), (2, 0, True)]
)
@pytest.mark.parametrize("covariance_type", TYPES)
def test_few_columns(covariance_type, q, c, has_bits, missing):
    """Tables without bits, with one continuous column or none, with and without missing cells."""
    rng = np.random.default_rng(q)
    truth = classes_of(rng, covariance_type, 2, q, c, LEVELS if has_bits else (), BINARY if has_bits else ())
    rows = truth.draw(rng, 12, missing)
    if missing:
        rows[0] = np.nan
    weights = rng.uniform(0.5, 2.0, len(rows))
    mask = "dense" if has_bits and missing else "full"
    check_rows_and_counts(truth, rows, covariance_type, of_table(rng, truth), "dense", mask, weights)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("strength", [0.0, 2.5])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_m_step_is_a_maximum(covariance_type, strength, seed):
    """No direction leads up, and none has a slope: less than 1e-8 nats between steps of 1e-5 to both sides.

    A pseudo-row at the wrong place leaves 1e-5.
    """
    rng = np.random.default_rng(seed)
    truth = classes_of(rng, covariance_type, K=2)
    rows, weights, table = truth.draw(rng, 40, missing=0.2), rng.uniform(0.5, 2.0, 40), of_table(rng, truth)
    model, params = model_of(truth, covariance_type, strength), params_of(truth, covariance_type, table)
    stats = model.expect(params, model.prepare(params), block_of(truth, rows, weights=weights), None, Key(0))[0]
    tied, (center, _, scales, prior_rates) = covariance_type.startswith("tied"), table
    completed = truth.completed(rows, weights, complete=covariance_type in ("full", "tied"))

    def height(classes, of_rows=completed):
        return classes.expected_log_joint(of_rows, strength, (center, scales, prior_rates), tied)

    assert model.objective(params, stats) == pytest.approx(float(stats.bound) + height(truth, []), abs=1e-8)
    updated = model.update(params, stats)
    assert updated.flaw() is None
    maximum = truth_at(updated, BINARY)
    top = height(maximum)
    assert top > height(truth)
    for direction in range(8):
        steps = (-1e-5, 1e-5)
        back, forth = (height(maximum.moved(np.random.default_rng(direction), s, covariance_type)) for s in steps)
        assert max(back, forth) < top
        assert abs(forth - back) < 1e-8


@pytest.mark.parametrize("covariance_type", TYPES)
def test_em_climbs_to_the_floor_of_variances(covariance_type):
    """A class on one repeated value, and a column that is twice another: no variance or eigenvalue is below the floor.

    The log-likelihood there is that of scipy with the same covariances.
    """
    rng = np.random.default_rng(0)
    x = rng.normal([50.0, 3.0], [10.0, 1.0], (60, 2))
    x[:20] = 71.3, 5.0
    x = np.column_stack([x, 2.0 * x[:, 0]])
    model = LatentClassAnalysis(
        2, column_types="continuous", covariance_type=covariance_type, prior_strength=0.0, n_init=2, random_state=0
    ).fit(x)
    covariances = model._params.covariances
    spread = covariances.min() if not model._params.has_covariances else np.linalg.eigvalsh(covariances.T).min()
    has_floor = covariance_type != "tied_diag"  # the variances that classes share are not small
    assert (spread == pytest.approx(VARIANCE_FLOOR, rel=1e-6)) == has_floor
    assert spread > VARIANCE_FLOOR * (1 - 1e-6)
    assert (np.diff(model.trace_) > -1e-6).all()
    truth = truth_at(model._params, ())
    close(model.score_samples(x), [truth.log_likelihood(row) for row in x], 1e-7)  # condition 1e6 of the covariances


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_likelihood_of_large_numbers(covariance_type, missing):
    """Values around 1e6 with spread 1: scipy's densities to 1e-10 of a nat, from the table to the scores of rows."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0, 0.0], [3.0, 2.0, -2.0]])
    x = (
        1e6
        + centers[rng.integers(0, 2, 300)]
        + rng.standard_normal((300, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 0.8, 0.3], [0.0, 0.0, 0.9]])
    )
    x[rng.random(x.shape) < missing] = np.nan
    x = x[~np.isnan(x).all(axis=1)]
    model = LatentClassAnalysis(
        2, column_types="continuous", covariance_type=covariance_type, n_init=1, random_state=0
    ).fit(x)
    params, covariances = model._params, model.covariances_
    close(model.means_, 1e6 + (params.centers - 1e6 + params.scales * params.means.T), 1e-15)
    near = (params.centers - 1e6) + params.scales * params.means.T  # differences of numbers near 1e6 are exact
    covariances = covariances if covariances.ndim == 3 else np.array([np.diag(v) for v in covariances])
    wanted = []
    for row in x - 1e6:
        o, logs = ~np.isnan(row), []
        for weight, mean, covariance in zip(model.weights_, near, covariances, strict=True):
            logs.append(np.log(weight) + multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(row[o]))
        wanted.append(np.logaddexp.reduce(logs))
    np.testing.assert_allclose(model.score_samples(x), wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("q", [3, 1, 0])
def test_coordinates_of_the_extrapolation(covariance_type, q):
    rng = np.random.default_rng(0)
    truth = classes_of(rng, covariance_type, q=q)
    model, params = model_of(truth, covariance_type), params_of(truth, covariance_type, of_table(rng, truth))
    vector = model.to_vector(params)
    back = model.from_vector(vector, params)
    for name, array in params.to_arrays().items():
        np.testing.assert_allclose(back.to_arrays()[name], array, rtol=1e-12, atol=1e-12)
    for size in (1.0, 50.0, 1e4, 1e300):
        wild = model.from_vector(vector + size * rng.standard_normal(len(vector)), params)
        assert wild.flaw() is None, size


def differences(function, at, step):
    """Central differences of a function of a vector, one row per coordinate."""
    moves = step * np.eye(len(at))
    return np.array([(function(at + move) - function(at - move)) / (2.0 * step) for move in moves])


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("covariance_type", ["diag", "tied_diag"])
def test_score_function(covariance_type, missing):
    """Gradients of rows, and the information, equal differences of log-likelihoods and of gradients.

    Steps of 1e-5 leave about 1e-10 of truncation, and 1e-10 of rounding in logs of some tens.
    """
    rng = np.random.default_rng(0)
    truth = classes_of(rng, covariance_type)
    rows, weights = truth.draw(rng, 25, missing), rng.uniform(0.5, 2.0, 25)
    model, params = model_of(truth, covariance_type), params_of(truth, covariance_type, of_table(rng, truth))
    block, function = block_of(truth, rows, weights=weights), ClassScoreFunction(model, params)
    free = function.free_parameters(float(weights.sum()))
    assert len(free.vector) == function.n_coordinates
    at_vector = function.params_at(free.vector)
    for name, array in params.to_arrays().items():
        np.testing.assert_allclose(at_vector.to_arrays()[name], array, rtol=1e-12, atol=1e-12)

    def log_likelihoods(vector):
        moved = function.params_at(vector)
        return model.log_likelihood(moved, model.prepare(moved), block)

    def slope(vector):
        moved = replace(function, params=function.params_at(vector))
        return weights @ moved.gradients(block)

    gradients = function.gradients(block)
    close(gradients.T, differences(log_likelihoods, free.vector, 1e-5), 1e-7)
    close(function.information(block), -differences(slope, free.vector, 1e-5), 1e-7)
    _check_quantities(function, free)
    _check_prior(model, params, function, free, float(weights.sum()))


def _check_quantities(function, free):
    """Jacobians of what a user reads, by differences."""

    def values(vector):
        there = replace(function, params=function.params_at(vector)).free_parameters(25.0)
        return np.concatenate([quantity.values.ravel() for quantity in there.quantities])

    names = [quantity.name for quantity in free.quantities]
    assert names == ["weights", "probabilities", "means", "covariances", "rates"]
    scales = np.abs(values(free.vector)) + 1.0
    jacobian = np.concatenate([quantity.jacobian for quantity in free.quantities])
    close(jacobian.T / scales, differences(values, free.vector, 1e-5) / scales, 1e-7)


def _check_prior(model, params, function, free, weight):
    """The gradient and curvature of the log prior, by differences of the objective without rows."""

    def log_prior(vector):
        moved = function.params_at(vector)
        return model.objective(moved, model.pseudo_statistics(moved, weight))  # its bound is 0

    def gradient(vector):
        return replace(function, params=function.params_at(vector)).free_parameters(weight).prior_gradient

    close(free.prior_gradient, differences(log_prior, free.vector, 1e-5), 1e-6)
    close(free.prior_curvature, -differences(gradient, free.vector, 1e-5), 1e-6)


# Fits of whole tables, without frames: columns of numbers in an array or a dict.

COLUMN_TYPES = {"size": "nominal", "visits": "count"}


def columns_of(seed=0, n=600, missing=0.1):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    columns = {
        "income": rng.normal(1e6 + 3e4 * k, 1e4),
        "height": rng.normal(170 + 8 * k, 6),
        "visits": rng.poisson(1 + 4 * k).astype(float),
        "smokes": (rng.random(n) < 0.2 + 0.5 * k).astype(float),
        "size": rng.integers(1, 4, n).astype(float),
    }
    for values in columns.values():
        values[rng.random(n) < missing] = np.nan
    return columns


def analysis(K=2, covariance_type="diag", **options):
    settings = {"n_init": 1, "random_state": 0, "column_types": COLUMN_TYPES, **options}
    return LatentClassAnalysis(K, covariance_type=covariance_type, **settings)


@pytest.mark.thin(3)
@pytest.mark.parametrize("online_passes", [0, 1])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_threads_parts_and_interruptions(covariance_type, online_passes, tmp_path, monkeypatch):
    """The same bits with threads, in parts of any size, and broken off and resumed from a checkpoint."""
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 200)
    table = open_table(columns_of(n=300), column_types=COLUMN_TYPES)
    model = analysis(3, covariance_type).fit(table)._model()
    settings = Settings(n_init=1, max_iter=4, tol=0.0, online_passes=online_passes)
    loop = analysis()._loop
    alone = loop(model, table.grid(64), Local(), settings, None, None)
    for n_jobs, part_bytes in ((3, table.part_bytes), (1, 1), (3, 5_000)):
        walked, executor = replace(table, source=NotResident(table.source), part_bytes=part_bytes), Local(n_jobs)
        other = loop(model, walked.grid(64), executor, settings, None, None)
        executor.close()
        assert same(alone.params, other.params)
        assert np.array_equal(alone.trace, other.trace)
    settings = replace(settings, n_init=2)
    fit_with_interruptions(loop, model, table.grid(64), settings, tmp_path / "fit.hb", 3)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_weights_equal_repeats(covariance_type):
    """A weight of 2 is two equal rows, to sums in another order; of a zero weight nothing is left."""
    columns, counts = columns_of(), np.random.default_rng(1).integers(0, 3, 600)
    repeated = {name: np.repeat(values, counts) for name, values in columns.items()}
    model = analysis(2, covariance_type, tol=1e-9)
    one, two = (fit._params for fit in (model.fit(columns, sample_weight=counts), clone(model).fit(repeated)))
    for name, array in one.to_arrays().items():
        np.testing.assert_allclose(two.to_arrays()[name], array, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_order_of_rows_and_units_do_not_matter(covariance_type):
    """Shuffled rows are the same rows; incomes in thousands from another origin lead to the same maximum.

    There rounding decides the path, and steps of less than 1e-12 nats per row end it.
    """
    columns, order = columns_of(), np.random.default_rng(0).permutation(600)
    one = analysis(2, covariance_type, tol=1e-12).fit(columns)
    two = clone(one).fit({name: values[order] for name, values in columns.items()})
    for name, array in one._params.to_arrays().items():
        np.testing.assert_allclose(two._params.to_arrays()[name], array, rtol=1e-5, atol=1e-5)
    thousands = columns | {"income": (columns["income"] - 1e6) / 1000}
    moved = clone(one).fit(thousands)
    np.testing.assert_allclose(moved.means_[:, 0], (one.means_[:, 0] - 1e6) / 1000, rtol=0, atol=1e-3)
    np.testing.assert_allclose(moved.predict_proba(thousands), one.predict_proba(columns), atol=1e-4)
    gap = moved.score_samples(thousands) - one.score_samples(columns)  # a density changes with its unit
    np.testing.assert_allclose(gap, ~np.isnan(columns["income"]) * np.log(1000), atol=1e-4)


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_em_climbs(covariance_type, strength):
    """From k-means and from random memberships, with extrapolation; a fit to the fitted values changes nothing."""
    columns = columns_of(1, 300)
    model = analysis(2, covariance_type, n_init=3, prior_strength=strength, tol=1e-9).fit(columns)
    assert (np.diff(model.trace_) >= -1e-7).all()
    assert {restart.reason for restart in model.restarts_} == {"converged"}
    table = open_table(columns, recode=model)
    refitted = model._refit(table, tol=1e-9)
    np.testing.assert_allclose(refitted.means_, model.means_, rtol=1e-3)
    assert refitted.trace_[-1] >= model.trace_[-1] - 1e-6


@pytest.mark.parametrize("covariance_type", ["diag", "tied_diag"])
def test_row_gradients_of_a_fit(covariance_type):
    """Of the estimator, in its coordinates, by differences of `score_samples`; full and tied refuse."""
    columns = columns_of(n=80)
    model = analysis(2, covariance_type, prior_strength=0.5).fit(columns)
    vector = model._free_parameters().vector

    def scores(at):
        return model._with_vector(at).score_samples(columns)

    def slope(at):
        return model._with_vector(at)._row_gradients(columns).sum(axis=0)

    close(model._row_gradients(columns).T, differences(scores, vector, 1e-5), 1e-7)
    close(model._observed_information(columns, np.ones(80)), -differences(slope, vector, 1e-5), 1e-6)


@pytest.mark.parametrize("covariance_type", ["full", "tied"])
def test_no_score_function_with_covariances(covariance_type):
    columns = columns_of(n=80)
    model = analysis(2, covariance_type).fit(columns)
    with pytest.raises(ValueError, match=f"no score function for covariance_type='{covariance_type}'. Use inference.b"):
        inference.standard_errors(model, columns)


def test_standard_errors_of_one_class():
    """By hand: a mean has s / sqrt(n), a variance v sqrt(2 / n), a rate sqrt(rate / n); intervals on the log scale."""
    columns = columns_of(missing=0.2)
    model = analysis(1, prior_strength=0.0).fit(columns)
    errors = inference.standard_errors(model, columns, robust=False)
    income, visits = (columns[name][~np.isnan(columns[name])] for name in ("income", "visits"))
    np.testing.assert_allclose(errors.se["means"][0, 0], income.std() / np.sqrt(len(income)), rtol=1e-8)
    np.testing.assert_allclose(errors.se["covariances"][0, 0], income.var() * np.sqrt(2 / len(income)), rtol=1e-8)
    rate = visits.mean()
    np.testing.assert_allclose(errors.se["rates"][0, 0], np.sqrt(rate / len(visits)), rtol=1e-8)
    low, high = errors.interval["rates"]
    width = 1.959963984540054 * np.sqrt(rate / len(visits)) / rate
    np.testing.assert_allclose([low[0, 0], high[0, 0]], [rate * np.exp(-width), rate * np.exp(width)], rtol=1e-8)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_samples_have_the_moments_of_the_model(covariance_type):
    """Means, covariances and rates of 100,000 rows within 5 standard errors."""
    rng, n = np.random.default_rng(0), 100_000
    truth = classes_of(rng, covariance_type)
    params = params_of(truth, covariance_type, of_table(rng, truth))
    x, classes = model_of(truth, covariance_type).sample(params, n, rng)
    numbers = x[:, truth.levels.sizes and sum(truth.levels.sizes) :]
    for k in range(3):
        rows = numbers[classes[:, k] == 1]
        z, counts = rows[:, :3] - truth.means[k], rows[:, 3:]
        error = np.sqrt(np.diag(truth.covariances[k]) / len(rows))
        assert (np.abs(z.mean(axis=0)) < 5 * error).all()
        spread = np.sqrt(np.diag(truth.covariances[k]))
        far = np.abs(z.T @ z / len(rows) - truth.covariances[k]) / np.outer(spread, spread)
        assert (far < 5 * np.sqrt(2 / len(rows))).all()
        assert (counts == np.rint(counts)).all()
        assert (np.abs(counts.mean(axis=0) - truth.rates[k]) < 5 * np.sqrt(truth.rates[k] / len(rows))).all()


def test_rows_are_told_apart_by_their_numbers():
    """Equal bits and other numbers are different rows, in starts and in descriptions; -0 equals 0, NaN equals NaN."""
    columns = {
        "x": np.array([1.5, 2.5, 0.0, -0.0, np.nan, np.nan] * 3),
        "b": np.ones(18),
        "c": np.tile([0.0, 1.0, 0.0, 0.0, 1.0, 1.0], 3),
    }
    table = open_table(columns, column_types={"x": "continuous", "b": [0, 1]})
    assert evaluate.describe(table).n_different == 4
    only = open_table({"x": columns["x"]}, column_types="continuous")
    described = evaluate.describe(only)
    assert (described.n_different, described.n_blank, described.n_columns, described.blank_rows) == (4, 6, 1, 6)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_constant_columns_and_columns_without_cells(covariance_type):
    """A column of one value has the scale 1 in 20,000 rows, too, so that another value later is no catastrophe."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=20_000), np.full(20_000, 4.2), np.full(20_000, 1e6 + 0.1)])
    x[rng.random(x.shape) < 0.2] = np.nan
    sums = NumberSums.of(x[:7000], np.ones(7000)) + NumberSums.of(x[7000:], np.ones(13_000))
    np.testing.assert_array_equal(sums.means[1:], [4.2, 1e6 + 0.1])
    np.testing.assert_array_equal(sums.scales[1:], 1.0)
    np.testing.assert_allclose([sums.means[0], sums.scales[0]], [np.nanmean(x[:, 0]), np.nanstd(x[:, 0])], rtol=1e-12)
    model = LatentClassAnalysis(
        1, column_types="continuous", covariance_type=covariance_type, prior_strength=0.0, random_state=0
    ).fit(x[:500])
    np.testing.assert_allclose(model.means_[0, 1:], [4.2, 1e6 + 0.1], rtol=1e-15)
    spread = model.covariances_[0] if model.covariances_.ndim == 2 else np.diag(model.covariances_[0])
    np.testing.assert_allclose(spread[1:], VARIANCE_FLOOR, rtol=1e-9)
    x[:, 1] = np.nan
    with pytest.warns(UserWarning, match="1 of 3 columns have no recorded cell.*: 1"):
        model.fit(x[:500])
    assert np.isfinite(model.score_samples(x[:500])).all()

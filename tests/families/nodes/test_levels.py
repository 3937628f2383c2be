"""Nominal and ordinal columns among binary ones: sums and methods of latent classes equal plain loops over levels."""

import warnings

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, evaluate, open_table, tetrachoric
from hiddenbits.data import MemorySource, Table
from hiddenbits.data.layout import Layout
from hiddenbits.engine import Key
from hiddenbits.evaluate.held_out_cells import calibration_bins, cell_losses
from hiddenbits.exceptions import TableError
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.tables import hide_cells
from tests.contracts.conftest import MASKS, STORAGES
from tests.oracle.levels import LevelClasses, some_classes

pytestmark = pytest.mark.core

LEVELS, BINARY = (3, 2, 4, 2, 2), (False, True, False, True, False)
ROUNDING = 1e-12  # sums of some dozens of products


def params_of(classes, center=None):
    """The package's parameters of the same classes."""
    theta = np.array([classes.bits_of([p[k] for p in classes.columns]) for k in range(len(classes.weights))]).T
    m = theta.mean(axis=1) if center is None else classes.bits_of(center)
    return NodeParams.of(classes.weights, theta, m, Layout(classes.sizes))


def block_of(classes, rows, storage="dense", mask="dense", weights=None):
    x, observed = classes.bits(rows)
    table = Table(MemorySource(STORAGES[storage](x), MASKS[mask](observed)), None, weights)
    return table.grid(len(rows)).blocks[0]


@pytest.mark.thin(3)  # of twelve: every storage and every mask
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("storage", STORAGES)
def test_rows_and_counts(storage, mask, seed):
    """Log-likelihood, posterior, missing cells, cells given the others, and what a pass adds, weighted."""
    rng = np.random.default_rng(seed)
    truth = some_classes(rng, 3, LEVELS, BINARY)
    rows = truth.draw(rng, 12, missing=0.3)
    rows[0] = np.nan
    if mask == "full":  # then only levels are missing, which need no mask
        rows[:, BINARY] = np.nan_to_num(rows[:, BINARY])
    weights, model, params = rng.uniform(0.5, 2.0, len(rows)), Classes(3, sizes=truth.sizes), params_of(truth)
    block, shared = block_of(truth, rows, storage, mask, weights), model.prepare(params)

    def close(found, wanted):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING)

    close(model.log_likelihood(params, shared, block), [truth.log_likelihood(row) for row in rows])
    close(model.posterior(params, shared, block), [truth.posterior(row) for row in rows])
    others = np.array([truth.bits_of([truth.conditional(row, j) for j in range(len(LEVELS))]) for row in rows])
    close(model.leave_one_out(params, shared, block), others)
    missing = np.repeat(np.isnan(rows), truth.sizes, axis=1)
    close(model.fill(params, shared, block)[missing], others[missing])

    stats = model.expect(params, shared, block, None, Key(0))[0]
    classes, levels = truth.counts(rows, weights)
    close(stats.classes, classes)
    close(stats.ones.T, [truth.bits_of([count[k] for count in levels]) for k in range(3)])
    cells = [
        truth.bits_of([np.full(n, count[k].sum()) for n, count in zip(LEVELS, levels, strict=True)]) for k in range(3)
    ]
    close(np.broadcast_to(stats.cells(params.layout), params.probabilities.shape).T, cells)
    close(stats.bound, sum(w * truth.log_likelihood(row) for w, row in zip(weights, rows, strict=True)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("strength", [0.0, 2.5])
def test_m_step_is_a_maximum(strength, seed):
    """No direction leads up, and none has a slope: 1e-6 nats, where a pseudo-row at the wrong place leaves .1."""
    rng = np.random.default_rng(seed)
    truth = some_classes(rng, 3, LEVELS, BINARY)
    rows, weights = truth.draw(rng, 40, missing=0.2), rng.uniform(0.5, 2.0, 40)
    model, center = Classes(3, strength, sizes=truth.sizes), [rng.dirichlet(np.full(n, 3.0)) for n in LEVELS]
    params = params_of(truth, center)
    stats = model.expect(params, model.prepare(params), block_of(truth, rows, weights=weights), None, Key(0))[0]
    prior = truth.expected_log_joint(np.zeros(3), [np.zeros(p.shape) for p in truth.columns], strength, center)
    assert model.objective(params, stats) == pytest.approx(float(stats.bound) + prior, abs=1e-10)

    new, at = model.update(params, stats), 0
    columns = []
    for size, binary in zip(truth.sizes, BINARY, strict=True):
        p = new.probabilities[at : at + size].T
        columns.append(np.hstack([1.0 - p, p]) if binary else p)
        at += size
    found = LevelClasses(new.weights, columns, BINARY)

    def height(classes):
        return classes.expected_log_joint(*truth.counts(rows, weights), strength, center)

    top = height(found)
    for direction in range(20):
        back, forth = (height(found.moved(np.random.default_rng(direction), step)) for step in (-1e-4, 1e-4))
        assert max(back, forth) < top
        assert abs(forth - back) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_samples_have_one_level_a_cell_and_the_right_pairs(seed):
    """Shares of all pairs of levels of two columns in 100,000 rows, within 5 standard errors."""
    rng, n = np.random.default_rng(seed), 100_000
    truth = some_classes(rng, 3, LEVELS, BINARY)
    x, classes = Classes(3, sizes=truth.sizes).sample(params_of(truth), n, rng)
    ends = np.cumsum(truth.sizes)
    parts = [x[:, end - size : end] for end, size in zip(ends, truth.sizes, strict=True)]
    shown = [np.hstack([1 - part, part]) if binary else part for part, binary in zip(parts, BINARY, strict=True)]
    assert all((part.sum(axis=1) == 1).all() for part in shown)
    for one, p in zip([classes, *shown], [np.eye(3), *truth.columns], strict=True):
        for other, q in zip(shown, truth.columns, strict=True):
            if one is not other:
                wanted = (p * truth.weights[:, None]).T @ q
                far = np.abs(one.astype(float).T @ other / n - wanted)
                assert (far <= 5 * np.sqrt(wanted * (1 - wanted) / n)).all()


def table_in_words(rows):
    """The rows as lists of values: sizes, yes or no, stars, 0 or 1, days; None where missing."""
    words = [["s", "m", "l"], ["no", "yes"], [1, 2, 3, 4], [0, 1], ["weekday", "weekend"]]
    columns = zip(("size", "smokes", "stars", "bit", "day"), words, rows.T, strict=True)
    return {name: [None if np.isnan(v) else word[int(v)] for v in column] for name, word, column in columns}


TYPES = {"size": ["s", "m", "l"], "stars": "ordinal", "day": "nominal"}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    rows = some_classes(rng, 3, LEVELS, BINARY).draw(rng, 300, missing=0.2)
    columns = table_in_words(rows)
    with warnings.catch_warnings(action="error"):  # which word of two is 1 is all the same to classes
        model = LatentClassAnalysis(3, column_types=TYPES, n_init=1, random_state=0).fit(columns)
    return model, columns, rows


def truth_of(model):
    """The oracle at the parameters of a fit, with levels in the order of `table_in_words`."""
    names, p = model.level_names_, model.probabilities_
    at = {name: p[:, j] for j, name in enumerate(names)}
    days = ["day=weekday", "day=weekend"]
    levels = [[f"size={v}" for v in "sml"], ["smokes"], [f"stars={v}" for v in range(1, 5)], ["bit"], days]
    columns = [np.stack([1 - at[of[0]], at[of[0]]] if len(of) == 1 else [at[v] for v in of], axis=1) for of in levels]
    return LevelClasses(model.weights_, columns, BINARY)


def test_complete_in_the_values_of_the_table(fitted):
    """Observed cells stay; a missing one has its most probable value, and a column of 0 and 1 its probability."""
    model, columns, rows = fitted
    truth, completed = truth_of(model), model.complete(columns)
    assert list(completed) == list(columns)
    most = [[np.argmax(truth.conditional(row, j)) for j in range(5)] for row in rows]
    wanted = table_in_words(np.where(np.isnan(rows), most, rows))
    for name in ("size", "smokes", "stars", "day"):
        assert completed[name] == wanted[name]
    of_bit = [truth.conditional(row, 3)[1] if np.isnan(row[3]) else row[3] for row in rows]
    np.testing.assert_allclose(completed["bit"], of_bit, rtol=0, atol=ROUNDING)
    assert {type(value) for name in ("size", "stars") for value in completed[name]} == {str, int}


def test_scores_of_a_fit_in_words(fitted):
    model, columns, rows = fitted
    truth = truth_of(model)
    wanted = [truth.log_likelihood(row) for row in rows]
    np.testing.assert_allclose(model.score_samples(columns), wanted, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(model.transform(columns), [truth.posterior(row) for row in rows], rtol=0, atol=ROUNDING)


def test_loss_on_hidden_cells(fitted):
    """Of a hidden level -ln P(level | what is left of the row), once a cell."""
    model, columns, rows = fitted
    truth, table = truth_of(model), open_table(columns, recode=model)
    losses, cells = cell_losses(model, table, share=0.3, seed=2)
    drawn = np.isnan(hide_cells(open_table(np.ones(rows.shape)), 0.3, random_state=2).to_float())
    left = np.where(drawn, np.nan, rows)
    hidden = drawn & ~np.isnan(rows)
    wanted = np.zeros(len(rows))
    for i, j in np.argwhere(hidden):
        wanted[i] -= np.log(truth.conditional(left[i], j)[int(rows[i, j])])
    np.testing.assert_array_equal(cells, hidden.sum(axis=1))
    np.testing.assert_allclose(losses, wanted, rtol=0, atol=1e-10)
    assert calibration_bins(model, table, 0.3, 2)[:, 0].sum() == (hidden.sum(axis=0) * truth.sizes).sum()


def test_measures_by_cells_and_sizes(fitted):
    _, columns, rows = fitted
    found = evaluate.select(LatentClassAnalysis(column_types=TYPES, random_state=0), columns, [1, 2], by="bic")
    one = LatentClassAnalysis(1, column_types=TYPES, prior_strength=0)
    assert found.figures[0].value == pytest.approx(one.fit(columns).bic(columns))
    with pytest.raises(
        ValueError, match=r"leave_one_out_error needs binary data, but .* has columns that are not binary"
    ):
        evaluate.leave_one_out_error(one, columns)
    n_cells, table = np.sum(~np.isnan(rows)), open_table(columns, recode=one)
    per_cell = -one.score_samples(columns).sum() / np.log(2) / n_cells
    assert evaluate.bits_per_cell(one, columns).value == pytest.approx(per_cell)
    with pytest.raises(TableError, match="but this table has nominal or ordinal ones"):
        tetrachoric(table)


def test_a_sample_in_the_values_of_the_table(fitted):
    model, columns, _ = fitted
    drawn = model.sample(500, random_state=1)
    assert list(drawn) == list(columns)
    for name, values in columns.items():
        assert set(drawn[name]) == set(values) - {None}
        assert {type(value) for value in drawn[name]} == {type(value) for value in values if value is not None}


def test_arrays_of_levels_stay_arrays(fitted):
    """The numbers of levels in place of words: the same model, and the same values filled in."""
    model, columns, rows = fitted
    types = {0: "ordinal", 1: "binary", 2: "ordinal", 4: "nominal"}
    of_array = LatentClassAnalysis(3, column_types=types, n_init=1, random_state=0).fit(rows)
    np.testing.assert_allclose(of_array.trace_[-1], model.trace_[-1], rtol=1e-6)  # days come in another order
    completed, truth = of_array.complete(rows), model.complete(columns)
    numbers = {
        value: float(k) for word in ("sml", (1, 2, 3, 4), ("weekday", "weekend")) for k, value in enumerate(word)
    }
    for j, name in ((0, "size"), (2, "stars"), (4, "day")):
        assert completed[:, j].tolist() == [numbers[value] for value in truth[name]]


@pytest.mark.parametrize("mask", ["full", "missing-pattern"])
@pytest.mark.parametrize("storage", STORAGES)
def test_binary_columns_keep_their_bits(storage, mask):
    """Declared by sizes or not; and to rounding next to levels that are all missing."""
    rng = np.random.default_rng(0)
    truth = some_classes(rng, 3, (2,) * 9, (True,) * 9)
    rows = truth.draw(rng, 200, missing=0.0 if mask == "full" else 0.2)
    params = params_of(truth)

    def step(model, params, block):
        stats = model.expect(params, model.prepare(params), block, None, Key(0))[0]
        return stats, model.update(params, stats), model.objective(params, stats)

    block = block_of(truth, rows, storage, mask)
    stats, new, objective = step(Classes(3), params, block)
    again, other, same_objective = step(Classes(3, sizes=(1,) * 9), params, block)
    assert objective == same_objective
    for one, two in ((stats, again), (new, other)):
        assert all(np.array_equal(array, two.to_arrays()[name]) for name, array in one.to_arrays().items())
    if storage != "csr":
        return
    wider = LevelClasses(truth.weights, [*truth.columns, rng.dirichlet(np.ones(4), 3)], (*truth.binary, False))
    beside = block_of(wider, np.column_stack([rows, np.full(len(rows), np.nan)]), storage, mask)
    more, _, _ = step(Classes(3, sizes=wider.sizes), params_of(wider), beside)
    # Products of other widths: on some processors BLAS adds them in another order.
    np.testing.assert_allclose(more.ones[:9], stats.ones, rtol=1e-13)
    np.testing.assert_allclose(more.classes, stats.classes, rtol=1e-13)
    assert float(more.bound) == pytest.approx(float(stats.bound), rel=1e-13)


def test_weights_equal_repeats(fitted):
    """The same fit to 1e-9: sums in another order. Of a zero weight nothing is left."""
    _, columns, _ = fitted
    counts = np.random.default_rng(1).integers(0, 3, 300)
    repeated = {
        name: [v for v, n in zip(values, counts, strict=True) for _ in range(n)] for name, values in columns.items()
    }
    model = LatentClassAnalysis(3, column_types={**TYPES, "smokes": "nominal"}, n_init=1, tol=1e-9, random_state=0)
    one, two = model.fit(columns, sample_weight=counts)._params, model.fit(repeated)._params
    for name, array in one.to_arrays().items():
        np.testing.assert_allclose(two.to_arrays()[name], array, rtol=0, atol=1e-9)


def test_n_missing_and_types(fitted):
    _, columns, rows = fitted
    table = open_table(columns, column_types=TYPES)
    assert table.n_missing == np.isnan(rows).sum()
    assert table.n_columns == 5
    assert table.shape == (300, 11)

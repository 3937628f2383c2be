"""The combination machine: gradient, EM, growth, rows with blanks, and the two targets of the literature."""

import numpy as np
import pytest

from hiddenbits import CombinationMachine
from hiddenbits.data import open_table
from hiddenbits.data.rows_by_content import choose_rows
from hiddenbits.engine import Key, Local, Position, Settings, fit_em
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.maths import missing_rows
from hiddenbits.maths.state_sums import free_phase
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core


def machine(seed, d=6, m=4, scale=1.0):
    rng = np.random.default_rng(seed)
    return Combination().exact(scale * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d))


def rows_of(seed, n, d, missing):
    rows = np.random.default_rng(seed).integers(0, 2, (n, d)).astype(float)
    if missing:
        rows[np.random.default_rng(seed + 100).random((n, d)) < 0.3] = np.nan
    return rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_gradient_equals_finite_differences(seed, missing, bias):
    model, params = Combination(4, ridge=0.7, visible_bias=bias), machine(seed)
    table = table_of(rows_of(seed, 30, 6, missing), weights=np.random.default_rng(seed).uniform(0.5, 2.0, 30))
    block = table.grid(30).blocks[0]

    def objective(vector):
        there = model.from_vector(vector, params)
        return model.objective(there, model.expect(there, model.prepare(there), block, None, Key(0))[0])

    stats = model.expect(params, model.prepare(params), block, None, Key(0))[0]
    gradient = model.gradient(params, stats, free_phase(params.weights, params.thresholds, params.bias))
    here, step = model.to_vector(params), 1e-5
    slopes = [(objective(here + step * u) - objective(here - step * u)) / (2 * step) for u in np.eye(len(here))]
    np.testing.assert_allclose(gradient, slopes, rtol=0, atol=1e-6)


class Kept:
    """A checkpoints of positions in memory."""

    def __init__(self, position):
        self.position = position

    def load(self, summary):
        return self.position

    def save(self, position, summary):
        self.position = position


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("missing", [False, True])
def test_em_never_falls_and_ends_where_the_gradient_does(seed, missing):
    """EM, by its own M-step, ends at a maximum: the quasi-Newton climb goes on from there by next to nothing."""
    table = table_of(structured_rows(np.random.default_rng(seed), 300, 8, missing))
    model, grid = Combination(2, ridge=1.0, start_from="noise"), table.grid(300)
    em = fit_em(model, grid, Local(), Settings(tol=1e-9, max_iter=3000, seed=seed), None, None)
    assert (np.diff(em.trace) >= -1e-10 * abs(em.trace[-1])).all()
    kept = Kept(Position(params=em.params, safe=em.params))
    climbed = fit_machine(model, grid, Local(), Settings(tol=1e-10, seed=seed), kept, None)
    assert (np.diff(climbed.trace) >= 0.0).all()
    assert em.trace[-1] <= climbed.trace[-1] + 1e-9 <= em.trace[-1] + 1e-3


def test_states_in_chunks_equal_states_at_once(monkeypatch):
    """Rows with blanks, with the states cut into many small chunks."""
    model, params = Combination(4), machine(3)
    block = table_of(rows_of(3, 20, 6, missing=True)).grid(20).blocks[0]
    whole = model.expect(params, model.prepare(params), block, None, Key(0))[0].to_arrays()
    verbs = [model.log_likelihood, model.posterior, model.posterior_mode, model.fill, model.leave_one_out]
    answers = [verb(params, model.prepare(params), block) for verb in verbs]
    monkeypatch.setattr(missing_rows, "STATES_AT_ONCE", 4)
    chunked = model.expect(params, model.prepare(params), block, None, Key(0))[0].to_arrays()
    for name, array in whole.items():
        np.testing.assert_allclose(chunked[name], array, rtol=0, atol=1e-12)
    for verb, answer in zip(verbs, answers, strict=True):
        np.testing.assert_allclose(verb(params, model.prepare(params), block), answer, rtol=0, atol=1e-12)


def test_the_most_probable_code_is_the_most_probable():
    model, params = Combination(4), machine(4)
    rows = rows_of(4, 40, 6, missing=True)
    rows[:10] = np.nan_to_num(rows[:10])  # complete rows, too
    codes = model.posterior_mode(params, model.prepare(params), table_of(rows).grid(40).blocks[0])
    for row, code in zip(rows, codes, strict=True):
        seen = ~np.isnan(row)
        s = np.where(seen, 2 * np.nan_to_num(row) - 1, 0.0)
        H = model.hidden_states(params)
        om = H @ params.weights.T + params.bias
        score = H @ (params.thresholds + s @ params.weights) + (np.logaddexp(om, -om) * ~seen).sum(axis=1)
        np.testing.assert_array_equal(code, H[score.argmax()])


@pytest.mark.parametrize("seed", range(3))
def test_the_choice_of_rows_does_not_depend_on_order_weights_or_storage(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (200, 7)).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    shuffled, repeated = rng.permutation(rows), np.repeat(rows, 2, axis=0)

    def chosen(rows, storage="dense", weights=None, height=64):
        grid = table_of(rows, storage, None, weights).grid(height)
        return choose_rows(5, Key(seed), lambda function: Local().reduce(function, grid))

    first = chosen(rows)
    assert first.shape == (5, 7)
    assert all((np.where(np.isnan(rows), 0, 2 * rows - 1) == row).all(axis=1).any() for row in first)
    for other in (chosen(shuffled), chosen(repeated), chosen(rows, "csr"), chosen(rows, "packed", None, 256)):
        np.testing.assert_array_equal(first, other)
    outside = ~(np.where(np.isnan(rows), 0, 2 * rows - 1) == first[0]).all(axis=1)
    without = chosen(rows, weights=outside.astype(float))
    assert not (without == first[0]).all(axis=1).any()


def test_more_units_than_can_be_enumerated_are_refused():
    with pytest.raises(ValueError, match="too many to enumerate"):
        CombinationMachine(40, method="exact").fit(np.eye(40))


def test_sparse_and_packed_give_the_likelihood_of_dense():
    rows = (np.random.default_rng(0).random((500, 60)) < 0.05).astype(float)
    model, params = Combination(5), machine(5, 60, 5, 0.5)
    scores = []
    for storage in ("dense", "csr", "packed"):
        block = table_of(rows, storage).grid(500).blocks[0]
        scores.append(model.log_likelihood(params, model.prepare(params), block))
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_growth_finds_a_machine(seed):
    """Rows of a known machine: on them the fit is likelier than the truth, as a maximum must be.

    On new rows maximum likelihood costs p / 2N nats a row on average, give or take sqrt(2p) / 2N and what new rows
    add; three times both together are allowed.
    """
    rng = np.random.default_rng(seed)
    truth = Combination().exact(
        2.0 * rng.standard_normal((16, 3)) * (rng.random((16, 3)) < 0.4), np.zeros(3), np.zeros(16)
    )
    model = Combination(3)
    train, test = (model.sample(truth, 2000, rng)[0] for _ in range(2))
    fitted = CombinationMachine(3, random_state=seed).fit(train)
    best, lost = (
        model.log_likelihood(truth, model.prepare(truth), open_table(rows).grid(2000).blocks[0])
        - fitted.score_samples(rows)
        for rows in (train, test)
    )
    assert best.mean() < 0.0
    p, error = fitted.n_parameters_, lost.std() / np.sqrt(2000)
    assert lost.mean() < p / 4000 + 3.0 * np.hypot(np.sqrt(2 * p) / 4000, error)

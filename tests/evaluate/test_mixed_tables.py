"""Measures on tables of several kinds of columns, against closed forms and sums over a plain grid."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import hiddenbits
from hiddenbits import CombinationMachine, LogisticPCA, evaluate, open_table
from tests.contracts.conftest import NotResident
from tests.families.logistic_pca.mixed.mixed_data import KINDS, mixed_rows

pytestmark = pytest.mark.core

GRID = np.linspace(-9.0, 9.0, 3001)


def log_cells(model, rows):
    """ln p(cell | x) for every cell and every x of the grid of one dimension, from the fitted attributes alone."""
    A = dict(
        zip(model.activation_names_, np.outer(model.components_[0], GRID) + model.intercepts_[:, None], strict=True)
    )
    out = np.zeros((*rows.shape, len(GRID)))
    for j, (name, kind) in enumerate(model.kinds_.items()):
        for i, cell in enumerate(rows[:, j]):
            if np.isnan(cell):
                continue
            if kind == "binary":
                out[i, j] = -np.logaddexp(0.0, -A[name] if cell == 1 else A[name])
            elif kind == "real":
                out[i, j] = norm(A[name], np.sqrt(model.noise_variances_[name])).logpdf(cell)
            elif kind == "nominal":
                scores = np.array([A[f"{name}={c}"] for c in model.categories_[name]])
                out[i, j] = A[f"{name}={int(cell)}"] - np.logaddexp.reduce(scores)
            else:
                for c in model.categories_[name][:-1]:
                    if cell >= c:  # the bit "beyond c" was looked at
                        out[i, j] -= np.logaddexp(0.0, -A[f"{name}>{c}"] if cell > c else A[f"{name}>{c}"])
    return out


def integrated(log_p):
    """ln of the integral of exp(log_p) times the prior."""
    return np.logaddexp.reduce(log_p + norm.logpdf(GRID), axis=-1) + np.log(GRID[1] - GRID[0])


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_cell_against_a_grid(seed):
    rows = mixed_rows(seed, n=60, q=1)
    estimator = LogisticPCA(1, kinds=KINDS, tol=1e-4, random_state=0)
    figure = evaluate.hidden_cells(estimator, rows, share=0.25, seed=seed)
    table = open_table(rows, kinds=KINDS)
    hidden = hiddenbits.hide_cells(table, 0.25, seed=seed)
    model = estimator.fit(hidden)
    kept, seen = hidden.seen(), table.seen()
    cells = log_cells(model, rows)
    rest = (cells * kept[:, :, None]).sum(axis=1)
    losses = [integrated(rest[i]) - integrated(rest[i] + cells[i, j]) for i, j in np.argwhere(seen & ~kept)]
    assert len(losses) > 100
    assert figure.value == pytest.approx(np.mean(losses), abs=1e-7)
    assert (figure.kind, figure.n_rows) == ("exact", 60)
    whole = integrated(cells.sum(axis=1))
    assert evaluate.mean_log_likelihood(model, rows).value == pytest.approx(whole.mean(), abs=1e-7)


def test_real_cells_have_conditional_densities():
    """Of a Gaussian they are known: the Schur complement."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 5)) + 0.5 * rng.standard_normal((200, 5))
    rows = 10 + 3 * rows
    estimator = LogisticPCA(2, kinds="real", tol=1e-6, random_state=0)
    figure = evaluate.hidden_cells(estimator, rows, share=0.3, seed=2)
    hidden = hiddenbits.hide_cells(open_table(rows, kinds="real"), 0.3, seed=2)
    model = estimator.fit(hidden)
    C = model.components_.T @ model.components_ + np.diag(list(model.noise_variances_.values()))
    losses = []
    for row, kept in zip(rows, hidden.seen(), strict=True):
        for j in np.flatnonzero(~kept):
            both = np.append(np.flatnonzero(kept), j)
            mean = model.intercepts_[both]
            joint = multivariate_normal(mean, C[np.ix_(both, both)]).logpdf(row[both])
            rest = (
                multivariate_normal(mean[:-1], C[np.ix_(both[:-1], both[:-1])]).logpdf(row[kept]) if kept.any() else 0
            )
            losses.append(rest - joint)
    assert figure.value == pytest.approx(np.mean(losses), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_number_of_dimensions(seed):
    rows = mixed_rows(seed, n=1500, q=2)
    figures = [
        evaluate.hidden_cells(LogisticPCA(q, kinds=KINDS, tol=1e-4, random_state=0), rows, seed=seed) for q in (1, 2)
    ]
    assert figures[0].value - figures[1].value > 2 * figures[1].standard_error


def test_the_same_from_parts_and_with_weights():
    rows, weights = mixed_rows(0, n=300, q=1), np.random.default_rng(0).random(300)
    estimator = LogisticPCA(1, tol=1e-3, random_state=0)
    table = open_table(rows, kinds=KINDS).with_weights(weights)
    parts = replace(table, source=NotResident(table.source), part_bytes=4000)
    one, other = (evaluate.hidden_cells(estimator, t, seed=1) for t in (table, parts))
    assert other.value == pytest.approx(one.value, abs=1e-9)
    assert one.value != pytest.approx(
        evaluate.hidden_cells(estimator, table.with_weights(None), seed=1).value, abs=1e-4
    )


@pytest.mark.slow
def test_estimates_say_so():
    figure = evaluate.hidden_cells(LogisticPCA(4, kinds=KINDS, tol=1e-2, random_state=0), mixed_rows(0, n=40))
    assert figure.kind == "estimate"


def test_measures_of_bits_are_refused():
    rows = mixed_rows(0, n=60)
    model = LogisticPCA(1, kinds=KINDS, tol=1e-2, random_state=0).fit(rows)
    for measure in (evaluate.bits_per_cell, evaluate.single_bit_error, evaluate.code_length):
        with pytest.raises(ValueError, match=rf"{measure.__name__} needs a table of bits.*hidden_cells"):
            measure(model, rows)


def test_machines_over_reals():
    """A mixture of 2^units Gaussians: the density of a cell given the rest is a ratio of two of its likelihoods."""
    rng = np.random.default_rng(0)
    rows = 0.5 * rng.standard_normal((80, 3)) + rng.integers(0, 2, (80, 1))
    machine = CombinationMachine(1, visible="reals", random_state=0)
    figure = evaluate.hidden_cells(machine, rows, share=0.2, seed=1)
    kept = hiddenbits.hide_cells(open_table(rows, kinds="real"), 0.2, seed=1).to_float()
    model = machine.fit(kept)
    losses = []
    for row, left in zip(rows, kept, strict=True):
        for j in np.flatnonzero(np.isnan(left)):
            with_cell = left.copy()
            with_cell[j] = row[j]
            losses.append(float(np.subtract(*model.score_samples(np.array([left, with_cell])))))
    assert figure.value == pytest.approx(np.mean(losses), abs=1e-9)
    assert evaluate.mean_log_likelihood(model, rows).value == pytest.approx(model.score(rows), abs=1e-12)


def test_frames_go_the_same_way():
    pd = pytest.importorskip("pandas")
    rows = mixed_rows(1, n=150, q=1)
    names = [f"c{j}" for j in range(rows.shape[1])]
    frame, kinds = pd.DataFrame(rows, columns=names), dict(zip(names, KINDS, strict=True))
    one = evaluate.hidden_cells(LogisticPCA(1, kinds=kinds, tol=1e-3, random_state=0), frame)
    other = evaluate.hidden_cells(LogisticPCA(1, kinds=KINDS, tol=1e-3, random_state=0), rows)
    assert one == other
    model = LogisticPCA(1, kinds=kinds, tol=1e-3, random_state=0).fit(frame)
    few = frame.iloc[:40]  # may lack categories of the fit
    assert evaluate.mean_log_likelihood(model, few).value == pytest.approx(model.score(few), abs=1e-9)

"""The judge of item response models beside their definition and ours; what the page says of the results."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("pandas")
simulated = pytest.importorskip("benchmarks.item_response.simulated")
page = pytest.importorskip("benchmarks.item_response.page")
recovery = pytest.importorskip("benchmarks.item_response.recovery")

from hiddenbits import ItemResponseModel  # noqa: E402

NODES = simulated.even_grid(8.0, 1001)


def test_the_likelihoods_of_all_rows_add_up_to_1():
    truth = simulated.items(0, 3, 2)
    rows = np.array(list(product(*[range(len(d) + 1) for d in truth.intercepts])))
    assert np.exp(simulated.log_likelihoods(rows, truth, NODES)).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("binary", "graded"), [(8, 0), (0, 6)])
def test_the_judge_agrees_with_the_fitted_model(binary, graded):
    """Within 1e-4 nats, the error of the nodes of a fit."""
    truth = simulated.items(0, binary, graded)
    X, _ = truth.table(np.random.default_rng(1), 500)
    model = ItemResponseModel(column_types=truth.types, random_state=0).fit(X)
    found = simulated.Items(model.components_.T, tuple(model.intercepts_.reshape(X.shape[1], -1)))
    ours = model.score_samples(X)
    np.testing.assert_allclose(simulated.log_likelihoods(X.to_numpy(), found, NODES), ours, rtol=0, atol=1e-4)


def test_tables_have_the_shares_that_their_items_imply():
    """Within 4 standard errors of the share."""
    truth, rows = simulated.items(2, 4, 3, (0.3,)), 20_000
    X, z = truth.table(np.random.default_rng(3), rows)
    density = np.exp(-0.5 * NODES[:, 0] ** 2)
    slopes, intercepts = truth.answers
    above = density @ (1.0 / (1.0 + np.exp(-(NODES @ slopes.T + intercepts)))) / density.sum()
    observed = [(X.iloc[:, j] > m).mean() for j, d in enumerate(truth.intercepts) for m in range(len(d))]
    assert np.abs((observed - above) / np.sqrt(above * (1.0 - above) / rows)).max() < 4.0
    residual = X["x7"] - np.sqrt(0.7) * z[:, 0]
    assert residual.var() == pytest.approx(0.3, rel=4.0 * np.sqrt(2.0 / rows))


def test_true_parameters_are_those_of_a_fit_in_its_units():
    """A long table has estimates within .1 of them, in the order and units in which we compare."""
    truth = recovery.DESIGNS["mixed, 10 columns"]
    X, _ = truth.table(np.random.default_rng(4), 20_000)
    model = ItemResponseModel(column_types=truth.types, random_state=0).fit(X)
    true = recovery.truth_in_units(truth, X)
    np.testing.assert_allclose(model.slopes_, true["slopes"], atol=0.1)
    np.testing.assert_allclose(model.intercepts_, true["intercepts"], atol=0.1)
    np.testing.assert_allclose(model.noise_variances_, true["noise"], atol=0.02)
    np.testing.assert_allclose(model.components_[0, -1:], true["number_slopes"][:, 0], atol=0.03)


def test_the_page_names_every_comparison_in_which_we_are_slower():
    text = page.peers()
    lost, lines = text.split("\n")[1], [line for line in text.split("\n") if line.startswith(("| 2PL", "| graded"))]
    assert len(lines) >= 4
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for times, part in zip((cells[5], cells[8]), page.PARTS, strict=True):
            words = f"{cells[0]}, mirt with {cells[1].split(',')[0]} nodes, {part} ("
            assert (words in lost) == (float(times) < 1.0)

"""Hinton diagrams and projections, checked through what was drawn."""

from functools import cache

import numpy as np
import pytest

from hiddenbits import CombinationMachine, LatentClassAnalysis, open_table, plots
from hiddenbits.datasets import simulate_influences, true_influences


@cache
def fitted(bias=True, columns=None):
    X = simulate_influences("A", n_rows=300, random_state=0).train[:, :6]
    model = CombinationMachine(2, bias=bias, start="noise", random_state=0)
    return X, model.fit(X if columns is None else _frame(X, columns))


def _frame(X, columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list(columns))


def squares(ax):
    """Center, signed area of every square, in the order of drawing."""
    import matplotlib.colors as colors

    found = []
    for collection in ax.collections:
        for path, face in zip(collection.get_paths(), collection.get_facecolors(), strict=True):
            low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
            assert (high - low)[0] == pytest.approx((high - low)[1])
            sign = 1.0 if colors.to_hex(face) == "#ffffff" else -1.0
            found.append([*(low + high) / 2.0, sign * np.prod(high - low)])
    return np.array(found)


def test_area_is_the_weight_and_panels_are_images():
    weights, thresholds = true_influences("A")
    ax = plots.hinton((weights, thresholds), (8, 8), thresholds=False, across=10)
    drawn = squares(ax)
    assert [text.get_text() for text in ax.texts] == [str(i + 1) for i in range(10)]
    unit, place = np.nonzero(weights)
    np.testing.assert_allclose(drawn[:, 2] / drawn[:, 2].max(), weights[unit, place] / 6.0, atol=1e-12)
    # Panels are 8 cells wide and one apart; the first row of pixels is on top.
    np.testing.assert_allclose(drawn[:, 0], 9 * unit + place % 8 + 0.5)
    np.testing.assert_allclose(drawn[:, 1], -(place // 8) - 0.5)
    assert drawn[:, 2].max() < 1.0  # neighbors do not touch


def test_thresholds_have_their_own_scale():
    weights, thresholds = true_influences("B")
    bare, full = (squares(plots.hinton((weights, thresholds), (8, 8), thresholds=t)) for t in (False, True))
    added = full[len(bare) :, 2]
    np.testing.assert_allclose(added / np.abs(added).max(), thresholds / np.abs(thresholds).max(), atol=1e-12)


def test_a_common_scale_and_what_goes_beyond_it():
    weights, _ = true_influences("A")
    half = squares(plots.hinton(weights / 2.0, (8, 8), largest=6.0))
    whole = squares(plots.hinton(weights, (8, 8)))
    np.testing.assert_allclose(half[:, 2], whole[:, 2] / 2.0)
    ax = plots.hinton(weights, (8, 8), largest=5.0)
    beyond = int((np.abs(weights) > 5.0).sum())
    assert any(f"{beyond} weights beyond 5" in text.get_text() for text in ax.texts)


def test_units_by_columns_with_names_and_bias():
    names = ["$a$", "_b", "c", "d", "e", "f"]
    _, model = fitted(columns=tuple(names))
    ax = plots.hinton(model)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["threshold", *names]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1", "2", "bias"]
    drawn = squares(ax)[:18, 2].reshape(3, 6)
    truth = np.vstack([model.weights_, model.bias_])
    np.testing.assert_allclose(drawn / np.abs(drawn).max(), truth / np.abs(truth).max(), atol=1e-12)
    ax.figure.canvas.draw()
    ax = plots.hinton(model, units=[1], thresholds=False)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["2"]
    assert len(squares(ax)) == 6
    without = plots.hinton(fitted(bias=False)[1])
    assert [text.get_text() for text in without.get_yticklabels()] == ["1", "2"]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (np.ones((2, 6)), {"shape": (2, 2)}, "4 pixels, but the weights have 6 columns"),
        (np.ones(6), {}, "Weights have shape"),
        ((np.ones((2, 6)), np.ones(3)), {}, "2 units need 2 thresholds"),
        (np.ones((2, 6)), {"units": [2]}, "units 0 to 1"),
        (np.ones((2, 6)), {"units": []}, "units 0 to 1"),
        (np.ones((2, 6)), {"names": ["a"]}, "1 names were given for 6"),
        (np.full((2, 6), np.nan), {}, "finite"),
        (np.ones((2, 6)), {"shape": (2, 3), "across": 0}, "at least 1 panel"),
        (LatentClassAnalysis(2), {}, "not LatentClassAnalysis"),
    ],
)
def test_hinton_refusals(model, options, message):
    with pytest.raises(ValueError, match=message):
        plots.hinton(model, **options)


def bars(ax):
    """Edges and heights above the base, of each pair of stairs (off and on)."""
    found = []
    for patch in ax.patches:
        heights, edges, base = patch.get_data()
        found.append((edges, heights - base))
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_count_rows_on_either_side_of_the_threshold(weighted):
    X, model = fitted()
    counts = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    ax = plots.projections(model, open_table(X).with_weights(counts) if weighted else X, bins=15)
    drawn = bars(ax)
    assert len(drawn) == 4
    for unit, (off, on) in enumerate(zip(drawn[::2], drawn[1::2], strict=True)):
        w, th = model.weights_[unit], model.thresholds_[unit]
        heard = (2.0 * X - 1.0) @ w + th
        share = counts[heard >= 0].sum() / counts.sum()
        assert on[1].sum() / (on[1].sum() + off[1].sum()) == pytest.approx(share, abs=1e-12)
        truth = np.histogram((heard - th) / np.linalg.norm(w), on[0], weights=counts)[0]
        np.testing.assert_allclose((off[1] + on[1]) / truth.max(), 0.85 * truth / truth.max() ** 2, atol=1e-12)
        assert np.abs(on[0] + th / np.linalg.norm(w)).min() < 1e-9  # the threshold is an edge


def test_blanks_add_nothing():
    X, model = fitted()
    holes = X.astype(float)
    holes[:, 2] = np.nan
    ax = plots.projections(model, holes, units=[1])
    w = model.weights_[1]
    places = np.delete(2.0 * X - 1.0, 2, axis=1) @ np.delete(w, 2) / np.linalg.norm(w)
    edges, heights = bars(ax)[0]
    heights = heights + bars(ax)[1][1]
    truth = np.histogram(places, edges)[0]
    np.testing.assert_allclose(heights, 0.85 * truth / truth.max(), atol=1e-12)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["2"]


@pytest.mark.parametrize(
    ("model", "rows", "options", "message"),
    [
        ((np.ones((2, 6)), np.ones(3)), np.eye(6), {}, "shapes"),
        ((np.ones((2, 6)), np.ones(2)), np.eye(5), {}, "5 columns, but the weights have 6"),
        ((np.ones((2, 6)), np.ones(2)), np.eye(6), {"units": [-1]}, "units 0 to 1"),
        ((np.ones((2, 6)), np.ones(2)), np.eye(6), {"bins": 1}, "at least two"),
        ((np.zeros((2, 6)), np.ones(2)), np.eye(6), {}, "projection is not defined"),
        (np.ones((2, 6)), np.eye(6), {}, "not ndarray"),
    ],
)
def test_projections_refusals(model, rows, options, message):
    with pytest.raises(ValueError, match=message):
        plots.projections(model, rows, **options)

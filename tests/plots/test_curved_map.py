"""Curved maps: rows, contours and shades, checked through what was drawn."""

from functools import cache

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, TopographicMap, plots
from tests.families.topographic_map.map_data import circle_rows
from tests.plots.fitted import clusters
from tests.plots.test_map import legend_names, scatters  # it skips without matplotlib


@cache
def ring(seed=0):
    """Rows on a ring, and a curved map of them."""
    X = circle_rows(seed, 200, d=10)
    return X, TopographicMap(2, n_points=144, n_features=40, tol=1e-3, random_state=0).fit(X)


@cache
def deep():
    """A curved map of three dimensions."""
    X = circle_rows(1, 200, d=10)
    return X, TopographicMap(3, n_points=64, n_features=20, learning_rate=0.1, tol=1e-2, random_state=0).fit(X)


def contours(ax):
    """The points of each drawn contour."""
    drawn = [artist for artist in ax.collections if artist.get_label() == "_line"]
    return [np.concatenate([path.vertices for path in artist.get_paths()]) for artist in drawn]


def even_columns(model, points, within=1e-2, pair=(0, 1)):
    """The columns whose P is 1/2 at all points, where further dimensions are 0."""
    codes = np.zeros((len(points), model.transform(np.zeros((1, model.n_features_in_))).shape[1]))
    codes[:, pair] = points
    return np.flatnonzero(np.abs(model.inverse_transform(codes) - 0.5).max(axis=0) < within).tolist()


def places_of(ax, n=200):
    """A fine grid over the plot."""
    return np.stack(np.meshgrid(np.linspace(*ax.get_xlim(), n), np.linspace(*ax.get_ylim(), n)), -1).reshape(-1, 2)


def shading(ax):
    """Places and values of the shades behind the rows."""
    (mesh,) = (artist for artist in ax.collections if artist.get_label() == "_borders")
    return np.asarray(mesh.get_coordinates()).reshape(-1, 2), np.asarray(mesh.get_array()).ravel(), mesh


def longest_change(slope):
    """The largest singular value of the slopes of all probabilities, (places, columns, 2)."""
    return np.linalg.svd(slope, compute_uv=False)[:, 0]


def exact_slopes(model, z):
    """Return dP/dz of a curved map by the chain rule, (places, columns, q)."""
    params = model._params
    q, M = params.frequencies.shape
    waves = -3.0 * np.sqrt(2.0 / M) * np.sin(z @ params.frequencies + params.phases)
    by_features = waves[:, :, None] * params.frequencies.T
    slope = params.joint[:, :q] + np.einsum("dm,nmq->ndq", params.joint[:, q:-1], by_features)
    p = model.inverse_transform(z)
    return (p * (1.0 - p))[:, :, None] * slope


def test_rows_are_at_their_posterior_means():
    X, model = ring()
    kind = np.where(X[:, 0] == 1, "one", "zero")
    ax = plots.map(model, X, color=kind)
    found = np.unique(np.round(np.concatenate([artist.get_offsets() for artist in scatters(ax)]), 6), axis=0)
    weights = model.transform(X, return_weights=True)[1]
    np.testing.assert_allclose(found, np.unique(np.round(weights @ model.points_, 6), axis=0), atol=2e-6)
    assert legend_names(ax)[:2] == ["one", "zero"]


@pytest.mark.parametrize("seed", range(3))
def test_contours_are_where_the_bit_is_even(seed):
    X, model = ring(seed)
    ax = plots.map(model, X, lines=True, names=False)
    limits = *ax.get_xlim(), *ax.get_ylim()
    columns = [even_columns(model, points) for points in contours(ax)]
    assert all(len(found) == 1 for found in columns)
    p = model.inverse_transform(places_of(ax))
    crossing = np.flatnonzero((p.min(axis=0) < 0.5) & (p.max(axis=0) > 0.5)).tolist()
    assert [found[0] for found in columns] == crossing
    assert len(crossing) > 5
    assert (*ax.get_xlim(), *ax.get_ylim()) == limits


def test_contours_of_the_columns_that_vary_most_and_their_names():
    X, model = ring()
    ax = plots.map(model, X, lines=3, names=[f"item {j}" for j in range(10)])
    most = np.argsort(-model.probabilities_.std(axis=0))[:3]
    assert {even_columns(model, points)[0] for points in contours(ax)} == set(most.tolist())
    named = [text for text in ax.texts if text.get_text().startswith("item")]
    assert {text.get_text() for text in named} == {f"item {j}" for j in most}
    for text in named:  # a name stands on the side of 1
        assert model.inverse_transform([text.get_position()])[0, int(text.get_text().split()[1])] > 0.5


def test_columns_without_a_contour_are_said():
    X, model = ring()
    ax = plots.map(model, X[:1], lines=True, names=False)  # a plot of 3 by 3 around one row
    without = 10 - len(contours(ax))
    p = model.inverse_transform(places_of(ax))
    assert without == ((p.min(axis=0) > 0.5) | (p.max(axis=0) < 0.5)).sum() > 0
    assert [text.get_text() for text in ax.texts] == [f"{without} of 10 columns have no line in the plot"]


@pytest.mark.parametrize("seed", range(2))
def test_shades_are_the_longest_change_of_the_probabilities(seed):
    X, model = ring(seed)
    ax = plots.map(model, X, borders=True)
    places, shades, mesh = shading(ax)
    np.testing.assert_allclose(shades, longest_change(exact_slopes(model, places)), rtol=1e-5, atol=1e-6)
    left, right, bottom, top = *ax.get_xlim(), *ax.get_ylim()
    np.testing.assert_allclose([places.min(axis=0), places.max(axis=0)], [[left, bottom], [right, top]])
    light, dark = (sum(mesh.cmap(mesh.norm(shade))[:3]) for shade in (shades.min(), shades.max()))
    assert dark < light
    assert mesh.get_zorder() < scatters(ax)[0].get_zorder()
    assert any("dark" in text.get_text() for text in ax.texts)


def test_further_dimensions_are_zero():
    X, model = deep()
    ax = plots.map(model, X, lines=2, borders=True, names=False, dims=(2, 0))
    assert contours(ax)
    assert all(even_columns(model, points, pair=(2, 0)) for points in contours(ax))
    places, shades, _ = shading(ax)
    z = np.stack([places[:, 1], np.zeros(len(places)), places[:, 0]], axis=1)
    expected = longest_change(exact_slopes(model, z)[:, :, [2, 0]])
    np.testing.assert_allclose(shades, expected, rtol=1e-5, atol=1e-6)


def test_without_rows_the_points_are_in_view():
    _, model = ring()
    ax = plots.map(model, lines=2, borders=True)
    assert not scatters(ax)
    for (low, high), side in zip((ax.get_xlim(), ax.get_ylim()), model.points_.T, strict=True):
        assert low < side.min() < side.max() < high
        assert high - low < 1.2 * np.ptp(side)
    assert shading(plots.map(clusters()[2], borders=True))[0].max() == pytest.approx(3.3)


def test_a_large_table_is_processed_in_pieces(monkeypatch):
    X, model = ring()
    whole = shading(plots.map(model, X, borders=True))[1]
    monkeypatch.setattr("hiddenbits.plots.surface.PIECE", 10_003)
    np.testing.assert_allclose(shading(plots.map(model, X, borders=True))[1], whole, rtol=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ellipses": True}, r"model\.position_summary\(X\)"),
        ({"arrows": True}, "Use lines= instead"),
    ],
)
def test_refusals(options, message):
    X, model = ring()
    with pytest.raises(ValueError, match=message):
        plots.map(model, **{"X": X, **options})


def test_posterior_says_what_to_use_instead():
    X, model = ring()
    for draw in (plots.posterior, plots.posterior_density):
        with pytest.raises(ValueError, match=r"return_weights=True.* model\.position_summary"):
            draw(model, X[0])
        with pytest.raises(ValueError, match="LatentClassAnalysis has none"):
            draw(LatentClassAnalysis(2, random_state=0).fit(X), X[0])

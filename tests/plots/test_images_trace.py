"""Images of P(bits | x) and traces of fits, checked through what was drawn."""

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, LogisticPCA, plots
from tests.plots.fitted import clusters


def test_images_are_probabilities_at_their_places():
    _, _, model = clusters()
    ax = plots.images(model, (2, 4), grid=3, span=1.5)
    assert len(ax.images) == 9
    centers = []
    for image in ax.images:
        left, right, bottom, top = image.get_extent()
        center = np.array([(left + right) / 2, (bottom + top) / 2])
        centers.append(center)
        truth = 1 / (1 + np.exp(-(model.components_.T @ center + model.intercepts_)))
        np.testing.assert_allclose(np.asarray(image.get_array()).ravel(), truth, atol=1e-12)
        assert image.get_clim() == (0.0, 1.0)
        assert (right - left) / (top - bottom) == pytest.approx(2.0)  # pixels are square
    assert {tuple(np.round(c, 9)) for c in centers} == {(x, y) for x in (-1.5, 0, 1.5) for y in (-1.5, 0, 1.5)}
    left, right, bottom, top = np.array([image.get_extent() for image in ax.images]).T
    assert (right - left).max() < 1.5  # they do not touch


def test_images_at_chosen_places_are_numbered():
    _, _, model = clusters(q=3)
    places = np.random.default_rng(0).standard_normal((4, 3))
    ax = plots.images(model, (4, 2), grid=places)
    drawn = np.array([np.asarray(image.get_array()).ravel() for image in ax.images])
    np.testing.assert_allclose(drawn, model.inverse_transform(places), atol=1e-12)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("shape", "grid", "message"),
    [
        ((3, 3), 3, "9 pixels, but the model has 8 columns"),
        ((2, 4), 0, "positive number"),
        ((2, 4), [[0, 0, 0]], r"Positions must have shape \(positions, 2\)"),
    ],
)
def test_images_refusals(shape, grid, message):
    with pytest.raises(ValueError, match=message):
        plots.images(clusters()[2], shape, grid=grid)
    with pytest.raises(ValueError, match="two dimensions"):
        plots.images(clusters(q=3)[2], (2, 4), grid=3)


def test_trace_of_models_and_curves():
    X, _, model = clusters()
    (line,) = plots.trace(model).lines
    np.testing.assert_allclose(line.get_ydata(), model.trace_ / len(X))
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, model.n_iter_ + 1))
    seconds, errors = np.array([0.1, 0.5, 2.0]), np.array([3.0, 2.0, 1.0])
    ax = plots.trace({"$a$": model, "_b": (seconds, errors), "c": errors}, xlabel="seconds")
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["$a$", "_b", "c"]
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), seconds)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), errors)
    np.testing.assert_array_equal(ax.lines[2].get_xdata(), [1, 2, 3])
    assert ax.get_xlabel() == "seconds"
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 3


def test_trace_of_one_pass_can_be_seen():
    X, _, _ = clusters()
    with pytest.warns(match="max_iter"):
        model = LogisticPCA(2, max_iter=1, refine=False, random_state=0).fit(X)
    assert plots.trace(model).lines[0].get_marker() == "o"


def test_trace_refusals():
    X, _, _ = clusters()
    with pytest.raises(ValueError, match="has no trace"):
        plots.trace(LogisticPCA(2, random_state=0).partial_fit(X))
    with pytest.raises(ValueError, match="empty"):
        plots.trace({})
    with pytest.raises(ValueError, match="the same length"):
        plots.trace({"a": (np.zeros(2), np.zeros(3))})
    with pytest.raises(ValueError, match="got shape"):
        plots.trace({"a": np.zeros((2, 3))})


def test_a_missing_matplotlib_is_said(monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"hiddenbits\[plot\]"):
        plots.map(clusters()[2], lines=True)


def test_several_fits_in_a_list_are_numbered():
    rows, _, model = clusters()
    other = LogisticPCA(1, random_state=0).fit(rows)
    ax = plots.trace([model, other])
    assert len(ax.lines) == 2
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["1: LogisticPCA", "2: LogisticPCA"]
    assert ax.get_xlabel() == "iteration"
    with pytest.raises(ValueError, match="LogisticPCA has no trace_: fit it first"):
        plots.trace([model, LogisticPCA(2)])


def test_a_model_without_components_is_told_what_to_hand_in():
    rows, _, _ = clusters()
    mixture = LatentClassAnalysis(2, random_state=0).fit(rows)
    with pytest.raises(ValueError, match=r"LatentClassAnalysis has no components_.*model\.probabilities_"):
        plots.components(mixture, (2, 4))
    assert len(plots.components(mixture.probabilities_, (2, 4)).images) == 2

"""Spectra, images of loadings and strips, checked through what was drawn."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenbits import ClippedPCA, plots
from tests.families.clipped_pca.clipped_data import bumps, probit_params, rows_from


def names(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_spectrum_of_the_translation_example():
    """The paper's figure 3: 128 eigenvalues of the bits, two of the hidden variables; what is rounding is not drawn."""
    model = ClippedPCA(2, biases=False).fit(bumps())
    ax = plots.spectrum(model)
    bits, hidden = ax.lines
    np.testing.assert_array_equal(bits.get_xdata(), np.arange(1, 129))
    np.testing.assert_allclose(bits.get_ydata(), model.bit_spectrum_[:128])
    np.testing.assert_allclose(hidden.get_ydata(), [128, 128])
    assert names(ax) == ["columns", "latent variables"]
    assert ax.get_yscale() == "log"


@pytest.mark.slow
def test_negative_eigenvalues_are_hollow():
    rows = np.random.default_rng(0).integers(0, 2, (15, 10))
    model = ClippedPCA("parallel", random_state=0).fit(rows)
    ax = plots.spectrum(model)
    assert names(ax) == ["columns", "latent variables", "latent variables, negative", "latent variables by chance"]
    positive, negative, chance = ax.lines[1:]
    below = model.spectrum_ < 0
    np.testing.assert_allclose(negative.get_ydata(), -model.spectrum_[below])
    np.testing.assert_array_equal(negative.get_xdata(), 1 + np.flatnonzero(below))
    assert negative.get_markerfacecolor() == "none" != positive.get_markerfacecolor()
    np.testing.assert_allclose(chance.get_ydata(), model.chance_spectrum_[model.chance_spectrum_ > 1e-9])
    assert not plots.spectrum(model, legends=False).figure.legends


def test_components_share_a_scale():
    loadings = np.random.default_rng(0).standard_normal((5, 6))
    ax = plots.components(SimpleNamespace(components_=loadings), (2, 3))
    drawn = np.array([np.asarray(image.get_array()).ravel() for image in ax.images])
    np.testing.assert_array_equal(drawn, loadings)
    most = np.abs(loadings).max()
    assert {image.get_clim() for image in ax.images} == {(-most, most)}
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4", "5"]
    left, right, bottom, top = np.array([image.get_extent() for image in ax.images]).T
    assert len(np.unique(left)) == 3  # three in a row
    np.testing.assert_allclose((right - left) / (top - bottom), 1.5)
    in_a_row = plots.components(SimpleNamespace(components_=loadings), (2, 3), across=5).images
    assert len({image.get_extent()[0] for image in in_a_row}) == 5


def test_fields_have_their_own_scale():
    fields = np.random.default_rng(0).standard_normal((4, 6)) * [[1e-6], [1.0], [1e3], [0.0]]
    ax = plots.components(fields, (2, 3), scale="own")
    np.testing.assert_array_equal([np.asarray(image.get_array()).ravel() for image in ax.images], fields)
    most = [*np.abs(fields[:3]).max(axis=1), 1.0]
    assert [image.get_clim() for image in ax.images] == [(-one, one) for one in most]
    with pytest.raises(ValueError, match="scale='each' is not one of"):
        plots.components(fields, (2, 3), scale="each")


def test_strips_stand_below_each_other():
    frames = {"$one$": np.random.default_rng(0).random((4, 6)), "_two": np.zeros((3, 6))}
    ax = plots.strips(frames, (2, 3))
    drawn = [np.asarray(image.get_array()).ravel() for image in ax.images]
    np.testing.assert_array_equal(drawn, np.concatenate(list(frames.values())))
    assert [text.get_text() for text in ax.texts] == ["$one$", "_two"]
    bottoms = [image.get_extent()[2] for image in ax.images]
    assert max(bottoms[4:]) + 2 / 3 < min(bottoms[:4])
    assert len(plots.strips(frames["_two"], (3, 2)).images) == 3


def test_refusals():
    with pytest.raises(ValueError, match="4 pixels per image"):
        plots.strips(np.zeros((3, 6)), (2, 2))
    with pytest.raises(ValueError, match="empty"):
        plots.strips({}, (2, 2))
    with pytest.raises(ValueError, match="at least 1"):
        plots.components(SimpleNamespace(components_=np.zeros((2, 4))), (2, 2), across=0)


def test_maps_and_posteriors_of_clipped_pca():
    """The lines P(bit = 1) = 1/2 are where h + w.y = 0; the density is that of probit bits."""
    X = rows_from(probit_params(8, 2, 0), 300, 0)
    model = ClippedPCA(2, random_state=0).fit(X)
    ax = plots.map(model, X, lines=True)
    (line, *_) = [artist for artist in ax.lines if artist.get_label() == "_line"]
    ends = np.column_stack(line.get_data())
    assert (np.abs(model.inverse_transform(ends) - 0.5) < 1e-9).any(axis=1).all()
    x, y, density = plots.posterior_density(model, X[0])
    weights = density / density.sum()
    mean = np.array([weights.sum(axis=0) @ x, weights.sum(axis=1) @ y])
    np.testing.assert_allclose(mean, model.transform(X[:1])[0], atol=1e-4)  # exact on its grid

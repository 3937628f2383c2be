"""Contours of one row's posterior: they hold what they say, and the grid is the truth."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

from hiddenbits import ItemResponseModel, plots
from tests.plots.fitted import clusters, with_blanks


def contours(ax):
    return {artist.get_gid(): artist for artist in ax.collections if artist.get_gid()}


def joint(model, row):
    """P(row, x) by the definition, one point at a time."""
    W, b = model.components_.T, model.intercepts_

    def p(x0, x1):
        total = -0.5 * (x0 * x0 + x1 * x1) - np.log(2 * np.pi)
        for w, c, t in zip(W, b, row, strict=True):
            if not np.isnan(t):
                total -= np.log1p(np.exp(-(2 * t - 1) * (w[0] * x0 + w[1] * x1 + c)))
        return np.exp(total)

    return p


@pytest.mark.slow
@pytest.mark.thin(2)
@pytest.mark.parametrize("n", [0, 50])
def test_density_against_integration(n):
    X, model = with_blanks()
    p = joint(model, X[n])
    x, y, density = plots.posterior_density(model, X[n])
    total, _ = dblquad(lambda b, a: p(a, b), -8, 8, -8, 8, epsabs=1e-10)
    for i, j in ((120, 120), (90, 130), (150, 70)):
        assert density[i, j] == pytest.approx(p(x[j], y[i]) / total, rel=1e-5)
    assert np.log(total) == pytest.approx(model.score_samples(X[n : n + 1])[0], abs=1e-6)


@pytest.mark.parametrize("refine", [False, True])
def test_contours_hold_what_they_say(refine):
    X, _, model = clusters(refine=refine)
    masses = (0.5, 0.8, 0.95)
    drawn = contours(plots.posterior(model, X[3], masses=masses))
    x, y, density = plots.posterior_density(model, X[3])
    cell = (x[1] - x[0]) * (y[1] - y[0])
    for level, mass in zip(drawn["true"].levels, reversed(masses), strict=True):
        assert density[density >= level].sum() * cell == pytest.approx(mass, abs=2e-3)
    mean, covariance = (found[0] for found in model.transform(X[3:4], return_cov=True))
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, 40000) - mean
    distance = np.einsum("na,ab,nb->n", draws, np.linalg.inv(covariance), draws)
    for level, mass in zip(drawn["Gaussian"].levels, masses, strict=True):
        assert (distance < level).mean() == pytest.approx(mass, abs=0.01)
    # The drawn curves themselves lie at one height of their density.
    for path, mass in zip(drawn["Gaussian"].get_paths(), masses, strict=True):
        heights = multivariate_normal(mean, covariance).logpdf(path.vertices[:-1])
        top = multivariate_normal(mean, covariance).logpdf(mean)
        np.testing.assert_allclose(heights, top + np.log1p(-mass), atol=0.01)


def test_marks_are_the_means():
    X, _, model = clusters(refine=False)
    ax = plots.posterior(model, X[3])
    marks = {line.get_label(): np.ravel(line.get_data()) for line in ax.lines}
    np.testing.assert_allclose(marks["_Gaussian mean"], model.transform(X[3:4])[0])


@pytest.mark.parametrize("kind", ["binary", "ordinal", "nominal"])
def test_means_by_quadrature_are_those_of_the_density(kind):
    """An item response model has exact means; a level that was not chosen is no observation of its own."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((300, 2))[:, [0, 0, 0, 1, 1, 1]]
    X = np.digitize(1.5 * z + rng.logistic(size=(300, 6)), [0.0] if kind == "binary" else [-0.7, 0.7])
    row = X[3:4].astype(float)
    row[0, 1] = np.nan
    model = ItemResponseModel(2, column_types=kind, tol=1e-5).fit(X)
    marks = {line.get_label(): np.ravel(line.get_data()) for line in plots.posterior(model, row).lines}
    np.testing.assert_allclose(marks["_true mean"], marks["_Gaussian mean"], atol=1e-4)


@pytest.mark.slow
def test_contours_are_inside_the_picture():
    X, model = with_blanks()
    for n in (0, 40, 80):
        ax = plots.posterior(model, X[n])
        for artist in contours(ax).values():
            vertices = np.concatenate([path.vertices for path in artist.get_paths()])
            assert ax.get_xlim()[0] < vertices[:, 0].min() < vertices[:, 0].max() < ax.get_xlim()[1]
            assert ax.get_ylim()[0] < vertices[:, 1].min() < vertices[:, 1].max() < ax.get_ylim()[1]


def test_a_row_of_blanks_has_the_prior():
    _, model = with_blanks()
    x, y, density = plots.posterior_density(model, np.full(8, np.nan))
    truth = multivariate_normal(np.zeros(2)).pdf(np.stack(np.meshgrid(x, y), -1))
    np.testing.assert_allclose(density, truth, atol=1e-6)
    plots.posterior(model, np.full((1, 8), np.nan))


@pytest.mark.parametrize("masses", [(), (0.0,), (0.5, 1.0)])
def test_refuses_masses_that_are_none(masses):
    X, _, model = clusters()
    with pytest.raises(ValueError, match="between 0 and 1"):
        plots.posterior(model, X[0], masses=masses)


def test_refusals():
    X, _, model = clusters()
    with pytest.raises(ValueError, match="needs one row, got 2"):
        plots.posterior(model, X[:2])
    with pytest.raises(ValueError, match="two dimensions; this one has 3"):
        plots.posterior(clusters(q=3)[2], X[0])

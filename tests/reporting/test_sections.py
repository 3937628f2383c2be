"""Sections of evidence with models whose figures are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, LogisticPCA, TopographicMap, diagnostics, open_table
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.sample import drawn
from tests.reporting.reading import differences


def context(X, **models):
    sample = drawn(open_table(X), {}, 0)
    fits = SimpleNamespace(**{key: Fit(model, "line", "") for key, model in models.items()})
    return Context(sample, fits, True, None)


def test_lines_of_the_network_are_shares_with_and_without_a_cause():
    from hiddenbits.reporting.causes import causes

    rng = np.random.default_rng(0)
    on = rng.random((400, 2)) < [0.2, 0.5]  # the second is the more common: it comes first
    X = rng.random((400, 6)) < 0.05
    X[:, :2] |= on[:, [0]] & (rng.random((400, 2)) < 0.8)
    X[:, 2:4] |= on[:, [1]] & (rng.random((400, 2)) < 0.8)
    X = X.astype(float)
    model = type("NoisyOrNetwork", (), {"transform": lambda self, cells: on.astype(float)})()
    section = causes(context(X, causes=model))
    lines = [[str(cell) for cell in row] for row in section.parts[0].same.rows]
    assert {(line[0], line[2]) for line in lines} == {
        ("cause 1", "<bdi>x2</bdi>"),
        ("cause 1", "<bdi>x3</bdi>"),
        ("cause 2", "<bdi>x0</bdi>"),
        ("cause 2", "<bdi>x1</bdi>"),
    }
    for unit, share, column, inside, outside in lines:
        k, j = 2 - int(unit[-1]), int(column[6])
        assert share == f"{on[:, k].mean():.0%}"
        assert (inside, outside) == (f"{X[on[:, k], j].mean():.0%}", f"{X[~on[:, k], j].mean():.0%}")
    assert str(section.parts[0].drawing).count('class="link') == 4


def test_item_curves_are_those_of_the_model_upwards():
    from hiddenbits.reporting.profiles import items

    rng = np.random.default_rng(1)
    slopes, intercepts = np.array([2.0, 1.0, 1.5, 0.5]), np.array([2.0, 0.0, -1.5, 0.0])
    X = rng.random((500, 4)) < 1 / (1 + np.exp(-(slopes * rng.standard_normal((500, 1)) + intercepts)))
    model = LogisticPCA(1, random_state=0).fit(X.astype(float))
    found = context(X.astype(float))
    found.fits.of = lambda name, size: Fit(model, "line", "")
    section = items(found)
    sign = np.sign(model.components_[0].sum())
    for name, steep, middle, _ in section.parts[0].same.rows:
        j = int(str(name)[6])
        assert steep == f"{sign * model.components_[0, j]:.2f}"
        assert middle == f"{-model.intercepts_[j] / (sign * model.components_[0, j]):+.2f}"
    assert "4 of 4 of the columns" in str(section.opening)


@pytest.mark.parametrize("linked", [True, False])
def test_pairs_are_those_with_the_largest_residuals_that_rest_on_enough_rows(linked):
    from hiddenbits.reporting.pairs import pairs

    rng = np.random.default_rng(2)
    kind = rng.random((1000, 1)) < 0.5
    X = rng.random((1000, 10)) < np.where(kind, 0.8, 0.2)
    if linked:
        X[:, 5] = np.where(rng.random(1000) < 0.6, X[:, 4], X[:, 5])
    X = np.column_stack([X, rng.random((1000, 2)) < 0.003]).astype(float)
    X[0, 10:] = 1.0  # a pair of very rare columns: far from expected, but in a single row
    model = LatentClassAnalysis(2, random_state=0).fit(X)
    section = pairs(context(X, best=model))
    lines = [[str(cell) for cell in row] for row in section.parts[0].same.rows]
    assert not any({"<bdi>x10</bdi>", "<bdi>x11</bdi>"} <= set(line) for line in lines)
    top = diagnostics.residual_pairs(model, X)
    top = top[np.maximum(top["observed"], top["expected"]) >= 20][: len(lines)]
    assert [line[4] for line in lines] == [f"{residual:+.1f}" for residual in top["residual"]]
    assert ("none is further" in str(section.opening)) == (not linked)
    if linked:
        assert lines[0][:2] == ["<bdi>x4</bdi>", "<bdi>x5</bdi>"]


def steep(n=300):
    """Columns that follow a place on a line almost without error, as in a Guttman scale, and a few that do not."""
    rng = np.random.default_rng(4)
    place = rng.standard_normal((n, 1))
    exact = place + 0.05 * rng.standard_normal((n, 6)) > np.linspace(-0.5, 0.5, 6)
    return np.column_stack([exact, rng.random((n, 3)) < 0.3 + 0.4 * (place > 0)]).astype(float)


@pytest.mark.parametrize("curved", [False, True])
def test_differences_on_the_map_are_differences_of_shares(curved):
    """A steep column changes by far more than 1 a standard deviation, if one goes by its slope in the middle."""
    from hiddenbits.reporting.row_map import chart

    X = steep()
    model = TopographicMap(2, n_points=100, max_iter=20, random_state=0) if curved else LogisticPCA(2, random_state=0)
    found = context(X, map=model.fit(X))
    found.fits.curved, found.fits.compared = curved, SimpleNamespace(best="IndependentColumns", ties=list)
    found.fits.compared.entry, found.fits.of = lambda _: SimpleNamespace(size=""), lambda *_: Fit(None, "", "cut short")
    section = chart(found)
    lines = {str(line[0])[5:-6]: differences(" ".join(line[1:])) for line in section.parts[0].same.rows}
    assert len(lines) == 9
    assert all(abs(value) <= 100.0 for line in lines.values() for value in line)
    assert max(abs(line[0]) for line in lines.values()) > 85.0  # the steep ones: almost never at one end, and always
    assert "a separate model with two dimensions" in str(section.opening)
    if not curved:
        rng = np.random.default_rng(1)
        for axis in (0, 1):
            z = rng.standard_normal((200_000, 2))
            ends = [z[:, axis] > 0.6745, z[:, axis] < -0.6745]
            upper, lower = (model.inverse_transform(z[end]).mean(axis=0) for end in ends)
            wanted = 100 * (upper - lower)
            np.testing.assert_allclose([lines[f"x{j}"][axis] for j in range(9)], wanted, atol=1.5)  # rounded to 1

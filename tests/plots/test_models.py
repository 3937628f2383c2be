"""Profiles, item curves, networks of causes and arrows: what is drawn is what the model says."""

import numpy as np
import pytest

from hiddenbits import (
    ClippedPCA,
    CombinationMachine,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    open_table,
    plots,
)
from hiddenbits.datasets import simulate_mixture

pytest.importorskip("matplotlib")
import matplotlib.colors

from hiddenbits.plots.lines import correlations, longest_arrows
from tests.plots.fitted import clusters


@pytest.fixture(scope="module")
def table():
    X = simulate_mixture(200, 6, 2, random_state=0).X.astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return open_table(X, names=["$a$", *"bcdef"])


@pytest.fixture(scope="module")
def classes(table):
    return LatentClassAnalysis(2, random_state=0).fit(table)


def names_down(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_profiles_are_the_classes(table, classes):
    ax = plots.profiles(classes, table)
    where = {name: y for y, name in enumerate(names_down(ax))}
    assert set(where) == set(table.names)
    drawn = [c.get_offsets() for c in ax.collections if c.get_label() == "_class"]
    for k, points in enumerate(reversed(drawn)):
        found = {round(y): x for x, y in points}
        expected = {where[name]: p for name, p in zip(table.names, classes.probabilities_[k], strict=True)}
        assert found == pytest.approx(expected)
    means = next(c.get_offsets() for c in ax.collections if c.get_label() == "_all rows")
    assert sorted(means[:, 0]) == pytest.approx(sorted(np.nanmean(table.to_float(), axis=0)))
    legend = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert legend == [*(f"class {k + 1} ({share:.0%} of rows)" for k, share in enumerate(classes.weights_)), "all rows"]


def test_profiles_leave_out_what_differs_least(classes):
    ax = plots.profiles(classes, most=2)
    spread = np.ptp(classes.probabilities_, axis=0)
    assert set(names_down(ax)) == {classes.feature_names_in_[j] for j in np.argsort(-spread)[:2]}
    assert "4 more columns, whose classes differ less" in [text.get_text() for text in ax.texts]


def test_profiles_of_columns_of_other_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": ["yes", "no"] * 20, "r": ["no", "no", "no", "yes"] * 10})
    model = LatentClassAnalysis(1, random_state=0).fit(frame)
    ax = plots.profiles(model, frame)
    means = next(c.get_offsets() for c in ax.collections if c.get_label() == "_all rows")
    assert sorted(means[:, 0]) == pytest.approx([0.25, 0.5])


def test_profiles_by_level():
    """A line for each level below the name of its column, the column whose classes differ most at the top."""
    inference = pytest.importorskip("hiddenbits.inference")
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, 300)
    X = np.column_stack(
        [h + rng.integers(1, 3, 300), np.where(rng.random(300) < 0.9, 1 + 2 * h, 2), rng.random(300) < 0.3]
    )
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    types = {"0": "nominal", "1": "ordinal", "2": "binary"}
    model = LatentClassAnalysis(2, column_types=types, random_state=0).fit(X)
    errors = inference.standard_errors(model, X)
    ax = plots.profiles(model, X, errors=errors)
    labels = names_down(ax)
    assert labels[0] in ("x0", "x1")
    assert labels[-1] == "x2 = 1"
    levels = [labels.index(name) + step for name in ("x0", "x1") for step in (1, 2, 3)] + [8]
    drawn = [c.get_offsets() for c in ax.collections if c.get_label() == "_class"]
    whiskers = [c.get_segments() for c in ax.collections if c.get_label() == "_interval"]
    for k, (points, ends) in enumerate(zip(reversed(drawn), reversed(whiskers), strict=True)):
        assert {round(y): x for x, y in points} == pytest.approx(
            dict(zip(levels, model.probabilities_[k], strict=True))
        )
        upper = dict(zip(levels, errors.interval["probabilities"][1][k], strict=True))
        assert {round(end[1, 1]): end[1, 0] for end in ends} == pytest.approx(upper)
    assert len([line for line in ax.lines if line.get_label() == "_joined"]) == 2  # the ordinal column, in each class
    means = next(c.get_offsets() for c in ax.collections if c.get_label() == "_all rows")
    expected = [np.nanmean(np.where(np.isnan(X[:, j]), np.nan, X[:, j] == v)) for j in (0, 1) for v in (1, 2, 3)]
    assert {round(y): x for x, y in means} == pytest.approx(
        dict(zip(levels, [*expected, np.nanmean(X[:, 2])], strict=True))
    )


@pytest.mark.slow
def test_item_curves(table):
    model = LogisticPCA(1, random_state=0).fit(table)
    upper, lower = plots.item_curves(model, table, most=2)
    a, b = model.components_[0], model.intercepts_
    colored = sorted(np.argsort(-np.abs(a))[:2], key=lambda j: -b[j] / a[j])
    curves = [line for line in upper.lines if line.get_linewidth() > 1.0]
    assert len(upper.lines) == 6 + 1  # and the line at 1/2
    for j, line in zip(colored, curves, strict=True):
        x, y = line.get_data()
        assert y == pytest.approx(model.inverse_transform(x[:, None])[:, j])
    assert [line.get_linewidth() for line in lower.lines] == [1.2, 1.2, 2.0]
    x, total = lower.lines[-1].get_data()
    p = model.inverse_transform(x[:, None])
    assert total == pytest.approx((a**2 * p * (1 - p)).sum(axis=1))
    assert lower.get_xlabel() != ""
    error, behind = (ax for ax in upper.figure.axes if ax not in (upper, lower))
    assert error.lines[0].get_ydata() == pytest.approx(1 / np.sqrt(total))
    assert sum(bar.get_height() for bar in behind.patches) == 200
    upper, _ = plots.item_curves(model, columns=["b", 3])
    assert len([line for line in upper.lines if line.get_linewidth() > 1.0]) == 2


@pytest.fixture(scope="module")
def scale():
    """Return a frame of items of four and of two levels, a column of numbers and a binary item, and a model of them."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    z = rng.standard_normal(500)
    mood = np.array(["bad", "fair", "good", "$best$"])[np.digitize(2 * z + rng.logistic(size=500), [-2, 0, 2])]
    party = np.array(["left", "right"])[(z + rng.logistic(size=500) > 0).astype(int)]
    frame = pd.DataFrame(
        {
            "mood": mood,
            "party": party,
            "weight": z + rng.normal(size=500),
            "passed": (z + rng.logistic(size=500) > 1).astype(int),
        }
    )
    types = {"mood": ["bad", "fair", "good", "$best$"], "party": ["left", "right"], "weight": "continuous"}
    return frame, ItemResponseModel(column_types=types).fit(frame)


@pytest.mark.slow
def test_item_curves_of_levels_have_a_panel_for_each_item(scale):
    frame, model = scale
    panels, information = plots.item_curves(model, frame)
    assert [ax.get_title() for ax in panels] == ["mood", "party", "passed"]
    texts = [[text.get_text() for text in ax.texts] for ax in panels]
    assert texts == [["bad", "fair", "good", "$best$"], ["left", "right"], []]
    x = panels[0].lines[0].get_xdata()
    p = model.inverse_transform(x[:, None])
    for ax, bits in zip(panels, ([0, 1, 2, 3], [4, 5], [6]), strict=True):
        for line, bit in zip(ax.lines, bits, strict=True):
            assert line.get_ydata() == pytest.approx(p[:, bit])
    of_items = model.item_information(x[:, None])[:, :, 0, 0]
    *items, total = information.lines
    for line, expected in zip(items, of_items.T[:3], strict=True):
        assert line.get_ydata() == pytest.approx(expected)
    assert total.get_ydata() == pytest.approx(of_items.sum(axis=1))  # with the column of numbers
    legend = [text.get_text() for text in information.figure.legends[0].get_texts()]
    assert legend == ["all columns together", "standard error (right)", "rows"]
    curves, _ = plots.item_curves(model, columns=["passed"])
    assert curves.get_ylabel() == "P(1)"
    panels, information = plots.item_curves(model, columns=[1, "mood"])
    assert [ax.get_title() for ax in panels] == ["party", "mood"]
    assert "1 more columns without a panel" in [text.get_text() for text in information.texts]
    with pytest.raises(ValueError, match="give 4, the last for the information"):
        plots.item_curves(model, axes=[panels[0], information])


def test_wright_map(scale):
    frame, model = scale
    table = open_table(frame, recode=model).with_sample_weight(np.arange(500) % 3)
    left, right = plots.wright_map(model, table)
    assert sum(bar.get_width() for bar in left.patches) == (np.arange(500) % 3).sum()
    names = [label.get_text() for label in right.get_xticklabels()]
    assert sorted(names) == ["mood", "party", "passed"]
    means = [line.get_ydata().mean() for line in right.lines]
    assert means == sorted(means)
    mood = right.lines[names.index("mood")]
    # At the difficulty of a level that level or a higher one has P = 1/2.
    p = model.inverse_transform(np.array(mood.get_ydata())[:, None])
    assert [p[k, k + 1 : 4].sum() for k in range(3)] == pytest.approx([0.5] * 3)
    party = np.array(right.lines[names.index("party")].get_ydata())
    assert model.inverse_transform(party[:, None])[0, 4:6] == pytest.approx([0.5, 0.5])
    texts = [text.get_text() for text in right.texts]
    assert sorted(texts) == ["$best$", "fair", "good", "right"]
    assert left.get_ylim() == right.get_ylim()


@pytest.mark.parametrize("make", [LogisticPCA, ClippedPCA])
def test_wright_maps_of_other_models(make, table):
    model = make(1).fit(table)
    _, right = plots.wright_map(model, table)
    names = [label.get_text() for label in right.get_xticklabels()]
    for name, line in zip(names, right.lines, strict=True):
        place = np.array(line.get_ydata())
        if len(place):
            p = model.inverse_transform(place[:, None])[0]
            assert p[table.names.index(name)] == pytest.approx(0.5, abs=1e-6)


def test_difficulties_outside_are_counted():
    X = (np.random.default_rng(0).random((400, 5)) < [0.5, 0.5, 0.5, 0.5, 0.999]).astype(int)
    X[:, 1] = X[:, 0] ^ (np.random.default_rng(1).random(400) < 0.2)
    model = ItemResponseModel(slopes="equal").fit(X)
    b = model.intercepts_ / model.slopes_[:, 0]
    n_outside = int((np.abs(b) > 6).sum())
    assert n_outside > 0
    _, right = plots.wright_map(model, X)
    assert f"{n_outside} difficulties lie outside" in [text.get_text() for text in right.texts]
    assert sum(len(line.get_ydata()) for line in right.lines) == 5 - n_outside


def links(ax):
    """Return the links that are drawn: place of the cause, place of the column, width and color."""
    found = []
    for patch in ax.patches:
        corners = patch.get_path().vertices
        found.append((corners[0, 1], corners[-1, 1], patch.get_linewidth(), patch.get_edgecolor()[:3]))
    return found


def test_network_of_causes(table):
    model = NoisyOrNetwork(2, random_state=0).fit(table)
    ax = plots.causes(model, table, links=2)
    drawn, strengths = links(ax), model.strengths_
    strongest = np.sort(strengths, axis=1)[:, ::-1][:, :2]
    expected = sorted(strongest[strongest > 0.1 * strengths.max()] / strengths.max() * 5.0)
    assert sorted(width for _, _, width, _ in drawn) == pytest.approx(expected)
    texts = [text.get_text() for text in ax.texts]
    on = model.transform(table).mean(axis=0)
    assert texts[:2] == [f"cause {i + 1}\non in {on[i]:.0%}" for i in range(2)]
    j = int(strengths[0].argmax())
    assert f"{table.names[j]}  {strengths[:, j].max():.2f}" in texts
    assert not ax.figure.legends  # nothing is switched off


def test_what_a_cause_switches_off_has_another_color():
    X = simulate_mixture(200, 5, 2, random_state=0).X
    model = CombinationMachine(1, n_init=1, random_state=0).fit(X)
    ax = plots.causes(model, links=5)
    colors = {width: color for _, _, width, color in links(ax)}
    off = matplotlib.colors.to_rgb(plots.causes.__globals__["OFF"])
    w = model.weights_[0]
    drawn = w[np.abs(w) > 0.1 * np.abs(w).max()]
    assert sum(color == off for color in colors.values()) == (drawn < 0).sum() > 0


def test_arrows_point_where_bits_become_more_probable():
    X, _, model = clusters()
    ax = plots.map(model, X, arrows=3)
    arrows = [one for one in ax.texts if getattr(one, "arrow_patch", None) is not None]
    along = correlations(model, [0, 1])
    chosen = longest_arrows(along, 3)
    assert len(arrows) == len(chosen) == 3
    units = [np.asarray(one.xy) / np.hypot(*along[j]) for one, j in zip(arrows, chosen, strict=True)]
    assert np.ptp([np.hypot(*unit) for unit in units]) < 1e-9  # one unit for all
    here = model.inverse_transform(np.zeros((1, 2)))[0]
    for one, j in zip(arrows, chosen, strict=True):
        assert model.inverse_transform(np.array([one.xy]))[0, j] > here[j]
    with pytest.raises(ValueError, match="Give X too"):
        plots.map(model, lines=True, arrows=True)


def test_few_arrows():
    W = np.array([[1.0, 0.0], [0.9, 0.05], [0.0, -0.8], [0.1, 0.1], [-0.7, 0.0]])
    assert longest_arrows(W, 8) == [0, 2, 4]  # one points as the first does, one is short
    assert longest_arrows(W, 2) == [0, 2]


def test_arrows_are_correlations():
    """Of clipped PCA the loadings are correlations; of logistic PCA the noise is logistic."""
    X, _, model = clusters()
    clipped = ClippedPCA(2).fit(X)
    assert correlations(clipped, [0, 1]) == pytest.approx(clipped.components_.T)
    x = np.random.default_rng(0).normal(size=(200_000, 2))
    noisy = x @ model.components_[:, 0] + np.random.default_rng(1).logistic(size=200_000)
    found = [np.corrcoef(x[:, k], noisy)[0, 1] for k in range(2)]
    # The standard error of a correlation is at most 1 / sqrt(200,000) = 0.0022.
    assert correlations(model, [0, 1])[0] == pytest.approx(found, abs=0.009)


def test_maps_of_items_with_levels_have_arrows_but_no_lines():
    X = np.minimum(simulate_mixture(200, 12, 3, random_state=0).X.reshape(200, 6, 2).sum(axis=2), 2)
    model = ItemResponseModel(2, column_types="ordinal", tol=1e-3).fit(X)
    assert correlations(model, [0, 1]) == pytest.approx(model._standardized()[0])
    assert [text.get_text() for text in plots.map(model, X, arrows=6).texts]
    with pytest.raises(ValueError, match="need binary columns"):
        plots.map(model, X, lines=True)


@pytest.mark.parametrize("plot", [plots.profiles, plots.item_curves, plots.wright_map, plots.causes])
def test_other_models_are_refused(plot):
    X, _, model = clusters()
    with pytest.raises(ValueError, match="need"):
        plot(model, X)


def test_residual_pairs():
    diagnostics = pytest.importorskip("hiddenbits.diagnostics", reason="residuals are counted there")
    X = simulate_mixture(500, 5, 2, random_state=0).X
    X[:, 4] = X[:, 3]
    model = LatentClassAnalysis(2, random_state=0).fit(X)
    ax = plots.residual_pairs(model, X, most=4)
    found = diagnostics.residual_pairs(model, X, n_pairs=4)
    assert [bar.get_width() for bar in ax.patches if bar.get_height() == 0.6] == pytest.approx(found["residual"])
    assert names_down(ax) == [f"{a}, {b}" for a, b in zip(found["first"], found["second"], strict=True)]
    texts = [text.get_text() for text in ax.texts]
    assert texts[0] == f"{found['observed'][0]:,.0f}, expected {found['expected'][0]:,.0f}"
    assert texts[-1] == "6 more pairs with smaller residuals"

"""The map, checked through what was drawn."""

import warnings
from collections import Counter

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, LogisticPCA, plots
from hiddenbits.plots.rows import SAME
from tests.plots.fitted import clusters, with_blanks

matplotlib = pytest.importorskip("matplotlib", reason="the plot extra is not installed")
collections = pytest.importorskip("matplotlib.collections", reason="the plot extra is not installed")


def scatters(ax):
    return [artist for artist in ax.collections if isinstance(artist, collections.PathCollection)]


def drawn_lines(ax):
    return [line for line in ax.lines if line.get_label() == "_line"]


def legend_names(ax):
    return [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]


def counts_by_place(model, X):
    """How many rows have each distinct pattern of cells, at the place where the model puts that pattern."""
    patterns = Counter(tuple(row) for row in np.nan_to_num(X, nan=-1.0).tolist())
    rows = np.array(list(patterns), float)
    rows[rows == -1.0] = np.nan
    return model.transform(rows), np.array(list(patterns.values()))


@pytest.mark.parametrize("blanks", [False, True])
def test_equal_rows_are_one_glyph_with_an_area_by_their_number(blanks):
    X, model = with_blanks() if blanks else clusters()[::2]
    (drawn,) = scatters(plots.map(model, X))
    where, counts = counts_by_place(model, X)
    assert counts.max() > 1
    found = np.asarray(drawn.get_offsets())
    assert len(found) == len(where)
    nearest = np.linalg.norm(where[:, None] - found[None], axis=2)
    np.testing.assert_allclose(nearest.min(axis=1), 0.0, atol=1e-8)
    areas = drawn.get_sizes()[nearest.argmin(axis=1)]
    np.testing.assert_allclose(areas / areas[0], counts / counts[0], rtol=1e-12)


def test_weights_of_a_table_are_numbers_of_rows():
    X, _, model = clusters()
    distinct, counts = np.unique(X, axis=0, return_counts=True)
    table = hiddenbits.open_table(distinct).with_weights(counts.astype(float))
    (plain,), (weighted,) = scatters(plots.map(model, X)), scatters(plots.map(model, table))
    by_place = [
        dict(zip(map(tuple, np.round(a.get_offsets(), 6).tolist()), a.get_sizes(), strict=True))
        for a in (plain, weighted)
    ]
    assert by_place[0] == pytest.approx(by_place[1])


def test_other_dimensions():
    X, _, model = clusters(q=3)
    ax = plots.map(model, X, dims=(2, 0))
    codes = np.unique(np.round(model.transform(X)[:, [2, 0]], 6), axis=0)
    found = np.unique(np.round(np.asarray(scatters(ax)[0].get_offsets()), 6), axis=0)
    np.testing.assert_allclose(found, codes, atol=2e-6)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("dimension 3", "dimension 1")


@pytest.mark.parametrize("seed", range(3))
def test_lines_are_where_the_bit_is_even(seed):
    X, _, model = clusters(seed)
    ax = plots.map(model, X, lines=True, names=False)
    lines = drawn_lines(ax)
    left, right, bottom, top = *ax.get_xlim(), *ax.get_ylim()
    halves = 0
    for line in lines:
        points = np.column_stack(line.get_data())
        p = model.inverse_transform(np.vstack([points, points.mean(axis=0)]))
        even = np.abs(p - 0.5).max(axis=0) < 1e-9
        halves += even.sum() >= 1
        for x, y in points:  # both ends are on the frame
            assert min(abs(x - left), abs(x - right), abs(y - bottom), abs(y - top)) < 1e-9
            assert left - 1e-9 <= x <= right + 1e-9
            assert bottom - 1e-9 <= y <= top + 1e-9
    assert halves == len(lines) > 0
    # A bit that is even somewhere in the picture, on a fine grid, has a line; the others do not.
    grid = np.stack(np.meshgrid(np.linspace(left, right, 200), np.linspace(bottom, top, 200)), -1).reshape(-1, 2)
    p = model.inverse_transform(grid)
    crossing = (p.min(axis=0) < 0.5) & (p.max(axis=0) > 0.5)
    assert len(lines) == crossing.sum()
    said = [text.get_text() for text in ax.texts if "lie outside" in text.get_text()]
    outside = int((~crossing).sum())
    assert said == ([f"{outside} of 8 lines lie outside"] if outside else [])


@pytest.mark.slow
def test_lines_of_the_largest_loadings_and_their_names():
    X, _, model = clusters()
    W, b = model.components_.T, model.intercepts_

    def columns(ax):
        ends = [np.column_stack(line.get_data()).T for line in drawn_lines(ax)]
        return [int(np.abs(W @ points + b[:, None]).max(axis=1).argmin()) for points in ends]

    crossing = columns(plots.map(model, X, lines=True, names=False))
    largest = sorted(crossing, key=lambda j: -np.linalg.norm(W[j]))[:3]
    ax = plots.map(model, X, lines=3, names=[f"item {j}" for j in range(8)])
    assert sorted(columns(ax)) == sorted(largest)
    named = {text.get_text(): text.get_position() for text in ax.texts if text.get_text().startswith("item")}
    assert set(named) == {f"item {j}" for j in largest}
    for name, place in named.items():  # a name stands on the side of 1
        column = int(name.split()[1])
        assert W[column] @ np.array(place) + b[column] > 0


def test_names_do_not_overlap_and_stay_inside():
    X, _, model = clusters(1)
    ax = plots.map(model, X, lines=True, labels=[f"row number {n}" for n in range(len(X))])
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if "no room" not in text.get_text() and "outside" not in text.get_text()]
    boxes = np.array([text.get_window_extent(ax.figure.canvas.get_renderer()).extents for text in texts])
    if any(text.get_bbox_patch() for text in texts):
        pad = 0.4 * ax.figure.dpi / 72.0 + 0.01  # the background of a line's name
        boxes += [pad, pad, -pad, -pad]
    for n, box in enumerate(boxes):
        others = np.delete(boxes, n, axis=0)
        apart = (
            (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
        )
        assert apart.all()
    frame = ax.get_window_extent().extents
    assert (boxes[:, :2] >= frame[:2] - 1).all()
    assert (boxes[:, 2:] <= frame[2:] + 1).all()
    told = next(text.get_text() for text in ax.texts if "labels" in text.get_text())
    n_labels = sum(text.get_text().startswith("row number") for text in texts)
    places = len(np.unique(np.round(model.transform(X), SAME), axis=0))
    assert f"no room for {places - n_labels} of {places} labels" in told


def test_rows_at_one_place_share_a_label():
    X, _, model = clusters()
    row = X[:1].repeat(3, axis=0)
    ax = plots.map(model, row, labels=["a", "b", "a"])
    assert [text.get_text() for text in ax.texts] == ["a +1"]


@pytest.mark.parametrize("share", [True, 0.5])
def test_ellipses_have_the_axes_of_the_covariances(share):
    X, model = with_blanks()
    X = X[:12]
    ax = plots.map(model, X, ellipses=share)
    (drawn,) = (artist for artist in ax.collections if isinstance(artist, collections.EllipseCollection))
    means, covariances = model.transform(X, return_cov=True)
    radius = np.sqrt(-2 * np.log(1 - (0.9 if share is True else share)))
    for place, wide, high, angle in zip(
        np.asarray(drawn.get_offsets()), drawn.get_widths(), drawn.get_heights(), drawn.get_angles(), strict=True
    ):
        row = np.linalg.norm(means - place, axis=1).argmin()
        np.testing.assert_allclose(means[row], place, atol=1e-8)
        turn = np.deg2rad(angle)
        long, short = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        # A point on the ellipse has Mahalanobis distance `radius`, at the ends of both axes and between them.
        inverse = np.linalg.inv(covariances[row])
        for t in np.linspace(0, 2 * np.pi, 9):
            v = wide / 2 * np.cos(t) * long + high / 2 * np.sin(t) * short
            assert np.sqrt(v @ inverse @ v) == pytest.approx(radius, rel=1e-6)
        assert wide >= high
    # An ellipse holds what it says: draws from one posterior.
    draws = np.random.default_rng(0).multivariate_normal(means[0], covariances[0], 20000) - means[0]
    inside = (np.einsum("na,ab,nb->n", draws, np.linalg.inv(covariances[0]), draws) < radius**2).mean()
    assert inside == pytest.approx(0.9 if share is True else share, abs=0.015)
    for low, high, places in ((*ax.get_xlim(), means[:, 0]), (*ax.get_ylim(), means[:, 1])):
        assert low < places.min()
        assert high > places.max()


def test_categories_have_their_own_glyphs_and_names_are_text():
    X, prototype, model = clusters()
    names = np.array(["$money$", "_hidden", "plain"])
    ax = plots.map(model, X, color=names[prototype])
    drawn = scatters(ax)
    assert legend_names(ax)[:3] == ["$money$", "_hidden", "plain"]
    assert len({tuple(artist.get_facecolor()[0][:3]) for artist in drawn}) == 3
    assert (
        len({artist.get_paths()[0].vertices.shape + tuple(artist.get_paths()[0].vertices[1]) for artist in drawn}) == 3
    )
    keys = ax.figure.legends[0].legend_handles
    for k in range(3):  # the glyph that the legend gives a name is that of its rows
        color = matplotlib.colors.to_rgb(keys[k].get_color())
        (artist,) = (a for a in drawn if np.allclose(a.get_facecolor()[0][:3], color))
        codes = np.unique(np.round(model.transform(X[prototype == k]), 6), axis=0)
        np.testing.assert_allclose(np.unique(np.round(np.asarray(artist.get_offsets()), 6), axis=0), codes, atol=2e-6)
    assert not any(text.get_parse_math() for legend in ax.figure.legends for text in legend.get_texts())
    ax.figure.canvas.draw()


def test_numbers_are_a_scale_and_coincident_rows_their_mean():
    X, _, model = clusters()
    numbers = np.arange(len(X), dtype=float)
    numbers[5] = np.nan
    ax = plots.map(model, X, color=numbers)
    artist = scatters(ax)[-1]
    codes, values = np.round(model.transform(X), 6), artist.get_array()
    for place, value in zip(np.round(np.asarray(artist.get_offsets()), 6), values, strict=True):
        here = np.abs(codes - place).max(axis=1) < 3e-6
        assert value == pytest.approx(np.nanmean(numbers[here]))
    assert len(ax.figure.axes) == 2  # the second one is the scale


@pytest.mark.slow
def test_missing_categories_are_gray():
    X, prototype, model = clusters()
    for blank in (None, np.nan):
        color = np.array(["a", "b", blank], dtype=object)[prototype]
        assert legend_names(plots.map(model, X, color=color))[:3] == ["a", "b", "not known"]


@pytest.mark.slow
def test_more_than_twenty_categories_are_said():
    X, _, model = clusters()
    color = [f"kind {n % 25:02d}" for n in range(len(X))]
    with pytest.warns(UserWarning, match="25 categories") as caught:
        ax = plots.map(model, X, color=color)
    assert caught[0].filename == __file__
    names = [name for name in legend_names(ax) if "row" not in name]
    assert len(names) == 20
    assert names[-1] == "6 other categories"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.map(model, X, color=[f"kind {n % 20}" for n in range(len(X))])


def test_legends_are_not_cut_off():
    X, prototype, model = clusters()
    ax = plots.map(model, X, color=np.array(["a long name of a category", "b", "c"])[prototype])
    ax.figure.canvas.draw()
    box, page = ax.figure.legends[0].get_window_extent(), ax.figure.bbox
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1
    tight = ax.get_tightbbox()
    assert tight.x0 >= page.x0
    assert tight.y0 >= page.y0
    assert tight.x1 <= box.x0


def test_one_row():
    X, _, model = clusters()
    ax = plots.map(model, X[:1], ellipses=True, lines=True, labels=["alone"])
    np.testing.assert_allclose(np.asarray(scatters(ax)[0].get_offsets()), model.transform(X[:1]))
    ax = plots.map(model, X[:1])
    assert np.ptp(ax.get_xlim()) == pytest.approx(3.0)


@pytest.mark.slow
def test_frames_and_output_settings():
    pd = pytest.importorskip("pandas")
    X, prototype, _ = clusters()
    frame = pd.DataFrame(X, columns=[f"q{j}" for j in range(8)])
    model = LogisticPCA(2, random_state=0).fit(frame).set_output(transform="pandas")
    ax = plots.map(model, frame, color=pd.Series(prototype).astype("category"), lines=True)
    assert {text.get_text() for text in ax.texts if text.get_text().startswith("q")} <= set(frame.columns)
    assert legend_names(ax)[:3] == ["0", "1", "2"]


@pytest.mark.slow
def test_given_axes_are_used_and_nothing_is_shown(monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    X, prototype, model = clusters()
    _, axes = plt.subplots(1, 2)
    assert plots.map(model, X, color=prototype.astype(str), ax=axes[1]) is axes[1]
    assert not axes[0].collections
    assert axes[1].get_legend() is not None
    assert plots.map(model, X, color=prototype.astype(str), legends=False, ax=axes[0]).get_legend() is None
    parts = plt.figure(layout="constrained", figsize=(10, 4)).subfigures(1, 2)
    for part in parts:  # legends stand beside axes that have a part of the page to themselves
        ax = part.subplots()
        assert plots.map(model, X, color=prototype.astype(str), lines=True, ax=ax) is ax
        assert ax.get_legend() is None
        ax.figure.canvas.figure.canvas.draw()
        assert part.legends[0].get_window_extent().x0 >= ax.get_window_extent().x1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": None}, "Nothing to draw"),
        ({"X": None, "lines": True, "ellipses": True}, "Give X too"),
        ({"dims": (0, 2)}, "between 0 and 1"),
        ({"dims": (1, 1)}, "two different"),
        ({"color": ["a"]}, "1 colors were given for 120 rows"),
        ({"labels": ["a"]}, "1 labels were given for 120 rows"),
        ({"lines": True, "names": ["a"]}, "1 names were given for 8 columns"),
        ({"ellipses": 1.5}, "between 0 and 1"),
        ({"color": "party"}, r"Give one value per row, such as frame\['party'\]"),
    ],
)
def test_refusals(options, message):
    X, _, model = clusters()
    with pytest.raises(ValueError, match=message):
        plots.map(model, **{"X": X, **options})


def test_refuses_models_without_a_plane():
    X, _, _ = clusters()
    with pytest.raises(ValueError, match="this one has 1"):
        plots.map(LogisticPCA(1, random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="LatentClassAnalysis has none"):
        plots.map(LatentClassAnalysis(2, random_state=0).fit(X), X)


@pytest.mark.slow
def test_no_rows_only_lines():
    _, _, model = clusters()
    ax = plots.map(model, lines=True)
    assert not scatters(ax)
    assert ax.get_xlim() == pytest.approx((-3.3, 3.3))

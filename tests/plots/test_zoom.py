"""Two levels of maps: every row where its model puts it, in the colour of its map, as opaque as it is probable."""

from functools import cache

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LogisticPCA, LogisticPCAMixture, Variational, plots
from tests.plots.fitted import clusters

matplotlib = pytest.importorskip("matplotlib", reason="the plot extra is not installed")
from tests.plots.test_map import legend_names, scatters  # noqa: E402  (it skips without matplotlib)


@cache
def two_levels(K=3, q=2):
    X, prototype, overview = clusters(q=q)
    return X, prototype, overview, LogisticPCAMixture(q, n_maps=K, polish=False, n_init=1, random_state=1).fit(X)


def glyphs(ax):
    """Place, area, colour and opacity of every glyph."""
    out = []
    for artist in scatters(ax):
        where, sizes, colours = np.asarray(artist.get_offsets()), artist.get_sizes(), artist.get_facecolor()
        colours = np.broadcast_to(colours, (len(where), 4))
        opacity = np.broadcast_to(np.asarray(artist.get_alpha(), float), len(where))
        out += list(zip(where, np.broadcast_to(sizes, len(where)), colours[:, :3], opacity, strict=True))
    return out


@pytest.mark.thin(3)
@pytest.mark.parametrize("K", [1, 2, 5])
def test_rows_are_where_the_models_put_them(K):
    X, _, overview, mixture = two_levels(K)
    axes = plots.zoom(mixture, X, overview)
    assert len(axes) == 1 + K
    codes = mixture.transform(X)
    shares, best = codes[:, :K], codes[:, :K].argmax(axis=1)
    frames = [matplotlib.colors.to_rgb(next(iter(ax.spines.values())).get_edgecolor()) for ax in axes[1:]]
    whole = overview.transform(X)
    found = glyphs(axes[0])
    assert len(found) >= len(np.unique(np.round(whole, 9), axis=0))
    for where, _, colour, _ in found:
        here = np.abs(whole - where).max(axis=1) < 1e-8
        assert any(np.allclose(colour, frames[k]) for k in np.unique(best[here]))
    for k, ax in enumerate(axes[1:]):
        places = codes[:, K + 2 * k : K + 2 * k + 2]
        drawn = glyphs(ax)
        there = shares[:, k] >= 0.02
        assert len(drawn) == len(np.unique(np.round(places[there], 9), axis=0))
        for where, _, colour, opacity in drawn:
            here = there & (np.round(places, 9) == np.round(where, 9)).all(axis=1)
            assert np.allclose(colour, frames[k])
            assert opacity == pytest.approx(shares[here, k].mean(), abs=1e-6)
            assert ax.get_xlim()[0] < where[0] < ax.get_xlim()[1]
            assert ax.get_ylim()[0] < where[1] < ax.get_ylim()[1]
        assert ax.get_title(loc="left") == f"map {k + 1}: {100 * shares[:, k].mean():.0f}% of the rows"
        assert np.ptp(ax.get_xlim()) == pytest.approx(np.ptp(ax.get_ylim()))
        assert np.ptp(ax.get_xlim()) >= 2.0  # never so near that noise looks like structure


@pytest.mark.slow
def test_areas_are_numbers_of_rows_and_weights_count():
    X, _, overview, mixture = two_levels()
    distinct, counts = np.unique(X, axis=0, return_counts=True)
    table = hiddenbits.open_table(distinct).with_weights(counts.astype(float))
    plain, weighted = plots.zoom(mixture, X, overview), plots.zoom(mixture, table, overview)
    for a, b in zip(plain, weighted, strict=True):
        assert a.get_title(loc="left") == b.get_title(loc="left")
        one, other = ({tuple(np.round(g[0], 6)): g[1] for g in glyphs(ax)} for ax in (a, b))
        assert one.keys() == other.keys()
        assert all(other[place] == pytest.approx(area) for place, area in one.items())
    codes = overview.transform(distinct)
    for where, area, _, _ in glyphs(plain[0]):
        here = np.abs(codes - where).max(axis=1) < 1e-8
        assert area / min(g[1] for g in glyphs(plain[0])) == pytest.approx(counts[here].sum() / counts.min(), rel=1e-6)


@pytest.mark.slow
def test_short_labels_are_drawn_as_themselves():
    X, prototype, overview, mixture = two_levels()
    axes = plots.zoom(mixture, X, overview, labels=prototype)
    assert legend_names(axes[0])[-1] == "fainter: less probable on this map"
    assert not {"0", "1", "2"} & set(legend_names(axes[0]))
    shapes = {}
    for artist in scatters(axes[0]):  # one shape for each label: the rows of a shape are those of a label
        at = np.round(np.asarray(artist.get_offsets()), 6)
        key = artist.get_paths()[0].vertices.tobytes()
        shapes.setdefault(key, []).append(at)
    assert len(shapes) == 3
    of_label = [
        {tuple(p) for p in np.round(overview.transform(X[prototype == label]), 6).tolist()} for label in range(3)
    ]
    for found in shapes.values():
        assert {tuple(p) for p in np.concatenate(found).tolist()} in of_label
    axes[0].figure.canvas.draw()


@pytest.mark.full
def test_long_labels_have_shapes_of_their_own():
    X, _, overview, mixture = two_levels()
    labels = [f"kind $number$ {n % 13:02d}" for n in range(len(X))]
    ax = plots.zoom(mixture, X, overview, labels=labels)[0]
    names = legend_names(ax)
    assert names[:13] == sorted(set(labels))
    assert len({a.get_paths()[0].vertices.tobytes() for a in scatters(ax)}) == 13
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match=r"14 different labels.*one or two letters"):
        plots.zoom(mixture, X, overview, labels=[f"kind {n % 14}" for n in range(len(X))])


@pytest.mark.slow
def test_nothing_overlaps_and_nothing_is_cut_off():
    X, prototype, overview, mixture = two_levels(5)
    axes = plots.zoom(mixture, X, overview, labels=np.array(["first kind", "second kind", "third kind"])[prototype])
    figure = axes[0].figure
    figure.canvas.draw()
    renderer, page = figure.canvas.get_renderer(), figure.bbox
    boxes = [ax.get_tightbbox(renderer) for ax in axes] + [figure.legends[0].get_window_extent(renderer)]
    for n, box in enumerate(boxes):
        assert page.x0 - 1 <= box.x0
        assert box.x1 <= page.x1 + 1
        assert page.y0 - 1 <= box.y0
        assert box.y1 <= page.y1 + 1
        for other in boxes[n + 1 :]:
            wide, high = min(box.x1, other.x1) - max(box.x0, other.x0), min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(wide, high) <= 1.0


def test_other_dimensions_and_a_given_figure():
    import matplotlib.pyplot as plt

    X, _, overview, mixture = two_levels(2, q=3)
    figure = plt.figure(layout="constrained", figsize=(9, 5))
    axes = plots.zoom(mixture, X, overview, dims=(2, 0), figure=figure)
    assert all(ax.figure is figure for ax in axes)
    assert (axes[1].get_xlabel(), axes[1].get_ylabel()) == ("dimension 3", "dimension 1")
    codes = overview.transform(X)[:, [2, 0]]
    for where, *_ in glyphs(axes[0]):
        assert np.abs(codes - where).max(axis=1).min() < 1e-8


def test_frames_and_output_settings():
    pd = pytest.importorskip("pandas")
    X, prototype, _, _ = two_levels()
    frame = pd.DataFrame(X, columns=[f"q{j}" for j in range(8)])
    options = {"tol": 1e-3, "n_init": 1, "random_state": 0}
    mixture = LogisticPCAMixture(2, polish=False, **options).fit(frame).set_output(transform="pandas")
    overview = LogisticPCA(2, method=Variational(polish=False), **options).fit(frame).set_output(transform="pandas")
    assert len(plots.zoom(mixture, frame, overview, labels=pd.Series(prototype).astype("category"))) == 3


def test_refusals():
    X, _, overview, mixture = two_levels()
    with pytest.raises(ValueError, match=r"LogisticPCA has no maps_. Use plots.map"):
        plots.zoom(overview, X, overview)
    with pytest.raises(ValueError, match=r"several maps\. Draw one of its maps_"):
        plots.map(mixture, X)
    with pytest.raises(ValueError, match="several maps"):
        plots.zoom(mixture, X, mixture)
    with pytest.raises(ValueError, match="1 labels were given for 120 rows"):
        plots.zoom(mixture, X, overview, labels=["a"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        plots.zoom(mixture, X, overview, dims=(0, 2))
    single = LogisticPCAMixture(1, polish=False, n_init=1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="this one has 1"):
        plots.zoom(single, X, overview)


def test_one_map_of_a_mixture_is_a_map():
    X, _, _, mixture = two_levels()
    ax = plots.map(mixture.maps_[1], X, ellipses=True, lines=True)
    places = np.unique(np.round(mixture.transform(X)[:, 5:7], 6), axis=0)
    found = np.unique(np.round(np.asarray(scatters(ax)[0].get_offsets()), 6), axis=0)
    np.testing.assert_allclose(found, places, atol=2e-6)

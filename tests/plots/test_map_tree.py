"""A tree of maps: every row on every level, in the colour of its leaf, as opaque as it is probable."""

from functools import cache

import numpy as np
import pytest

from hiddenbits import LogisticPCAMixture, map_tree, plots
from hiddenbits.datasets import simulate_prototypes

matplotlib = pytest.importorskip("matplotlib", reason="the plot extra is not installed")
from tests.plots.test_map import legend_names  # noqa: E402  (it skips without matplotlib)
from tests.plots.test_zoom import glyphs  # noqa: E402


@cache
def three_levels():
    X, prototype = simulate_prototypes(4, 30, n_copies=100, flip=0.1, seed=0)
    split = LogisticPCAMixture(2, n_maps=2, polish=False, n_init=1, random_state=0)
    return X.astype(float), prototype, map_tree(X, split, standard_errors=0.5)


def test_rows_are_on_every_level_as_opaque_as_they_are_probable():
    X, _, tree = three_levels()
    assert len(tree.levels) > 1
    axes = plots.map_tree(tree, X)
    shares = tree.responsibilities(X)
    best = shares[-1].argmax(axis=1)
    frames = [matplotlib.colors.to_rgb(next(iter(ax.spines.values())).get_edgecolor()) for ax in axes[-1]]
    assert len({*frames}) == len(frames)
    for depth, (line, level) in enumerate(zip(axes, tree.levels, strict=True)):
        assert len(line) == len(level.maps_)
        for k, (ax, one) in enumerate(zip(line, level.maps_, strict=True)):
            places, there = one.transform(X), shares[depth][:, k] >= 0.02
            drawn = glyphs(ax)
            assert sum(
                len(np.unique(np.round(places[there & (best == leaf)], 9), axis=0)) for leaf in set(best)
            ) == len(drawn)
            for where, _, colour, opacity in drawn:
                here = there & (np.abs(places - where).max(axis=1) < 1e-8)
                leaf = next(leaf for leaf in set(best[here]) if np.allclose(colour, frames[leaf]))
                assert opacity == pytest.approx(shares[depth][here & (best == leaf), k].mean(), abs=1e-6)
            name = tree.names[depth][k]
            assert ax.get_title(loc="left").startswith(f"map {name}: {100 * shares[depth][:, k].mean():.0f}%")


def test_maps_stand_below_the_map_they_come_from():
    X, _, tree = three_levels()
    axes = plots.map_tree(tree, X)
    axes[0][0].figure.canvas.draw()
    middles = [[np.mean(ax.get_position().intervalx) for ax in line] for line in axes]
    for depth in range(1, len(axes)):
        assert middles[depth] == sorted(middles[depth])
        parents = np.array(tree.parents[depth])
        for k, middle in enumerate(middles[depth - 1]):
            below = np.array(middles[depth])[parents == k]
            assert below.min() - 0.01 <= middle <= below.max() + 0.01
        assert axes[depth][0].get_position().y1 < axes[depth - 1][0].get_position().y0


def test_short_labels_are_letters_and_long_ones_are_in_the_legend():
    X, prototype, tree = three_levels()
    axes = plots.map_tree(tree, X, labels=prototype)
    assert not {"0", "1"} & set(legend_names(axes[0][0]))
    named = np.array(["first", "second", "third", "fourth"])[prototype]
    axes = plots.map_tree(tree, X, labels=named)
    assert {"first", "second", "third", "fourth"} <= set(legend_names(axes[0][0]))


def test_maps_of_one_dimension_are_refused():
    X, _ = simulate_prototypes(2, 10, n_copies=40, seed=0)
    tree = map_tree(X, LogisticPCAMixture(1, n_init=1, random_state=0), max_levels=1)
    with pytest.raises(ValueError, match="dimension"):
        plots.map_tree(tree, X)

"""Bars, resumed cells, logs and whole images of experiments/henniges_2010, against definitions and scikit-learn."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.henniges_2010 import accuracy, bars_data, costs, whole_image
from experiments.henniges_2010.cells import Cells
from experiments.henniges_2010.passes_log import Course, finished
from sklearn.feature_extraction.image import extract_patches_2d

from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.datasets import simulate_bars
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import EVERY_ROW, CodingParams
from hiddenbits.families.binary_sparse_coding.schedule import Schedule

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_images_are_sums_of_bars(seed):
    """Ten bars of five pixels, five of them negative; residuals of the drawn causes have the noise's size."""
    X, fields = bars_data.images(seed, 2000)
    assert fields.shape == (10, 25)
    assert ((fields != 0).sum(axis=1) == 5).all()
    assert ((np.abs(fields) == 10.0) | (fields == 0.0)).all()
    assert (fields.sum(axis=1) < 0).sum() == 5
    assert (np.abs(fields).sum(axis=0) == 20.0).all()  # each pixel is in a row and in a column
    rng = np.random.default_rng([seed, 0])
    rng.permutation(10)
    on = rng.random((2000, 10)) < 0.2
    assert bars_data.drawn(seed, 2000) == on.sum() / 2000
    left = X - on @ fields
    # 50,000 numbers: the standard error of a standard deviation of 2 is .0063.
    assert left.std() == pytest.approx(2.0, abs=0.03)
    assert abs(left.mean()) < 0.04


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bars_are_recovered_in_any_order(seed):
    rng = np.random.default_rng(seed)
    _, fields = bars_data.images(seed, 1)
    found = fields[rng.permutation(10)] + rng.normal(0.0, 1.0, (10, 25))
    assert bars_data.recovered(found, fields)
    assert not bars_data.recovered(found[:9], fields)
    twice = found.copy()
    twice[0] = twice[1]
    assert not bars_data.recovered(twice, fields)
    far = found.copy()
    nearest = bars_data.errors(found, fields)[0][0]
    far[0] = 0.49 * fields[nearest]  # 51% of its length away, and still nearer to it than to any other
    assert bars_data.errors(far, fields)[0][0] == nearest
    assert not bars_data.recovered(far, fields)
    far[0] = 0.51 * fields[nearest]
    assert bars_data.recovered(far, fields)


@pytest.mark.parametrize("seed", [0, 1])
def test_bars_in_their_max_form_do_not_add_up(seed):
    """At most 10 where bars cross, under noise of 2; the bars are those of the linear test without their signs."""
    X, fields = bars_data.max_images(seed, 2000)
    on = simulate_bars(2000, seed=seed).states
    clean = (on[:, :, None] * fields).max(axis=1)
    assert set(np.unique(clean)) == {0.0, 10.0}
    assert (on @ fields).max() >= 20.0
    assert (X - clean).std() == pytest.approx(2.0, abs=0.03)
    np.testing.assert_array_equal(fields, np.abs(bars_data.images(seed, 1)[1]))


@pytest.mark.parametrize(("candidates", "active"), [(5, 3), (8, 5)])
def test_accuracy_of_truncated_sums_is_that_of_the_library(candidates, active, monkeypatch):
    """The experiment's table of all states against the model's truncated sums, and its posterior over all states."""
    monkeypatch.setattr(accuracy, "ROWS", 200)
    found, made = accuracy.errors(3, candidates, active), simulate_bars(200, seed=3)
    numbers = (np.asarray(number) for number in (2.0, 6.0, 0.0))  # noise, spread, step
    params = CodingParams(made.fields.T.copy(), np.full(10, 0.2), *numbers, np.zeros(2), np.array(EVERY_ROW))
    model = SparseCoding(10, candidates, active, schedule=Schedule(10))
    shared, block = model.prepare(params), open_reals(made.X).grid(200).blocks[0]
    few = shared.now.whole(made.X, (made.X**2).sum(axis=1), out=np.empty((200, 10)))
    every = model.posterior(params, shared, block)
    np.testing.assert_allclose(found["wrong"], np.abs(few.means - every).max(axis=1), atol=1e-9)
    np.testing.assert_allclose(found["active"], few.means.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(np.ptp(found["scores"] - few.scores + 0.0), 0.0, atol=1e-8)  # but for a constant
    outside = made.states.copy()
    np.put_along_axis(outside, few.candidates, 0, axis=1)
    np.testing.assert_array_equal(found["outside"], outside.sum(axis=1))


def test_with_all_states_the_updates_are_those_of_exact_em(monkeypatch):
    """gamma = H leaves out no state and no row; few states do, which shows that the differences can be seen."""
    monkeypatch.setattr(accuracy, "ROWS", 100)
    found = accuracy.with_all_states()
    assert found["kept"] == pytest.approx(1.0, abs=1e-12)
    assert found["means"] < 1e-12
    assert found["updates"] < 1e-12
    assert found["updates_of_few"] > 0.01


def test_updates_are_least_squares_of_known_states():
    """Where the posterior knows the states, equation 6 is a regression, and equation 7 the root mean square."""
    rng = np.random.default_rng(0)
    states = (np.arange(8)[:, None] >> np.arange(3) & 1).astype(float)
    at = rng.integers(0, 8, 60)
    X = states[at] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((60, 4))
    apart = rng.uniform(0.0, 1.0, (60, 8))
    fields, noise = accuracy.updates(X, states, np.eye(8)[at], apart)
    np.testing.assert_allclose(fields, np.linalg.lstsq(states[at], X, rcond=None)[0], atol=1e-10)
    assert noise == pytest.approx(np.sqrt(apart[np.arange(60), at].sum() / X.size), abs=1e-12)


def test_signals_count_pairs():
    rng = np.random.default_rng(1)
    select, on = rng.standard_normal((30, 10)), (rng.random((30, 10)) < 0.2).astype(float)
    found = accuracy.signals([{"select": select, "on": on}])
    there, not_there = select[on == 1.0], select[on == 0.0]
    assert found["larger_if_on"] == pytest.approx((there[:, None] > not_there).mean(), abs=1e-12)
    assert np.mean(found["on_by_tenths"]) == pytest.approx(on.mean(), abs=1e-12)
    assert accuracy.signals([{"select": on, "on": on}])["larger_if_on"] == 1.0


@pytest.mark.parametrize(("causes", "candidates", "active"), [(6, 4, 3), (5, 5, 5), (7, 3, 1)])
def test_states_are_counted(causes, candidates, active):
    """Equation 4, over all states."""
    states = np.arange(2**causes)[:, None] >> np.arange(causes) & 1
    size, outside = states.sum(axis=1), states[:, candidates:].sum(axis=1)
    counted = ((size <= active) & (outside == 0)) | (size <= 1)
    assert costs.count_states(causes, candidates, active) == counted.sum()


def test_fields_of_all_passes_stand_in_the_order_of_the_last():
    rng = np.random.default_rng(0)
    last = 10.0 * rng.standard_normal((6, 8))
    course = [last + step * rng.standard_normal((6, 8)) / 10 for step in range(5, 0, -1)] + [last]
    mixed = [fields[rng.permutation(6)] for fields in course[:-1]] + [last]
    for ordered, fields in zip(bars_data.in_one_order(mixed), course, strict=True):
        np.testing.assert_array_equal(ordered, fields)


def test_cells_are_made_once(tmp_path):
    path, made = tmp_path / "some.partial.json", []
    cells = Cells(path).__enter__()  # a run that is interrupted
    cells.get("first", lambda: made.append("first") or 1)
    cells.each("second", lambda item: made.append(item) or item, [7])
    cells.__exit__(KeyboardInterrupt)
    with Cells(path) as cells:
        assert cells.get("first", lambda: made.append("again")) == 1
        assert cells.each("second", lambda item: made.append(item), [7]) == [7]
    assert made == ["first", 7]
    assert not path.exists()
    path.write_text(json.dumps({"versions": {"numpy": "0"}, "cells": {"first": {"": 2}}}))
    with Cells(path) as cells:
        assert cells.get("first", lambda: 3) == 3  # other versions wrote it


def test_cells_of_several_processes_are_in_order(tmp_path):
    with Cells(tmp_path / "some.partial.json", n_jobs=2) as cells:
        assert cells.each("absolute", abs, [-3, 2, -1]) == [3, 2, 1]


def test_log_of_a_fit_that_was_killed(tmp_path):
    """Process 8 had to make pass 2 again; first passes of processes do not count as steady, half a line not at all."""
    course = Course(tmp_path)
    assert course.last() == 0
    lines = [(1, 7, 9.0), (2, 7, 3.0), (2, 8, 8.0), (3, 8, 4.0), (4, 8, 6.0)]
    text = [
        json.dumps(
            {
                "pass": n,
                "process": p,
                "seconds": s,
                "processor_seconds": 2 * s,
                "active": n,
                "noise": s,
                "objective": -n,
            }
        )
        for n, p, s in lines
    ]
    course.log.write_text("\n".join([*text, '{"pass": 5, "act']))
    told = course.told()
    assert course.last() == told["done"] == 4
    assert told["made_twice"] == 1
    assert told["first_passes"] == [1, 2]
    assert told["seconds_a_pass"] == 4.0
    assert told["processor_seconds_a_pass"] == 8.0
    assert told["fastest_and_slowest"] == [3.0, 6.0]
    assert told["active"] == [1, 2, 3, 4]
    assert told["noise"] == [9.0, 8.0, 4.0, 6.0]


def test_a_finished_course_counts_passes_that_were_alone(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    seconds, busy = [4.0, 30.0, 4.4, 7.0, 90.0, 7.4, 7.2], [7.9, 8.0, 8.4, 13.8, 14.0, 14.4, 14.2]
    found = finished({"seconds": seconds, "processor_seconds": busy, "uncut": 3})
    assert found["passes_alone"] == [2, 3]
    assert found["seconds_a_pass_alone"] == [4.2, 7.2]
    assert found["minutes_alone"] == pytest.approx((3 * 4.2 + 4 * 7.2) / 60.0)
    assert found["minutes_of_processor"] == pytest.approx(sum(busy) / 60.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_an_image_is_put_together_again(seed):
    rng = np.random.default_rng(seed)
    image = rng.uniform(0.0, 255.0, (14, 11))
    seen = {}

    def learn(rows):
        seen["some"] = rows
        return lambda all_rows: all_rows

    back = whole_image.restored(image, 4, learn, lambda n: np.arange(n)[:7])
    np.testing.assert_allclose(back, image, atol=1e-10)
    theirs = extract_patches_2d(image, (4, 4)).reshape(-1, 16)[:7]
    np.testing.assert_allclose(seen["some"], theirs - theirs.mean(axis=1, keepdims=True), atol=1e-12)


def test_a_flat_image_with_holes_is_filled():
    image = np.full((9, 9), 40.0)
    damaged = image.copy()
    damaged[:5, :5] = np.nan  # whole patches are missing
    back = whole_image.restored(damaged, 4, lambda _: np.nan_to_num, lambda n: np.arange(n))
    np.testing.assert_allclose(back, image, atol=1e-12)


def test_interpolation_is_exact_on_a_slope():
    y, x = np.mgrid[:8, :9]
    image = 3.0 * y - 2.0 * x + 50.0
    damaged = image.copy()
    damaged[2:6:2, 1:8:2] = np.nan
    np.testing.assert_allclose(whole_image.interpolated(damaged), image, atol=1e-10)


def test_decibels():
    image = np.full((4, 4), 100.0)
    assert whole_image.psnr(image + 25.5, image) == pytest.approx(20.0, abs=1e-12)
    assert whole_image.psnr(np.full((4, 4), -9.0), np.zeros((4, 4)) + 25.5) == pytest.approx(20.0, abs=1e-12)  # clipped


@pytest.mark.parametrize(("n", "side", "across"), [(70, 26, 14), (40, 8, 14), (30, 12, 10)])
def test_fields_are_read_back_from_their_picture(tmp_path, n, side, across):
    """As drawn by wall_pictures.py: to two of 256 levels of grey; a wrong number is seen."""
    plt = pytest.importorskip("matplotlib.pyplot")
    from experiments.henniges_2010 import walls

    fields = np.random.default_rng(0).standard_normal((n, side * side))
    fields /= np.abs(fields).max(axis=1, keepdims=True)
    figure, ax = plt.subplots(figsize=(11.4, 11.4 * -(-n // across) / across + 0.3), layout="constrained")
    ax.set_title("fields", loc="left")
    ax.imshow(walls.tiled(fields, (side, side), across), cmap=walls.GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
    ax.axis("off")
    figure.savefig(tmp_path / "fields.png", dpi=100)
    plt.close(figure)
    picture = plt.imread(tmp_path / "fields.png")
    np.testing.assert_allclose(walls.read(picture, side, n, across), fields, rtol=0, atol=4.0 / 255)
    with pytest.raises(ValueError, match="The picture has"):
        walls.read(picture, side, n, across - 1)
    with pytest.raises(ValueError, match="no picture of"):
        walls.read(picture, side, n - 1, across)


@pytest.fixture
def page(monkeypatch):
    """The writer of the page, which finds its neighbours as run.py does."""
    here, before = Path(bars_data.__file__).parent, set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    import readme

    yield readme
    for name in set(sys.modules) - before:
        home = getattr(sys.modules[name], "__file__", None)
        if home and here.parent in Path(home).parents:
            del sys.modules[name]


def test_recovered_sets_are_compared_only_with_as_many_of_the_paper(page):
    """Both numbers are of 1,000 sets: the difference of 16 is 2.1 standard errors. A quick run has fewer than 978."""
    errors = np.sqrt(978 * 22 / 1000 + 962 * 38 / 1000)
    assert page.apart({"sets": 1000, "recovered": 962}) == f"{16 / errors:.1f}"
    assert page.apart({"sets": 10, "recovered": 9}) == "(not in a quick run)"

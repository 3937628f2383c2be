"""Pictures of maps of mixed tables: which columns have lines, where these are, and what they are called."""

import numpy as np
import pytest

from hiddenbits import LogisticPCA, open_table, plots
from tests.families.logistic_pca.mixed.mixed_data import KINDS, mixed_rows

pytest.importorskip("matplotlib", reason="the plot extra is not installed")
from tests.plots.test_map import drawn_lines  # it skips without matplotlib


@pytest.fixture(scope="module")
def fitted():
    rows = mixed_rows(0, n=200)
    names = ["b1", "b2", "b3", "b4", "r1", "r2", "r3", "r4", "n1", "n2", "o1", "o2"]
    table = open_table(rows, kinds=KINDS, names=names)
    return table, LogisticPCA(2, random_state=0).fit(table)


@pytest.mark.slow
def test_lines_are_where_bits_are_as_often_0_as_1(fitted):
    """Checked through `inverse_transform`: P(bit) = 1/2, and P(beyond c) = P(at least c) / 2 of an ordered column."""
    table, model = fitted
    ax = plots.map(model, table, lines=True, names=False)
    lines = drawn_lines(ax)
    assert 0 < len(lines) <= 4 + 2 + 4
    columns = [column.name for column in table.layout.columns]
    halves = set()
    for line in lines:
        ends = np.column_stack(line.get_data())
        points = ends[0] + np.linspace(0.0, 1.0, 7)[:, None] * (ends[1] - ends[0])
        found = [
            name
            for name, p in shares(model, columns, model.inverse_transform(points)).items()
            if np.allclose(p, 0.5, rtol=0, atol=1e-9)
        ]
        assert len(found) == 1
        halves.add(found[0])
    assert len(halves) == len(lines)


def shares(model, columns, answers):
    """P(bit = 1) of binary columns, P(beyond c | at least c) of ordered ones, from the answers side by side."""
    out, at = {}, 0
    for name in columns:
        if model.kinds_[name] in ("binary", "real"):
            out |= {name: answers[:, at]} if model.kinds_[name] == "binary" else {}
            at += 1
            continue
        p = answers[:, at : at + len(model.categories_[name])]
        at += p.shape[1]
        if model.kinds_[name] == "ordered":
            for k, category in enumerate(model.categories_[name][:-1]):
                out[f"{name}>{category}"] = p[:, k + 1 :].sum(axis=1) / p[:, k:].sum(axis=1)
    return out


@pytest.mark.slow
def test_names_are_those_of_bits_and_steps(fitted):
    table, model = fitted
    ax = plots.map(model, table, lines=True)
    written = {text.get_text() for text in ax.texts} - {""}
    valid = {"b1", "b2", "b3", "b4", "o1>0", "o1>1", "o2>0", "o2>1", "o2>2", "o2>3"}
    assert len(written & valid) >= 3
    assert all(text in valid or "lines" in text or "room" in text for text in written)


def test_what_has_no_lines_says_so():
    rows = mixed_rows(0, n=80)[:, 4:8]
    model = LogisticPCA(2, kinds="real", random_state=0).fit(rows)
    assert not drawn_lines(plots.map(model, rows))
    with pytest.raises(ValueError, match="No column of this model is binary or ordered"):
        plots.map(model, rows, lines=True)


def test_contours_are_for_bits(fitted):
    table, model = fitted
    with pytest.raises(ValueError, match="Contours need a table of bits"):
        plots.posterior(model, mixed_rows(0, n=200)[0])
    with pytest.raises(ValueError, match="Contours need a table of bits"):
        plots.posterior_density(model, table)


def test_no_shades(fitted):
    table, model = fitted
    with pytest.raises(ValueError, match="borders= needs a table of bits"):
        plots.map(model, table, borders=True)

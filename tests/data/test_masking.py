"""Hidden cells: the same ones in every storage and part, and only they change."""

from dataclasses import replace

import numpy as np
import pytest

import hiddenbits
from hiddenbits.data import Table
from hiddenbits.data.coding.coded_columns import CodedColumn, Coding
from hiddenbits.data.layout import binary_columns
from hiddenbits.data.masking import HiddenCells, hide_cells
from tests.contracts.conftest import MASKS, STORAGES, NotResident, random_rows, table_of

pytestmark = pytest.mark.core


def hidden_of(rows, share, seed):
    """The truth, from the draw itself: a table of ones shows which cells are hidden."""
    return np.isnan(hide_cells(hiddenbits.open_table(np.ones(rows.shape)), share, random_state=seed).to_float())


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mask", MASKS)
def test_only_the_drawn_cells_are_hidden(storage, mask):
    rows = random_rows(np.random.default_rng(0), 300, 17, missing=mask != "full")
    table = table_of(rows, storage, mask)
    hidden = hide_cells(table, 0.3, random_state=5)
    expected = np.where(hidden_of(rows, 0.3, 5), np.nan, rows)
    np.testing.assert_array_equal(hidden.to_float(), expected)
    np.testing.assert_array_equal(table.to_float(), rows)  # the table itself stays as it is
    assert type(hidden.source.x) is type(table.source.x)
    x, _ = hidden.source.read(0, 300)
    assert not (x.to_dense() * np.isnan(expected)).any()  # a cell that is not observed is 0


@pytest.mark.parametrize("sizes", [(3, 1, 2, 1, 4), (3, 2, 4)])
@pytest.mark.parametrize("storage", STORAGES)
def test_levels_are_hidden_as_one_cell(storage, sizes):
    """As many cells as columns are drawn; a level has no bit left, and needs no mask, which a binary column does."""
    rng = np.random.default_rng(0)
    bits = np.hstack([np.eye(n)[rng.integers(0, n, 300)] if n > 1 else rng.integers(0, 2, (300, 1)) for n in sizes])
    coded = [CodedColumn(f"q{j}", *(("nominal", tuple(range(n))) if n > 1 else ())) for j, n in enumerate(sizes)]
    table = replace(table_of(bits, storage), levels=Coding(tuple(coded)))
    hidden = hide_cells(table, 0.3, random_state=5)
    cells = hidden_of(np.ones((300, len(sizes))), 0.3, 5)
    drawn = np.repeat(cells, sizes, axis=1)
    x, observed = (part.to_dense() for part in hidden.source.read(0, 300))
    np.testing.assert_array_equal(x, np.where(drawn, 0, bits))
    np.testing.assert_array_equal(observed == 0, drawn & (np.repeat(sizes, sizes) == 1))
    assert hidden.n_missing == cells.sum()


def test_the_cells_do_not_depend_on_how_rows_are_read(monkeypatch):
    monkeypatch.setattr("hiddenbits.data.masking.RUN_CELLS", 17 * 40)  # runs of 40 rows
    rows = random_rows(np.random.default_rng(0), 300, 17, missing=True)
    whole = hide_cells(table_of(rows), 0.3, random_state=1).to_float()
    source = hide_cells(Table(NotResident(table_of(rows).source)), 0.3, random_state=1).source
    for start, stop in ((0, 300), (0, 1), (39, 41), (40, 80), (77, 299)):
        x, observed = source.read(start, stop)
        np.testing.assert_array_equal(np.where(observed.to_dense() == 1, x.to_dense(), np.nan), whole[start:stop])
    later = hide_cells(table_of(rows[100:]), 0.3, random_state=1, first_row=100)
    np.testing.assert_array_equal(later.to_float(), whole[100:])


@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_share(share):
    """The count of hidden cells is binomial: within 4 standard deviations for each of 5 seeds."""
    n = 2000 * 50
    for seed in range(5):
        count = len(HiddenCells(share, seed, binary_columns(50)).cells(0, 2000).indices)
        assert abs(count - n * share) < 4 * np.sqrt(n * share * (1 - share))
    zero, one = (HiddenCells(share, seed, binary_columns(50)).cells(0, 20).to_dense() for seed in (0, 1))
    assert not np.array_equal(zero, one)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, np.nan])
def test_unlawful_shares(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        hide_cells(hiddenbits.open_table(np.eye(3)), share)


class Trimmed(NotResident):
    """A source that can be cut down to what some rows need."""

    def only(self, start, stop):
        trimmed = Trimmed(self._source)
        trimmed.kept = (start, stop)
        return trimmed


def test_a_source_is_cut_down_under_its_hidden_cells():
    rows = random_rows(np.random.default_rng(0), 50, 4, missing=False)
    source = hide_cells(Table(Trimmed(table_of(rows).source)), 0.3, random_state=1).source
    part = source.only(10, 20)
    assert part.source.kept == (10, 20)
    for mine, whole in zip(part.read(10, 20), source.read(10, 20), strict=True):
        np.testing.assert_array_equal(mine.to_dense(), whole.to_dense())
    plain = hide_cells(Table(NotResident(table_of(rows).source)), 0.3).source
    assert plain.only(10, 20) is plain

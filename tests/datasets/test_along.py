"""Tables that come along: simulated ones need no folder, and the command line writes them."""

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.datasets import example_rows, load_baskets, load_exam, load_votes, load_zoo
from hiddenbits.datasets.along import PRODUCTS, SHARES

pytestmark = pytest.mark.core


def test_simulated_tables_need_no_folder(monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    baskets, exam = load_baskets(), load_exam()
    assert (baskets.shape, baskets.names) == ((1000, 12), tuple(PRODUCTS))
    # the shares of a product are within four standard errors of those of the mixture
    share = np.array(list(PRODUCTS.values())) @ SHARES / 10
    error = np.sqrt(share * (1 - share) / 1000)
    assert (np.abs(baskets.to_float().mean(axis=0) - share) < 4 * error).all()
    right = np.nanmean(exam.to_float(), axis=0)
    assert right[0] > 0.8 > 0.2 > right[-1]  # from the easiest question to the hardest
    blank = np.isnan(exam.to_float())
    assert 0 < blank.sum() < 500
    assert (np.diff(blank.astype(int), axis=1) >= 0).all()  # what was not reached is at the end
    np.testing.assert_array_equal(load_exam().to_float(), exam.to_float())


def test_votes(real_data):
    votes = load_votes()
    table = open_table(real_data / "votes" / "house84.csv")
    assert votes.names == table.names
    np.testing.assert_array_equal(votes.X, table.to_float())


def test_examples(real_data):
    for name, table in (("baskets", load_baskets()), ("exam", load_exam())):
        heads, rows = example_rows(name)
        assert tuple(heads) == table.names
        assert [["" if np.isnan(c) else str(int(c)) for c in row] for row in table.to_float()] == rows
    heads, rows = example_rows("zoo")
    assert heads[-2:] == ["legs", "type"]
    assert [row[-1] for row in rows] == load_zoo().type.tolist()
    assert len(example_rows("votes")[1]) == 435
    with pytest.raises(ValueError, match=r"no example 'cats'.*baskets, exam, votes, zoo"):
        example_rows("cats")

"""Arrays in memory that are not 0 and 1: -1 and 1 are read as 0 and 1, with a warning."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis
from hiddenbits.data import open_table
from hiddenbits.exceptions import RecodedColumnsWarning, TableError
from tests.data.tables import bits, holes

SIGNS = 2 * bits().astype(int) - 1
FORMS = {
    "int": SIGNS,
    "float": 2 * holes(bits()) - 1,
    "list": SIGNS.tolist(),
    "masked": np.ma.array(SIGNS, mask=bits(seed=3, density=0.1)),
}


@pytest.mark.core
@pytest.mark.parametrize("form", FORMS)
def test_signs_are_read_as_bits(form):
    given = FORMS[form]
    wanted = (np.ma.filled(np.ma.array(given, float), np.nan) + 1) / 2
    with pytest.warns(RecodedColumnsWarning, match="Recoded as 0 and 1: 1 = 1, -1 = 0"):
        np.testing.assert_array_equal(open_table(given).to_float(), wanted)


@pytest.mark.core
def test_a_fitted_model_reads_later_tables_alike(tmp_path):
    model = LatentClassAnalysis(2, n_init=1, random_state=0)
    plain = model.fit(bits(seed=5)).score(bits())
    with pytest.warns(RecodedColumnsWarning, match="-1 = 0"):
        model.fit(2 * bits(seed=5).astype(int) - 1)
    assert model.score(SIGNS) == pytest.approx(plain)
    np.save(tmp_path / "x.npy", SIGNS)
    assert model.score(open_table(tmp_path / "x.npy", recode=model)) == pytest.approx(plain)
    with pytest.raises(TableError, match="not among the values of the fit"):
        model.score(bits())
    with pytest.raises(TableError, match="-1 is not a bit"):
        LatentClassAnalysis(2, n_init=1, random_state=0).fit(bits()).score(SIGNS)


@pytest.mark.core
def test_columns_are_decided_one_by_one(tmp_path):
    mixed = np.column_stack([bits()[:, 0], SIGNS[:, 1:]])
    np.save(tmp_path / "x.npy", mixed)
    for data in (mixed, tmp_path / "x.npy"):
        with pytest.warns(RecodedColumnsWarning, match="-1 = 0"):
            np.testing.assert_array_equal(open_table(data).to_float(), bits())
    mixed[3, 1] = 0
    for data in (mixed, tmp_path / "y.npy"):
        np.save(tmp_path / "y.npy", mixed)
        with pytest.raises(TableError, match=r"column \d: -1 is not a bit"):
            open_table(data)

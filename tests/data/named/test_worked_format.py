"""The worked format of CONTRIBUTING.md: with its line in the list it is opened as all others are."""

import sys

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.data import openers
from hiddenbits.exceptions import TableError

from . import worked_format

pa = pytest.importorskip("pyarrow")
orc = pytest.importorskip("pyarrow.orc")
WORDS = pa.table({"q1": ["yes", "no", None, "no"], "q2": ["a", "b", "c", "b"], "id": ["A1", "B2", "C3", "D4"]})


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    monkeypatch.setattr(openers, "FORMATS", (*openers.FORMATS, worked_format.ORC))
    monkeypatch.setitem(sys.modules, "hiddenbits.data.named.worked_format", worked_format)


def test_files_are_opened_looked_at_and_fitted(tmp_path):
    for name in ("a.orc", "b.orc"):
        orc.write_table(WORDS, tmp_path / name)
    options = {"column_types": {"q1": "binary", "q2": "nominal"}, "id": "id"}
    table = open_table(tmp_path / "*.orc", **options)
    twice = open_table(pa.concat_tables([WORDS, WORDS]), **options)
    np.testing.assert_array_equal(table.to_float(), twice.to_float())
    assert table.column_names == ("q1", "q2")
    assert table.beside["id"] == ["A1", "B2", "C3", "D4"] * 2
    assert LatentClassAnalysis(2, random_state=0).fit(table).n_features_in_ == 2


def test_its_options_are_options_of_open_table(tmp_path):
    orc.write_table(WORDS, tmp_path / "a.orc")
    with pytest.raises(TableError, match=r"a\.orc: the table takes more than max_bytes=9"):
        open_table(tmp_path / "a.orc", max_bytes=9)
    with pytest.raises(TypeError, match=r"sheet= is not an option of the orc reader, which has: .*max_bytes"):
        open_table(tmp_path / "a.orc", sheet=1)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "a.orc").write_bytes(b"ORC" + bytes(40))
    with pytest.raises(TableError, match=r"a\.orc: .*damaged"):
        open_table(tmp_path / "a.orc")

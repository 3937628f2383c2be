"""The numbers that fits, samples and caches depend on, as they were when each rule was written."""

import re
from pathlib import Path

import numpy as np
import pytest

import hiddenbits
from hiddenbits import open_table
from hiddenbits.data import hashing
from hiddenbits.data.rows_by_content import row_numbers
from hiddenbits.evaluate.fit_runner import rows_digest
from hiddenbits.fit_cache import FitCache, table_digest

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
X = (RNG.random((4, 70)) < 0.5).astype(np.uint8)
SEEN = (RNG.random((4, 70)) < 0.9).astype(np.uint8)
SEEN[1] = 1
TABLE = open_table(np.where(SEEN == 1, X, np.nan).astype(float))


def test_random_numbers_by_key():
    assert hashing.keyed_rng(1, 2, 3, 4).integers(1 << 62) == 2314696769429016058
    rows = hashing.uniform_by_row(3, np.arange(3, dtype=np.uint64))
    np.testing.assert_array_equal(rows, [0.16916518522656443, 0.33890842923901543, 0.8113773091005319])


def test_numbers_of_rows():
    of_bits = row_numbers(5, TABLE.grid(4).blocks[0])
    np.testing.assert_array_equal(of_bits, [652212140, 1157320509, 1603628118, 1462131776])
    reals = open_table(np.array([[0.5, -0.0], [np.nan, 2.0], [0.5, 0.0]]), reals=True).grid(3).blocks[0]
    np.testing.assert_array_equal(row_numbers(5, reals), [828861572, 963376653, 828861572])
    odds = [[-4.026238031699827, -1.5006324476698147], [-0.5022170035404744, 6.001870168090808]]
    found = hashing.uniform_by_row_and_unit(5, of_bits[:2].astype(np.uint64), 2)
    np.testing.assert_allclose(np.log(found / (1 - found)), odds, rtol=1e-12)
    assert hashing.set_numbers(3, 0x0125).tolist() == [6384948627123722143, 7774961875091940527, 2748188588068789127]


def test_hashes_of_rows():
    keys = hashing.word_keys(70)
    whole = [12511603029669134858, 4887616982445660482, 8394798812205357553, 10288670484511607482]
    holes = [3627928698843238982, 4887616982445660482, 15205199033738665419, 5952896557131360122]
    assert hashing.row_hashes(X, None, keys).tolist() == whole
    assert hashing.row_hashes(X, SEEN, keys).tolist() == holes


def test_digests(tmp_path):
    assert rows_digest(np.arange(3)) == "77cfe3f00ab3cf14e228ed613c3da59b"
    assert rows_digest(np.array([1]), np.array([2])) == "4270178319bbb2b5aed4ba0127b14500"
    assert table_digest(TABLE) == "22ef8c9cd6fb55e926ddcde13dc6d403"
    assert FitCache(tmp_path, {"a": 1}).key({"b": 2}) == "6b45aa48cc77682936ee1fe067d5c3c3"


def test_no_other_file_mixes_numbers():
    root = Path(hiddenbits.__file__).parent
    rules = re.compile(r"Philox|SeedSequence|>> np\.uint64|\* np\.uint64\(")
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if rules.search(path.read_text())}
    # The second moves the bits of words of 64 cells, to count them; the third has a column and a class in one number.
    assert found == {"data/hashing.py", "maths/cooccurrence_numba.py", "maths/trees_numba.py"}

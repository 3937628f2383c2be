"""Pairs counted on a cluster of real processes: the same bits as on one thread."""

import numpy as np
import pytest

from hiddenbits import run_on, tetrachoric
from hiddenbits.data import Table
from tests.contracts.conftest import NotResident, table_of
from tests.families.tetrachoric.test_estimator import same, small_blocks, structured  # noqa: F401


@pytest.mark.parametrize(("storage", "mask"), [("packed", "full"), ("dense", "dense"), ("csr", "missing-pattern")])
def test_same_bits(client, storage, mask, small_blocks):  # noqa: F811
    """Rows sent with the tasks, and loaded by them; real weights, whose sums depend on the order of adding."""
    rows = structured(1, 1000, 6, 0.0 if mask == "full" else 0.1)
    table = table_of(rows, storage, mask, np.random.default_rng(0).random(1000))
    alone = tetrachoric(table)
    with run_on(client):
        same(tetrachoric(table), alone)
        same(tetrachoric(Table(NotResident(table.source), None, table.weights, 500)), alone)

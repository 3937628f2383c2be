"""A comparison on real worker processes, of a table on disk, is the one in memory; so is its choice of rows."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import evaluate
from hiddenbits.datasets import simulate_mixture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_the_same_table_from_workers(client, tmp_path):
    X = simulate_mixture(400, 8, 3, random_state=0).X
    np.save(tmp_path / "rows.npy", X)
    sizes = {"LatentClassAnalysis": [1, 3], "ClippedPCA": [1]}
    options = {"sizes": sizes, "measures": ["leave_one_out_error"], "cv": 0.25}
    here = evaluate.compare(X, list(sizes), **options)
    with hiddenbits.run_on(client):
        table = hiddenbits.open_table(tmp_path / "rows.npy", part_bytes=8 * 64)
        there = evaluate.compare(table, list(sizes), folder=tmp_path / "fits", **options)
    for a, b in zip(here.entries, there.entries, strict=True):
        assert (a.model, a.size) == (b.model, b.size)
        assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=1e-9)
        assert a.leave_one_out_error == pytest.approx(b.leave_one_out_error, abs=1e-12)
    with hiddenbits.run_on(n_jobs=2):  # a folder that was begun on a cluster is gone on with here
        table = hiddenbits.open_table(tmp_path / "rows.npy")
        assert evaluate.compare(table, list(sizes), folder=tmp_path / "fits", **options).records() == there.records()

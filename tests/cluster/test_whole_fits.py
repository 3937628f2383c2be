"""Whole fits as tasks on real workers: the same bits as here, also when a worker dies; errors and warnings arrive."""

import os
import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, NoisyOrNetwork, diagnostics, evaluate, inference, open_table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.tables import map_fits
from tests.cluster.processes import running
from tests.contracts.test_same_bits import same

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
X = simulate_mixture(300, 6, 3, random_state=0).X
LONG = simulate_mixture(20_000, 20, 3, random_state=0).X  # its restarts run on a subsample
TABLE = open_table(X)


def fits_of_all_kinds():
    two, three = (LatentClassAnalysis(K, prior_strength=0.0, n_init=2, random_state=0).fit(X) for K in (2, 3))
    selection = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2, 3], cv=2)
    starts = [
        LatentClassAnalysis(3, n_init=5, random_state=1).fit(X),
        LatentClassAnalysis(3, n_init=3, random_state=1).fit(LONG),
        NoisyOrNetwork(2, n_init=3, max_iter=20, random_state=1).fit(X),  # stores something about every row
    ]
    arrays = {
        "sizes": np.array([size.value for size in selection.figures]),
        "replicates": inference.bootstrap(two, X, n_replicates=6).replicates,
        "simulations": diagnostics.bootstrap_lrt(two, three, X, n_replicates=5).replicates,
        "pairs": diagnostics.residual_pairs(two, X, n_replicates=5)["p"],
    }
    return starts, arrays


def test_same_bits(client):
    starts, arrays = fits_of_all_kinds()
    with hiddenbits.run_on(client):
        other_starts, other_arrays = fits_of_all_kinds()
    for one, other in zip(starts, other_starts, strict=True):
        assert same(one._params, other._params)
        assert one.trace_.tolist() == other.trace_.tolist()
    for name, array in arrays.items():
        np.testing.assert_array_equal(other_arrays[name], array, err_msg=name)


def test_rows_warnings_and_errors_arrive(client):
    def task(number):
        if number == 5:
            raise ValueError("task 5")
        warnings.warn(f"task {number} in {os.getpid()}", UserWarning, stacklevel=1)
        return LatentClassAnalysis(2, n_init=1, max_iter=4, tol=0.0, random_state=number).fit(TABLE).score(TABLE)

    rows = []
    with hiddenbits.run_on(client, on_progress=rows.append), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = map_fits(task, range(6), TABLE)
        scores = [next(results) for _ in range(5)]
        with pytest.raises(ValueError, match="task 5"):
            next(results)
    texts = [str(each.message).split(" in ") for each in caught if each.category is UserWarning]
    assert [text for text, _ in texts] == [f"task {number}" for number in range(5)]
    assert str(os.getpid()) not in {process for _, process in texts}
    here = []
    with hiddenbits.run_on(on_progress=here.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(map_fits(task, range(5), TABLE)) == scores
    assert sum(rows) == sum(here)


def test_a_worker_that_is_killed(tmp_path):
    model = LatentClassAnalysis(3, random_state=0).fit(LONG)
    alone = inference.bootstrap(model, LONG, n_replicates=40).replicates
    with running(tmp_path, 2) as (cluster, client):
        rows, kills = [], []

        def kill_once(n_rows):
            rows.append(n_rows)
            if len(rows) == 10:  # of 40 answers: others are on their way
                cluster.kill_worker(0)
                kills.append(len(rows))

        with hiddenbits.run_on(client, on_progress=kill_once):
            there = inference.bootstrap(model, LONG, n_replicates=40).replicates
    assert kills
    assert len(rows) >= 40
    np.testing.assert_array_equal(there, alone)

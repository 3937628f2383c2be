"""A disk that fills up during a fit costs the checkpoints after it, and nothing else."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits.store import read
from tests.contracts.test_same_bits import same

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
N, D = 400, 30
X = (np.random.default_rng(0).random((N, D)) < np.random.default_rng(1).random((N, 1))).astype(np.uint8)


def fit(checkpoint=None, tell=None):
    model = hiddenbits.LatentClassAnalysis(6, n_init=2, max_iter=12, tol=0.0, random_state=0)
    with hiddenbits.run_on(checkpoint=checkpoint, on_progress=tell):
        return model.fit(X)


def test_the_fit_goes_on_and_the_last_checkpoint_stays(tmp_path):
    """From its third pass on no file of the process may be longer than 100 bytes."""
    resource = pytest.importorskip("resource", reason="the system has no limits on the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    path, walked, after = tmp_path / "fit.hb", [], []

    def tell(rows):
        walked.append(rows)
        if sum(walked) >= 4 * N and not after:
            after.append(path.read_bytes())  # the last good checkpoint
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))

    try:
        with pytest.warns(hiddenbits.exceptions.UnwrittenCheckpointWarning) as warned:
            model = fit(path, tell)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    plain = fit()
    assert same(model._params, plain._params)
    assert np.array_equal(model.trace_, plain.trace_)
    (problem,) = [
        str(one.message) for one in warned if one.category is hiddenbits.exceptions.UnwrittenCheckpointWarning
    ]
    for part in ("fit.hb", "File too large", "the last one that was written is still there"):
        assert part in problem
    assert path.read_bytes() == after[0]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["fit.hb"]
    assert 0 < len(read(path).arrays["position.trace"]) < len(plain.trace_)
    seen = []
    resumed = fit(path, seen.append)
    assert same(resumed._params, plain._params)
    assert np.array_equal(resumed.trace_, plain.trace_)
    assert sum(seen) < sum(walked)  # it did not begin again
    assert path.read_bytes() != after[0]

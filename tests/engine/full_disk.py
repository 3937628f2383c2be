"""A fit whose disk is full from its third pass on, for test_full_disk.py: run in a process of its own.

`python -m tests.engine.full_disk FOLDER`: the largest size of a file is reached.
"""

import resource
import sys
import warnings
from pathlib import Path

import numpy as np

import hiddenbits
from hiddenbits.store import read
from tests.contracts.test_same_bits import same

N, D = 400, 30
X = (np.random.default_rng(0).random((N, D)) < np.random.default_rng(1).random((N, 1))).astype(np.uint8)


def fit(checkpoint=None, tell=None):
    model = hiddenbits.LatentClassAnalysis(6, n_init=2, max_iter=12, tol=0.0, random_state=0)
    with hiddenbits.run_on(checkpoint=checkpoint, tell=tell):
        return model.fit(X)


def limited(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def main(folder):
    path, walked, after = folder / "fit.hb", [], []

    def tell(rows):
        walked.append(rows)
        if sum(walked) >= 4 * N and not after:
            after.append(path.read_bytes())  # the last good checkpoint
            limited(100)

    with warnings.catch_warnings(record=True, action="always") as warned:
        model = fit(path, tell)
    limited(resource.RLIM_INFINITY)
    plain = fit()
    assert same(model.params_, plain.params_)
    assert np.array_equal(model.trace_, plain.trace_)
    problems = [str(one.message) for one in warned if one.category is hiddenbits.UnwrittenCheckpointWarning]
    assert len(problems) == 1, problems
    assert "fit.hb" in problems[0]
    assert path.read_bytes() == after[0]
    assert sorted(one.name for one in folder.iterdir()) == ["fit.hb"]
    passes = len(read(path).arrays["position.trace"])
    assert 0 < passes < len(plain.trace_), passes
    seen = []
    resumed = fit(path, seen.append)
    assert same(resumed.params_, plain.params_)
    assert np.array_equal(resumed.trace_, plain.trace_)
    assert sum(seen) < sum(walked)  # it did not begin again
    assert path.read_bytes() != after[0]
    print(problems[0])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))

"""Fits give the numbers that they gave when the arrays were written.

A change that is meant to change numbers writes them again, and its commit says why:
``python -m tests.golden_fits --write``.
"""

import numpy as np
import pytest

from tests.golden_fits.cases import CASES
from tests.golden_fits.files import computed, differences, read

# Of the largest number of an array. Other kernels of OpenBLAS (OPENBLAS_CORETYPE=Haswell, Nehalem) differ by less than
# 1e-11 wherever there is no exception.
RTOL = 1e-9
EXCEPTIONS = {
    "coding-narrow": 1e-4,  # float32: 1.1e-5 with these kernels
    "topographic-steps": 1e-3,  # features are in float32 while it learns
}


@pytest.fixture(scope="module")
def golden():
    return read()


def test_every_case_has_arrays(golden):
    assert golden.keys() == CASES.keys()


@pytest.mark.thin(2)
@pytest.mark.parametrize("case", CASES)
def test_same_numbers(case, golden):
    assert differences(case, golden[case], computed(case), EXCEPTIONS.get(case, RTOL)) == []


def test_comparisons_can_fail(golden):
    old = golden["mixture"]
    near = old | {"params.weights": np.nextafter(old["params.weights"], 1)}
    assert differences("mixture", old, near, RTOL) == []
    assert [line.split()[1] for line in differences("mixture", old, near)] == ["params.weights"]
    far = old | {"trace": old["trace"] * (1 + 1e-8), "sample": 1 - old["sample"], "score": old["score_samples"]}
    del far["transform"]
    found = differences("mixture", old, far, RTOL)
    assert [line.split()[1] for line in found] == ["transform", "sample", "score", "trace"]

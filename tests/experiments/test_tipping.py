"""The paper's two programs: their bound and likelihood are the library's, and neither ever falls."""

from itertools import islice

import numpy as np
import pytest
from experiments.tipping_1998 import programs

from hiddenbits import LogisticPCA
from hiddenbits.datasets import simulate_prototypes

pytestmark = pytest.mark.core


def test_the_bound_and_the_error_are_those_of_the_library():
    X = simulate_prototypes(random_state=3).X.astype(float)
    model = LogisticPCA(2, refine=False, ridge=0.001, random_state=0).fit(X)
    W, b = model.components_.T, model.intercepts_
    value, _ = programs.bound_after(X, W, b, programs.of_the_prior(W, b, len(X)), 300)
    assert value == pytest.approx(model.bound_samples(X).mean(), abs=1e-8)
    assert programs.error(X, (W, b)) == pytest.approx(-model.score(X), abs=1e-7)


def test_both_programs_rise_and_end_where_they_should():
    X = simulate_prototypes(random_state=3).X.astype(float)
    begin = programs.start(X, 0)
    draws = np.random.default_rng(0).standard_normal((500, 2))
    for program in (programs.variational(X, begin), programs.sampling(X, begin, draws)):
        values = [value for _, value in islice(program, 40)]
        assert np.diff(values).min() > -1e-6  # the ridge, .001, is not counted in
    *_, (_, value) = islice(programs.variational(X, begin), 300)
    model = LogisticPCA(2, refine=False, ridge=0.001, tol=1e-10, random_state=0).fit(X)
    assert value == pytest.approx(model.bound_samples(X).mean(), abs=1e-5)

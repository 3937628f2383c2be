"""Stages of a fit: each begins with what the one before ended with."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from hiddenbits.engine import Local, Settings, fit_em
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.model_api import Stage
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import same

pytestmark = pytest.mark.core


@dataclass(frozen=True)
class Twice(Classes):
    """Latent classes whose second stage ends the fit where it would begin, and notes that."""

    begun: list = field(default_factory=list)

    def stages(self):
        return Stage(self), Stage(self, lambda params, key: self.begun.append(params))


@pytest.mark.parametrize("max_iter", range(11, 16))
def test_a_stage_begins_where_the_one_before_would_have_ended(max_iter):
    """Also where its last pass led to an extrapolation, which nobody has looked at."""
    grid = table_of(structured_rows(np.random.default_rng(0), 300, 8, missing=True)).grid(128)
    settings, model = Settings(max_iter=max_iter, tol=0.0), Twice(3)
    alone = fit_em(Classes(3), grid, Local(), settings, None, None)
    fit_em(model, grid, Local(), settings, None, None)
    (begun,) = model.begun
    assert same(begun, alone.params)

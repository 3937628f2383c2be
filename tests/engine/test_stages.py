"""Where the next stage of a model that grows begins."""

import numpy as np
import pytest

from hiddenbits.engine import Position, Settings, StopReason
from hiddenbits.engine.loops.em import _next_stage
from hiddenbits.families.bernoulli_mixture.model import Mixture
from tests.contracts.cases import mixture_params

pytestmark = pytest.mark.core


def test_it_does_not_depend_on_how_many_passes_the_stage_before_took():
    """Rounding can add a pass to a stage, such as that of a table on disk, whose rows are added in another order."""
    model, params = Mixture(4, start_from="split"), mixture_params(5, np.random.default_rng(0), 2)
    grown = []
    for n_passes, stages in ((2, ()), (3, ()), (9, (2,))):
        position = Position(params=params, safe=params, trace=(-1.0,) * n_passes, stages=stages)
        grown.append(_next_stage(model, Settings(), position, StopReason.CONVERGED).params.probabilities)
    np.testing.assert_array_equal(grown[0], grown[1])
    assert not np.array_equal(grown[0], grown[2])  # another stage has noise of its own

"""Speculative steps: the engine goes back where the objective falls, and has the step measured."""

from dataclasses import dataclass

import numpy as np
import pytest

from hiddenbits.engine import Local, Settings, fit_em
from hiddenbits.families.logistic_pca.model import Logistic
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import fit_with_interruptions

pytestmark = pytest.mark.core


@dataclass(frozen=True)
class Rash(Logistic):
    """Logistic PCA whose speculative steps are too long."""

    factor: float = 1.0

    def speculative_step(self, params):
        if not params.trying:
            return None
        return params.with_joint(params.joint + self.factor * params.step, float(params.stage))


def walk(factor, rows, accelerate):
    settings = Settings(tol=1e-7, max_iter=2000, accelerate=accelerate)
    return fit_em(Rash(2, factor=factor), table_of(rows).grid(128), Local(), settings, None, None)


def in_polish(outcome):
    return np.diff(outcome.trace[outcome.stages[0] :])


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_rash_steps_are_refused_and_measured(seed, accelerate):
    rows = structured_rows(np.random.default_rng(seed), 200, 8, missing=True)
    calm = walk(1.0, rows, accelerate)
    rash = walk(40.0, rows, accelerate)
    refused = (in_polish(rash) == 0).sum()
    assert refused > 5
    for outcome in (calm, rash):
        assert (in_polish(outcome) >= 0).all()
        assert outcome.restarts[0].reason == "converged"
    assert rash.trace[-1] == pytest.approx(calm.trace[-1], abs=1e-3)  # 200 rows, gains under 2e-5 a pass
    if not accelerate:
        assert (in_polish(calm) == 0).sum() == 0
        assert len(in_polish(calm)) < len(in_polish(rash))


@pytest.mark.slow
def test_a_speculative_step_is_in_the_checkpoint(tmp_path):
    grid = table_of(structured_rows(np.random.default_rng(3), 300, 8, missing=False)).grid(128)
    settings = Settings(tol=1e-7, max_iter=30)
    fit_with_interruptions(fit_em, Rash(2, factor=40.0), grid, settings, tmp_path / "fit.hb", 1)

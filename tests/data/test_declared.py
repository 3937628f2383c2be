"""Arrays that declare their shapes and ranges check themselves."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import pytest

import hiddenbits
from hiddenbits.array_types import Floats
from hiddenbits.data import declared
from hiddenbits.data.declared import Params, Statistics
from hiddenbits.engine import checkpoint
from hiddenbits.maths.numerics import LOG_RATIOS, LOGITS, PROBABILITIES, SHARES

pytestmark = pytest.mark.core


@dataclass(frozen=True, eq=False)
class Classes(Params):
    weights: Annotated[Floats, "K", SHARES, LOG_RATIOS]
    rates: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    pairs: Annotated[Floats, "d*(d-1)//2?"]

    @property
    def moving(self):
        return {"rates": self.rates < 0.9}


@dataclass(frozen=True, eq=False)
class Counts(Statistics):
    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d K"]
    observed: Annotated[Floats, "[d] K"]

    nested: ClassVar = ("ones", "observed", "classes")


def some():
    params = Classes(np.array([0.25, 0.75]), np.array([[0.9, 0.2], [0.5, 0.5], [0.5, 0.5]]), np.zeros(0))
    classes = np.array([1.0, 3.0])
    return params, Counts(np.asarray(-5.0), np.asarray(4.0), classes, np.full((3, 2), 0.5), classes[None])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": np.array([0.25, 0.25, 0.5])}, "shapes must be weights (K), rates (d, K), pairs (d*(d-1)//2?)"),
        ({"weights": np.array([0.5, 0.6])}, "weights must be positive and add up to 1"),
        ({"weights": np.zeros(0), "rates": np.zeros((3, 0))}, "shapes must be"),
        ({"rates": np.full((3, 2), 1.0)}, "rates must lie between 0 and 1"),
        ({"rates": np.full((3, 2), np.nan)}, "rates must lie between 0 and 1"),
        ({"pairs": np.zeros(2)}, "shapes must be"),
    ],
)
def test_parameters(change, said):
    params, _ = some()
    assert params.flaw() is None
    assert params.n_columns == 3
    assert replace(params, pairs=np.zeros(3)).flaw() is None
    assert said in replace(params, **change).flaw()


def test_coordinates():
    """Those of numbers that move, on the scales of their links; the others stay."""
    params, _ = some()
    vector = params.to_vector()
    np.testing.assert_allclose(vector, [np.log(3.0), np.log(0.25), 0.0, 0.0, 0.0, 0.0], atol=1e-15)
    moved = params.with_vector(np.array([1e9, -1e9, 0.0, 0.0, 0.0, np.log(3.0)]))
    assert moved.flaw() is None
    assert moved.weights[1] > 1.0 - 1e-9
    np.testing.assert_allclose(moved.rates, [[0.9, 0.0], [0.5, 0.5], [0.5, 0.75]], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ones": np.full((2, 2), 0.5)}, "wrong shapes"),
        ({"observed": np.ones((2, 2))}, "wrong shapes"),
        ({"weight": np.ones(1)}, "wrong shapes"),
        ({"weight": np.asarray(0.0)}, "no weight"),
        ({"weight": np.asarray(5.0)}, "not counts"),
        ({"ones": np.full((3, 2), -0.5)}, "not counts"),
        ({"ones": np.full((3, 2), 2.0)}, "not counts"),
        ({"observed": np.full((3, 2), 2.0)}, "not counts"),
        ({"bound": np.asarray(1.0)}, "above 0"),
    ],
)
def test_statistics(change, said):
    params, stats = some()
    assert stats.flaw(params.axis_sizes) is None
    assert replace(stats, observed=np.ones((3, 2))).flaw(params.axis_sizes) is None  # or one for all columns
    assert said in replace(stats, **change).flaw(params.axis_sizes)


def test_declarations_are_read_once_per_class(monkeypatch):
    """Reading annotations is slow, and a fit checks parameters after every pass."""
    model = hiddenbits.LatentClassAnalysis(2, n_init=1, random_state=0)
    rows = np.repeat(np.eye(3), 9, axis=0)
    model.fit(rows)

    def again(*_, **__):
        raise AssertionError("annotations were read again")

    monkeypatch.setattr(declared, "get_type_hints", again)
    monkeypatch.setattr(checkpoint, "get_type_hints", again)
    assert model.fit(rows)._params.flaw() is None

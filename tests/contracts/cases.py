"""The models under contract. Add a model here and it is held to every promise that it declares."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits import BernoulliMixture, IndependentBits
from hiddenbits.models import Independent, Mixture
from hiddenbits.models.independent import IndependentParams
from hiddenbits.models.mixture import MixtureParams


@dataclass(frozen=True)
class Case:
    """A model, an estimator, how to draw lawful parameters, and its statistics by definition."""

    name: str
    model: Any
    estimator: Any
    draw_params: Any
    complete_statistics: Any
    other: dict[str, Any]  # a hyperparameter of the model with another value


def independent_params(d, rng):
    return IndependentParams(rng.uniform(0.05, 0.95, d), rng.uniform(0.2, 0.8, d))


def independent_statistics(x, observed, h):
    # A missing bit is counted neither as 1 nor as observed.
    return {"ones": x * observed, "observed": observed.astype(float)}


def mixture_params(d, rng, K=3):
    return MixtureParams(rng.dirichlet(np.full(K, 2.0)), rng.uniform(0.05, 0.95, (d, K)), rng.uniform(0.2, 0.8, d))


def mixture_statistics(x, observed, h):
    return {"classes": h, "ones": np.outer(x * observed, h), "observed": np.outer(observed, h)}


CASES = [
    Case(
        "IndependentBits",
        Independent(),
        IndependentBits(random_state=0),
        independent_params,
        independent_statistics,
        {"prior_strength": 7.0},
    ),
    Case(
        "BernoulliMixture",
        Mixture(3),
        BernoulliMixture(3, n_init=2, random_state=0),
        mixture_params,
        mixture_statistics,
        {"prior_strength": 7.0},
    ),
    Case(
        "BernoulliMixture-split",
        Mixture(3, start_from="split"),
        BernoulliMixture(3, start="split", n_init=2, random_state=0),
        mixture_params,
        mixture_statistics,
        {"prior_strength": 7.0},
    ),
]

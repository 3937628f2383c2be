"""`n_parameters_` is the number of parameters that rows can tell apart: BIC and `compare` count them.

It must be the rank of the Jacobian of the log-likelihoods of all rows, at parameters drawn at random, in tables wide
enough for the parameters to be identified: those of a mixture of 2 classes are with 5 columns, but not with 2, nor
those of 3 classes with 4.
What changes no likelihood adds nothing to the rank: rotations of a map, the strengths and centers of priors.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
)
from hiddenbits.families._base.persistence import ESTIMATORS
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.model_real import CombinationReal
from hiddenbits.families.hidden_tree.params import HiddenTreeParams
from tests.contracts.cases import (
    clipped_params,
    combination_params,
    hidden_tree_params,
    independent_params,
    item_params,
    logistic_params,
    mixture_params,
    noisy_or_params,
    plain_arrays,
    topographic_params,
    tree_params,
)
from tests.contracts.conftest import table_of
from tests.families.binary_sparse_coding import coding_data
from tests.oracle.identification import jacobian, rank
from tests.oracle.integration import ProbitPlane

pytestmark = pytest.mark.core


def check_count(estimator, params, *, coordinates=None, log_likelihood=None, block=None):
    """Require that `n_parameters_` of an estimator with these parameters is the rank of the Jacobian.

    By default the coordinates are those for extrapolation, and the rows all those of so many columns, whose
    likelihoods tests/contracts/test_expect.py compares with enumeration.
    """
    model = estimator._model()
    to_vector, from_vector = coordinates or (model.to_vector, model.from_vector)
    block = block or all_rows(params.n_columns)

    def at(vector):
        moved = from_vector(vector, params)
        return log_likelihood(moved) if log_likelihood else model.log_likelihood(moved, model.prepare(moved), block)

    fitted = clone(estimator)
    fitted._params, fitted.n_features_in_ = params, params.n_columns
    found = rank(jacobian(at, to_vector(params)))
    assert fitted.n_parameters_ == found


def all_rows(d):
    """A block of every complete row of d columns."""
    return table_of(np.array(list(product((0.0, 1.0), repeat=d)))).grid(2**d).blocks[0]


def probit(params):
    """ln P of every row, by integration over the hidden plane: the grids of ClippedPCA would take minutes."""
    return np.log(ProbitPlane(params.loadings, params.biases, 0.2).probabilities())


def without_bias(params):
    """The same machine without visible biases."""
    return Combination().exact(params.weights, params.thresholds, np.zeros_like(params.bias))


def first_class(params):
    """The first tree of a mixture of trees, alone."""
    first = {name: getattr(params, name)[:, :1] for name in ("parent_columns", "if_zero", "if_one")}
    return replace(params, weights=np.ones(1), **first)


def hidden_tree_of(parents, K):
    """Draw the tables of a given tree."""

    def draw(rng):
        d, above = len(parents), np.array(parents, np.float64)
        moves = rng.dirichlet(np.ones(K), (d, K))
        moves[above < 0] = moves[above < 0][:, :1]
        return HiddenTreeParams(above, moves, rng.uniform(0.02, 0.98, (d, K)), np.full(d, 0.5))

    return draw


def one_activity():
    """Coordinates of sparse coding where all causes have one activity."""
    to_vector, from_vector = plain_arrays("fields", "noise")
    return (
        lambda params: np.append(to_vector(params), params.activity[0]),
        lambda vector, params: replace(
            from_vector(vector[:-1], params), activity=np.full_like(params.activity, vector[-1])
        ),
    )


def coding(rng, *, shared):
    return coding_data.params_of(int(rng.integers(100)), D=3, H=3, shared=shared)


def some_reals(d):
    """A block of rows of numbers: more than there are parameters, for there are no "all rows"."""
    return coding_data.block_of(2.0 * np.random.default_rng(0).standard_normal((200, d)))


COUNTS = {  # an estimator, its parameters drawn at random, and what differs from the defaults of `check_count`
    "IndependentColumns": (
        IndependentColumns(),
        lambda rng: independent_params(4, rng),
        {"coordinates": plain_arrays("probabilities")},
    ),
    "LatentClassAnalysis, 2 classes of 5 items": (LatentClassAnalysis(2), lambda rng: mixture_params(5, rng, 2), {}),
    "LatentClassAnalysis, 3 classes of 5 items": (LatentClassAnalysis(3), lambda rng: mixture_params(5, rng), {}),
    "TreeMixture, 1 class": (TreeMixture(1), lambda rng: first_class(tree_params(6, rng)), {}),
    "TreeMixture, 3 classes": (TreeMixture(3), lambda rng: tree_params(6, rng), {}),
    "HiddenTree, 2 states": (HiddenTree(2), lambda rng: hidden_tree_params(6, rng), {}),
    "HiddenTree, 3 states": (HiddenTree(3), hidden_tree_of([4, 0, 4, 2, -1, 4, 0], 3), {}),
    "HiddenTree, 4 states": (HiddenTree(4), hidden_tree_of([1, 6, -1, 1, -1, 6, 4], 4), {}),
    "HiddenTree, a forest of pairs": (HiddenTree(2), hidden_tree_of([-1, 0, -1, 4, -1], 2), {}),
    "HiddenTree, one star, 3 states": (HiddenTree(3), hidden_tree_of([-1, 0, 0, 0], 3), {}),
    "ItemResponseModel": (ItemResponseModel(), lambda rng: item_params(5, rng), {}),
    "ItemResponseModel, equal slopes": (
        ItemResponseModel(slopes="equal"),
        lambda rng: replace(item_params(5, rng), slopes=np.full((5, 1), 1.3)),
        {},
    ),
    "LogisticPCA, 1 dimension": (LogisticPCA(1), lambda rng: logistic_params(5, rng), {}),
    "LogisticPCA, 2 dimensions": (LogisticPCA(2), lambda rng: logistic_params(6, rng, 2), {}),
    "ClippedPCA": (
        ClippedPCA(2),
        lambda rng: clipped_params(5, rng),
        {"coordinates": plain_arrays("loadings", "biases"), "log_likelihood": probit},
    ),
    "ClippedPCA, no biases": (
        ClippedPCA(2, biases=False),
        lambda rng: replace(clipped_params(5, rng), biases=np.zeros(5)),
        {"coordinates": plain_arrays("loadings"), "log_likelihood": probit},
    ),
    "CombinationMachine": (CombinationMachine(2), lambda rng: combination_params(5, rng), {}),
    "CombinationMachine, no bias": (
        CombinationMachine(2, bias=False),
        lambda rng: without_bias(combination_params(6, rng)),
        {},
    ),
    "CombinationMachine, reals": (
        CombinationMachine(2, visible="reals"),
        lambda rng: CombinationReal().exact(*rng.standard_normal((1, 3, 2)), rng.standard_normal(2), np.zeros(3)),
        {"block": some_reals(3)},
    ),
    "NoisyOrNetwork": (NoisyOrNetwork(3), lambda rng: noisy_or_params(5, rng), {}),
    "NoisyOrNetwork, 2 layers": (NoisyOrNetwork((3, 2)), lambda rng: noisy_or_params(6, rng, (3, 2)), {}),
    "NoisyOrNetwork, 3 layers": (NoisyOrNetwork((3, 2, 1)), lambda rng: noisy_or_params(6, rng, (3, 2, 1)), {}),
    "TopographicMap": (
        TopographicMap(2, n_points=9, n_features=2),
        lambda rng: topographic_params(7, rng, M=2),
        {},
    ),
    "BinarySparseCoding": (
        BinarySparseCoding(3, n_candidates=3, max_active=3),
        lambda rng: coding(rng, shared=True),
        {"coordinates": one_activity(), "block": some_reals(3)},
    ),
    "BinarySparseCoding, each its activity": (
        BinarySparseCoding(3, n_candidates=3, max_active=3, activity="each"),
        lambda rng: coding(rng, shared=False),
        {"coordinates": plain_arrays("fields", "activity", "noise"), "block": some_reals(3)},
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", COUNTS)
def test_the_number_of_parameters_is_the_rank_of_the_jacobian(name, seed):
    estimator, draw, others = COUNTS[name]
    check_count(estimator, draw(np.random.default_rng(seed)), **others)


def test_every_estimator_is_counted():
    assert {name.partition(",")[0] for name in COUNTS} == set(ESTIMATORS)

"""`pseudo_statistics`, which `partial_fit` continues from after a fit, are those of rows as the model expects them.

Exactly: every row that there can be, weighted by its probability, has them as its statistics. Entries at the wrong
place differ, because the parameters are drawn at random. The maps of `LogisticPCA` have a bound in place of the
likelihood, and their own definition: a curvature integrated over the prior, at which the parameters stay.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hiddenbits.engine import Key
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.maths.packed_symmetric import pack
from hiddenbits.model_api import Averages, OnlineForm
from tests.contracts.cases import CASES
from tests.contracts.conftest import table_of
from tests.families.binary_sparse_coding import coding_data
from tests.oracle.integration import Plane, ProbitPlane

pytestmark = pytest.mark.core

COLUMNS, WEIGHT = 5, 7.0


def online(model):
    """The form of the model that `partial_fit` uses."""
    return model.online() if isinstance(model, OnlineForm) else model


def every_row(model=None):
    """Every complete row: of columns with levels those in which each has one."""
    rows = np.array(list(product((0.0, 1.0), repeat=COLUMNS)))
    if not isinstance(model, Classes):
        return rows
    layout = model.layout(COLUMNS)
    return rows[((layout.column_sums(rows.T) == 1.0) | ~layout.is_level[:, None]).all(axis=0)]


def block_of_all(rows, weights):
    return table_of(rows, weights=weights).grid(len(rows)).blocks[0]


def probabilities(case, params):
    """P of every row: as the model has it, which test_expect.py compares with enumeration, or integrated."""
    if case.name == "ClippedPCA":
        return ProbitPlane(params.loadings, params.biases, 0.2).probabilities()
    rows = every_row(case.model)
    block = block_of_all(rows, np.ones(len(rows)))
    return np.exp(case.model.log_likelihood(params, case.model.prepare(params), block))


def same_but_for_the_bound(pseudo, truth, rtol):
    assert set(pseudo.to_arrays()) == set(truth.to_arrays())
    for name, value in pseudo.to_arrays().items():
        if name == "bound":  # of an average it is not used
            assert value == 0.0
            continue
        wanted = truth.to_arrays()[name]
        np.testing.assert_allclose(*np.broadcast_arrays(value, wanted), rtol=rtol, atol=rtol * WEIGHT, err_msg=name)


def check_expected_rows(case, seed):
    """Require that pseudo-statistics equal the statistics of all rows, weighted by their probabilities."""
    params, model = case.draw_params(COLUMNS, np.random.default_rng(seed)), online(case.model)
    block = block_of_all(every_row(case.model), WEIGHT * probabilities(case, params))
    pseudo = model.pseudo_statistics(params, WEIGHT)
    assert model.stats_flaw(pseudo, params) is None
    same_but_for_the_bound(pseudo, model.expect(params, model.prepare(params), block, None, Key(0))[0], 1e-10)


EXPECTED = [case for case in CASES if case.enumerates or case.name in ("ClippedPCA", "LatentClassAnalysis-levels")]
MAPS = [case for case in CASES if case.name in ("LogisticPCA-variational", "LogisticPCA-refined")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.name)
def test_pseudo_statistics_are_those_of_the_expected_rows(case, seed):
    check_expected_rows(case, seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", MAPS, ids=lambda case: case.name)
def test_pseudo_statistics_of_a_bound(case, seed):
    params, model = case.draw_params(COLUMNS, np.random.default_rng(seed)), online(case.model)
    pseudo = model.pseudo_statistics(params, WEIGHT)
    assert model.stats_flaw(pseudo, params) is None
    there = Plane(params.loadings, params.intercepts, 0.2)
    if case.name == "LogisticPCA-refined":
        curvature = np.exp(there.on + there.off)  # sigma'(A)
    else:
        curvature = np.tanh(there.A / 2.0) / (2.0 * there.A)
    hats = np.column_stack([there.nodes, np.ones(len(there.nodes))])
    moments = np.einsum("nd,ni,nj->dij", np.exp(there.log_prior)[:, None] * curvature, hats, hats)
    # The 61 nodes of the family err by up to 1e-6 where loadings are large.
    np.testing.assert_allclose(pseudo.moments, WEIGHT * pack(moments), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.to_vector(model.update(params, pseudo)), model.to_vector(params), atol=1e-8)
    assert (float(pseudo.weight), float(pseudo.bound)) == (WEIGHT, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_pseudo_statistics_of_sparse_coding(seed):
    """Rows are numbers: nodes of a quadrature around each sum of fields. The error is that of 24 nodes a column."""
    params = coding_data.params_of(seed, D=2, H=3)
    model = SparseCoding(3, 3, 3, shared_activity=False)
    nodes, shares = np.polynomial.hermite_e.hermegauss(24)
    noise = float(params.noise) * np.array(list(product(nodes, repeat=2)))
    share = np.outer(shares, shares).ravel() / shares.sum() ** 2
    states = np.array(list(product((0.0, 1.0), repeat=3)))
    p = np.prod(np.where(states == 1.0, params.activity, 1.0 - params.activity), axis=1)
    rows = np.concatenate([params.fields @ state + noise for state in states])
    truth = coding_data.expected(model, params, rows, WEIGHT * np.outer(p, share).ravel())
    # A pair of causes stands at (i, j) or at (j, i).
    pseudo = model.pseudo_statistics(params, WEIGHT)
    both = (replace(stats, pairs=np.triu(stats.pairs + stats.pairs.T)) for stats in (pseudo, truth))
    same_but_for_the_bound(*both, 1e-5)


def test_every_family_with_pseudo_statistics_is_held_to_it():
    held = {case.name for case in (*EXPECTED, *MAPS)}
    assert {case.name for case in CASES if isinstance(online(case.model), Averages)} == held

"""The models under contract. Add a model here and it is held to every promise that it declares."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
    open_table,
)
from hiddenbits.data.layout import Layout, binary_columns
from hiddenbits.families.binary_sparse_coding.model import AnnealedCoding
from hiddenbits.families.clipped_pca.model import Clipped
from hiddenbits.families.clipped_pca.params import ClippedParams
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.hidden_tree.model import StateTree
from hiddenbits.families.hidden_tree.params import HiddenTreeParams
from hiddenbits.families.item_response.model import ItemResponse
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.topographic_map.model import Topographic, grid_points
from hiddenbits.families.topographic_map.params import TopographicParams
from hiddenbits.families.tree_mixture.estimator import TreeSearch
from hiddenbits.families.tree_mixture.params import TreeParams
from hiddenbits.options import Annealing, Growth


@dataclass(frozen=True)
class Case:
    """A model, an estimator, how to draw valid parameters, and its statistics by definition."""

    name: str
    model: Any
    estimator: Any
    draw_params: Any
    complete_statistics: Any
    other: dict[str, Any]  # a hyperparameter of the model with another value
    codes: str = "classes"  # what the hidden codes are: "classes" or "points"
    heavy: bool = False  # a pass takes long: fewer seeds
    close: float = 1e-8  # how near two fits to the same rows in another order come: quasi-Newton paths part a little

    @property
    def loop(self):
        """The engine's loop that its estimator is fitted by."""
        return self.estimator._loop

    @property
    def enumerates(self):
        """Whether the truth can be enumerated; otherwise the model's own tests integrate."""
        return self.model.promises.oracle == "enumeration" and self.complete_statistics is not None


def independent_params(d, rng):
    return mixture_params(d, rng, 1)


def mixture_params(d, rng, K=3):
    weights, theta = rng.dirichlet(np.full(K, 2.0)), rng.uniform(0.05, 0.95, (d, K))
    return NodeParams.of(weights, theta, rng.uniform(0.2, 0.8, d), binary_columns(d))


def mixture_statistics(x, observed, h):
    # A missing bit is counted neither as 1 nor as observed.
    return {"classes": h, "ones": np.outer(x * observed, h), "observed": np.outer(observed, h)}


class Grouped(Classes):
    """Classes of every table of bits, which are binary columns and columns of three levels in turn.

    Rows of any bits will do: a column that has several levels in a row counts each of them.
    """

    def layout(self, n_bits):
        return Layout((1, 3) * (n_bits // 4) + (1,) * (n_bits % 4))


def levels_params(d, rng, K=3):
    weights, theta = rng.dirichlet(np.full(K, 2.0)), rng.uniform(0.05, 0.95, (d, K))
    return NodeParams.of(weights, theta, rng.uniform(0.2, 0.8, d), Grouped(K).layout(d))


def logistic_params(d, rng, q=1):
    return LogisticParams(rng.standard_normal((d, q)), rng.standard_normal(d), rng.standard_normal(d))


def plain_arrays(*names):
    """Coordinates of a model that does not extrapolate: the numbers of arrays that may be changed one by one."""

    def to_vector(params):
        return np.concatenate([np.ravel(getattr(params, name)) for name in names])

    def from_vector(vector, params):
        arrays = [getattr(params, name) for name in names]
        parts = np.split(vector, np.cumsum([a.size for a in arrays])[:-1])
        return replace(params, **{name: v.reshape(a.shape) for name, v, a in zip(names, parts, arrays, strict=True)})

    return to_vector, from_vector


def clipped_params(d, rng, q=2):
    W = rng.standard_normal((d, q))
    W *= np.sqrt(rng.uniform(0.1, 0.9, d) / (W**2).sum(axis=1))[:, None]
    C = W @ W.T
    np.fill_diagonal(C, 1.0)
    spectrum = np.linalg.eigvalsh(C)[::-1].copy()
    return ClippedParams(W, rng.standard_normal(d), C, spectrum, spectrum / 2, np.zeros(0))


def combination_params(d, rng, m=2):
    return Combination().exact(rng.standard_normal((d, m)), rng.standard_normal(m), 0.3 * rng.standard_normal(d))


def combination_statistics(x, observed, h):
    # Missing bits are filled by the oracle: they count as what they are expected to be.
    s = 2 * x - 1
    return {"hidden": h, "joint": np.outer(s, h), "visible": s}


def noisy_or_params(d, rng, causes=(3,)):
    layers, below = [], d
    for K in causes:
        layers.append(np.vstack([rng.uniform(0.05, 0.95, (K, below)), rng.uniform(0.01, 0.2, (1, below))]))
        below = K
    return NoisyOrParams.of(layers, rng.uniform(0.1, 0.9, below))


def noisy_or_statistics(x, observed, h, K=3):
    # Counted by the state of the lowest layer; a missing bit is neither a one nor observed.
    here = np.eye(1 << K)[int(h[:K] @ (1 << np.arange(K)))]
    return {"classes": here, "ones": np.outer(x * observed, here), "observed": np.outer(observed, here)}


def some_tree(d):
    """Two chains and a few leaves, with parents on both sides of their children; the root is in the middle."""
    return np.array([-1.0 if j == d // 2 else float(j + 1 if j < d // 2 else j - 1 - j % 2) for j in range(d)])


def hidden_tree_params(d, rng, K=2):
    moves = rng.dirichlet(np.full(K, 2.0), (d, K))
    moves[d // 2] = moves[d // 2, 0]
    return HiddenTreeParams(some_tree(d), moves, rng.uniform(0.05, 0.95, (d, K)), rng.uniform(0.2, 0.8, d))


def hidden_tree_statistics(x, observed, h):
    states = h.reshape(len(x), -1)
    above = [states[int(p)] if p >= 0 else np.eye(states.shape[1])[0] for p in some_tree(len(x))]
    moves = np.stack([np.outer(parent, mine) for parent, mine in zip(above, states, strict=True)])
    return {"moves": moves, "ones": states * (x * observed)[:, None], "observed": states * observed[:, None]}


def tree_parents(d):
    """A chain, a star, and a forest of several trees."""
    forest = [-1 if j % 3 == 0 else j - j % 3 for j in range(d)]
    return np.array([np.arange(d) - 1, [-1] + [0] * (d - 1), forest], np.int32).T.copy()


def tree_params(d, rng):
    parents = tree_parents(d)
    if_zero, if_one = rng.uniform(0.05, 0.95, (2, d, 3))
    both = rng.uniform(0.1, 0.2, d * (d - 1) // 2)
    one = np.where(parents < 0, if_zero, if_one)
    return TreeParams(rng.dirichlet(np.full(3, 2.0)), parents * 1.0, if_zero, one, rng.uniform(0.3, 0.7, d), both)


def tree_statistics(x, observed, h):
    # Missing bits are filled by the oracle. A pass that looks for trees counts all pairs.
    parents = tree_parents(len(x))
    both = np.where(parents >= 0, x[:, None] * x[parents], 0.0)
    pairs = np.outer(x, x)[np.triu_indices(len(x), 1)]
    return {"classes": h, "ones": np.outer(x, h), "both": both * h, "pairs": np.outer(h, pairs)}


ITEM_POINTS = ItemResponse(1).first_points()


def item_params(d, rng):
    return ItemParams(
        points=ITEM_POINTS,
        correlations=np.eye(1),
        slopes=rng.standard_normal((d, 1)),
        intercepts=rng.standard_normal(d),
        guesses=np.zeros(d),
        types=np.zeros(d),
        columns=np.arange(d, dtype=float),
        **dict.fromkeys(["centers", "scales", "noise", "prior_rates", "number_intercepts"], np.zeros(0)),
        number_slopes=np.zeros((0, 1)),
    )


def item_statistics(x, observed, h):
    here = (h == ITEM_POINTS).all(axis=1).astype(float)
    return {"classes": here, "ones": np.outer(x * observed, here), "observed": np.outer(observed, here)}


def topographic_params(d, rng, q=2, M=4):
    return TopographicParams(
        grid_points(q, 9),
        rng.standard_normal((q, M)),
        rng.uniform(0, 2 * np.pi, M),
        rng.standard_normal((d, q + M + 1)),
        rng.standard_normal(d),
    )


def topographic_statistics(x, observed, h):
    here = (grid_points(2, 9) == h).all(axis=1).astype(float)
    return {"classes": here, "ones": np.outer(x * observed, here), "observed": np.outer(observed, here)}


CASES = [
    Case(
        "IndependentColumns",
        Classes(1),
        IndependentColumns(random_state=0),
        independent_params,
        mixture_statistics,
        {"prior_strength": 7.0},
    ),
    Case(
        "LatentClassAnalysis",
        Classes(3),
        LatentClassAnalysis(3, n_init=2, random_state=0),
        mixture_params,
        mixture_statistics,
        {"prior_strength": 7.0},
    ),
    Case(
        "LatentClassAnalysis-levels",  # enumerated by a test of their own: tests/families/nodes
        Grouped(3),
        LatentClassAnalysis(3, column_types={"*": [0, 1]}, n_init=2, random_state=0),
        levels_params,
        None,
        {"prior_strength": 7.0},
    ),
    Case(
        "ItemResponseModel",
        ItemResponse(1),
        ItemResponseModel(tol=1e-8, random_state=0),
        item_params,
        item_statistics,
        {"slopes": "equal"},
        "points",
    ),
    Case(
        "ClippedPCA",
        Clipped(2),
        ClippedPCA(2, random_state=0),
        clipped_params,
        None,
        {"pseudo_rows": 7.0},
        "points",
    ),
    Case(
        "CombinationMachine",
        Combination(2, ridge=1.0, n_candidates=2),
        CombinationMachine(2, ridge=1.0, start=Growth(n_candidates=2), n_init=1, tol=1e-8, random_state=0),
        combination_params,
        combination_statistics,
        {"ridge": 7.0},
        "points",
        heavy=True,
        close=1e-3,
    ),
    Case(
        "HiddenTree",
        StateTree(2, prior_strength=10.0, move_strength=100.0, first_passes=5),
        HiddenTree(2, prior_strength=10.0, move_strength=100.0, first_passes=5, n_init=1, tol=1e-8, random_state=0),
        hidden_tree_params,
        hidden_tree_statistics,
        {"prior_strength": 7.0},
        "points",
        heavy=True,
    ),
    Case(
        "LogisticPCA-variational",
        Logistic(1, cold_steps=25),
        LogisticPCA(1, refine=False, tol=1e-8, random_state=0),
        logistic_params,
        None,
        {"ridge": 7.0},
        "points",
    ),
    Case(
        "LogisticPCA-refined",
        RefinedLogistic(2, cold_steps=25),
        LogisticPCA(2, tol=1e-8, random_state=0),
        lambda d, rng: logistic_params(d, rng, 2),
        None,
        {"ridge": 7.0},
        "points",
        heavy=True,
    ),
    Case(
        "NoisyOrNetwork",
        NoisyOr([3], alpha=2.0),
        NoisyOrNetwork(3, prior=(2.0, 1.5), n_init=1, tol=1e-8, random_state=0),
        noisy_or_params,
        noisy_or_statistics,
        {"beta": 7.0},
        "points",
    ),
    Case(
        "NoisyOrNetwork-layers",
        NoisyOr([3, 2], alpha=2.0),
        NoisyOrNetwork((3, 2), prior=(2.0, 1.5), n_init=1, tol=1e-8, random_state=0),
        lambda d, rng: noisy_or_params(d, rng, (3, 2)),
        noisy_or_statistics,
        {"beta": 7.0},
        "points",
        heavy=True,
    ),
    Case(
        "TopographicMap",
        Topographic(2, n_points=9, n_features=4),
        TopographicMap(2, n_points=9, n_features=4, length_scale=1.0, tol=1e-8, random_state=0),
        topographic_params,
        topographic_statistics,
        {"ridge": 7.0},
        "points",
    ),
    Case(
        "TreeMixture",
        TreeSearch(3, sharing=1.0, penalty=2.0, first_passes=3, part=0),
        TreeMixture(3, sharing=1.0, penalty=2.0, first_passes=3, n_init=2, random_state=0),
        tree_params,
        tree_statistics,
        {"penalty": 7.0},
        "points",  # what is filled in depends on more than the class
        heavy=True,
    ),
]

# Tables of real numbers, for the promises that are not about bits.
REALS = [
    Case(
        "BinarySparseCoding",
        AnnealedCoding(
            14, 5, 3, first_candidates=4, first_active=2, planned_passes=6, first_temperature=2.0, jitter=0.01
        ),
        BinarySparseCoding(
            14,
            n_candidates=4,
            max_active=2,
            schedule=Annealing(wide_candidates=5, wide_active=3, n_passes=6),
            tol=1.0,
            random_state=0,
        ),
        None,
        None,
        {"jitter": 7.0},
        "points",
    ),
]


def reals_table(seed: int, n: int = 600, missing: float = 0.1) -> Any:
    """Rows of twelve numbers of different sizes, in which two directions go together; some are whole."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 12)) + rng.standard_normal((n, 12))
    rows = rows * np.repeat([1.0, 0.1, 20.0], 4) + np.arange(12)
    rows[:, 8:] = np.rint(rows[:, 8:])
    rows[rng.random(rows.shape) < missing] = np.nan
    return open_table(rows, reals=True)

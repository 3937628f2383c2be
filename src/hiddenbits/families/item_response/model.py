"""Item response models: each row has a latent position, and given it the answers to items are independent.

    z ~ N(0, R),   ln P(x, z) = ln p(z) + Sum_j ln P_j(x_j | z),   over observed cells

| letter | meaning | shape |
|---|---|---|
| z_k, pi_k | nodes in place of the prior, and their weights | (K, q), (K,) |
| R | correlations of the dimensions | (q, q) |
| P_j | the response function of an item (`response.py`), with slopes a and intercepts d | |
| r | posterior P(z_k given x) | (rows, K) |
| C | expected counts of each level at each node, Sum_n w_n r_nk [x_nj = l] | (bits, K) |

With nodes the model is a mixture whose distributions are tied by the items (Bock & Aitkin 1981): the E-step is that of
latent classes (`nodes/posterior.py`), and the M-step is a small regression of each item's expected counts on the nodes
(`m_step.py`). R maximizes Sum_k C_k ln pi_k(R). A fit has stages: few nodes first, then as many as the narrowest
posterior needs (`grid.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.bits import AllOnes, Dense
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.data.layout import Layout, layout_of
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.item_response import grid, m_step, start
from hiddenbits.families.item_response.coordinates import ItemCoordinates, coordinates_of
from hiddenbits.families.item_response.correlations import as_coordinates, as_correlations, updated_correlations
from hiddenbits.families.item_response.m_step import DEFAULT_PRIOR, GuessingPrior
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.item_response.precision import item_precision
from hiddenbits.families.item_response.response import OF_BITS, Kind
from hiddenbits.families.nodes import posterior as e_step
from hiddenbits.families.nodes.columns import levels
from hiddenbits.families.nodes.mixed import MixedCounts, MixedParams, log_probability, sampled_numbers
from hiddenbits.families.nodes.model import NodeModel
from hiddenbits.families.nodes.params import NodeCounts, NodeScores
from hiddenbits.maths.packed_symmetric import pack
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Passes, Stage

CHECK_ROWS, CHECK_SEED = 400, 0x1E57  # simulated rows with which the number of nodes is checked
MAX_NODE_ERROR = 2e-4  # nats per row: the change of their log-likelihood with twice the nodes
MAX_REFINEMENTS = 4
NEAR = 4.0  # in standard deviations: nodes farther out have no rows
FINER = {1: 8, 2: 3, 3: 1}  # finer nodes for plausible values, by the number of axes
FIRST_TOLERANCE = 100.0  # of the first stage, times that of the fit


@dataclass(frozen=True)
class ItemResponse(AsOnSubsample, NodeModel[ItemParams], Declared[ItemParams]):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        q.
    kinds : tuple of str or None
        The kind of each column of bits; None: all are binary.
    sizes : tuple of int or None
        Number of bits of each of these columns; None: one.
    n_continuous, n_counts : int
        Number of columns of numbers.
    slopes : {"free", "equal", "fixed"}
        Slopes of binary and ordinal items: free, equal, or 1.
    loads : tuple of tuple of bool or None
        Which column (of bits, then numbers) loads on which dimension; None: all on all, and axes are rotated after the
        fit.
    correlated : bool
        Whether correlations of the dimensions are estimated.
    guessing_prior : GuessingPrior
        Prior of the logits of guessing.
    """

    n_components: int = 1
    kinds: tuple[Kind, ...] | None = None
    sizes: tuple[int, ...] | None = None
    n_continuous: int = 0
    n_counts: int = 0
    slopes: str = "free"
    loads: tuple[tuple[bool, ...], ...] | None = None
    correlated: bool = False
    guessing_prior: GuessingPrior = DEFAULT_PRIOR

    params_type = ItemParams
    letters: ClassVar = {"q": ("n_axes", "dimensions")}

    @property
    def n_axes(self) -> int:
        """Number of axes of the nodes."""
        return self.n_components

    @property
    def can_rotate(self) -> bool:
        """Whether a rotation of the axes changes nothing."""
        return self.loads is None and self.n_axes > 1

    @property
    def stats_type(self) -> type[NodeCounts]:
        """Class of the statistics."""
        return MixedCounts if self.n_continuous + self.n_counts else NodeCounts

    def layout(self, n_bits: int) -> Layout:
        """Return the column of each bit."""
        return layout_of(self.sizes, n_bits)

    def kinds_of(self, layout: Layout) -> tuple[Kind, ...]:
        """Return the kind of each column of bits."""
        binary: tuple[Kind, ...] = ("binary",)
        return self.kinds or binary * len(layout.sizes)

    def pattern(self, n_columns: int) -> NDArray[np.bool_]:
        """Return which column loads on which axis."""
        return np.ones((n_columns, self.n_axes), bool) if self.loads is None else np.array(self.loads, bool)

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block."""
        K, numbers = len(self.first_points()), 3 * self.n_continuous + 2 * self.n_counts
        bits = e_step.footprint(K, n_columns, row_cells)
        return Footprint(bits.working + numbers, bits.statistics + numbers * K, bits.flops + 4.0 * numbers * K)

    def first_points(self) -> Floats:
        """Return the nodes of the first stage."""
        return grid.grid(self.n_axes, grid.FIRST_SPACING[self.n_axes])

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> ItemParams:
        """Return slopes from the first singular vectors of some rows, and intercepts from the margins."""
        layout = self.layout(len(summary.means))
        loads = self.pattern(len(layout.sizes) + self.n_continuous + self.n_counts)
        settings = start.StartSettings(
            layout,
            self.kinds_of(layout),
            loads,
            self.n_continuous,
            self.slopes,
            self.guessing_prior.mean,
            self.first_points(),
        )
        return start.first_params(settings, summary, key, passes)

    def coordinates(self, params: ItemParams) -> ItemCoordinates:
        """Return which numbers of the items are free."""
        n_columns = len(params.layout.sizes) + params.n_numbers
        loads = self.pattern(n_columns)
        return coordinates_of(*params.items_key, loads.tobytes(), loads.shape[1], self.slopes)

    @property
    def n_correlations(self) -> int:
        """Number of free correlations."""
        return self.n_axes * (self.n_axes - 1) // 2 if self.correlated else 0

    # -------------------------------------------------------------------------------------------- stages of nodes

    def stages(self) -> Sequence[Stage[ItemParams, NodeCounts]]:
        """Return three stages: few nodes, as many as its slopes need, and once more, because slopes have changed."""
        finer = self.on_enough_nodes
        return Stage(self, tolerance=FIRST_TOLERANCE), Stage(self, finer), Stage(self, finer)

    def on_enough_nodes(self, params: ItemParams, key: Key) -> ItemParams | None:
        """Return the same items on as many nodes as they need; None if these are the nodes of the parameters."""
        points = self.enough_points(params)
        same = points.shape == params.points.shape and bool((points == params.points).all())
        return None if same else replace(params, points=points)

    def grid_points(self, spacing: float, correlations: Floats | None = None) -> Floats:
        """Return the grid of this spacing, for dimensions with these correlations."""
        return grid.grid(self.n_axes, spacing, correlations)

    def precision(self, params: ItemParams, points: Floats) -> Floats:
        """Return the information of complete rows and the prior at some points, (points, q, q)."""
        return np.asarray(item_precision(params, points).sum(axis=0) + np.linalg.inv(params.correlations))

    def enough_points(self, params: ItemParams) -> Floats:
        """Return the nodes on which the likelihood of simulated rows equals that with twice as many."""
        q = self.n_axes
        near = params.points[(params.points**2).sum(axis=1) <= NEAR**2]
        narrowest = 1.0 / np.sqrt(np.linalg.eigvalsh(self.precision(params, near)).max())
        smallest = grid.smallest_spacing(q)
        h = max(min(grid.SPACING_RATIO * narrowest, grid.LARGEST_SPACING[q]), smallest)
        h = 1.05 ** np.floor(np.log(h) / np.log(1.05))  # stable if slopes change little
        for _ in range(MAX_REFINEMENTS):
            moved = replace(params, points=self.grid_points(h, params.correlations))
            if h <= smallest or self.node_error(moved) <= MAX_NODE_ERROR:
                break
            h = max(h / 1.3, smallest)
        return moved.points

    def node_error(self, params: ItemParams) -> float:
        """Return how the log-likelihood of simulated rows changes with shifted nodes: mean absolute change in nats.

        Shifted by half the spacing, the error of a sum over nodes has the opposite sign, so that the change is twice
        the error; with as many nodes again in between, the sum would be the mean of both.
        """
        rng = keyed_rng(CHECK_SEED, len(params.points))
        x, _ = self.sample(params, CHECK_ROWS, rng)
        block = _block(np.asarray(x, np.float64), params)
        shift = grid.spacing_of(params.points) * np.array([1 / 2, 1 / 3, 1 / 6])[: self.n_axes]
        shifted = replace(params, points=params.points + shift)
        logs = [self.log_likelihood(p, self.prepare(p), block) for p in (params, shifted)]
        return float(np.abs(logs[0] - logs[1]).mean() / 2.0)

    def oriented(self, params: ItemParams) -> ItemParams:
        """Return the same model in its canonical orientation: axes orthogonal if they may be rotated, and positive."""
        q, joint = params.n_components, np.concatenate([params.slopes, params.number_slopes])
        rotation = np.eye(q)
        if self.can_rotate:
            rotation = np.linalg.svd(joint, full_matrices=False)[2].T
            joint = joint @ rotation
            signs = joint[np.abs(joint).argmax(axis=0), np.arange(q)]
        else:
            signs = joint.sum(axis=0)
        rotation = rotation * np.where(signs < 0.0, -1.0, 1.0)
        return params if np.array_equal(rotation, np.eye(q)) else params.rotated(rotation)

    def by_dimension(self, slopes: Floats, params: ItemParams, *, numbers: bool) -> Floats:
        """Return the slopes of bits or numbers by dimension, (cells, n_components)."""
        return slopes

    # ------------------------------------------------------------------------------------------------- objective

    def objective(self, params: ItemParams, stats: NodeCounts) -> float:
        """Return the log-likelihood, with the log prior of guessing."""
        return float(stats.bound) + self.log_prior(params)

    def log_prior(self, params: ItemParams) -> float:
        """Return the log prior of guessing, up to a constant."""
        guesses = params.guesses[params.types == OF_BITS.index("guessing")]
        return float(-0.5 * (((guesses - self.guessing_prior.mean) / self.guessing_prior.sd) ** 2).sum())

    def update(self, params: ItemParams, stats: NodeCounts) -> ItemParams:
        """M-step: a regression of each item's expected counts on the nodes; correlations from the nodes' counts."""
        moved = m_step.updated(params, self.coordinates(params), stats, params.points, self.guessing_prior)
        if not self.correlated:
            return moved
        return replace(moved, correlations=updated_correlations(params.points, stats.classes, params.correlations))

    def to_vector(self, params: ItemParams) -> Floats:
        """Return unbounded coordinates for the extrapolation of EM."""
        free = self.coordinates(params).unbounded(params)
        return np.concatenate([free, as_coordinates(params.correlations)]) if self.correlated else free

    def from_vector(self, vector: Floats, params: ItemParams) -> ItemParams:
        """Return the parameters at any coordinates."""
        coordinates = self.coordinates(params)
        moved = coordinates.params_at_unbounded(vector[: coordinates.size], params)
        if not self.correlated:
            return moved
        return replace(moved, correlations=as_correlations(vector[coordinates.size :], self.n_axes))

    # ------------------------------------------------------------------------------------------- functions of rows

    def hidden_states(self, params: ItemParams) -> Floats:
        """Return the nodes."""
        return params.points

    def posterior_moments(self, params: ItemParams, shared: NodeScores, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, (n, q + q (q + 1) / 2)."""
        r, z = self.node_weights(params, shared, block), params.points
        mean = r @ z
        second = (r @ (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)).reshape(len(r), z.shape[1], -1)
        return np.concatenate([mean, pack(second - mean[:, :, None] * mean[:, None, :])], axis=1)

    def likelihood_and_error(self, params: ItemParams, shared: NodeScores, block: Block) -> Floats:
        """Return ln P(observed cells) of each row, and its standard error, which is 0."""
        return np.column_stack([self.log_likelihood(params, shared, block), np.zeros(block.n_rows)])

    def column_groups(self, params: ItemParams) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Return the columns of bits and of numbers that share a posterior of the nodes: all."""
        n_columns = len(params.layout.sizes)
        return [(np.ones(n_columns, bool), np.ones(params.n_numbers, bool))]

    def posteriors(self, params: ItemParams, block: Block) -> list[Floats]:
        """Return the posterior of the nodes, (n, K), of each of `column_groups`."""
        return [self.node_weights(params, self.prepare(params), block)]

    def reconstruct(self, params: ItemParams, codes: Floats) -> Floats:
        """Return P(x = 1), P(level) and the expected numbers at any positions, (n, cells)."""
        return np.ascontiguousarray(params.at(codes).cell_means.T)

    def sample(self, params: ItemParams, n: int, rng: np.random.Generator) -> tuple[AnyArray, Floats]:
        """Sample n rows and their positions, which are nodes."""
        nodes = params.at_nodes
        k = rng.choice(len(params.points), size=n, p=nodes.weights / nodes.weights.sum())
        x: AnyArray = levels.sample(nodes.probabilities.T[k], params.layout, rng)
        if isinstance(nodes, MixedParams):
            x = np.concatenate([x, sampled_numbers(nodes, k, rng)], axis=1)
        return x, params.points[k]

    def sampled_positions(self, n: int, seed: int, params: ItemParams, shared: NodeScores, block: Block) -> Floats:
        """Return n positions of each row from its posterior, (rows, n q): from finer nodes, uniform around them."""
        spacing = grid.spacing_of(params.points) / FINER[self.n_axes]
        fine = replace(params, points=self.grid_points(spacing, params.correlations))
        r = self.node_weights(fine, self.prepare(fine), block)
        rng = keyed_rng(seed, block.start, 0x9A)
        chosen = np.stack([sampled_places(r, rng) for _ in range(n)], axis=1)
        around = spacing * (rng.random((block.n_rows, n, self.n_axes)) - 0.5)
        return np.asarray((fine.points[chosen] + around).reshape(block.n_rows, -1))

    def pseudo_statistics(self, params: ItemParams, weight: float) -> NodeCounts:
        """Return the expected statistics of rows from the model itself, for online EM to continue from a fit."""
        return e_step.counts_as_expected(params.at_nodes, weight)

    def log_joint(self, params: ItemParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, node) of one complete row: the definition."""
        k = int(np.argmin(((params.points - h) ** 2).sum(axis=1)))
        return float(np.log(params.weights[k])) + log_probability(params.at_nodes, k, x)

    def mismatch(self, params: ItemParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        layout = self.layout(params.n_columns)
        if params.layout.sizes != layout.sizes or len(params.columns) != layout.n_bits:
            return "its columns have other levels than those of the table"
        types = np.repeat([OF_BITS.index(kind) for kind in self.kinds_of(layout)], layout.sizes)
        if not np.array_equal(types, params.types):
            return "its items are of other types"
        if (params.n_continuous, params.n_numbers) != (self.n_continuous, self.n_continuous + self.n_counts):
            return "its columns of numbers are not those of the table"
        return super().mismatch(params)


def _block(rows: Floats, params: ItemParams) -> Block:
    """Return complete rows as a block."""
    bits, numbers = np.split(rows, [params.n_columns], axis=1)
    x = Dense(np.ascontiguousarray(bits.astype(np.uint8)))
    return Block(x, AllOnes(x.shape), np.ones(len(rows)), 0, 0, numbers=numbers if params.n_numbers else None)


def sampled_places(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a place of each row, (n,), sampled with the row's weights, (n, places)."""
    cumulative = np.cumsum(weights, axis=1)
    chosen = (rng.random(len(weights))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1)
    return np.asarray(np.minimum(chosen, weights.shape[1] - 1))

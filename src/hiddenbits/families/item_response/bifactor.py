"""Bifactor models: a general factor and group factors, by sums over two dimensions (Gibbons & Hedeker 1992).

Each column loads on the general factor z_0 and at most on one group factor z_g; all factors are independent. Given z_0
the groups are independent, so that whatever their number

    P(x) = Sum_z0 pi(z0) Prod_g L_g(z0),    L_g(z0) = Sum_zg pi(zg) Prod_{j in g} P_j(x_j | z0, zg)

The nodes are pairs (z0, zg) on a square grid, which all groups share; slopes have two axes, the general factor and the
column's own group. A row's posterior of the nodes differs from group to group; the M-step of items is that of two
dimensions. Columns without a group are a group of their own, whose slopes on the second axis are 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.bits import Dense
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.data.operands import sums_over_rows
from hiddenbits.families.item_response import grid
from hiddenbits.families.item_response.model import ItemResponse, sampled_places
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.item_response.precision import item_precision
from hiddenbits.families.nodes import posterior as e_step
from hiddenbits.families.nodes.columns import levels
from hiddenbits.families.nodes.mixed import MixedCounts, MixedParams, sampled_numbers
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.maths.packed_symmetric import pack


class GroupCounts(NodeCounts):
    """Expected counts whose posteriors differ from group to group; `classes` are those of the first group."""

    nested: ClassVar[tuple[str, ...]] = ("ones", "observed")


class MixedGroupCounts(MixedCounts):
    """The same with columns of numbers."""

    nested: ClassVar[tuple[str, ...]] = ("ones", "observed")


class GroupPart(NamedTuple):
    """The columns of a group: their bits, their numbers, and their parameters."""

    bits: NDArray[np.intp]
    numbers: NDArray[np.intp]
    params: ItemParams


class GroupPosteriors(NamedTuple):
    """ln P(row), P(z0 | row), (n, m), and P(z0, zg | row) of each group, (n, m^2)."""

    log_p: Floats
    general: Floats
    of_groups: list[Floats]


@dataclass(frozen=True)
class Bifactor(ItemResponse):
    """The bifactor model; hyperparameters only.

    Parameters
    ----------
    groups : tuple of int
        The group of each column (of bits, then numbers), from 0; -1: none.
    """

    groups: tuple[int, ...] = ()

    @property
    def n_axes(self) -> int:
        """Two: the general factor and the group's."""
        return 2

    @property
    def stats_type(self) -> type[NodeCounts]:
        """Class of the statistics."""
        return MixedGroupCounts if self.n_continuous + self.n_counts else GroupCounts

    def pattern(self, n_columns: int) -> NDArray[np.bool_]:
        """Return which column loads on which axis."""
        return np.column_stack([np.ones(n_columns, bool), np.array(self.groups) >= 0])

    def first_points(self) -> Floats:
        """Return the nodes of the first stage."""
        return self.grid_points(grid.FIRST_SPACING[2])

    def grid_points(self, spacing: float, correlations: Floats | None = None) -> Floats:
        """Return the square grid of this spacing."""
        return grid.grid(2, spacing, whole=True)

    def precision(self, params: ItemParams, points: Floats) -> Floats:
        """Return the information of the general factor and of each group's, (groups, points, 2, 2)."""
        of_columns, groups = item_precision(params, points), np.array(self.groups)
        out = np.stack([of_columns[groups == group].sum(axis=0) for group in self.group_numbers])
        out[..., 0, 0] = of_columns[..., 0, 0].sum(axis=0)
        return np.asarray(out + np.eye(2))

    @property
    def group_numbers(self) -> list[int]:
        """The groups, with -1 if a column has none."""
        return sorted(set(self.groups))

    def parts(self, params: ItemParams) -> list[GroupPart]:
        """Return the parameters of each group."""
        n_bit_columns = len(params.layout.sizes)
        groups, c = np.array(self.groups), params.n_continuous
        out = []
        for group in self.group_numbers:
            own = groups == group
            is_bit = own[:n_bit_columns][params.columns.astype(np.intp)]
            of_numbers = own[n_bit_columns:]
            kept = params.columns[is_bit]
            part = replace(
                params,
                **{name: getattr(params, name)[is_bit] for name in ("slopes", "intercepts", "guesses", "types")},
                **{name: getattr(params, name)[of_numbers[:c]] for name in ("centers", "scales", "noise")},
                **{name: getattr(params, name)[of_numbers] for name in ("number_slopes", "number_intercepts")},
                prior_rates=params.prior_rates[of_numbers[c:]],
                columns=np.unique(kept, return_inverse=True)[1].astype(np.float64),
            )
            out.append(GroupPart(np.flatnonzero(is_bit), np.flatnonzero(of_numbers), part))
        return out

    def prepare(self, params: ItemParams) -> Any:
        """Return the parts of the parameters; their scores are computed once."""
        parts = self.parts(params)
        for part in parts:
            _ = part.params.scores
        return parts

    def _blocks(self, parts: list[GroupPart], block: Block) -> list[Block]:
        """Return the columns of each group of a block, made once if the block keeps its operands."""
        if "bifactor" in block.features:
            blocks: list[Block] = block.features["bifactor"]
            return blocks
        x, o = block.x.to_dense(), block.observed.to_dense()
        blocks = [
            replace(
                block,
                x=Dense(np.ascontiguousarray(x[:, part.bits])),
                observed=Dense(np.ascontiguousarray(o[:, part.bits])),
                numbers=None if block.numbers is None else block.numbers[:, part.numbers],
                features={},
            )
            for part in parts
        ]
        if block.keep:
            block.features["bifactor"] = blocks
        return blocks

    def _posteriors(self, parts: list[GroupPart], blocks: list[Block]) -> GroupPosteriors:
        points, total, scores = parts[0].params.points, None, []
        m = round(np.sqrt(len(points)))
        general_weights = grid.log_weights(points[::m, :1], np.eye(1))
        for part, block in zip(parts, blocks, strict=True):
            s = e_step.log_joint(part.params.scores, block).reshape(-1, m, m)
            s -= general_weights[:, None]  # once, below
            of_general = logsumexp(s, axis=2)
            total = of_general if total is None else total + of_general
            scores.append(s - of_general[:, :, None])
        assert total is not None  # noqa: S101
        total = total + general_weights
        log_p = logsumexp(total, axis=1)
        general = np.exp(total - log_p[:, None])
        of_groups = []
        for s in scores:
            np.exp(s, out=s)
            s *= general[:, :, None]
            of_groups.append(s.reshape(len(s), -1))
        return GroupPosteriors(log_p, general, of_groups)

    def expect(self, params: ItemParams, shared: Any, block: Block, carry: None, key: Any) -> tuple[NodeCounts, None]:
        """E-step: expected counts of each group's items at its nodes."""
        blocks = self._blocks(shared, block)
        posteriors, w, K = self._posteriors(shared, blocks), block.weights, len(params.points)
        ones, observed = np.zeros((params.n_columns, K)), np.zeros((params.n_columns, K))
        numbers: dict[str, Floats] = {}
        for part, own, r in zip(shared, blocks, posteriors.of_groups, strict=True):
            r *= w[:, None]
            x, o = own.operands()
            if len(part.bits):
                ones[part.bits], observed[part.bits] = sums_over_rows(x, r), sums_over_rows(o, r)
            if part.params.n_numbers:
                self._add_numbers(numbers, part, own, r, params)
        classes = posteriors.of_groups[0].sum(axis=0)
        counts = {
            "bound": np.asarray(w @ posteriors.log_p),
            "weight": np.asarray(block.weight),
            "classes": classes,
            "ones": ones,
            "observed": observed,
        }
        return self.stats_type(**counts, **numbers), None

    def _add_numbers(
        self, out: dict[str, Floats], part: GroupPart, block: Block, r: Floats, params: ItemParams
    ) -> None:
        """Add the sums of the numbers of a group, whose observed cells are always apart."""
        K, c, n = r.shape[1], params.n_continuous, params.n_numbers
        if not out:
            sizes = {"sums": c, "recorded": c, "events": n - c, "counted": n - c}
            out |= {name: np.zeros((size, K)) for name, size in sizes.items()} | {"products": np.zeros((c, 1, K))}
        number_scores = part.params.scores.numbers
        assert number_scores is not None  # noqa: S101
        sums = number_scores.sums(block, r, r.sum(axis=0, keepdims=True))
        continuous, counts = part.numbers[part.numbers < c], part.numbers[part.numbers >= c] - c
        for name, places in (
            ("sums", continuous),
            ("recorded", continuous),
            ("products", continuous),
            ("events", counts),
            ("counted", counts),
        ):
            if len(places):
                out[name][places] = sums[name]

    def log_likelihood(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return self._posteriors(shared, self._blocks(shared, block)).log_p

    def column_groups(self, params: ItemParams) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Return the columns of each group."""
        groups, n_bit_columns = np.array(self.groups), len(self.groups) - params.n_numbers
        masks = [groups == group for group in self.group_numbers]
        return [(mask[:n_bit_columns], mask[n_bit_columns:]) for mask in masks]

    def posteriors(self, params: ItemParams, block: Block) -> list[Floats]:
        """Return the posterior of each group's nodes, (n, K)."""
        shared = self.prepare(params)
        return self._posteriors(shared, self._blocks(shared, block)).of_groups

    def posterior(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return the posterior mean of all factors of each row, the general one first."""
        return self.posterior_moments(params, shared, block)[:, : self.n_components]

    def posterior_moments(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return the mean and the packed covariance of all factors."""
        posteriors = self._posteriors(shared, self._blocks(shared, block))
        general, m = posteriors.general, posteriors.general.shape[1]
        first, axis, n, q = params.points[::m, 0], params.points[:m, 1], len(general), self.n_components
        by_general, squares = np.zeros((n, q, m)), np.zeros((n, q))  # E[z | z0] P(z0), E[z^2]
        by_general[:, 0], squares[:, 0] = general * first, general @ first**2
        squares[:, 1:] = 1.0  # of groups without observed columns
        for group, r in zip(self.group_numbers, posteriors.of_groups, strict=True):
            if group >= 0:
                by_general[:, group + 1] = r.reshape(n, m, m) @ axis
                squares[:, group + 1] = r.reshape(n, m, m).sum(axis=1) @ axis**2
        mean = by_general.sum(axis=2)
        conditional = by_general / np.maximum(general, 1e-300)[:, None]
        second = np.einsum("nam,nbm->nab", by_general, conditional)
        second[:, np.arange(q), np.arange(q)] = squares
        return np.concatenate([mean, pack(second - mean[:, :, None] * mean[:, None, :])], axis=1)

    def posterior_mode(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return the posterior mean."""
        return self.posterior(params, shared, block)

    def fill(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of every bit, and E[x] of numbers."""
        posteriors = self._posteriors(shared, self._blocks(shared, block))
        out = np.empty((block.n_rows, params.n_columns + params.n_numbers))
        for part, r in zip(shared, posteriors.of_groups, strict=True):
            places = np.append(part.bits, params.n_columns + part.numbers)
            out[:, places] = r @ part.params.at_nodes.cell_means.T
        return out

    def leave_one_out(self, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return what `fill` returns of each column if its cells are missing."""
        out, layout, x, o = (
            self.fill(params, shared, block),
            params.layout,
            block.x.to_dense(),
            block.observed.to_dense(),
        )
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            bits = slice(start, start + size)
            without_x, without_o = x.copy(), o.copy()
            without_x[:, bits] = 0
            without_o[:, bits] = size > 1
            without = replace(block, x=Dense(without_x), observed=Dense(without_o), keep=False, features={})
            out[:, bits] = self.fill(params, shared, without)[:, bits]
        for j in range(params.n_numbers):
            assert block.numbers is not None  # noqa: S101
            numbers = block.numbers.copy()
            numbers[:, j] = np.nan
            without = replace(block, numbers=numbers, keep=False, features={})
            out[:, params.n_columns + j] = self.fill(params, shared, without)[:, params.n_columns + j]
        return out

    def reconstruct(self, params: ItemParams, codes: Floats) -> Floats:
        """Return P(x = 1), P(level) and expected numbers at positions of all factors."""
        out = np.empty((len(codes), params.n_columns + params.n_numbers))
        for group, part in zip(self.group_numbers, self.parts(params), strict=True):
            axes = np.column_stack([codes[:, 0], codes[:, group + 1] if group >= 0 else np.zeros(len(codes))])
            out[:, np.append(part.bits, params.n_columns + part.numbers)] = part.params.at(axes).cell_means.T
        return out

    def sample(self, params: ItemParams, n: int, rng: np.random.Generator) -> tuple[AnyArray, Floats]:
        """Sample n rows and their factors, which are nodes."""
        m = round(np.sqrt(len(params.points)))
        axis = params.points[:m, 1]
        weights = np.exp(grid.log_weights(axis[:, None], np.eye(1)))
        places = rng.choice(m, size=(n, self.n_components), p=weights / weights.sum())
        x = np.zeros((n, params.n_columns + params.n_numbers))
        for group, part in zip(self.group_numbers, self.parts(params), strict=True):
            k = places[:, 0] * m + (places[:, group + 1] if group >= 0 else m // 2)
            nodes = part.params.at_nodes
            x[:, part.bits] = levels.sample(nodes.probabilities.T[k], part.params.layout, rng)
            if isinstance(nodes, MixedParams):
                x[:, params.n_columns + part.numbers] = sampled_numbers(nodes, k, rng)
        return (x if params.n_numbers else x.astype(np.uint8)), axis[places]

    def sampled_positions(self, n: int, seed: int, params: ItemParams, shared: Any, block: Block) -> Floats:
        """Return n samples of all factors of each row from their posterior, which are nodes."""
        posteriors = self._posteriors(shared, self._blocks(shared, block))
        m, rng = posteriors.general.shape[1], keyed_rng(seed, block.start, 0x9A)
        axis, rows = params.points[:m, 1], np.arange(block.n_rows)
        out = np.empty((block.n_rows, n, self.n_components))
        for number in range(n):
            z0 = sampled_places(posteriors.general, rng)
            out[:, number, 0] = axis[z0]
            out[:, number, 1:] = rng.standard_normal((block.n_rows, self.n_components - 1))
            for group, r in zip(self.group_numbers, posteriors.of_groups, strict=True):
                if group >= 0:
                    out[:, number, group + 1] = axis[sampled_places(r.reshape(-1, m, m)[rows, z0], rng)]
        return out.reshape(block.n_rows, -1)

    def pseudo_statistics(self, params: ItemParams, weight: float) -> NodeCounts:
        """Return the expected statistics of rows from the model itself, for online EM to continue from a fit."""
        counts = e_step.counts_as_expected(params.at_nodes, weight).to_arrays()
        K = len(params.points)
        for name, size in (
            ("observed", params.n_columns),
            ("recorded", params.n_continuous),
            ("counted", params.n_numbers - params.n_continuous),
        ):
            if name in counts:
                counts[name] = np.broadcast_to(counts[name], (size, K)).copy()
        return self.stats_type(**counts)

    def hidden_states(self, params: ItemParams) -> Floats:
        """Return all combinations of nodes; for tests with few nodes."""
        m = round(np.sqrt(len(params.points)))
        axes = [params.points[:m, 1]] * self.n_components
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.n_components)

    def log_joint(self, params: ItemParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, factors) of one complete row of bits: the definition."""
        m = round(np.sqrt(len(params.points)))
        log_weights = grid.log_weights(params.points[:m, 1:], np.eye(1))
        places = [int(np.argmin(np.abs(params.points[:m, 1] - value))) for value in h]
        p = self.reconstruct(params, h[None])[0, : params.n_columns]
        log_zero = np.where(params.layout.is_level, 0.0, np.log1p(-p))
        return float(log_weights[places].sum() + np.where(x == 1, np.log(p), log_zero).sum())

    def oriented(self, params: ItemParams) -> ItemParams:
        """Return the same model with a positive general factor and positive group factors."""
        general = np.sign(np.sum(params.slopes[:, 0]) + np.sum(params.number_slopes[:, 0])) or 1.0
        slopes, number_slopes = params.slopes * [general, 1.0], params.number_slopes * [general, 1.0]
        for part in self.parts(params):
            total = np.sum(slopes[part.bits, 1]) + np.sum(number_slopes[part.numbers, 1])
            slopes[part.bits, 1] *= np.where(total < 0.0, -1.0, 1.0)
            number_slopes[part.numbers, 1] *= np.where(total < 0.0, -1.0, 1.0)
        return replace(params, slopes=slopes, number_slopes=number_slopes)

    def by_dimension(self, slopes: Floats, params: ItemParams, *, numbers: bool) -> Floats:
        """Return the slopes of bits or numbers by factor, (cells, n_components)."""
        n_bit_columns = len(self.groups) - params.n_numbers
        groups = np.array(self.groups)
        of_cell = groups[n_bit_columns:] if numbers else groups[:n_bit_columns][params.columns.astype(np.intp)]
        out = np.zeros((len(slopes), self.n_components))
        out[:, 0] = slopes[:, 0]
        in_group = np.flatnonzero(of_cell >= 0)
        out[in_group, 1 + of_cell[in_group]] = slopes[in_group, 1]
        return out

"""Row functions of logistic PCA: its link for `latent_gaussian_rows`, importance sampling, and the most probable x."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.ndimage import map_coordinates, spline_filter

from hiddenbits.array_types import Floats
from hiddenbits.data import AllOnes, Block
from hiddenbits.data.bits import Dense
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.maths.gauss_hermite import REACH, Rule, hermite, newton_tops, row_draws
from hiddenbits.maths.latent_gaussian_rows import NODE_NUMBERS, LatentRows
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.numerics import sigmoid, softmax_rows, softplus
from hiddenbits.maths.packed_symmetric import Posterior, pack, pack_outer, unpack

SHARP_CELL_STD = 2.0  # a cell is a sharp edge of a posterior if its activation has a larger standard deviation there
# Importance sampling of a posterior's covariance: rounds, and the variance of samples relative to the last estimate.
WIDENING_ROUNDS, VARIANCE_FACTOR = 3, 1.5
OLD_SAMPLES = 2.0  # the last estimate counts as this many samples x (dimensions + 1)
# Activations are clipped to this for probabilities and odds, so that exp does not overflow. Logs of probabilities take
# activations without clipping: otherwise their two parts, of which one is linear in A, would not cancel.
LARGEST_ACTIVATION = 300.0


def activations(params: LogisticParams, nodes: Floats) -> Floats:
    """Return A = W x + b for every node, (nodes, d)."""
    A = nodes @ params.loadings.T
    A += params.intercepts
    return A


def safe_sigmoid(A: Floats) -> Floats:
    """Return sigma(A), for any A."""
    return sigmoid(np.clip(A, -LARGEST_ACTIVATION, LARGEST_ACTIVATION))


def odds(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the odds of a 1, the odds of a 0, and P(1); `left_out` needs their posterior means."""
    A = np.clip(A, -LARGEST_ACTIVATION, LARGEST_ACTIVATION)
    return np.exp(A), np.exp(-A), sigmoid(A)


class LogisticRows(LatentRows[LogisticParams]):
    """The row functions that all variants of logistic PCA share."""

    @abstractmethod
    def gaussian_posterior(self, params: LogisticParams, block: Block, *, refined: bool) -> Posterior:
        """Return a Gaussian posterior of each row."""

    def rule(self, params: LogisticParams) -> Rule | None:
        """Return the grid to integrate on; None where importance sampling is needed."""
        return params.grid

    def activations(self, params: LogisticParams, nodes: Floats) -> Floats:
        """Return A = W x + b for every node."""
        return activations(params, nodes)

    def probabilities(self, A: Floats) -> Floats:
        """Return sigma(A)."""
        return safe_sigmoid(A)

    def log_odds(self, A: Floats) -> Floats:
        """Return A itself."""
        return A

    def log_zero(self, A: Floats) -> Floats:
        """Return -ln(1 + exp(A))."""
        return -softplus(A)

    def pull(self, params: LogisticParams, block: Block) -> Floats:
        """Return Sum w^ over the 1s of each row, which is sufficient because activations are linear in x; and 1."""
        return np.column_stack([block.operands()[0] @ params.joint, np.ones(block.n_rows)])

    def lift(self, params: LogisticParams, table: Floats) -> Floats:
        """Return the table itself: x^ of every node, and its log weight."""
        return table

    def odds(self, A: Floats) -> tuple[Floats, Floats, Floats]:
        """Return exp(A), exp(-A) and sigma(A)."""
        return odds(A)

    def by_pull(self, params: LogisticParams, block: Block) -> Floats | None:
        """Return ln P(t) and posterior moments of each row from its pull and the table of F, or None without one."""
        if self.rule(params) is not None or not isinstance(block.observed, AllOnes):
            return None
        if (table := softplus_sum_table(params)) is None:
            return None
        sums = np.asarray(block.operands()[0] @ params.joint)
        moments = table.moments(np.ascontiguousarray(sums[:, :-1]))
        moments[:, 0] += sums[:, -1]
        return moments

    def likelihood_and_error(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row and its standard error, 0 if it is integrated."""
        if (moments := self.by_pull(params, block)) is None:
            return super().likelihood_and_error(params, shared, block)
        return np.column_stack([moments[:, 0], np.zeros(block.n_rows)])

    def proposal(self, params: LogisticParams, block: Block) -> Posterior:
        """Return the best Gaussian posterior of each row, or a wider one where that is too narrow.

        Where cells are nearly certain a posterior is a Gaussian cut off by sharp edges. The best Gaussian (of the
        bound) stays away from the edges: samples from it miss some of the mass, which their weights do not show.
        """
        best, q = self.gaussian_posterior(params, block, refined=True), params.n_components
        spread = np.einsum("nab,ia,ib->ni", unpack(best.covariance, q), params.loadings, params.loadings, optimize=True)
        MissingCells.of(block.observed).fill(spread, 0.0)  # a missing cell is no edge
        sharp = np.flatnonzero(spread.max(axis=1, initial=0.0) > SHARP_CELL_STD**2)
        if not sharp.size:
            return best
        x, observed = block.x.to_dense()[sharp], block.observed.to_dense()[sharp]
        sharp_rows = Block(Dense(x), Dense(observed), block.weights[sharp], block.number, block.start)
        mean, covariance = best.mean.copy(), best.covariance.copy()
        mean[sharp], covariance[sharp] = self._widened(
            params, sharp_rows, best.mean[sharp], unpack(best.covariance[sharp], q)
        )
        return Posterior(mean, covariance)

    def _widened(self, params: LogisticParams, block: Block, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Return mean and packed covariance to sample from: those of the posterior, by importance sampling."""
        q = params.n_components
        for number in range(WIDENING_ROUNDS):
            roots = np.linalg.cholesky(VARIANCE_FACTOR * covariance)
            z = row_draws(self.seed + number + 1, block.start, (block.n_rows, self.n_draws, q))
            nodes = mean[:, None, :] + z @ np.swapaxes(roots, 1, 2)
            ratio = 0.5 * ((z * z).sum(axis=2) - (nodes * nodes).sum(axis=2))
            for rows, _, scores in self.drawn_scores(params, block, nodes):
                weights = scores + ratio[rows]
                softmax_rows(weights)
                share = OLD_SAMPLES * (q + 1) / (OLD_SAMPLES * (q + 1) + 1.0 / (weights * weights).sum(axis=1))
                center = (weights[:, None, :] @ nodes[rows])[:, 0]
                deviations = nodes[rows] - center[:, None, :]
                spread = np.swapaxes(deviations * weights[..., None], 1, 2) @ deviations
                mean[rows] = center
                covariance[rows] = share[:, None, None] * covariance[rows] + (1.0 - share[:, None, None]) * spread
        return mean, pack(VARIANCE_FACTOR * covariance)

    def drawn_scores(
        self, params: LogisticParams, block: Block, nodes: Floats
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with A (rows, draws, d) and ln P(t | x) (rows, draws) at the nodes of each row."""
        q, n_draws, d = params.n_components, nodes.shape[1], params.n_columns
        x, o = block.operands()
        step = max(1, NODE_NUMBERS // max(n_draws * d, 1))
        joint = params.joint
        linear = np.asarray(x @ joint - 0.5 * (o @ joint))  # Sum r w^: r A summed over columns is linear in x
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            A = activations(params, nodes[rows].reshape(-1, q)).reshape(-1, n_draws, d)
            log_cosh = np.abs(A) * 0.5
            log_cosh += np.log1p(np.exp(-2.0 * log_cosh))
            MissingCells.of(block.observed.rows(rows.start, rows.stop)).fill_drawn(log_cosh, 0.0)
            scores = (nodes[rows] @ linear[rows, :q, None])[..., 0] + linear[rows, q:]
            yield rows, A, scores - log_cosh.sum(axis=2)

    def posterior_mode(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return the most probable x of each row: the maximum of ln P(t | x) p(x), by Newton steps from the mean.

        The function is concave and its curvature lies between 1 and P, so a step that decreases it need only be halved.
        """
        x, o = block.operands()
        W, joint, q = params.loadings, params.joint, params.n_components
        missing = MissingCells.of(block.observed)
        linear = np.asarray(x @ joint - 0.5 * (o @ joint))

        def log_density(points: Floats) -> tuple[Floats, Floats]:
            A = activations(params, points)
            log_cosh = 0.5 * np.abs(A) + np.log1p(np.exp(-np.abs(A)))
            missing.fill(log_cosh, 0.0)
            return (linear[:, :q] * points).sum(axis=1) - 0.5 * (points * points).sum(axis=1) - log_cosh.sum(axis=1), A

        def slopes(points: Floats, A: Floats) -> tuple[Floats, Floats]:
            p = safe_sigmoid(A)
            slope, residual = p * (1.0 - p), p - 0.5
            missing.fill(slope, 0.0)
            missing.fill(residual, 0.0)
            curvature = np.eye(q) + np.einsum("ni,ia,ib->nab", slope, W, W, optimize=True)
            return linear[:, :q] - residual @ W - points, curvature

        return newton_tops(self.posterior(params, shared, block), log_density, slopes, n_steps=20, n_halvings=10)[0]

    def log_joint(self, params: LogisticParams, x: Floats, h: Floats) -> float:
        """Return ln P(t | x) + ln p(x) of one complete row t and its hidden x: the definition."""
        A = params.loadings @ h + params.intercepts
        prior = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return prior + float(np.sum(np.where(x == 1, -np.logaddexp(0.0, -A), -np.logaddexp(0.0, A))))


# Rows without missing cells in two dimensions, where a grid would be too large: their pull p determines all results.
#
#     ln P(t | x) = p.x + Sum_ones b - F(x),      p = Sum_ones w,  F(x) = Sum_j ln(1 + exp(w_j.x + b_j))
#     ln P(t)     = G(p) + Sum_ones b,            G(p) = ln E exp(p.x - F(x)),  x ~ N(0, I)
#
# F is the same function for all rows: a cubic spline through a table that is computed once from all columns.
# G is integrated around the maximum of p.x - F(x) - x.x / 2, by Gauss-Hermite nodes as wide as its curvature there. On
# held-out rows of kdd, news100 and 500 columns of retail.dat the error is up to 0.0001 nats per row with 15 x 15 nodes,
# and up to 0.003 with 7 x 7; a finer table of F changed nothing.

TABLE_SPACING, LARGEST_TABLE_LOADING = 0.125, 8.0  # of the table of F; with larger loadings it is too coarse
# Newton steps to the maximum of a row are at most 1 long; one shorter than this is the last.
MAX_NEWTON_STEPS, LAST_STEP_LENGTH = 40, 0.01
NODES_PER_AXIS = 15  # of Gauss-Hermite quadrature around the maximum of a row
ROWS_AT_ONCE = 256  # rows integrated together
CELLS_AT_ONCE = 1 << 16  # nodes x columns processed together, in the cache of a core


@lru_cache(maxsize=2)  # parameters are compared by identity
def softplus_sum_table(params: LogisticParams) -> SoftplusSumTable | None:
    """Return the table of F; None if it would have to be finer."""
    fine_enough = params.n_components == 2 and np.abs(params.loadings).max(initial=0.0) <= LARGEST_TABLE_LOADING
    return SoftplusSumTable(params) if fine_enough else None


class SoftplusSumTable:
    """F on a square that extends beyond REACH, as a cubic spline; its slopes and curvatures, interpolated linearly."""

    def __init__(self, params: LogisticParams) -> None:
        self.half_width = int(np.ceil(REACH / TABLE_SPACING)) + 4
        axis = TABLE_SPACING * np.arange(-self.half_width, self.half_width + 1.0)
        nodes = np.stack([a.ravel() for a in np.meshgrid(axis, axis, indexing="ij")], axis=1)
        F = np.zeros(len(nodes))
        columns = max(1, CELLS_AT_ONCE // 512)
        for rows in (slice(start, start + 512) for start in range(0, len(nodes), 512)):
            for start in range(0, params.n_columns, columns):
                part = slice(start, start + columns)
                F[rows] += softplus(nodes[rows] @ params.loadings[part].T + params.intercepts[part]).sum(axis=1)
        square = F.reshape(len(axis), len(axis))
        self.spline = spline_filter(square, order=3, mode="nearest")
        self.slopes: list[Floats] = [*np.gradient(square, TABLE_SPACING)]
        first, second = ([*np.gradient(slope, TABLE_SPACING)] for slope in self.slopes)
        self.curvatures: list[Floats] = [first[0], first[1], second[1]]

    def interpolate(self, x: Floats, table: Floats, order: int) -> Floats:
        """Return a table at points x, (..., 2)."""
        coordinates = np.moveaxis(x / TABLE_SPACING + self.half_width, -1, 0)
        return np.asarray(map_coordinates(table, coordinates, order=order, mode="nearest", prefilter=False))

    def moments(self, pull: Floats) -> Floats:
        """Return G of each pull, with mean and packed covariance of the posterior: side by side, (rows, 6)."""
        steps = range(0, len(pull), ROWS_AT_ONCE)
        return np.concatenate([self._moments(pull[start : start + ROWS_AT_ONCE]) for start in steps])

    def _slopes(self, pull: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Return the slope of p.x - F(x) - x.x / 2 and minus its curvature, (rows, 2, 2)."""
        slope = pull - x - np.stack([self.interpolate(x, table, 1) for table in self.slopes], axis=1)
        first, mixed, second = (self.interpolate(x, table, 1) for table in self.curvatures)
        return slope, np.moveaxis(np.array([[1.0 + first, mixed], [mixed, 1.0 + second]]), 2, 0)

    def _moments(self, pull: Floats) -> Floats:
        top = np.zeros_like(pull)
        for _ in range(MAX_NEWTON_STEPS):
            slope, curvature = self._slopes(pull, top)
            step = np.linalg.solve(curvature, slope[..., None])[..., 0]
            size = np.sqrt((step * step).sum(axis=1, keepdims=True))
            top += step / np.maximum(size, 1.0)
            if size.max() < LAST_STEP_LENGTH:
                break
        roots = np.linalg.cholesky(np.linalg.inv(self._slopes(pull, top)[1]))
        z, w = hermite(NODES_PER_AXIS)
        nodes = np.stack([a.ravel() for a in np.meshgrid(z, z, indexing="ij")], axis=1)
        log_weights = np.log(np.outer(w, w).ravel()) + 0.5 * (nodes * nodes).sum(axis=1)
        inside = (nodes * nodes).sum(axis=1) <= z[-1] ** 2  # corners have negligible weight
        nodes, log_weights = nodes[inside], log_weights[inside]
        deviations = nodes @ np.swapaxes(roots, 1, 2)
        x = top[:, None] + deviations
        heights = (x @ pull[:, :, None])[..., 0] - self.interpolate(x, self.spline, 3) - 0.5 * (x * x).sum(axis=2)
        heights += log_weights
        highest = heights.max(axis=1, keepdims=True)
        weights = np.exp(heights - highest)
        total = weights.sum(axis=1)
        weights /= total[:, None]
        mean = (weights[:, None] @ deviations)[:, 0]
        spread = (weights[:, None] @ pack_outer(deviations))[:, 0] - pack_outer(mean)
        G = highest[:, 0] + np.log(total * roots[:, 0, 0] * roots[:, 1, 1])
        return np.column_stack([G, top + mean, spread])

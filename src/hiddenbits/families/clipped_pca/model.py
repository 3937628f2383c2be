"""Clipped PCA: a few continuous dimensions behind the bits, and a threshold for each (Lee & Sompolinsky 1998).

    y ~ N(0, I),  x = W y                                                                                 eqs 1, 2
    s_i = sgn(h_i + x_i)                                              eqs 3 and 8; h_i = Phi^-1(P(s_i = 1))  eq 9

The paper fits W to the correlations that pairs of bits imply (`factors`). As it stands the model gives most real
rows a probability of 0, and W W' from data has |w_i|^2 > 1. So every column has noise that makes up its variance to 1,

    s_i = sgn(h_i + w_i.y + sqrt(psi_i) e_i),  psi_i = 1 - |w_i|^2:  P(s_i = 1 | y) = Phi((h_i + w_i.y)/sqrt(psi_i)),

a probit factor model whose means are exact. All that a fit needs is one pass of counts.

| letter | meaning | shape |
|---|---|---|
| W | loadings, in units of a hidden variable's standard deviation | (d, P) |
| h | biases: Phi^-1(P(bit = 1)) | (d,) |
| psi | noise, 1 - |w|^2 | (d,) |
| C^XX, C^SS | correlations of the hidden variables, covariances of the bits taken as -1 and 1 | (d, d) |
| a, b | slopes w/sqrt(psi) and offsets h/sqrt(psi) of the probit model | (d, P), (d,) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.clipped_pca.factors import FLOOR, expected_counts, pair_log_likelihood, params_of
from hiddenbits.families.clipped_pca.params import SLACK, ClippedParams, ClippedStats, stats_flaw
from hiddenbits.families.clipped_pca.rows import ClippedRows
from hiddenbits.maths.nearest_correlation import clipped
from hiddenbits.maths.packed_symmetric import packed_size
from hiddenbits.maths.pair_counts import count_pairs
from hiddenbits.model_api import Footprint, Key, Passes, Promises


@dataclass(frozen=True)
class Clipped(ClippedRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int or "parallel"
        P; or as many as have larger eigenvalues than chance would give.
    biases : bool
        Whether columns have an h of their own; otherwise all h are 0, and eq. 7 holds.
    pseudo_rows : float
        Rows of independent columns that are added to the table of a pair with an empty cell.
    smooth : {"empty", "all"}
        Whether only such pairs get them.
    cap : float
        The largest |w|^2.
    factor_steps : int
        Steps of principal-axis factoring after PCA.
    n_draws, seed : int
        Draws a row, and their seed, where a likelihood is estimated by importance sampling.
    """

    n_components: int | Literal["parallel"] = 2
    biases: bool = True
    pseudo_rows: float = 1.0
    smooth: Literal["empty", "all"] = "empty"
    cap: float = 0.95
    factor_steps: int = 5
    n_draws: int = 200
    seed: int = 0

    promises = Promises(
        likelihood="estimate",
        monotone=False,
        deterministic=True,
        carry=False,
        accelerates=False,
        oracle="quadrature",
        why={
            "likelihood": "P(t) has no closed form: it is integrated on a grid, or estimated by importance sampling",
            "monotone": "one pass is all: there is nothing to rise or fall",
            "accelerates": "one pass is all",
        },
        closed_form=True,
    )
    params_type = ClippedParams
    stats_type = ClippedStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block of rows costs to infer; the heights of passes are those of `cooccurrence.block_rows`."""
        p = packed_size(1 if self.n_components == "parallel" else self.n_components)
        return Footprint(working=8 * n_columns + 6 * p, statistics=n_columns, flops=4.0 * n_columns * p)

    def start(self, summary: Summary, key: Key, passes: Passes) -> ClippedParams:
        """Return independent columns."""
        h = ndtri(summary.means) if self.biases else np.zeros(len(summary.ones))
        P, flat = 1 if self.n_components == "parallel" else self.n_components, np.ones(len(h))
        return ClippedParams(np.zeros((len(h), P)), h, np.eye(len(h)), flat, flat.copy(), np.zeros(0))

    def grow(self, params: ClippedParams, key: Key) -> None:
        """There is only one stage."""
        return

    def prepare(self, params: ClippedParams) -> None:
        """Return nothing: counts need no preparation."""
        return

    def expect(
        self, params: ClippedParams, shared: None, block: Block, carry: None, key: Key
    ) -> tuple[ClippedStats, None]:
        """Count the pairs of columns, whatever the parameters are."""
        counts = count_pairs(block)
        return ClippedStats(counts.both, counts.ones, counts.seen, np.asarray(block.weights.sum())), None

    def objective(self, params: ClippedParams, stats: ClippedStats) -> float:
        """Return the pairwise log-likelihood."""
        return pair_log_likelihood(params, stats)

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the model that the counts make."""
        return params_of(
            stats,
            self.n_components,
            biases=self.biases,
            pseudo_rows=self.pseudo_rows,
            everywhere=self.smooth == "all",
            cap=self.cap,
            factor_steps=self.factor_steps,
            seed=self.seed,
        )

    def corrected(self, params: ClippedParams) -> Floats:
        """Return C^XX with eigenvalues above 0 and a unit diagonal: what W is made of."""
        return clipped(params.correlation, FLOOR)

    def draw_with(self, params: ClippedParams, root: Floats, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows whose hidden variables have the correlations root @ root.T; a row's code has no columns."""
        z = rng.standard_normal((n, params.n_columns)) @ root.T
        z += params.biases
        return (z > 0.0).view(np.uint8), np.zeros((n, 0))

    def mismatch(self, params: ClippedParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        P = params.n_components
        if self.n_components not in (P, "parallel"):
            return f"it has {P} dimensions where {self.n_components} are declared"
        if not self.biases and params.biases.any():
            return "it has biases where none are declared"
        if 1.0 - params.noise.min() > self.cap + SLACK:
            return f"its loadings explain more of a column than max_communality={self.cap:g}"
        return None

    def stats_flaw(self, stats: ClippedStats, params: ClippedParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return stats_flaw(stats, params)

    def pseudo_statistics(self, params: ClippedParams, weight: float) -> ClippedStats:
        """Return the counts of rows that are just as C^XX says, for further rows to be added to those of a fit."""
        return expected_counts(params, weight)

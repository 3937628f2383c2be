"""Row functions of binary sparse coding: what the estimator's verbs rest on.

Rows are judged at temperature 1, with all states of the causes where these are few (the likelihood is then exact), and
otherwise with as many as the end of a fit looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.binary_sparse_coding.params import CodingParams
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    BLANK_ROWS,
    ROWS,
    Prepared,
    RowPosterior,
    squares_of,
)
from hiddenbits.families.binary_sparse_coding.truncated_states import Truncation, truncation
from hiddenbits.maths.missing_rows import rows_with_blanks
from hiddenbits.maths.state_sums import states_of

EXACT_CAUSES = 12  # up to 4,096 states a row


@dataclass(frozen=True, eq=False)
class CodingShared:
    """What a pass shares, and what the verbs do: the second is made when it is first asked for."""

    now: Prepared
    _make: Callable[[], Prepared]

    @cached_property
    def rows(self) -> Prepared:
        """For the verbs: temperature 1, and all states where these are few."""
        return self._make()


def runs_of(block: Block, dtype: Any = np.float64) -> Iterator[tuple[Any, Any]]:
    """Yield (rows, observed): runs of rows without blanks, for which `observed` is None, and of rows with them."""
    blank = rows_with_blanks(block)
    if not blank.size:
        for start in range(0, block.n_rows, ROWS):
            yield slice(start, min(start + ROWS, block.n_rows)), None
        return
    whole = np.setdiff1d(np.arange(block.n_rows), blank)
    for start in range(0, len(whole), ROWS):
        yield whole[start : start + ROWS], None
    for start in range(0, len(blank), BLANK_ROWS):
        rows = blank[start : start + BLANK_ROWS]
        yield rows, block.observed.take(rows).to_dense().astype(dtype)


class CodingRows:
    """The row functions."""

    n_components: int
    wide_candidates: int
    wide_active: int

    @property
    def row_states(self) -> tuple[int, int]:
        """(H', gamma) of the verbs."""
        H = self.n_components
        if H <= EXACT_CAUSES:
            return H, H
        c = min(self.wide_candidates, H)
        return c, min(self.wide_active, c)

    def rows_prepared(self, params: CodingParams) -> Prepared:
        """Return what the verbs share."""
        return self.prepared(params, truncation(*self.row_states), 1.0, np.float64)

    def prepared(self, params: CodingParams, states: Truncation, temperature: float, dtype: Any) -> Prepared:
        """Return what rows share at a temperature: the place where a model says how its causes combine."""
        return Prepared(params, states, temperature, dtype)

    def _each(self, shared: CodingShared, block: Block, take: Callable[[RowPosterior], Any], **asked: Any) -> Floats:
        """Return what `take` finds in the posterior of each row."""
        now, Y, out = shared.rows, np.asarray(block.x.operand(slot="x")), None
        for rows, observed in runs_of(block):
            values = take(now.look(Y[rows], observed, squares_of(Y[rows]), **asked))
            if out is None:
                out = np.empty((block.n_rows, *values.shape[1:]))
            out[rows] = values
        return np.asarray(out)

    def log_likelihood(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return ln p(observed numbers) of each row, exact or a lower bound."""
        return self._each(shared, block, lambda found: found.scores, only_scores=True)

    def posterior(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return P(s_h = 1 | observed numbers) of each row."""
        return self._each(shared, block, lambda found: found.means)

    def code(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return the most probable state of the causes."""
        return self._each(shared, block, lambda found: found.best, best=True)

    def reconstruct(self, params: CodingParams, codes: Floats) -> Floats:
        """Return E[y] given which causes are on: W s."""
        return np.asarray(codes @ params.fields.T)

    def fill(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return E[y_j | observed numbers], for every cell."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Refuse: a real number has a density given the others, not a probability."""
        raise ValueError(
            "bit_probabilities needs a table of bits, but this model has real numbers. Use complete on a copy in "
            "which these cells are blank."
        )

    def draw(self, params: CodingParams, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw n rows and which causes are on."""
        s = (rng.random((n, params.n_components)) < params.activity).astype(np.float64)
        noise = float(params.noise) * rng.standard_normal((n, params.n_columns))
        return self.reconstruct(params, s) + noise, s

    def hidden_states(self, params: CodingParams) -> Floats:
        """Return every state of the causes."""
        return states_of(params.n_components)

    def log_joint(self, params: CodingParams, y: Floats, s: Floats) -> float:
        """Return ln p(y, s) of one complete row: the definition, equation 1."""
        pi, variance = params.activity, float(params.noise) ** 2
        apart = y - params.fields @ s
        prior = np.sum(s * np.log(pi) + (1.0 - s) * np.log1p(-pi))
        return float(prior - 0.5 * (len(y) * np.log(2.0 * np.pi * variance) + apart @ apart / variance))

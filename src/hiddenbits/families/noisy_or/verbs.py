"""What one can ask a fitted `NoisyOrNetwork`, beyond what one can ask of every estimator."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Table
from hiddenbits.engine import current, one_blas_thread
from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.predictions import PredictsCauses
from hiddenbits.families._base.showing import SummaryTable
from hiddenbits.families._base.showing import strongest as listed
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.noisy_or.descriptions import described, reach, sentence, strongest
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.paper import NoisyOrBlocks
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.posterior_draws import Marginals
from hiddenbits.families.noisy_or.rows import MOST_EXACT
from hiddenbits.model_api import RowModel
from hiddenbits.quoting import name_of

VERB_ROWS = 1024  # rows of a block of the verbs, each of which has several chains
MOST_SHARES = 50_000_000  # numbers that `why` returns at most


class Scores(NamedTuple):
    """Log-likelihood of each row, in nats, and its standard error, 0 where it is exact."""

    log_likelihood: Floats
    errors: Floats


class Reasons(NamedTuple):
    """Why the ones of a table are on.

    Attributes
    ----------
    rows, columns : ndarray of shape (ones,)
        Where each one is.
    shares : ndarray of shape (ones, causes + 1)
        Share of each cause of the lowest layer in it, the leak's last. They add up to 1.
    """

    rows: Rows
    columns: Rows
    shares: Floats


class NoisyOrVerbs(PredictsCauses, CodingEstimator[NoisyOrParams, Any]):
    """The verbs of a network of causes."""

    @abstractmethod
    def _model(self) -> NoisyOr | NoisyOrGibbs:
        """Return the network with these hyperparameters."""

    @property
    @abstractmethod
    def _how(self) -> str:
        """How states are processed: "exact" or "gibbs"."""

    @property
    def likelihood_(self) -> str:
        """What `score_samples` returns: "exact", or "estimate" where a layer has more than 12 causes."""
        check_is_fitted(self, "params_")
        return "exact" if max(self.params_.n_causes) <= MOST_EXACT else "estimate"

    @property
    def _n_features_out(self) -> int:
        return len(self.params_.names)

    def _code_names(self) -> list[str]:
        sizes = self.params_.n_causes
        layers = ["" if len(sizes) == 1 else f"layer_{number + 1}_" for number in range(len(sizes))]
        return [f"{layer}cause_{i + 1}" for layer, n in zip(layers, sizes, strict=True) for i in range(n)]

    @property
    def _score_is(self) -> str | None:
        return super()._score_is if self._how == "exact" else None

    def _tables(self) -> dict[str, SummaryTable]:
        causes, names, params = self._code_names(), self._column_names(), self.params_
        lists = [listed(row, names) for layer in reach(params) for row in layer]
        columns = {"cause": causes, "on": np.concatenate(params.activity), "switches on": lists}
        lowest = dict(zip(causes, params.layers[0], strict=False))  # the leak comes last
        strengths = {**lowest, "no cause": params.layers[0][-1]}
        spread = params.layers[0][:-1].max(axis=0, initial=0.0)
        title = "Strengths: P(a cause alone switches the bit on)"
        return {
            "causes": SummaryTable("Causes, how often they are on, and what they switch on", columns, "causes"),
            "strengths": self._by_column(title, strengths, spread),
        }

    def marginals(self, X: object) -> Marginals:
        """Return P(unit on | observed bits) of all units, with Monte-Carlo standard errors.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        marginals : Marginals
            `probabilities` and `errors`, both of shape (rows, units), the lowest layer first. Errors are 0 where the
            states could be enumerated.
        """
        both = self._map(X, self._model().posterior_and_error)
        half = both.shape[1] // 2
        return Marginals(both[:, :half], both[:, half:])

    def score_with_error(self, X: object) -> Scores:
        """Return the log-likelihood of each row's observed bits with its standard error.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        scores : Scores
            `log_likelihood` and `errors`. An annealed estimate is made from two sides, and refused where they disagree.
        """
        both = self._map(X, self._model().log_likelihood_and_error)
        return Scores(both[:, 0], both[:, 1])

    def why(self, X: object) -> Reasons:
        """Return the share of each cause in every bit that is on.

        Of the causes that are on in a row, each takes part in bit j in proportion to its weight -ln(1 - strength);
        the shares are averaged over what causes may be on given the row.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows, since every one gets a number for each cause.

        Returns
        -------
        reasons : Reasons
        """
        check_is_fitted(self, "params_")
        table, model = as_table(self, X, reset=False), self._model()
        grid = table.grid(self._height(model, table))
        width = self.params_.n_causes[0] + 1
        parts: list[Any] = []
        with one_blas_thread():
            shared: Any = model.prepare(self.params_)
            for part in current().executor.map_rows(partial(model.reasons, self.params_, shared), grid):
                parts.append(part)
                if sum(len(rows) for rows, _, _ in parts) * width > MOST_SHARES:
                    raise ValueError("This table has too many ones to explain each of them. Give fewer rows.")
        rows, columns, shares = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Reasons(rows, columns.astype(np.intp), shares)

    def describe(self, *, n_bits: int = 5) -> list[str]:
        """Return a line for each cause, those of the lowest layer first: how often it is on, and its strongest bits.

        In each layer those come first that bring the most ones into the table: P(on) times the sum of strengths. Of
        causes above the lowest layer the numbers are P(bit on) when this cause alone is on, leaks apart.

        Parameters
        ----------
        n_bits : int, default=5
            Bits of a line.

        Returns
        -------
        lines : list of str
        """
        check_is_fitted(self, "params_")
        return described(self.params_, self._bit_names(), n_bits)

    def explain(self, X: object, *, n_bits: int = 3, what: str = "row") -> list[str]:
        """Return a sentence for each row: which causes are most probably on, and which of its bits each explains.

        A bit is said to be explained by the strongest of the causes that are on; `why` has all shares.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows.
        n_bits : int, default=3
            How many of its strongest bits stand for the name of a cause.
        what : str, default="row"
            What a row is, such as "basket" or "patient".

        Returns
        -------
        sentences : list of str
        """
        codes, params, names = self.code(X), self.params_, self._bit_names()
        titles = [[", ".join(names[j] for j in strongest(row, n_bits)) for row in values] for values in reach(params)]
        table, cuts = as_table(self, X, reset=False), np.cumsum(params.n_causes)[:-1]
        sentences = []
        for row, bits in enumerate(table.source.read(0, table.shape[0])[0].to_dense()):
            on = [np.flatnonzero(part) for part in np.split(codes[row], cuts)]
            said = sentence(params, titles, np.flatnonzero(bits), names, on)
            sentences.append(f"{what[:1].upper()}{what[1:]} {row} {said}")
        return sentences

    def _bit_names(self) -> list[str]:
        return [name_of(n) for n in getattr(self, "feature_names_in_", np.arange(self.n_features_in_))]

    def partial_fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from some rows by online EM; can be called again and again with further rows.

        Parameters
        ----------
        X : array, sparse array or matrix, frame or Table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored.
        sample_weight : array of shape (rows,), optional
            Weight of each row.

        Returns
        -------
        self
        """
        if self._how != "exact":
            raise ValueError(
                'partial_fit needs a network that can be enumerated (method="exact"). Otherwise fit the whole table at '
                "once: it may be larger than memory."
            )
        return super().partial_fit(X, y, sample_weight)

    def _height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return height if self._how == "exact" else min(height, VERB_ROWS)

    def _pass_height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, NoisyOrBlocks) else height

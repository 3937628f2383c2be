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
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrBlocks, NoisyOrGibbs
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
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.

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


# What a fitted noisy-OR network says in words: lists of its causes, and sentences about rows.


def reach(params: NoisyOrParams) -> list[Floats]:
    """Return P(bit on | this unit alone is on, leaks apart) for the units of each layer, (units, columns).

    Of layers above the lowest: each unit below may be switched on, and then may switch the bit on, independently.
    """
    found = [params.layers[0][:-1]]
    for f in params.layers[1:]:
        below = found[-1]
        found.append(1.0 - np.array([np.prod(1.0 - g[:, None] * below, axis=0) for g in f[:-1]]))
    return found


def strongest(values: Floats, n: int) -> Rows:
    """Return the places of the n largest, the largest first; the first of equal ones."""
    return np.argsort(-values, kind="stable")[:n]


def described(params: NoisyOrParams, names: list[str], n_bits: int) -> list[str]:
    """Return a line for each unit, the lowest layer first, those first that bring the most ones into the table."""
    lines = []
    for number, (values, activity) in enumerate(zip(reach(params), params.activity, strict=True)):
        layer = f"layer {number + 1}, " if len(params.n_causes) > 1 else ""
        for i in strongest(activity * values.sum(axis=1), len(values)):
            bits = ", ".join(f"{names[j]} {values[i, j]:.2f}" for j in strongest(values[i], n_bits))
            lines.append(f"{layer}cause {i}, on in {activity[i]:.1%} of rows: {bits}")
    return lines


def _in_words(words: list[str]) -> str:
    """Return words as one says them: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def sentence(params: NoisyOrParams, titles: list[list[str]], ones: Rows, names: list[str], on: list[Rows]) -> str:
    """Return how a row is explained: what follows its name in a sentence.

    `titles` are the names of the units of each layer, `ones` the columns of the row that are on, and `on` the units
    of each layer that are. A bit goes to the strongest of the causes that are on, or to the leak.
    """
    w, leak = params.weights[0], params.n_causes[0]
    candidates = np.append(on[0], leak)
    main = candidates[w[np.ix_(candidates, ones)].argmax(axis=0)] if len(ones) else candidates[:0]
    said = []
    for i in on[0]:
        mine = [names[j] for j in ones[main == i]]
        said.append(f"cause {i} ({titles[0][i]}){f' for {_in_words(mine)}' if mine else ', which adds to the others'}")
    text = f"is explained by {'; '.join(said)}" if said else "needs no cause"
    for number in range(1, len(on)):
        above = [f"cause {i} ({titles[number][i]})" for i in on[number]]
        if above:
            text += f"; {'behind them' if number == 1 else 'behind those'} {_in_words(above)} of layer {number + 1}"
    rest = [names[j] for j in ones[main == leak]]
    if rest and said:
        text += f"; {_in_words(rest)} came without a cause"
    return text + "."

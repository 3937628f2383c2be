"""What `CombinationMachine` does with tables of real numbers."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.data.request import Request
from hiddenbits.engine import Key, current, one_blas_thread
from hiddenbits.families._base.inputs import seed_of, shuffled
from hiddenbits.families._base.outputs import drawn_values
from hiddenbits.families._base.sizes import check_n_samples
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.model_chains import UNKNOWN, ChainsParams, CombinationChains
from hiddenbits.families.combination_machine.params import CombinationParams, CombinationStats
from hiddenbits.maths.annealed_importance import Partition, log_partition
from hiddenbits.model_api import RowModel

# What `CombinationMachine` does where its units are too many to enumerate.


def partition_error(params: CombinationParams) -> float:
    """Return the standard error of ln Z: 0 where it is enumerated."""
    return float(params.partition_error) if isinstance(params, ChainsParams) else 0.0


class PoorMixingWarning(UserWarning):
    """Drawn rows may not stand for the model: the Markov chains that drew them did not mix."""


class UntrustedLikelihoodError(RuntimeError):
    """The likelihood was looked for, and what was found cannot be stood behind."""


class ChainsVerbs(CodingEstimator[CombinationParams, CombinationStats]):
    """The verbs that differ between enumerated machines and those that learn from chains."""

    partition_: Partition

    @abstractmethod
    def _model(self) -> Combination:
        """Return the machine with these hyperparameters."""

    @property
    def likelihood_(self) -> str:
        """What `score_samples` returns: "exact", or "estimate" where ln Z had to be estimated."""
        check_is_fitted(self, "params_")
        return "exact" if partition_error(self.params_) == 0.0 else "estimate"

    @property
    def log_partition_(self) -> float:
        """Return ln Z: exact, or an estimate with the standard error `log_partition_error_`."""
        check_is_fitted(self, "params_")
        self._need_partition()
        return float(self.params_.log_partition)

    @property
    def log_partition_error_(self) -> float:
        """Standard error of ln Z, the same for the log-likelihoods of all rows: 0 where it is exact."""
        check_is_fitted(self, "params_")
        self._need_partition()
        return partition_error(self.params_)

    def score_samples(self, X: object) -> Floats:
        """Return the log-likelihood of each row's observed bits, in nats; `likelihood_` says of which kind.

        With units that cannot be enumerated the first call estimates ln Z by annealed importance sampling, from two
        bases that must agree; it takes some seconds to minutes, and is refused where the figure cannot be trusted.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        log_likelihood : ndarray of shape (rows,)
        """
        return super().score_samples(X)

    def _likelihood(self) -> Any:
        rows = super()._likelihood()
        self._need_partition()
        return rows

    def estimate_partition(self, *, n_chains: int = 100, n_temperatures: int = 10_000) -> Partition:
        """Estimate ln Z of a machine that was fitted by chains, again, and keep it where it can be trusted.

        Up to 20 units ln Z is enumerated after the fit, and stays.

        Parameters
        ----------
        n_chains : int, default=100
            Rows that climb from each base.
        n_temperatures : int, default=10000
            Steps of their climb; more where the verdict asks for it.

        Returns
        -------
        partition : Partition
            The figure with its standard error, what each base found, and the verdict in a sentence.
        """
        check_is_fitted(self, "params_")
        if not isinstance(self.params_, ChainsParams):
            raise ValueError("This machine was fitted by enumeration: its ln Z is exact.")
        p = self.params_
        rng = Key(seed_of(self.random_state)).stream("normaliser").rng()
        with one_blas_thread():
            found = log_partition(
                p.weights,
                p.thresholds,
                p.bias,
                p.means,
                rng,
                n_chains=n_chains,
                n_temperatures=n_temperatures,
                run=current().executor.run,
            )
        self.partition_ = found
        if found.trustworthy and float(p.partition_error) != 0.0:  # what was enumerated stays exact
            error = np.asarray(found.standard_error)
            self.params_ = replace(p, log_partition=np.asarray(found.log_z), partition_error=error)
        return found

    def _need_partition(self) -> None:
        """See to it that ln Z is known, or refuse."""
        if partition_error(self.params_) < UNKNOWN:
            return
        found = self.estimate_partition()
        if not found.trustworthy:
            raise UntrustedLikelihoodError(
                f"The likelihood cannot be estimated reliably. {found.why} Try `estimate_partition` with more "
                "temperatures or chains, fewer units, or a larger ridge."
            )

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows from the fitted model: exactly, or by tempered Markov chains where units are too many.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8
        """
        check_is_fitted(self, "params_")
        model = self._model()
        if not isinstance(model, CombinationChains) or not isinstance(self.params_, ChainsParams):
            return super().sample(n_samples, random_state=random_state)
        check_n_samples(self, n_samples)
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        with one_blas_thread():
            rows, mixing = model.draw_and_judge(self.params_, n_samples, key.rng(), current().executor.run)
        if not mixing.well_mixed:
            warnings.warn(f"The drawn rows may not represent the model. {mixing.why}", PoorMixingWarning, stacklevel=2)
        return drawn_values(self, rows)

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
        model = self._model()
        if isinstance(model, CombinationChains):
            raise ValueError(
                'partial_fit needs a machine that can be enumerated (method="exact"). With chains, fit the whole '
                "table at once: it may be larger than memory."
            )
        return super().partial_fit(X, y, sample_weight)

    def _height(self, model: RowModel[CombinationParams, CombinationStats], table: Table) -> int:
        height = super()._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, CombinationChains) else height

    def _arranged(self, model: RowModel[CombinationParams, CombinationStats], table: Table) -> Table:
        return shuffled(table, seed_of(self.random_state)) if isinstance(model, CombinationChains) else table


class RealsVerbs(ChainsVerbs):
    """The verbs that differ between machines over bits and over reals; likelihood, codes and posterior do not."""

    visible: str

    @property
    def _takes_reals(self) -> bool:
        return self.visible == "reals"

    def _request(self, *, reset: bool) -> Request:
        if self._takes_reals and self.threshold is not None:
            raise ValueError('threshold= turns numbers into bits, and visible="reals" takes them as they are.')
        return super()._request(reset=reset)

    def complete(self, X: object) -> Any:
        """Fill in the missing cells from the row's observed ones; observed cells stay as they are.

        A missing bit becomes P(bit = 1), a missing real number its mean.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
        """
        return super().complete(X)

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows from the fitted model: exactly, or by tempered Markov chains where units are too many.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8, or of float64 with ``visible="reals"``
        """
        check_is_fitted(self, "params_")
        if self.visible == "bits":
            return super().sample(n_samples, random_state=random_state)
        return self._drawn(partial(self._model().draw, self.params_), n_samples, random_state, np.float64)

"""`Ensemble`: a mixture of fitted models of any family, weighted by what they say about rows they have not seen."""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table, TableError
from hiddenbits.data.mixed.cells import MixedTable
from hiddenbits.engine import Key, current, run_on
from hiddenbits.engine.checkpoint import path_beside
from hiddenbits.families._base.grouped import Grouped
from hiddenbits.families._base.inputs import TakesTables, as_table, seed_of, with_sample_weight
from hiddenbits.families._base.outputs import drawn_values, in_own_values, like
from hiddenbits.families.ensemble.files import EnsembleFiles
from hiddenbits.families.ensemble.members import same_coding, same_names
from hiddenbits.families.ensemble.pooling import completed, fit_weights, left_out, pool
from hiddenbits.families.ensemble.showing import ShowsMembers

KINDS = ("exact", "bound", "estimate")  # what the members' likelihoods are; the weakest is that of the mixture


class Ensemble(Grouped, TakesTables, EnsembleFiles, ShowsMembers, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of models: several fits of one estimator, or of several, each with a weight.

    P(row) is the weighted mean of what the members say, so the log-likelihood is exact where theirs is. The weights
    are fitted by EM to rows that no member was fitted to; the problem is concave, so there is one answer. A mixture
    of fits from different starts or different samples of the rows is rarely worse than its best member, and often far
    better where rows are long and few.

    Parameters
    ----------
    estimator : estimator or list of estimators, optional
        What the members are. By default a `BernoulliMixture` of 10 classes.
    n_estimators : int, default=10
        Fits of each estimator; they differ in their `random_state` and in the rows.
    rows : {"all", "bootstrap", "half"}, default="bootstrap"
        Which rows a member sees: all of them, as many drawn with replacement, or half of them drawn without.
    validation : float, default=0.1
        Share of the rows that are kept back, at random, to fit the weights; 0 gives every member the same weight.
        Not used when `fit` is handed rows for it.
    prior_strength : float, default=1.0
        Pseudo-rows that speak for equal weights. More of them when few rows are kept back for many members.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the members, of the rows they see, and of `sample`.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    weights_ : ndarray of shape (members,)
        Weight of each member.
    likelihood_ : {"exact", "bound", "estimate"}
        What `score_samples` returns: the weakest of what the members return.
    converged_ : bool
        Whether every member and the weights converged.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    Examples
    --------
    >>> from hiddenbits import BernoulliMixture, Ensemble
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(900, 20, 5, seed=0).X
    >>> one = BernoulliMixture(5, n_init=1, random_state=0)
    >>> model = Ensemble(one, n_estimators=4, random_state=0).fit(X[:600])
    >>> model.likelihood_, len(model.weights_)
    ('exact', 4)
    >>> bool(model.score(X[600:]) > min(member.score(X[600:]) for member in model.estimators_))
    True
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "estimator": "no_validation",
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "rows": [StrOptions({"all", "bootstrap", "half"})],
        "validation": [Interval(Real, 0, 1, closed="left")],
        "prior_strength": [Interval(Real, 0, None, closed="left")],
        "threshold": [Interval(Real, None, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 10,
        rows: Literal["all", "bootstrap", "half"] = "bootstrap",
        validation: float = 0.1,
        prior_strength: float = 1.0,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.rows = rows
        self.validation = validation
        self.prior_strength = prior_strength
        self.threshold = threshold
        self.random_state = random_state

    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None, X_valid: object = None) -> Self:
        """Fit the members to a table of bits, and their weights to rows that are kept back.

        Parameters
        ----------
        X : array, sparse array or matrix, frame or Table of shape (rows, columns)
            0, 1, and blanks (NaN, None, masked) for cells that were not observed.
        y : None
            Ignored; scikit-learn's convention.
        sample_weight : array of shape (rows,), optional
            Weight of each row; it counts for the members and, in the rows kept back, for the weights.
        X_valid : table of shape (other rows, columns), optional
            Rows to fit the weights to. The members then see all rows of X.

        Returns
        -------
        self
        """
        self._validate_params()
        self._members()  # refuses what cannot be a member before anything is fitted
        table = with_sample_weight(as_table(self, X, reset=True), sample_weight)
        weights: Floats = np.ones(table.shape[0]) if table.weights is None else table.weights
        seed = seed_of(self.random_state)
        held = self._held_back(weights, seed) if X_valid is None else np.zeros(len(weights), bool)
        kept = np.where(held, 0.0, weights)
        self.estimators_ = []
        for number, member in enumerate(self._members()):
            key = Key(seed, number + 1)
            member.set_params(random_state=int(key.rng().integers(2**31 - 1)))
            rows = table.with_weights(self._drawn_weights(kept, key.at(block=1).rng()))
            with run_on(checkpoint=_checkpoint_of(number)):
                self.estimators_.append(member.fit(rows))
        if X_valid is not None:
            return self._weigh(as_table(self, X_valid, reset=False))
        return self._weigh(table.with_weights(np.where(held, weights, 0.0)) if held.any() else None)

    @classmethod
    def of(cls, members: Any, X_valid: object = None, *, prior_strength: float = 1.0) -> Self:
        """Return the mixture of models that have been fitted already.

        Parameters
        ----------
        members : list of fitted estimators
            All of them to tables with the same columns.
        X_valid : table of shape (rows, columns), optional
            Rows to fit the weights to, none of which the members were fitted to. By default weights are equal.
        prior_strength : float, default=1.0
            As for the constructor.

        Returns
        -------
        ensemble : fitted Ensemble
        """
        members = list(members)
        for member in members:
            check_is_fitted(member)
        made = cls([clone(member) for member in members], n_estimators=1, prior_strength=prior_strength)
        made._validate_params()
        made._members()
        widths = {member.n_features_in_ for member in members}
        if len(widths) > 1:
            raise ValueError(f"Members are of tables with {sorted(widths)} columns. Fit them to the same columns.")
        made.estimators_, made.n_features_in_ = members, widths.pop()
        made.coding_ = same_coding(members)
        if hasattr(members[0], "feature_names_in_"):
            made.feature_names_in_ = members[0].feature_names_in_
        for member in members[1:]:
            if hasattr(made, "feature_names_in_"):
                same_names(made, member)
        return made._weigh(None if X_valid is None else as_table(made, X_valid, reset=False))

    def _members(self) -> list[BaseEstimator]:
        """Return unfitted members, all fits of one estimator after the other."""
        from hiddenbits.families._base.estimator import BitsEstimator
        from hiddenbits.families.bernoulli_mixture.estimator import BernoulliMixture

        given = BernoulliMixture(10, n_init=1) if self.estimator is None else self.estimator
        kinds = list(given) if isinstance(given, (list, tuple)) else [given]
        if not kinds:
            raise ValueError("estimator=[]: give at least one estimator.")
        for kind in kinds:
            if not isinstance(kind, BitsEstimator):
                raise TypeError(f"A member is {kind!r}, which is not an estimator of hiddenbits.")
        return [clone(kind) for kind in kinds for _ in range(self.n_estimators)]

    def _held_back(self, weights: Floats, seed: int) -> NDArray[np.bool_]:
        """Return which rows are kept back for the weights: a share of those that count, chosen at random."""
        held = np.zeros(len(weights), bool)
        if self.validation == 0.0:
            return held
        there = np.flatnonzero(weights)
        n = max(1, round(self.validation * len(there)))
        if n >= len(there):
            raise ValueError(
                f"n_samples={len(there)}: with validation={self.validation} no row is left for the members. Give more "
                "rows, or validation=0."
            )
        held[Key(seed).rng().permutation(there)[:n]] = True
        return held

    def _drawn_weights(self, kept: Floats, rng: np.random.Generator) -> Floats:
        """Return the weights of the rows as one member sees them; rows of weight 0 are not seen."""
        there = np.flatnonzero(kept)
        if self.rows == "all" or len(there) < 2:
            return kept
        if self.rows == "half":
            counts = np.zeros(len(there))
            counts[rng.permutation(len(there))[: (len(there) + 1) // 2]] = 1.0
        else:
            counts = rng.multinomial(len(there), np.full(len(there), 1.0 / len(there))).astype(np.float64)
        drawn = np.zeros(len(kept))
        drawn[there] = kept[there] * counts
        return drawn

    def _weigh(self, table: Table | None) -> Self:
        """Fit the weights to the rows of a table that have weight; equal weights where there is none."""
        M = len(self.estimators_)
        self.weights_, reached = np.full(M, 1.0 / M), True
        if table is not None and M > 1:
            l = self._log_likelihoods(table)  # noqa: E741
            v: Floats = np.ones(len(l)) if table.weights is None else table.weights
            if not np.isfinite(l[v > 0]).all():
                raise ValueError("A member gives a row that was kept back no finite log-likelihood.")
            self.weights_, reached = fit_weights(l[v > 0], v[v > 0], self.prior_strength)
        self.converged_ = reached and all(bool(getattr(member, "converged_", True)) for member in self.estimators_)
        return self

    # ------------------------------------------------------------------------------------------------ verbs over rows

    def _table(self, X: object) -> Table:
        check_is_fitted(self, "weights_")
        return as_table(self, X, reset=False)

    def _accept(self, table: Table, *, reset: bool) -> None:
        if isinstance(table, MixedTable):
            raise TableError("Ensemble is for bits, and this table has other columns. Fit the members one by one.")

    def _log_likelihoods(self, table: Table) -> Floats:
        return np.stack([member.score_samples(table) for member in self.estimators_], axis=1)

    @property
    def likelihood_(self) -> str:
        """What `score_samples` returns: "exact", "bound" or "estimate", the weakest of the members'."""
        check_is_fitted(self, "weights_")
        return max((str(member.likelihood_) for member in self.estimators_), key=KINDS.index)

    def score_samples(self, X: object) -> Floats:
        """Return the log-likelihood of each row's observed bits, in nats; `likelihood_` says of which kind.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        log_likelihood : ndarray of shape (rows,)
        """
        table = self._table(X)
        return pool(self._log_likelihoods(table), self.weights_)[0]

    def score(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log-likelihood of the rows, in nats.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored.
        sample_weight : array of shape (rows,), optional
            Weight of each row.
        """
        table = with_sample_weight(self._table(X), sample_weight)
        return float(np.average(self.score_samples(table), weights=table.weights))

    def posterior(self, X: object) -> Floats:
        """Return the probability of each member given the row's observed bits.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        members : ndarray of shape (rows, members)
        """
        table = self._table(X)
        return pool(self._log_likelihoods(table), self.weights_)[1]

    def transform(self, X: object) -> Floats:
        """Return the probability of each member given the row's observed bits, as `posterior` does.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        members : ndarray of shape (rows, members), or what `set_output` asks for
        """
        return self.posterior(X)

    def complete(self, X: object) -> Any:
        """Fill in the missing cells with P(bit = 1 | the row's observed bits); observed cells stay as they are.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
            Where the fit made bits of other values (`coding_`), in these values, as for `BernoulliMixture`.
        """
        table = self._table(X)
        r, given = self.posterior(table), table.to_float()
        filled = completed(r, (member.complete(table) for member in self.estimators_))
        whole = np.where(np.isnan(given), filled, given)
        return like(X, whole) if table.coding is None or isinstance(X, Table) else in_own_values(X, table, whole)

    def bit_probabilities(self, X: object) -> Any:
        """Return P(bit = 1 | the other observed bits of the row) for every cell, observed or not.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        probabilities : ndarray of shape (rows, columns), or a frame where X is one
        """
        table = self._table(X)
        r, given = self.posterior(table), table.to_float()
        answers = (member.bit_probabilities(table) for member in self.estimators_)
        names = None if table.coding is None else table.names
        return like(X, left_out(r, given, ~np.isnan(given), answers), names)

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows: for each row a member by its weight, then the row from the member.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8
            Where the fit made bits of other values (`coding_`), these values: a frame like that of the fit, or a dict
            of columns where the fit was to a file.
        """
        check_is_fitted(self, "weights_")
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: draw at least one row.")
        rng = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample").rng()
        chosen = rng.choice(len(self.weights_), size=n_samples, p=self.weights_)
        out = np.empty((n_samples, self.n_features_in_), np.uint8)
        for m, member in enumerate(self.estimators_):
            here, seed = np.flatnonzero(chosen == m), int(rng.integers(2**31 - 1))
            if len(here):
                bits = copy(member)  # which knows nothing of values
                bits.coding_ = None
                out[here] = bits.sample(len(here), random_state=seed)
        return drawn_values(self, out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _checkpoint_of(number: int) -> Path | None:
    """Return the file for the checkpoint of a member, next to the one that `run_on` names."""
    path = current().checkpoint
    return None if path is None else path_beside(path, f"member{number + 1}")

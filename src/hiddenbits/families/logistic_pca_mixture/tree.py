"""`map_tree`: maps that are split into maps again, level by level (Bishop and Tipping's hierarchy, for bits).

With r_ni = P(map i | row n) on one level, the children of map i are a mixture of maps fitted with row weights r_ni:

    ln P(t) = ln Sum_leaves pi_leaf P(t | leaf),     pi_leaf = pi_i pi_j|i for child j of map i.

While r_ni is frozen this raises a lower bound only, so EM over all maps of the level follows each split. A map is split
where held-out rows say so: the paired differences between ln P of the whole mixture with and without the split have to
gain more than some standard errors. All of this needs ln P(t | map), not bounds of differing gap: it is integrated.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats
from hiddenbits.data import Table
from hiddenbits.data.subset import take_rows
from hiddenbits.families._base.inputs import SmallWeightsWarning, as_table, seed_of
from hiddenbits.families.logistic_pca.params import canonical
from hiddenbits.families.logistic_pca_mixture.estimator import LogisticPCAMixture
from hiddenbits.families.logistic_pca_mixture.params import MapsParams

SMALLEST = 20.0  # a map with a smaller weight of rows is not split
UNSEEN = 1e-4  # rows that belong to a map with less probability do not take part in its split


@dataclass(frozen=True)
class Split:
    """A map that was tried to be split, and what held-out rows say.

    Attributes
    ----------
    name : str
        The map, as in `MapTree.names`.
    gain, standard_error : float
        Mean difference between ln P of held-out rows with and without the split, in nats a row, and its standard error.
    kept : bool
        Whether the map was split.
    """

    name: str
    gain: float
    standard_error: float
    kept: bool


@dataclass(frozen=True, eq=False)
class MapTree:
    """Maps on several levels, as `map_tree` returns them.

    Attributes
    ----------
    levels : tuple of LogisticPCAMixture
        The fitted mixture of each level, the first with one map. Its maps are in the order of `names`, children of one
        map next to each other, and not by size. A map that was not split is on the next level too.
    parents : tuple of tuple of int
        For each level and map, the number of its parent on the level above; -1 for the first map.
    names : tuple of tuple of str
        For each level and map its name: "1", then "1.1" and "1.2", then "1.1.1" and so on. A map that was not split
        keeps its name.
    splits : tuple of Split
        What was tried, and what held-out rows said.
    scores : tuple of float
        Mean ln P of the held-out rows by each level, in nats a row. Splits were chosen on these rows.
    held_out : ndarray of int
        Numbers of the rows that were held out.

    Examples
    --------
    >>> from hiddenbits import LogisticPCAMixture, map_tree
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, _ = simulate_prototypes(4, 30, n_copies=60, seed=0)
    >>> tree = map_tree(rows, LogisticPCAMixture(2, n_init=1, random_state=0), max_levels=2)
    >>> tree.parents                          # both maps of the second level come from the first map
    ((-1,), (0, 0))
    >>> [level.n_maps for level in tree.levels]
    [1, 2]
    >>> tree.leaves.score_samples(rows).shape
    (240,)
    """

    levels: tuple[LogisticPCAMixture, ...]
    parents: tuple[tuple[int, ...], ...]
    names: tuple[tuple[str, ...], ...]
    splits: tuple[Split, ...]
    scores: tuple[float, ...]
    held_out: NDArray[np.intp]

    @property
    def leaves(self) -> LogisticPCAMixture:
        """The mixture of the last level: the model of the rows."""
        return self.levels[-1]

    def responsibilities(self, X: object) -> tuple[Floats, ...]:
        """Return how far each row belongs to each map, level by level, by integrated likelihoods.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `map_tree`.

        Returns
        -------
        shares : tuple of ndarray of shape (rows, maps of the level)
            Each row of each adds up to 1.
        """
        return tuple(_shares(level, _each_map(level, X)) for level in self.levels)


class _InOrder(LogisticPCAMixture):
    """The mixture of a level while it is fitted: its maps keep their order, and so their parents."""

    def _finished(self, params: MapsParams) -> MapsParams:
        return MapsParams.of(params.weights, [canonical(one) for one in params.maps])


def map_tree(
    X: object,
    split: LogisticPCAMixture | None = None,
    *,
    max_levels: int = 3,
    validation_fraction: float = 0.25,
    standard_errors: float = 2.0,
) -> MapTree:
    """Fit a tree of maps: one map of all rows, split into maps of its regions, and these again.

    The children of a map are a mixture fitted to its rows, each with the weight with which it belongs to the map. A
    map is split where this raises the likelihood of held-out rows by more than chance; then all maps of the level are
    fitted together. `plots.map_tree` draws all levels.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Bits, as for `LogisticPCAMixture`; the weights of a `Table` count as numbers of rows.
    split : LogisticPCAMixture, optional
        How to split a map: `n_maps` is the number of its children, and all other options are those of every fit. By
        default ``LogisticPCAMixture(2, n_maps=2, random_state=0)``.
    max_levels : int, default=3
        Most levels, the first map included.
    validation_fraction : float, default=0.25
        Share of the rows, chosen at random, that decide which maps are split. No map is fitted to them.
    standard_errors : float, default=2.0
        A map is split where the gain is more than this many of its standard errors.

    Returns
    -------
    tree : MapTree
        Its levels are fitted estimators; `tree.leaves` is the model of the rows.

    See Also
    --------
    LogisticPCAMixture : A flat mixture of as many maps as it is told.

    References
    ----------
    Bishop and Tipping (1998), "A hierarchical latent variable model for data visualization".

    Examples
    --------
    >>> from hiddenbits import LogisticPCAMixture, map_tree
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, prototype = simulate_prototypes(3, 24, n_copies=150, flip=0.1, seed=0)
    >>> tree = map_tree(rows, LogisticPCAMixture(1, n_maps=2, n_init=2, random_state=0))
    >>> tree.names                            # two of the three kinds of rows find room on one line
    (('1',), ('1.1', '1.2'))
    >>> [said.kept for said in tree.splits]
    [True, False, False]
    >>> tree.responsibilities(rows)[-1].shape
    (450, 2)
    """
    how = LogisticPCAMixture(random_state=0) if split is None else split
    if how.n_maps < 2:
        raise ValueError(f"split.n_maps={how.n_maps}: a map is split into 2 or more.")
    if max_levels < 1 or not 0.0 < validation_fraction < 1.0 or standard_errors < 0.0:
        raise ValueError("max_levels must be 1 or more, validation_fraction in (0, 1), standard_errors not negative.")
    table = as_table(clone(how), X, reset=True)
    train, valid, held_out = _parted(table, validation_fraction, seed_of(how.random_state))
    root = clone(_like(how, _InOrder)).set_params(n_maps=1).fit(train)
    levels: list[LogisticPCAMixture] = [root]
    parents: list[tuple[int, ...]] = [(-1,)]
    names: list[tuple[str, ...]] = [("1",)]
    splits: list[Split] = []
    scores = [_mean(_mixed(root, _each_map(root, valid)), valid)]
    while len(levels) < max_levels:
        grown, above, called, tried = _next_level(levels[-1], how, train, valid, names[-1], standard_errors)
        splits.extend(tried)
        if len(above) == len(names[-1]):
            break
        levels.append(grown)
        parents.append(above)
        names.append(called)
        scores.append(_mean(_mixed(grown, _each_map(grown, valid)), valid))
    made = tuple(_like(level, LogisticPCAMixture) for level in levels)
    return MapTree(made, tuple(parents), tuple(names), tuple(splits), tuple(scores), held_out)


def _like(model: LogisticPCAMixture, kind: type[LogisticPCAMixture]) -> LogisticPCAMixture:
    """Return the same estimator, fitted or not, as one of another class."""
    made = kind(**model.get_params(deep=False))
    made.__dict__.update(copy(model).__dict__)
    return made


def _parted(table: Table, fraction: float, seed: int) -> tuple[Table, Table, NDArray[np.intp]]:
    n = table.shape[0]
    k = round(fraction * n)
    if not 2 <= k <= n - 2:
        raise ValueError(f"{n} rows are too few to hold out a share of {fraction:g}.")
    held = np.zeros(n, bool)
    held[np.random.default_rng(seed).permutation(n)[:k]] = True
    return take_rows(table, ~held), take_rows(table, held), np.flatnonzero(held)


def _each_map(level: LogisticPCAMixture, X: object) -> Floats:
    """Return ln P(row | map), (rows, maps): integrated, or sampled where a grid would be too large."""
    check_is_fitted(level, "params_")
    return np.stack([one.score_samples(X) for one in level.maps_], axis=1)


def _mixed(level: LogisticPCAMixture, log_p: Floats) -> Floats:
    return np.asarray(logsumexp(log_p + np.log(level.weights_), axis=1))


def _shares(level: LogisticPCAMixture, log_p: Floats) -> Floats:
    return np.asarray(np.exp(log_p + np.log(level.weights_) - _mixed(level, log_p)[:, None]))


def _mean(values: Floats, table: Table) -> float:
    return float(np.average(values, weights=table.weights))


def _gain(difference: Floats, table: Table) -> tuple[float, float]:
    """Return the weighted mean of paired differences and its standard error."""
    weights = np.ones(len(difference)) if table.weights is None else table.weights
    mean, n = _mean(difference, table), float(weights.sum())
    return mean, float(np.sqrt(weights @ (difference - mean) ** 2 / max(n - 1.0, 1.0) / n))


def _next_level(
    level: LogisticPCAMixture,
    how: LogisticPCAMixture,
    train: Table,
    valid: Table,
    names: tuple[str, ...],
    standard_errors: float,
) -> tuple[LogisticPCAMixture, tuple[int, ...], tuple[str, ...], list[Split]]:
    """Try to split each map of a level, the largest first: the maps below it, their parents and names, what was tried.

    After each split all maps are fitted together, before the next is tried: where a split above has cut a group of rows
    in two, this brings it together again, and it is not found twice.
    """
    parents, called, tried = list(range(len(names))), list(names), []
    for k in np.argsort(-level.weights_, kind="stable").tolist():
        at = parents.index(k)
        children, gain, error = _children(level, at, how, train, valid)
        if children is None:
            continue
        kept = gain > standard_errors * error
        tried.append(Split(names[k], gain, error, kept))
        if kept:
            level = _replaced(level, at, children).refit(train)
            n = len(children.weights_)
            parents[at : at + 1] = [k] * n
            called[at : at + 1] = [f"{names[k]}.{j + 1}" for j in range(n)]
    return level, tuple(parents), tuple(called), tried


def _children(
    level: LogisticPCAMixture, k: int, how: LogisticPCAMixture, train: Table, valid: Table
) -> tuple[LogisticPCAMixture | None, float, float]:
    """Return a mixture for the rows of map k, what it gains on held-out rows, and the standard error; None if small."""
    share, log_p = _shares(level, _each_map(level, train))[:, k], _each_map(level, valid)
    rows = share > UNSEEN
    weight = float(share[rows].sum() if train.weights is None else share[rows] @ train.weights[rows])
    if weight < SMALLEST:
        return None, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallWeightsWarning)
        children = clone(how).fit(take_rows(train, rows).with_sample_weight(share[rows]))
    new = _mixed(children, _each_map(children, valid)) + np.log(level.weights_[k])
    rest = np.delete(log_p + np.log(level.weights_), k, axis=1)
    after = logsumexp(np.column_stack([rest, new]), axis=1)
    return children, *_gain(after - _mixed(level, log_p), valid)


def _replaced(level: LogisticPCAMixture, k: int, children: LogisticPCAMixture) -> LogisticPCAMixture:
    """Return the mixture with map k replaced by its children, not yet fitted together."""
    params = level.params_
    # The prior of all maps is centred at all rows: that of the children was centred at theirs.
    below = [replace(one, centre=params.centre) for one in children.params_.maps]
    weights = np.concatenate([params.weights[:k], params.weights[k] * children.weights_, params.weights[k + 1 :]])
    made = copy(level).set_params(n_maps=len(weights))
    made.params_ = MapsParams.of(weights / weights.sum(), [*params.maps[:k], *below, *params.maps[k + 1 :]])
    return made

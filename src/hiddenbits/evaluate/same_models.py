"""Models of different families that are the same set of distributions: a comparison fits and lists only one of them.

With d binary columns,

- one class, and a hidden tree whose variables have one state, are independent columns;
- a combination machine of one unit is two classes: with the unit off and on, the columns are independent, and its
  threshold sets how often it is on;
- a single column has no parameter but its share of 1s;
- two classes can represent every distribution of two columns, and so can every other model except a noisy OR, whose
  causes cannot make columns exclude each other.

A noisy OR of one cause is two classes of which one has more 1s in *every* column. That is a smaller set of
distributions, so it is listed as another model; so are models of one dimension and mixtures of one tree. For real
columns, principal components and factors can both represent any covariance if they are one fewer than the columns. The
priors of the families differ, so fits of the same model may differ slightly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from hiddenbits.evaluate.catalog import BY_NAME, FAMILIES, Family, exclusion_reason
from hiddenbits.tables import Table

KnownAs = tuple[str, Any]  # the best-known family that a model belongs to, and its size
ANY_TWO_COLUMNS = ("LogisticPCA", "ClippedPCA", "CombinationMachine", "TreeMixture", "HiddenTree", "TopographicMap")


class EquivalentModel(NamedTuple):
    """A contender and its size that are fitted instead of the same model of another contender."""

    contender: Contender
    size: Any

    def __str__(self) -> str:
        size = _size_of(*self)
        return self.contender.name if size is None else f"{self.contender.name}({size})"


EquivalentModels = dict[tuple[str, Any], EquivalentModel]  # by name of the contender, and size


def equivalent_models(contenders: Sequence[Contender], table: Table) -> EquivalentModels:
    """Return which model is fitted instead of a model that is the same as one of another family.

    The best-known one is fitted, whatever the order; if it is not among the contenders, each is fitted and has no
    entry. Estimators of one family with different settings are compared as the caller specified them.
    """
    models = [(contender, size) for contender in contenders for size in contender.sizes or (None,)]
    known = [known_as(contender, size, table) for contender, size in models]
    best_known: dict[KnownAs, EquivalentModel] = {}
    for (contender, size), name in zip(models, known, strict=True):
        if contender.family.name == name[0] and _size_of(contender, size) == name[1]:
            best_known.setdefault(name, EquivalentModel(contender, size))
    return {
        (contender.name, size): best_known[name]
        for (contender, size), name in zip(models, known, strict=True)
        if name in best_known and best_known[name].contender.family.name != contender.family.name
    }


def known_as(contender: Contender, size: Any, table: Table) -> KnownAs:
    """Return the best-known family that this model belongs to, and its size (by default the estimator's)."""
    # classes of a single column are one class if it is binary, but not if it holds numbers
    family, size, d = contender.family.name, _size_of(contender, size), table.shape[1] + 2 * table.n_numbers
    if not table.only_bits:
        any_covariance = family in ("PCA", "FactorAnalysis") and size == d - 1
        return ("PCA", size) if any_covariance else (family, size)
    n_classes = _n_classes(contender, size, d)
    if n_classes is None:
        return family, size
    return ("IndependentColumns", None) if n_classes == 1 else ("LatentClassAnalysis", n_classes)


def _size_of(contender: Contender, size: Any) -> Any:
    return getattr(contender.estimator, "n_components", None) if size is None else size


def _n_classes(contender: Contender, size: Any, n_columns: int) -> int | None:
    """Return the number of classes to which the model is equivalent; None if it is not a mixture of classes."""
    family, estimator = contender.family.name, contender.estimator
    if not contender.family.word or not getattr(estimator, "bias", True) or not getattr(estimator, "biases", True):
        return None  # not of this library, or not every share of 1s is possible
    if n_columns == 1 or family == "IndependentColumns":
        return 1
    if n_columns == 2 and family in ANY_TWO_COLUMNS and (family, size) != ("HiddenTree", 1):
        return 2
    return {
        "LatentClassAnalysis": size,
        "CombinationMachine": 2 if size == 1 else None,
        "HiddenTree": 1 if size == 1 else None,
    }.get(family)


# The models of a comparison: from names and estimators to families with settings and sizes.


@dataclass(frozen=True)
class Contender:
    """A family in a comparison: its name, settings and sizes."""

    name: str
    family: Family
    estimator: BaseEstimator
    sizes: tuple[Any, ...]
    all_sizes: bool = False  # whether all sizes are tried: those that the caller specified


def chosen_families(
    models: Any, sizes: Mapping[str, Sequence[Any]], table: Table, seed: int
) -> tuple[list[Contender], dict[str, str]]:
    """Return the families to compare, and why others are excluded."""
    named = models is not None
    if not named:
        candidates = {family.name: family.name for family in FAMILIES}
    elif isinstance(models, Mapping):
        candidates = dict(models)
    else:
        candidates = {}
        for model in [models] if isinstance(models, str) else models:
            name = model if isinstance(model, str) else type(model).__name__
            if name in candidates:
                raise ValueError(f"{name} appears twice in models=. Give a dict with a name for each estimator.")
            candidates[name] = model
    if unknown := set(sizes) - set(candidates):
        raise ValueError(f"sizes= names {', '.join(sorted(unknown))}, which is not in models=.")
    contenders: list[Contender] = []
    excluded: dict[str, str] = {}
    for name, model in candidates.items():
        if isinstance(model, str) and model not in BY_NAME:
            raise ValueError(f"Unknown model {model!r}. Choose from {', '.join(BY_NAME)}, or give an estimator.")
        known = BY_NAME.get(model if isinstance(model, str) else type(model).__name__)
        family = known or Family(name=type(model).__name__, hidden="", columns=getattr(model, "visible", "bits"))
        estimator = family.estimator(seed) if isinstance(model, str) else model
        reason = exclusion_reason(family, table, estimator, named=named)
        if reason is not None:
            excluded[name] = reason
            continue
        sizes_to_try = tuple(sizes[name]) if name in sizes else family.sizes_for(table)
        if family.sizes and name not in sizes and not sizes_to_try:
            excluded[name] = "the table has too few rows or columns for its smallest size"
            continue
        contenders.append(Contender(name, family, estimator, sizes_to_try, name in sizes))
    return contenders, excluded

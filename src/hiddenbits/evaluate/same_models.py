"""Which models of different families are the same set of distributions: a comparison fits and names only one of them.

With d columns of bits,

- one class, and a hidden tree whose variables have one state, are independent columns;
- a combination machine of one unit is two classes: with the unit off and on, the columns are independent, and its
  threshold sets how often it is on;
- of one column there is nothing but its share of ones;
- of two columns every table is two classes: so is what any other model says of them, except a noisy OR, whose causes
  cannot make columns exclude each other.

A noisy OR of one cause is two classes of which one has more ones in *every* column: a smaller set, so it stays. So do
maps of one dimension and mixtures of one tree. Of real columns, principal components and factors that are one fewer
than the columns are both any covariance. A fit still has a prior of its own: the same model may differ a little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from hiddenbits.evaluate.catalog import BY_NAME, FAMILIES, Family, obstacle
from hiddenbits.tables import Table

Known = tuple[str, Any]  # a family and its size, the ones that people know best
ANY_TWO_COLUMNS = ("LogisticPCA", "ClippedPCA", "CombinationMachine", "TreeMixture", "HiddenTree", "TopographicMap")


class Stand(NamedTuple):
    """What is fitted in place of a contender at some size: another contender at its size."""

    contender: Contender
    size: Any

    def __str__(self) -> str:
        size = _own_size(*self)
        return self.contender.name if size is None else f"{self.contender.name}({size})"


Stands = dict[tuple[str, Any], Stand]  # by name of the contender, and size


def stands_for(contenders: Sequence[Contender], table: Table) -> Stands:
    """Return what stands for models that are the same as one of another family; models that stand alone are missing.

    The one that people know best stands for the others, whatever their order; if it is not among the contenders, each
    stands alone. Estimators of one family with different settings are compared as the caller gave them.
    """
    every = [(one, size) for one in contenders for size in one.sizes or (None,)]
    known = [known_as(one, size, table) for one, size in every]
    best_known: dict[Known, Stand] = {}
    for (one, size), name in zip(every, known, strict=True):
        if one.family.name == name[0] and _own_size(one, size) == name[1]:
            best_known.setdefault(name, Stand(one, size))
    return {
        (one.name, size): best_known[name]
        for (one, size), name in zip(every, known, strict=True)
        if name in best_known and best_known[name].contender.family.name != one.family.name
    }


def known_as(contender: Contender, size: Any, table: Table) -> Known:
    """Return the family and size by which people know this model; without a size, at that of its estimator."""
    family, size, d = contender.family.name, _own_size(contender, size), table.shape[1]
    if not table.only_bits:
        full = family in ("PCA", "FactorAnalysis") and size == d - 1
        return ("PCA", size) if full else (family, size)
    classes = _classes(contender, size, d)
    if classes is None:
        return family, size
    return ("IndependentColumns", None) if classes == 1 else ("LatentClassAnalysis", classes)


def _own_size(contender: Contender, size: Any) -> Any:
    return getattr(contender.estimator, "n_components", None) if size is None else size


def _classes(contender: Contender, size: Any, n_columns: int) -> int | None:
    """Return the number of classes that the model is; None if it is no mixture of classes."""
    family, estimator = contender.family.name, contender.estimator
    if not contender.family.word or not getattr(estimator, "bias", True) or not getattr(estimator, "biases", True):
        return None  # not of ours, or not every share of ones is possible
    if n_columns == 1 or family == "IndependentColumns":
        return 1
    if n_columns == 2 and family in ANY_TWO_COLUMNS and (family, size) != ("HiddenTree", 1):
        return 2
    return {
        "LatentClassAnalysis": size,
        "CombinationMachine": 2 if size == 1 else None,
        "HiddenTree": 1 if size == 1 else None,
    }.get(family)


# Which models take part in a comparison: from names and estimators to families with settings and sizes.


@dataclass(frozen=True)
class Contender:
    """A family in a comparison: its name, settings and sizes."""

    name: str
    family: Family
    estimator: BaseEstimator
    sizes: tuple[Any, ...]
    given: bool = False  # the caller gave the sizes: all of them are tried


def chosen_families(
    models: Any, sizes: Mapping[str, Sequence[Any]], table: Table, seed: int
) -> tuple[list[Contender], dict[str, str]]:
    """Return the families to compare, and why others are left out."""
    named = models is not None
    if not named:
        given = {family.name: family.name for family in FAMILIES}
    elif isinstance(models, Mapping):
        given = dict(models)
    else:
        given = {}
        for model in [models] if isinstance(models, str) else models:
            name = model if isinstance(model, str) else type(model).__name__
            if name in given:
                raise ValueError(f"{name} appears twice in models=. Give a dict with a name for each estimator.")
            given[name] = model
    if unknown := set(sizes) - set(given):
        raise ValueError(f"sizes= names {', '.join(sorted(unknown))}, which is not in models=.")
    contenders: list[Contender] = []
    left_out: dict[str, str] = {}
    for name, model in given.items():
        if isinstance(model, str) and model not in BY_NAME:
            raise ValueError(f"Unknown model {model!r}. Choose from {', '.join(BY_NAME)}, or give an estimator.")
        known = BY_NAME.get(model if isinstance(model, str) else type(model).__name__)
        family = known or Family(name=type(model).__name__, hidden="", columns=getattr(model, "visible", "bits"))
        estimator = family.estimator(seed) if isinstance(model, str) else model
        why = obstacle(family, table, estimator, named=named)
        if why is not None:
            left_out[name] = why
            continue
        own = tuple(sizes[name]) if name in sizes else family.sizes_for(table)
        if family.sizes and name not in sizes and not own:
            left_out[name] = "the table has too few rows or columns for its smallest size"
            continue
        contenders.append(Contender(name, family, estimator, own, name in sizes))
    return contenders, left_out

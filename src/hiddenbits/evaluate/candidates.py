"""Which models take part in a comparison: from names and estimators to families with settings and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from hiddenbits import Table
from hiddenbits.evaluate.catalogue import BY_NAME, FAMILIES, Family, obstacle


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

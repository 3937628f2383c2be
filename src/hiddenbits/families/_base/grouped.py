"""Hyperparameters that belong together are one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import validate_parameter_constraints

from hiddenbits.store.validation import require


@dataclass(frozen=True, repr=False)
class Group:
    """Base of the frozen dataclasses that hold several hyperparameters: plain values, checked when they are made."""

    _constraints: ClassVar[dict[str, list[object]]] = {}

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in self.names()}
        validate_parameter_constraints(self._constraints, values, type(self).__name__)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of its hyperparameters."""
        return [one.name for one in fields(cls)]

    def __repr__(self) -> str:
        """Return how to make it: what differs from the defaults, as for estimators."""
        said = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in said.items())})"


class Grouped:
    """An estimator some of whose parameters are groups.

    `_groups` are the groups that a parameter may be, by the word that may stand for it ("" for None, the default).
    """

    _groups: ClassVar[Mapping[str, Mapping[str, Group]]] = {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``schedule__n_passes=20`` is one number of a group.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self
        """
        whole, parts = split_groups(type(self), params)
        super().set_params(**whole)  # type: ignore[misc]
        for name, values in parts.items():
            setattr(self, name, regrouped(type(self), name, getattr(self, name), values))
        return self

    def _group(self, name: str) -> Any:
        """Return the group that a parameter is or stands for; None where it is neither."""
        return _meant(type(self), name, getattr(self, name))

    @classmethod
    def _from_file(cls, given: Mapping[str, Any]) -> Self:
        """Return an estimator with the hyperparameters of a file, which has groups as mappings of all their numbers."""
        values = dict(given)
        for name, words in cls._groups.items():
            if isinstance(found := given[name], dict):
                kinds = [type(group) for group in words.values() if set(group.names()) == set(found)]
                require(bool(kinds), f"its {name} is none that {cls.__name__} knows")
                values[name] = kinds[0](**found)
        return cls(**values)


def split_groups(cls: type[Grouped], params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return whole parameters, and the parts of groups by group: {"schedule": {"n_passes": 20}}."""
    whole: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in params.items():
        group, _, one = name.partition("__")
        if one and group in cls._groups:
            parts.setdefault(group, {})[one] = value
        else:
            whole[name] = value
    return whole, parts


def regrouped(cls: type[Grouped], name: str, now: object, values: Mapping[str, Any]) -> Group:
    """Return a group with some of its values changed; where there is none yet, the one that has such values."""
    now = _meant(cls, name, now)
    if isinstance(now, Group) and set(values) <= set(now.names()):
        return replace(now, **values)
    return _kind(cls, name, list(values))(**values)


def _meant(cls: type[Grouped], name: str, value: Any) -> Any:
    """Return the group that a word stands for, or None for the default; anything else as it is."""
    return cls._groups[name].get(value or "") if value is None or isinstance(value, str) else value


def _kind(cls: type[Grouped], name: str, wanted: list[str]) -> type[Group]:
    """Return the class of a parameter that has these values."""
    kinds = [type(group) for group in cls._groups[name].values()]
    for kind in kinds:
        if set(wanted) <= set(kind.names()):
            return kind
    known = "; ".join(f"{kind.__name__} has {', '.join(kind.names())}" for kind in dict.fromkeys(kinds))
    raise TypeError(f"{name} of {cls.__name__} cannot have {', '.join(wanted)[:80]}: {known}.")

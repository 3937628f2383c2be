"""Hyperparameters that belong together are one object, and the old name of a parameter says what to write now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import validate_parameter_constraints


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

    `_groups` are the groups that a parameter may be, by the word that may stand for it ("" for None, the default),
    and `_moved` where a parameter of earlier versions is now: "schedule.n_passes", or a sentence for what is gone.
    """

    _groups: ClassVar[Mapping[str, Mapping[str, Group]]] = {}
    _moved: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._moved and "__init__" in cls.__dict__:
            cls.__init__ = _refusing_old_names(cls.__init__)  # type: ignore[method-assign]

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
        refuse_old_names(type(self), params)
        whole, parts = split_groups(type(self), params)
        super().set_params(**whole)  # type: ignore[misc]
        for name, values in parts.items():
            setattr(self, name, regrouped(type(self), name, getattr(self, name), values))
        return self

    def _group(self, name: str) -> Any:
        """Return the group that a parameter is or stands for; None where it is neither."""
        return _meant(type(self), name, getattr(self, name))

    @classmethod
    def _from_earlier(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return the hyperparameters of a file under today's names, those of groups as ``schedule__n_passes``.

        What the word in the file has no use for is left out, such as the nodes of a fit that has none.
        """
        now: dict[str, Any] = {}
        for name, value in given.items():
            group, _, one = _place(cls, name).partition(".")
            if not group:
                now[name] = value
                continue
            words, word = cls._groups[group], given.get(group, getattr(cls(), group))
            default = words.get(word if isinstance(word, str) else "")
            if default is not None and one in default.names() and value != getattr(default, one):
                now[f"{group}__{one}"] = value
        return now

    @classmethod
    def _from_file(cls, given: dict[str, Any]) -> Self:
        """Return an estimator with the hyperparameters of a file, which has groups as mappings."""
        whole, parts = split_groups(cls, given)
        for name in cls._groups:
            if isinstance(whole.get(name), dict):
                parts[name] = whole.pop(name) | parts.get(name, {})
        return cls(**whole).set_params(**{f"{name}__{one}": parts[name][one] for name in parts for one in parts[name]})


def _place(cls: type[Grouped], name: str) -> str:
    """Return where a parameter of earlier versions is now, "group.name"; nothing where there is no such place."""
    place = cls._moved.get(name, "")
    return place if "." in place and " " not in place else ""


def _refusing_old_names(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor, with the same signature, that says what became of an old name."""

    @wraps(init)
    def made(self: Any, *args: Any, **params: Any) -> None:
        refuse_old_names(type(self), params)
        init(self, *args, **params)

    return made


def refuse_old_names(cls: type[Grouped], params: Mapping[str, Any]) -> None:
    """Raise a TypeError that says what to write in place of a parameter of earlier versions."""
    for name in params:
        if place := _place(cls, name):
            group, one = place.split(".")
            kind = _kind(cls, group, [one]).__name__
            raise TypeError(f"{name} is now part of {group}: write {group}={kind}({one}={params[name]!r}).")
        if name in cls._moved:
            raise TypeError(f"{cls.__name__} has no {name}: {cls._moved[name]}.")


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

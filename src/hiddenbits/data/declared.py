"""Arrays that declare their shapes and ranges, and check themselves: the bases of parameters and of statistics.

    weights: Annotated[Floats, "K", SHARES]            one number for each of K classes, which add up to 1
    observed: Annotated[Floats, "[d] K"]               (d, K), or (1, K) where all columns have the same

A letter has one size in all arrays of an object; in statistics it is that of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Protocol, Self, get_type_hints

import numpy as np

from hiddenbits.array_types import AnyArray, Floats

SLACK = 1e-6  # share of the weight by which sums of counts may miss what they should be, through rounding


class Additive(Protocol):
    """Anything that adds in place."""

    def __iadd__(self, other: Any, /) -> Self: ...


def aligned(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was unpickled with every array at an even address.

    What comes over a network may lie anywhere, and NumPy leaves BLAS aside for arrays at odd addresses: products would
    take longer, and add in another order.
    """
    return {name: np.require(x, requirements="A") if isinstance(x, np.ndarray) else x for name, x in state.items()}


@dataclass(frozen=True, eq=False)
class Arrays:
    """A frozen dataclass whose fields are all NumPy arrays (0-d for numbers).

    Subclasses only list their fields. Statistics are Arrays that the engine adds; parameters are Arrays that it
    saves, restores and hands to every block.

    Examples
    --------
    >>> from dataclasses import dataclass, fields
    >>> @dataclass(frozen=True, eq=False)
    ... class Count(Arrays):
    ...     ones: Floats
    >>> total = Count(np.array([1.0, 2.0]))
    >>> total += Count(np.array([3.0, 4.0]))
    >>> total.ones
    array([4., 6.])
    """

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the fields by name."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Build from arrays by name; each field must be there."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def __iadd__(self, other: Self) -> Self:
        """Add in place, field by field. A field that broadcasts (see `AllOnes`) grows where it must."""
        changed: dict[str, AnyArray] = {}
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine.shape == theirs.shape and mine.ndim:
                np.add(mine, theirs, out=mine)
            else:
                changed[field.name] = np.asarray(mine + theirs)
        return type(self)(**{**self.to_arrays(), **changed}) if changed else self

    def scaled(self, factor: float) -> Self:
        """Return a copy with every field multiplied by `factor`."""
        return type(self)(**{name: np.asarray(array * factor) for name, array in self.to_arrays().items()})


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return NumPy numbers as Python ones, tuples as lists and names as text, in mappings too: JSON knows no other."""
    return {str(name): _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def prefixed(prefix: str, value: Arrays | None) -> dict[str, AnyArray]:
    """Return the fields of `value` under names that begin with `prefix`, for a file."""
    return {} if value is None else {f"{prefix}.{name}": array for name, array in value.to_arrays().items()}


def unprefixed(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the fields that `prefixed` put into a file; empty when there are none."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


@dataclass(frozen=True)
class Range:
    """What the numbers of an array may be: a test, and how to say it."""

    holds: Callable[[AnyArray], bool]
    words: str


@cache
def _declared(kind: Any) -> dict[str, tuple[tuple[str, ...], Range | None]]:
    """Return the letters of each declared array's shape, and its range: `Annotated[Floats, "d K", PROBABILITIES]`."""
    hints = get_type_hints(kind, include_extras=True)
    marks = {name: hint.__metadata__ for name, hint in hints.items() if hasattr(hint, "__metadata__")}
    return {name: (tuple(mark[0].split()), mark[1] if len(mark) > 1 else None) for name, mark in marks.items()}


def _shape_flaw(arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return which shapes do not fit each other, or None; the sizes of letters that are new are put into `sizes`.

    A letter in brackets may also be 1, for what is the same all along that axis.
    """
    declared = {name: letters for name, (letters, _) in _declared(type(arrays)).items()}  # type: ignore[arg-type]
    for name, letters in declared.items():
        shape = getattr(arrays, name).shape
        fits = len(shape) == len(letters) and all(
            (n == 1 and letter[0] == "[") or sizes.setdefault(letter.strip("[]"), n) == n
            for letter, n in zip(letters, shape, strict=True)
        )
        if not fits:
            wanted = (f"{name} ({', '.join(letters)})" for name, letters in declared.items())
            return "shapes must be " + ", ".join(wanted)
    return None


@dataclass(frozen=True, eq=False)
class Params(Arrays):
    """Base of parameters: a frozen dataclass of arrays, each with its declared shape and range."""

    @property
    def axis_sizes(self) -> dict[str, int]:
        """What the letters of the declared shapes stand for."""
        sizes: dict[str, int] = {}
        _shape_flaw(self, sizes)
        return sizes

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return self.axis_sizes["d"]

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := _shape_flaw(self, {}):
            return flaw
        for name, (_, allowed) in _declared(type(self)).items():  # type: ignore[arg-type]
            if allowed is not None and not allowed.holds(getattr(self, name)):
                return f"{name} {allowed.words}"
        return None


class Sums(Arrays):
    """What all statistics are: arrays that add up over rows, with the weight of those rows, a number."""

    weight: Floats


@dataclass(frozen=True, eq=False)
class Statistics(Sums):
    """Base of statistics that count: `bound` is the log-likelihood of the rows, `weight` how many they are.

    `nested` names counts each of which is a part of the next, and the last of them a part of the weight; `classes`, if
    it is the last, has one number for each class and adds up to the weight.
    """

    bound: Annotated[Floats, ""]
    weight: Annotated[Floats, ""]

    nested: ClassVar[tuple[str, ...]] = ()

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if _shape_flaw(self, dict(sizes)):
            return "the statistics have the wrong shapes"
        if self.weight <= 0:
            return "the statistics have no weight"
        slack = SLACK * float(self.weight)
        counts = [np.zeros(()), *(getattr(self, name) for name in self.nested), self.weight]
        not_counts = any((whole - part < -slack).any() for part, whole in pairwise(counts))
        if not_counts or ("classes" in self.nested and abs(counts[-2].sum() - self.weight) > slack):
            return "the statistics are not counts"
        return "the log-likelihood of bits is above 0" if self.bound > slack else None

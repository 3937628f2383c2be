"""Arrays that declare their shapes and ranges, and check themselves: the bases of parameters and of statistics.

    weights: Annotated[Floats, "K", SHARES, LOGS]      one number for each of K classes, which add up to 1
    observed: Annotated[Floats, "[d] K"]               (d, K), or (1, K) where all columns have the same
    chance: Annotated[Floats, "k?"]                    (k,), or (0,) where there is none
    moments: Annotated[Floats, "d q*(q+1)//2"]         a size that follows from the letters of arrays before it

A letter has one size in all arrays of an object, at least 1; in statistics it is that of the parameters. A range says
what the numbers may be. A link makes an array one that a fit extrapolates, and says in which coordinates. What a
declaration cannot say is written by hand, after it: `super().flaw() or ...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, get_type_hints

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


@dataclass(frozen=True)
class Link:
    """Coordinates without borders: of an array, as a new one, and from anywhere back to an array that is in range."""

    free: Callable[[AnyArray], Floats]
    back: Callable[[Floats], Floats]


class Declaration(NamedTuple):
    """What is declared of an array: `Annotated[Floats, "d K", PROBABILITIES, LOGITS]`."""

    axes: tuple[str, ...]
    range: Range | None
    link: Link | None


@cache
def _declared(kind: Any) -> dict[str, Declaration]:
    """Return what a class declares of each of its arrays."""
    declared = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            shape, *others = hint.__metadata__
            marks = {type(mark): mark for mark in others}
            declared[name] = Declaration(tuple(shape.split()), marks.get(Range), marks.get(Link))
    return declared


def _shape_flaw(arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return which shapes do not fit each other, or None; the sizes of letters that are new are put into `sizes`."""
    declared = {name: axes for name, (axes, *_) in _declared(type(arrays)).items()}  # type: ignore[arg-type]
    for name, axes in declared.items():
        shape = getattr(arrays, name).shape
        if len(shape) != len(axes) or not all(_fits(n, axis, sizes) for n, axis in zip(shape, axes, strict=True)):
            wanted = (f"{name} ({', '.join(axes)})" for name, axes in declared.items())
            return "shapes must be " + ", ".join(wanted)
    return None


def _fits(n: int, axis: str, sizes: dict[str, int]) -> bool:
    """Return whether n is a size that the axis may have."""
    if (axis[0], n) == ("[", 1) or (axis[-1], n) == ("?", 0):
        return True
    letter = axis.strip("[]?")
    if letter.isidentifier():
        return n > 0 and sizes.setdefault(letter, n) == n
    return bool(n == eval(letter, {}, sizes))  # noqa: S307 (a line of a class, not of a file)


@dataclass(frozen=True, eq=False)
class Params(Arrays):
    """Base of parameters: a frozen dataclass of arrays, each with its declared shape, range and link."""

    @cached_property
    def axis_sizes(self) -> Mapping[str, int]:
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
        for name, (_, allowed, _) in _declared(type(self)).items():  # type: ignore[arg-type]
            if allowed is not None and not allowed.holds(getattr(self, name)):
                return f"{name} {allowed.words}"
        return None

    def reordered(self, axis: str, order: AnyArray) -> Self:
        """Return the parameters in another order along one axis, such as other numbers of the same classes."""
        arrays = {
            name: np.ascontiguousarray(np.take(getattr(self, name), order, axis=axes.index(axis)))
            for name, (axes, *_) in _declared(type(self)).items()  # type: ignore[arg-type]
            if axis in axes
        }
        return replace(self, **arrays)

    @property
    def moving(self) -> Mapping[str, Any]:
        """Of arrays in which not all numbers have a coordinate: an index of those that have one."""
        return {}

    def to_vector(self) -> Floats:
        """Return the coordinates of all arrays with a link, in one row."""
        return np.concatenate([z[part].ravel() for _, _, z, part in self._coordinates()])

    def with_vector(self, vector: Floats) -> Self:
        """Return the parameters at other coordinates; what has none stays as it is."""
        arrays: dict[str, Floats] = {}
        for name, link, z, part in self._coordinates():
            z[part], vector = vector[: z[part].size].reshape(z[part].shape), vector[z[part].size :]
            arrays[name] = link.back(z)
        return replace(self, **arrays)

    def _coordinates(self) -> Iterator[tuple[str, Link, Floats, Any]]:
        """Yield the name, the link and the coordinates of each array that has a link, and which of them move."""
        for name, (_, _, link) in _declared(type(self)).items():  # type: ignore[arg-type]
            if link is not None:
                yield name, link, link.free(getattr(self, name)), self.moving.get(name, ...)


class WeightedSums(Arrays):
    """What all statistics are: arrays that add up over rows, with the weight of those rows, a number.

    `nested` names counts each of which is a part of the next, and the last of them a part of the weight; `classes`, if
    it is the last, has one number for each class and adds up to the weight.
    """

    weight: Floats

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
        return None


@dataclass(frozen=True, eq=False)
class Statistics(WeightedSums):
    """Base of statistics with a log-likelihood of the rows, `bound`; that of bits (`of_bits`) is not above 0."""

    bound: Annotated[Floats, ""]
    weight: Annotated[Floats, ""]

    of_bits: ClassVar[bool] = True

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        too_high = self.of_bits and self.bound > SLACK * float(self.weight)
        return "the log-likelihood of bits is above 0" if too_high else None

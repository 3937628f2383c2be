"""Arrays with declared and checked shapes and ranges: the base classes of parameters and of statistics.

    weights: Annotated[Floats, "K", SHARES, LOGS]      one number for each of K classes, which add up to 1
    observed: Annotated[Floats, "[d] K"]               (d, K), or (1, K) if all columns have the same
    chance: Annotated[Floats, "k?"]                    (k,), or (0,) if there is none
    moments: Annotated[Floats, "d q*(q+1)//2"]         a size computed from the letters of previous arrays

A letter has the same size, at least 1, in all arrays of an object and in the statistics of these parameters. A range
restricts the numbers. Fits extrapolate arrays with a link, in the coordinates of the link. Checks that cannot be
declared are methods: `super().flaw() or ...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, get_type_hints

import numpy as np

from hiddenbits.array_types import AnyArray, Floats

SLACK = 1e-6  # share of the weight by which sums of counts may be wrong through rounding


class Additive(Protocol):
    """Anything that adds in place."""

    def __iadd__(self, other: Any, /) -> Self: ...


def aligned(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return an unpickled state with every array aligned in memory.

    Arrays from a network may be unaligned. For these NumPy does not use BLAS: products would take longer and add
    numbers in another order.
    """
    return {name: np.require(x, requirements="A") if isinstance(x, np.ndarray) else x for name, x in state.items()}


@dataclass(frozen=True, eq=False)
class Arrays:
    """A frozen dataclass whose fields are all NumPy arrays (0-d for numbers).

    Subclasses only list their fields. Statistics are Arrays that the engine adds; parameters are Arrays that it
    saves, restores and passes to every block.

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
        """Build from arrays by name; no field may be absent."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def __iadd__(self, other: Self) -> Self:
        """Add in place, field by field. A field that broadcasts (see `AllOnes`) grows if necessary."""
        new_fields: dict[str, AnyArray] = {}
        for field in fields(self):
            own, added = getattr(self, field.name), getattr(other, field.name)
            if own.shape == added.shape and own.ndim:
                np.add(own, added, out=own)
            else:
                new_fields[field.name] = np.asarray(own + added)
        return type(self)(**{**self.to_arrays(), **new_fields}) if new_fields else self

    def scaled(self, factor: float) -> Self:
        """Return a copy with every field multiplied by `factor`."""
        return type(self)(**{name: np.asarray(array * factor) for name, array in self.to_arrays().items()})


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert to types of JSON, also in nested mappings: NumPy to Python numbers, tuples to lists, names to text."""
    return {str(name): _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
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
    """The range of the numbers in an array: a test, and a description for messages."""

    holds: Callable[[AnyArray], bool]
    words: str


@dataclass(frozen=True)
class Link:
    """Unbounded coordinates: functions from an array to coordinates, and from any coordinates to an array in range."""

    free: Callable[[AnyArray], Floats]
    back: Callable[[Floats], Floats]


class Declaration(NamedTuple):
    """The declaration of an array: `Annotated[Floats, "d K", PROBABILITIES, LOGITS]`."""

    axes: tuple[str, ...]
    range: Range | None
    link: Link | None


@cache
def _declared(class_: Any) -> dict[str, Declaration]:
    """Return the declarations of the arrays of a class."""
    declared = {}
    for name, hint in get_type_hints(class_, include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            shape, *details = hint.__metadata__
            by_type = {type(detail): detail for detail in details}
            declared[name] = Declaration(tuple(shape.split()), by_type.get(Range), by_type.get(Link))
    return declared


def _shape_flaw(arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return an error text if shapes are inconsistent, or None; the sizes of new letters are added to `sizes`."""
    declared = {name: axes for name, (axes, *_) in _declared(type(arrays)).items()}  # type: ignore[arg-type]
    for name, axes in declared.items():
        shape = getattr(arrays, name).shape
        if len(shape) != len(axes) or not all(_fits(n, axis, sizes) for n, axis in zip(shape, axes, strict=True)):
            shapes = (f"{name} ({', '.join(axes)})" for name, axes in declared.items())
            return "shapes must be " + ", ".join(shapes)
    return None


def _fits(n: int, axis: str, sizes: dict[str, int]) -> bool:
    """Return whether an axis may have size n."""
    if (axis[0], n) == ("[", 1) or (axis[-1], n) == ("?", 0):
        return True
    letter = axis.strip("[]?")
    if letter.isidentifier():
        return n > 0 and sizes.setdefault(letter, n) == n
    return bool(n == eval(letter, {}, sizes))  # noqa: S307 (a line of a class, not of a file)


@dataclass(frozen=True, eq=False)
class Params(Arrays):
    """Base class of parameters: a frozen dataclass of arrays, each with its declared shape, range and link."""

    @cached_property
    def axis_sizes(self) -> Mapping[str, int]:
        """The sizes of the letters in the declared shapes."""
        sizes: dict[str, int] = {}
        _shape_flaw(self, sizes)
        return sizes

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return self.axis_sizes.get("d", 0)

    def flaw(self) -> str | None:
        """Return why these arrays are invalid, or None."""
        if flaw := _shape_flaw(self, {}):
            return flaw
        for name, (_, allowed, _) in _declared(type(self)).items():  # type: ignore[arg-type]
            if allowed is not None and not allowed.holds(getattr(self, name)):
                return f"{name} {allowed.words}"
        return None

    def reordered(self, axis: str, order: AnyArray) -> Self:
        """Return the parameters in another order along one axis, such as that of the classes."""
        arrays = {
            name: np.ascontiguousarray(np.take(getattr(self, name), order, axis=letters.index(axis)))
            for name, (axes, *_) in _declared(type(self)).items()  # type: ignore[arg-type]
            if axis in (letters := [declared.rstrip("?") for declared in axes])
        }
        return replace(self, **arrays)

    @property
    def moving(self) -> Mapping[str, Any]:
        """For arrays in which only some numbers have a coordinate: the index of these numbers."""
        return {}

    def to_vector(self) -> Floats:
        """Return the coordinates of all arrays with a link, as a vector."""
        return np.concatenate([z[part].ravel() for _, _, z, part in self._coordinates()])

    def with_vector(self, vector: Floats) -> Self:
        """Return the parameters at other coordinates; numbers without coordinates stay the same."""
        arrays: dict[str, Floats] = {}
        for name, link, z, part in self._coordinates():
            z[part], vector = vector[: z[part].size].reshape(z[part].shape), vector[z[part].size :]
            arrays[name] = link.back(z)
        return replace(self, **arrays)

    def _coordinates(self) -> Iterator[tuple[str, Link, Floats, Any]]:
        """Yield name, link and coordinates of each array with a link, and the index of the numbers that may change."""
        for name, (_, _, link) in _declared(type(self)).items():  # type: ignore[arg-type]
            if link is not None:
                yield name, link, link.free(getattr(self, name)), self.moving.get(name, ...)


class WeightedSums(Arrays):
    """Base class of all statistics: arrays that are sums over rows, with the weight of those rows, a number.

    `nested` lists counts: each is part of the next, and the last is part of the weight. `classes`, if it is the last,
    has one number for each class, and these add up to the weight.
    """

    weight: Floats

    nested: ClassVar[tuple[str, ...]] = ()

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return why the statistics are invalid, given the sizes of the letters, or None."""
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
    """Base class of statistics with a log-likelihood of the rows, `bound`; that of bits (`of_bits`) is at most 0."""

    bound: Annotated[Floats, ""]
    weight: Annotated[Floats, ""]

    of_bits: ClassVar[bool] = True

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return why the statistics are invalid, given the sizes of the letters, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        too_high = self.of_bits and self.bound > SLACK * float(self.weight)
        return "the log-likelihood of bits is above 0" if too_high else None

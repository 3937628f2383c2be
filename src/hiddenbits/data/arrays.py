"""Named arrays that travel together: the base of every model's parameters and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

import numpy as np

from hiddenbits.array_types import AnyArray


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
    >>> from dataclasses import dataclass
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

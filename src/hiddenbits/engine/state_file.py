"""A position as JSON and arrays, and back, by the types that its dataclasses declare.

Counts and truth values are JSON. Floats are arrays, because JSON would not keep them to the bit. A nested dataclass is
a nested dictionary, and its arrays are named `<field>.<array>`. What depends on the model is declared `Any`: its class
is found by the name of the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypeVar, get_type_hints

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params, prefixed, unprefixed
from hiddenbits.engine.outcome import Restart, StopReason
from hiddenbits.engine.row_memory import LocalRowMemory, RowMemory
from hiddenbits.model_api import Model

D = TypeVar("D")
MOST = 2**53  # the largest count that JSON keeps everywhere
ARRAYS, COUNTS = (float, tuple[float, ...]), (int, tuple[int, ...], bool)
CLASS_OF = {
    "params": "params_type",
    "safe": "params_type",
    "stats": "stats_type",
    "memory": "memory_type",
}


@cache  # a position is written after every pass
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def to_file(state: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return what a file says of a dataclass, and its arrays; what is None is in neither."""
    meta: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, hint in _hints(type(state)).items():  # type: ignore[arg-type]
        value = getattr(state, name)
        if is_dataclass(hint):
            meta[name], inner = to_file(value)
            arrays |= {f"{name}.{key}": array for key, array in inner.items()}
        elif hint == tuple[Restart, ...]:
            meta[name] = [[end.n_iter, str(end.reason)] for end in value]
            arrays[name] = np.array([end.objective for end in value])
        elif hint == RowMemory | None:
            held = {} if value is None else value.here()
            for number, memory in held.items():
                arrays |= prefixed(f"{name}.{number}", memory)
        elif hint in COUNTS:
            meta[name] = list(value) if isinstance(value, tuple) else value
        elif hint in ARRAYS or isinstance(value, np.ndarray):
            arrays[name] = np.asarray(value)
        else:
            arrays |= prefixed(name, value)
    return meta, arrays


def from_file(kind: type[D], model: Model[Any, Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> D:
    """Return the dataclass that `to_file` wrote; ValueError where something is not of its type, or is invalid."""
    return kind(
        **{name: _field(name, hint, model, meta, arrays) for name, hint in _hints(kind).items()},  # type: ignore[arg-type]
    )


def _field(
    name: str, hint: Any, model: Model[Any, Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> Any:
    inner = unprefixed(name, arrays)
    if is_dataclass(hint):
        return from_file(hint, model, meta[name], inner)  # type: ignore[arg-type]
    if hint == tuple[Restart, ...]:
        ends = zip(arrays[name].tolist(), meta[name], strict=True)
        return tuple(Restart(objective, _count(n_iter), StopReason(reason)) for objective, (n_iter, reason) in ends)
    if hint == RowMemory | None:
        return _row_memory(model.carry_type, inner)
    if hint is bool:
        if type(meta[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
        return meta[name]
    if hint in COUNTS:
        least = -1 if name == "restart" else 0  # of no restart yet
        return _count(meta[name], least) if hint is int else tuple(map(_count, meta[name]))
    if hint in ARRAYS:
        return float(arrays[name]) if hint is float else tuple(arrays[name].tolist())
    if hint is Any:
        return _of_model(getattr(model, CLASS_OF[name], None), inner)
    if hint == Floats | None:
        return arrays.get(name)
    raise TypeError(f"checkpoints cannot store {name}: {hint}")


def _count(value: Any, least: int = 0) -> int:
    if type(value) is not int or not least <= value < MOST:
        raise ValueError("a count is not a whole number")
    return value


def _of_model(kind: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Return what belongs to a model, such as parameters, which know whether they are valid."""
    if not arrays:
        return None
    found = kind.from_arrays(arrays)
    if isinstance(found, Params) and (flaw := found.flaw()):
        raise ValueError(flaw)
    return found


def _row_memory(kind: Any, arrays: Mapping[str, AnyArray]) -> LocalRowMemory:
    """Return the memory of rows, by blocks."""
    blocks: dict[int, dict[str, AnyArray]] = {}
    for name, array in arrays.items():
        number, field = name.split(".", 1)
        blocks.setdefault(int(number), {})[field] = array
    return LocalRowMemory(None, {number: kind.from_arrays(fields) for number, fields in blocks.items()})

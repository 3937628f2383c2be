"""Hostile frames: columns of every odd type of pandas, polars and Arrow."""

from __future__ import annotations

import datetime
import importlib.util
from decimal import Decimal
from typing import Any

import numpy as np

from tests.data.hostile_oracle import REFUSED, base, meaning, nan, pick

FRAMES = [name for name in ("pandas", "polars", "pyarrow") if importlib.util.find_spec(name)]
DAY, SPAN = datetime.datetime(2020, 1, 1), datetime.timedelta(seconds=1)
ODD: list[list[Any]] = [[0, 1], [0, 1, 2], [0.0, 1.0, nan], [0.0, np.inf], [0.5, 1.0], [True, False], ["0", "1"], ["x"]]
ODD += [
    [DAY],
    [DAY.date()],
    [DAY.time()],
    [SPAN],
    [[0, 1], [1, 0]],
    [[1], []],
    [{"x": 1}],
    [b"1"],
    [Decimal(1), Decimal(0)],
]
ODD += [[Decimal(2)], [], [2**40], [-1, 0]]
TYPES = {
    "pandas": [
        "Int8",
        "UInt64",
        "boolean",
        "Float32",
        "category",
        "object",
        "int8[pyarrow]",
        "Sparse[float64]",
        "string",
    ],
    "polars": ["Int8", "Int128", "UInt64", "Float32", "Boolean", "String", "Categorical", "Object", "Duration"],
    "pyarrow": ["int8", "uint64", "float32", "float16", "bool_", "string", "null", "date32"],
}


def column(rng: Any, n: int) -> list[Any]:
    """Return n values of one odd kind, or bits, some of them None."""
    kind = pick(rng, ODD) if rng.random() < 0.15 else pick(rng, [[0, 1], [0.0, 1.0], [True, False]])
    blanks = rng.random() < 0.4
    return [None if not kind or (blanks and rng.random() < 0.3) else pick(rng, kind) for _ in range(n)]


def series(library: str, module: Any, held: list[Any], dtype: str | None) -> tuple[Any, list[Any]]:
    """Return a column of the library, and the Python values that it says it holds."""
    if library == "pandas":
        made = module.Series(held, dtype=dtype)
        return made, [None if value is module.NaT else value for value in made.tolist()]
    if library == "polars":
        made = module.Series(held, dtype=getattr(module, dtype) if dtype else None, strict=dtype is None)
        return made, made.to_list()
    made = module.array(held, getattr(module, dtype)() if dtype else None)
    return made, made.to_pylist()


def frame(rng: Any) -> tuple[Any, dict[str, Any], Any]:
    """A frame of some columns, most of them bits."""
    values, options = base(rng)
    n, d = min(values.shape[0], 30), min(values.shape[1], 12)
    library = pick(rng, FRAMES)
    module = importlib.import_module(library)
    columns, held = [], []
    for _ in range(d):
        wish = column(rng, n)
        dtype = pick(rng, TYPES[library]) if rng.random() < 0.3 else None
        try:
            made, says = series(library, module, wish, dtype)
        except Exception:  # the library cannot hold these values in this type
            made, says = series(library, module, [0] * n, None)
        columns.append(made)
        held.append(says)
    names: list[Any] = [f"column {j}" for j in range(d)]
    twice = d > 1 and library != "polars" and rng.random() < 0.03
    if twice:
        names[-1] = names[0]
    wanted = REFUSED if twice else meaning(zip(*held, strict=True), (n, d), options)
    if library == "pandas":
        data = module.concat(columns, axis=1) if columns else module.DataFrame()
        data.columns = names if twice or rng.random() < 0.5 else rng.permutation(d)
    elif library == "polars":
        data = module.DataFrame([made.alias(name) for made, name in zip(columns, names, strict=True)])
        data = data.lazy() if rng.random() < 0.2 else data
    else:
        data = module.table(columns, names=names)
    return data, options, wanted

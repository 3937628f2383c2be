"""The same table of answers in every container that people have it in."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from benchmarks.bare.turns import SEED, Job

from hiddenbits import open_table

COLUMNS = 50
WORDS = {2: ["no", "yes"], 5: ["never", "rarely", "sometimes", "often", "always"]}


def containers(folder: Path, n: int, levels: int) -> dict[str, Any]:
    """Return the table by the name of its container; files are written to the folder."""
    rng = np.random.default_rng(SEED)
    words = np.array(WORDS[levels], object)
    frame = pd.DataFrame(
        words[rng.integers(0, levels, (n, COLUMNS))], columns=[f"q{j}" for j in range(COLUMNS)], dtype=object
    )
    csv, parquet = folder / "answers.csv", folder / "answers.parquet"
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    return {
        "CSV": csv,
        "pandas, objects": frame,
        "pandas, strings": frame.astype("string"),
        "pandas, Arrow's strings": frame.astype("string[pyarrow]"),
        "pandas, categories": frame.astype("category"),
        "polars, text": pl.from_pandas(frame),
        "polars, categories": pl.from_pandas(frame).cast(pl.Categorical),
        "Arrow": pa.Table.from_pandas(frame),
        "Parquet": parquet,
    }


def opening(tables: dict[str, Any], name: str, n: int, levels: int) -> Job:
    """Return what opens one of the containers, and what opens the CSV file."""
    return Job(
        "open_table",
        "guard",
        table=f"{n:,} x {COLUMNS}",
        hidden=f"{levels} levels",
        dtype="uint8",
        storage=name,
        ours=partial(opened, tables[name]),
        bare=partial(opened, tables["CSV"]),
        what="opening",
    )


def opened(table: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_table(table, column_types="auto")

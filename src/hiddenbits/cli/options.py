"""Arguments and options that several commands share, except those of reading."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RUNNING = "Running"

Table = Annotated[
    str,
    typer.Argument(
        help="The table: a CSV, .tsv, .xlsx, .ods, .sav, .dta, .jsonl, .feather, Parquet, .npy, .npz, .h5ad, Zarr or "
        "basket file (text also gzipped), a pattern such as 'events/*.parquet', or an address."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file, as written by 'hiddenbits fit'.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")]
Groups = Annotated[
    str | None,
    typer.Option(
        help="A column of group labels. Rows with the same label, such as the answers of one person, are held out "
        "together.",
    ),
]
NJobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Threads; -1 is one per core.", rich_help_panel=RUNNING)]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Run on the dask cluster with this scheduler, such as tcp://host:8786. Use only a cluster you trust.",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
RandomState = Annotated[int, typer.Option(help="Random seed.", rich_help_panel=RUNNING)]

"""The options that commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TABLE, RUNNING = "The table", "Running"

Table = Annotated[
    str,
    typer.Argument(
        help="The table: a CSV, Parquet, .npy, .npz, .h5ad, Zarr or basket file (also gzipped), a pattern such as "
        "'events/*.parquet', or an address."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file, as written by 'hiddenbits fit'.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")]
Blank = Annotated[
    str,
    typer.Option(
        help="What a blank means: 'zero', 'missing' (not observed), or 'auto': 0 in baskets and sparse files, "
        "missing in others.",
        rich_help_panel=TABLE,
    ),
]
Threshold = Annotated[float | None, typer.Option(help="Numbers above it are 1, all others 0.", rich_help_panel=TABLE)]
Drop = Annotated[
    list[str] | None, typer.Option(help="A column to leave out; may be given again.", rich_help_panel=TABLE)
]
Names = Annotated[
    Path | None,
    typer.Option(help="A text file with the names of the columns, one a line.", rich_help_panel=TABLE),
]
Key = Annotated[str | None, typer.Option(help="Which array of an .npz file that holds several.", rich_help_panel=TABLE)]
Groups = Annotated[
    str | None,
    typer.Option(
        help="A column of labels beside the bits of a CSV file: rows with equal labels, such as answers of one person, "
        "are held out together.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 is one for each core.", rich_help_panel=RUNNING)]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Run on the dask cluster with this scheduler, such as tcp://host:8786. A cluster is trusted ground.",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.", rich_help_panel=RUNNING)]

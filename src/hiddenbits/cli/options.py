"""The options that commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TABLE, FILE, RUNNING = "The table", "The file, where it is not read rightly", "Running"

Table = Annotated[
    str,
    typer.Argument(
        help="The table: a CSV, .tsv, .xlsx, .ods, .sav, .dta, .jsonl, .feather, Parquet, .npy, .npz, .h5ad, Zarr or "
        "basket file (text also gzipped), a pattern such as 'events/*.parquet', or an address."
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
Threshold = Annotated[float | None, typer.Option(help="Numbers above it become 1, others 0.", rich_help_panel=TABLE)]
Columns = Annotated[
    list[str] | None,
    typer.Option(help="A column that enters the model; others do not. Can be repeated.", rich_help_panel=TABLE),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out, or a pattern such as 'x*'. Can be repeated.", rich_help_panel=TABLE),
]
Id = Annotated[
    list[str] | None,
    typer.Option("--id", help="A column that names the rows. Can be repeated.", rich_help_panel=TABLE),
]
Code = Annotated[
    list[str] | None,
    typer.Option(
        help="Which values are 1: q3:yes=1 (others are 0), or age:'>40'. q3:one-hot makes a bit of each value; such "
        "bits exclude each other, which breaks the assumption of latent class models. Can be repeated.",
        rich_help_panel=TABLE,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="A code for missing, such as -99, or of one column, q3:9; 'none' if there are none. Can be repeated.",
        rich_help_panel=TABLE,
    ),
]
ColumnTypes = Annotated[
    list[str] | None,
    typer.Option(
        help="What columns are taken for by models of more than two values: 'binary', 'nominal' or 'ordinal', or one "
        "of them: q3:ordinal, or its levels, q3:low,middle,high; q3:metadata leaves it out. Can be repeated.",
        rich_help_panel=TABLE,
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(
        help="A column of weights of the rows, such as counts of equal rows; it does not enter the model.",
        rich_help_panel=TABLE,
    ),
]
Recipe = Annotated[
    Path | None,
    typer.Option(help="A file that says all this, as made by 'hiddenbits look --write-recipe'.", rich_help_panel=TABLE),
]
Reader = Annotated[
    list[str] | None,
    typer.Option(
        help="A further option of the file's reader, as name=value: skip_top=1 leaves out a title, skip_end=1 a row "
        "of totals. Can be repeated.",
        rich_help_panel=TABLE,
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(help="A text file with the column names, one per line.", rich_help_panel=TABLE),
]
Key = Annotated[
    str | None, typer.Option(help="Which array to read from an .npz file with several.", rich_help_panel=TABLE)
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line holds names.", rich_help_panel=FILE),
]
Delimiter = Annotated[
    str | None, typer.Option(help="The character between cells, such as ';' or tab.", rich_help_panel=FILE)
]
Decimal = Annotated[str | None, typer.Option(help="The decimal sign: '.' or ','.", rich_help_panel=FILE)]
Encoding = Annotated[str | None, typer.Option(help="The encoding of the text, such as cp1252.", rich_help_panel=FILE)]
Sheet = Annotated[
    str | None, typer.Option(help="The sheet of a spreadsheet, by name or number from 0.", rich_help_panel=FILE)
]
Split = Annotated[
    list[str] | None,
    typer.Option(
        help="What is between several codes in a cell, such as ';', or of one column, 'codes:;'. Can be repeated.",
        rich_help_panel=FILE,
    ),
]
Row = Annotated[
    str | None,
    typer.Option(
        help="Of a file with a line for each pair, such as order,product: the column that names the row.",
        rich_help_panel=FILE,
    ),
]
Item = Annotated[str | None, typer.Option(help="And the column that names the item.", rich_help_panel=FILE)]
Value = Annotated[
    str | None, typer.Option(help="And the column that says what was seen, if there is one.", rich_help_panel=FILE)
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="A column of labels in the CSV file. Rows with the same label, such as the answers of one person, are "
        "held out together.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 is one per core.", rich_help_panel=RUNNING)]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Run on the dask cluster with this scheduler, such as tcp://host:8786. Use only a cluster you trust.",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(help="Random seed.", rich_help_panel=RUNNING)]

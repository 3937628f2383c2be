"""The commands. Each is a few lines over the public interface; slow packages are imported where they are used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiddenbits.cli import options
from hiddenbits.cli.command import RunOptions, command
from hiddenbits.cli.console import LogLevel, print_json, print_line, print_note, print_table, reword, set_output
from hiddenbits.cli.execution import RowMethod, fit_with_progress, map_pieces_with_progress, slices_with_progress
from hiddenbits.cli.models import all_families, family, make_estimator
from hiddenbits.cli.outputs import check_folder, check_outputs, check_rows_file, write_rows
from hiddenbits.cli.progress import progress
from hiddenbits.cli.tables import OpenedTable, ReadOptions, next_command, open_input, open_table_options, origin_of
from hiddenbits.cli.usage import PrintableGroup
from hiddenbits.commands import command as command_line
from hiddenbits.commands import path_shown, shell_word
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

app = typer.Typer(
    name="hiddenbits",
    help="Find latent structure in binary data: survey answers, votes, shopping baskets, test results. "
    "Start with 'hiddenbits look TABLE' and 'hiddenbits report TABLE'.",
    cls=PrintableGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
REPORT = Path("report.html")
NComponents = Annotated[int | None, typer.Option("--n-components", "-n", help="Number of classes or dimensions.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A parameter of the model, as name=value. Can be repeated.", rich_help_panel="The model"
    ),
]


def _print_version(requested: bool) -> None:
    if requested:
        from hiddenbits import __version__

        print_line(f"hiddenbits {__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option("--log-level", help="Write the log of the fit to standard error.")
    ] = None,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Store the options that apply to every command."""
    set_output(debug=debug, quiet=quiet, log_level=log_level)


@app.command()
@command
def look(
    read_options: ReadOptions,
    run_options: RunOptions,
    recipe_out: Annotated[
        Path | None,
        typer.Option("--write-recipe", help="Write how the table is read to this TOML file, for editing."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Summarize a table: inferred column types, number of rows, 1s, missing values and duplicate rows."""
    from hiddenbits import evaluate
    from hiddenbits.tables import look

    check_outputs(recipe_out, read=read_options.input_files)
    with progress(f"Reading {printable(Path(path_shown(read_options.path)).name)}"):
        columns = look(read_options.path, **open_table_options(read_options))
    if recipe_out is not None:
        _write_recipe(recipe_out, columns.recipe(Path(path_shown(read_options.path)).name))
    lines, fit_classes = columns.lines(), read_options.command("fit", "classes", out="model.hb")
    if json and columns.table is None:
        print_json({"inferred_types": _inferred_types(lines), "ambiguous": columns.question})
        return
    if not json and lines:
        print_table("Columns and their inferred types", ["column", "inferred type", "values", "use"], lines)
    if columns.table is None:
        if {"nominal", "ordinal"} & {*_inferred_types(lines).values()}:  # most surveys: their command comes first
            print_line(f"Next: latent class analysis accepts columns of every type: {fit_classes}")
            print_line("\nAll other models need binary columns:")
        print_line(reword(str(columns.question)))
        print_line(f"Next, if these types are right: {next_command(read_options, columns)}")
        return
    table = OpenedTable(columns.table).with_repeated_rows().table
    coding = table.coding
    with run_options.work("Summarizing", table.shape[0]):
        summary = evaluate.describe(table)
    if json:
        print_json(
            summary.to_dict()
            | {"excluded_columns": list(coding.excluded if coding else ()), "inferred_types": _inferred_types(lines)}
        )
        return
    print_line(str(summary))
    print_line(f"Next: {fit_classes if summary.has_levels else next_command(read_options, columns)}")


def _inferred_types(lines: list[list[str]]) -> dict[str, str]:
    return {line[0]: line[1] for line in lines}


def _write_recipe(path: Path, text: str) -> None:
    from hiddenbits.store import whole_file

    with whole_file(path) as file:
        file.write(text.encode("utf-8"))
    word = shell_word(str(path))
    print_note(f"Recipe written to {path}. Correct it if needed, and pass it to other commands with --recipe {word}.")


@app.command()
@command
def models(json: options.Json = False) -> None:
    """List the models and what each is for."""
    families = all_families()
    if json:
        facts = [(known.word, known.name, known.picture, known.says, known.unit, known.use) for known in families]
        keys = ("word", "estimator", "hidden", "assumption", "component", "use")
        print_json([dict(zip(keys, values, strict=True)) for values in facts])
        return
    print_table(
        "Models and their assumptions",
        ["model", "latent structure", "assumption", "good for", "in Python"],
        [[known.word, known.picture, known.says, known.use, known.name] for known in families],
    )


@app.command()
@command
def fit(
    read_options: ReadOptions,
    run_options: RunOptions,
    model: Annotated[str, typer.Argument(help="The model, such as 'classes'. 'hiddenbits models' lists them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write, such as model.hb.")],
    n_components: NComponents = None,
    settings: Settings = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Save the fit here after each iteration, and resume from it.", rich_help_panel="Running"),
    ] = None,
    random_state: options.RandomState = 0,
    json: options.Json = False,
) -> None:
    """Fit a model to a table, print its summary, and write it to a file."""
    estimator = make_estimator(model, n_components, random_state, settings or [])
    check_outputs(out, checkpoint, read=read_options.input_files)
    data = open_input(read_options, types=estimator.get_params().get("column_types"))
    with run_options.work("Fitting", checkpoint=checkpoint) as bar:
        fit_with_progress(estimator, data.table, bar)
    estimator.save(out)
    result = {
        "model": type(estimator).__name__,
        "file": str(out),
        "n_iter": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "stop_reason": str(estimator.stop_reason_),
    }
    if json:
        print_json(result)
    else:
        print_line(str(estimator.summary()))
        print_line(f"Written to {printable(out)}.")


@app.command()
@command
def compare(
    read_options: ReadOptions,
    run_options: RunOptions,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", help="A model to compare. Can be repeated. Default: all except those listed as excluded."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Save finished fits in this folder, so that a rerun does not repeat them.")
    ] = None,
    groups: options.Groups = None,
    random_state: options.RandomState = 0,
    json: options.Json = False,
) -> None:
    """Compare models: fit each at several sizes and score it on held-out rows."""
    from hiddenbits import evaluate

    families = [family(word).name for word in models] if models else None
    check_folder(folder)
    data = open_input(read_options).with_repeated_rows()
    labels = data.labels(groups)
    with run_options.work("Comparing") as bar:
        comparison = evaluate.compare(
            data.table, families, groups=labels, random_state=random_state, folder=folder, progress=bar.set_step
        )
    if json:
        print_json(
            {
                "best": comparison.best,
                "size": comparison.size,
                "verdict": comparison.verdict,
                "ties": comparison.ties(),
                "models": comparison.records(),
                "left_out": dict(comparison.left_out),
            }
        )
    else:
        print_line(str(comparison))


def _write(path: Path, heads: list[str], pieces: Any, data: OpenedTable | None = None) -> None:
    """Write the results of each row, after its metadata, and print how many there are."""
    read_as = None if data is None else data.table.read_as
    rows = write_rows(path, heads, pieces, read_as, {} if read_as is None else read_as.types())
    print_note(f"{rows:,} rows written to {path}.")


@app.command()
@command
def score(
    read_options: ReadOptions,
    run_options: RunOptions,
    model: options.Model,
    out: options.Out = None,
    json: options.Json = False,
) -> None:
    """Score a table under a model (log-likelihood, bits per cell, prediction error), or each row with --out."""
    from hiddenbits import evaluate, load

    if out is not None:
        check_rows_file(out, [*read_options.input_files, model])
    estimator: Any = load(model)
    data = open_input(read_options, model=estimator)
    if out is not None:
        with run_options.engine():
            pieces = map_pieces_with_progress("Scoring", RowMethod(estimator, "score_samples"), data.table)
            _write(out, ["log_likelihood"], pieces, data)
        return
    measures = {
        "log_likelihood_per_row": evaluate.mean_log_likelihood,
        "bits_per_cell": evaluate.bits_per_cell,
        "leave_one_out_error": evaluate.leave_one_out_error,
    }
    if data.table.coding_of_levels is not None:  # the others are defined for binary columns
        measures = {"log_likelihood_per_row": evaluate.mean_log_likelihood}
    with run_options.work("Scoring", len(measures) * data.table.shape[0]):
        scores = {name: measure(estimator, data.table) for name, measure in measures.items()}
    if json:
        print_json({name: vars(value) for name, value in scores.items()})
        return
    for name, value in scores.items():
        print_line(f"{name.replace('_', ' ')}: {value}")


@app.command(name="map")
@command
def map_rows(
    read_options: ReadOptions,
    run_options: RunOptions,
    model: Annotated[Path | None, typer.Argument(help="A model file. Default: two-dimensional logistic PCA.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="An image (.png, .svg, .pdf), or a table (.csv, .parquet, .npz).")
    ] = Path("map.png"),
    color: Annotated[str | None, typer.Option(help="The column to color the rows by.")] = None,
    random_state: options.RandomState = 0,
) -> None:
    """Plot the rows of a table by their latent positions, or write these positions."""
    from hiddenbits import load

    is_image = out.suffix.lower() in (".png", ".svg", ".pdf")
    if not is_image:
        check_rows_file(out, [*read_options.input_files, model])
    else:
        check_outputs(out, read=[*read_options.input_files, model])
        import matplotlib  # noqa: F401  (fail before any work if it is not installed)
    estimator: Any = load(model) if model else make_estimator("logistic", 2, random_state, [])
    data = open_input(read_options, model=estimator)
    if is_image and color is not None and color not in data.metadata_names and color not in data.names:
        raise ValueError(f"There is no column {color!r} to color by.")
    if not model:
        with run_options.work("Fitting") as bar:
            fit_with_progress(estimator, data.table, bar)
    if not is_image:
        heads = [str(name) for name in estimator.get_feature_names_out()]
        with run_options.engine():
            positions = map_pieces_with_progress("Mapping", RowMethod(estimator, "transform"), data.table)
            _write(out, heads, positions, data)
        return
    with run_options.work("Plotting", data.table.shape[0]):
        _draw(estimator, data, color, out)
    print_note(f"Map written to {out}.")


def _draw(estimator: BaseEstimator, data: OpenedTable, color: str | None, out: Path) -> None:
    """Write the plot to an image file."""
    import matplotlib

    matplotlib.use("Agg")
    from hiddenbits import plots
    from hiddenbits.store import whole_file

    colors = None
    if color is not None and color in data.metadata_names:
        colors = data.texts(color)
    elif color is not None:
        cells = data.table.to_float()[:, data.names.index(color)]
        colors = ["missing" if cell != cell else str(int(cell)) for cell in cells]
    axes: Any = plots.map(estimator, data.table, color=colors, lines=min(12, data.table.shape[1]))
    with whole_file(out) as file:
        axes.figure.savefig(file, dpi=200, format=out.suffix.lower()[1:])


@app.command()
@command
def report(
    read_options: ReadOptions,
    run_options: RunOptions,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = REPORT,
    json: Annotated[Path | None, typer.Option("--json", help="Write the findings to this file, as JSON.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the findings to this file, as Markdown.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="A column whose groups are compared, such as a party or a region; no model uses it."),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows/--no-rows", help="Whether the file may contain individual rows.")
    ] = True,
    color: Annotated[str | None, typer.Option(help="The column that colors the map when it opens.")] = None,
    curved: Annotated[bool, typer.Option("--curved", help="Plot a curved map instead of a flat one.")] = False,
    groups: options.Groups = None,
    random_state: options.RandomState = 0,
) -> None:
    """Write a report on the latent structure of a table: one HTML file that works offline."""
    from hiddenbits.exceptions import AmbiguousColumnsError
    from hiddenbits.reporting.entry import report_of
    from hiddenbits.store import whole_file
    from hiddenbits.tables import without_ambiguous

    check_outputs(out, json, markdown, read=read_options.input_files)
    settings: dict[str, Any] = {"by": by, "color": color, "groups": groups}
    report_command = read_options.command(
        "report",
        **settings,
        rows=None if rows else False,
        curved=curved or None,
        random_state=random_state or None,
        out=None if out == REPORT else out,
        json=json,
        markdown=markdown,
    )
    ids, dropped = read_options.values("id"), read_options.values("drop")
    if by is not None and by not in (*ids, *dropped) and not read_options.values("columns"):
        read_options, dropped = read_options.without_columns([by]), (*dropped, by)
    try:
        data = open_input(read_options)
    except AmbiguousColumnsError as error:
        data = without_ambiguous(error, lambda more: open_input(read_options.with_values("drop", (*dropped, *more))))
        read_options = read_options.without_columns(error.ambiguous)
    if not read_options.values("columns"):  # a report is about binary columns, but latent classes take numbers, too
        named = {*dropped, *ids, read_options.typed.get("sample_weight")}
        read_options = read_options.without_columns([name for name in data.excluded_numbers if name not in named])
    settings["groups"] = data.labels(groups)
    origin = origin_of(read_options, report_command, groups)
    with run_options.work("Reading the table") as bar:
        result = report_of(
            data.table,
            origin,
            **settings,
            rows=rows,
            curved=curved,
            title=Path(origin.table).name,
            random_state=random_state,
            on_progress=bar.set_step,
        )
    result.save(out)
    for path, text in ((json, result.to_json()), (markdown, result.to_markdown())):
        if path:
            with whole_file(path) as file:
                file.write(text.encode("utf-8"))
    print_note(f"Report written to {out}. Open it in a browser.")


@app.command()
@command
def complete(
    read_options: ReadOptions,
    run_options: RunOptions,
    model: options.Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")],
    bits: Annotated[bool, typer.Option("--bits", help="Write the more probable value, 0 or 1, not P(x = 1).")] = False,
) -> None:
    """Impute the missing values of a table: P(x = 1) in 0/1 columns, the most probable value in others.

    Observed cells and metadata columns are unchanged. Imputed numbers lie within the observed range.
    """
    from hiddenbits import load
    from hiddenbits.cli.completed import write_completed

    check_rows_file(out, [*read_options.input_files, model])
    estimator: Any = load(model)
    data = open_input(read_options, model=estimator)
    with run_options.engine():
        pieces = map_pieces_with_progress("Imputing", RowMethod(estimator, "complete"), data.table)
        rows, note = write_completed(out, data, pieces, bits=bits)
    print_note(f"{rows:,} rows written to {out}. {note}")


@app.command()
@command
def sample(
    model: options.Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")],
    rows: Annotated[int, typer.Option("--rows", "-r", min=1, help="Number of rows to sample.")] = 1000,
    random_state: options.RandomState = 0,
) -> None:
    """Sample new rows from a model."""
    from hiddenbits import load, run_on

    check_rows_file(out, [model])
    estimator: Any = load(model)
    coding = getattr(estimator, "coding_", None)
    if coding is not None:  # own columns, whatever frame the model was fitted to; NumPy files hold 0 and 1
        estimator.coding_ = None if out.suffix.lower() == ".npz" else replace(coding, frame=None)
    with progress("Sampling", rows) as bar, run_on(on_progress=bar.rows):
        samples = estimator.sample(rows, random_state=random_state)
    if isinstance(samples, dict):
        cell_types = {name: {type(cell) for cell in cells if cell is not None} for name, cells in samples.items()}
        types = {name: t.pop() if len(t) == 1 else float if t else str for name, t in cell_types.items()}
        write_rows(out, list(samples), iter([list(samples.values())]), types=types)
        print_note(f"{rows:,} rows written to {out}.")
        return
    heads = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(samples.shape[1])])
    _write(out, [str(name) for name in heads], slices_with_progress(samples))


@app.command()
@command
def convert(
    read_options: ReadOptions,
    run_options: RunOptions,
    out: Annotated[Path, typer.Argument(help="The file to write: .csv, .parquet or .npz.")],
) -> None:
    """Convert a table to another format, coded 0/1; numbers and missing values stay as they are."""
    check_rows_file(out, read_options.input_files)
    data = open_input(read_options)
    with run_options.engine():
        of_columns = data.table.column_names or ()
        numbers = of_columns[len(of_columns) - data.table.n_numbers :]
        pieces = map_pieces_with_progress("Converting", _cells, data.table)
        rows = write_rows(out, [*data.names, *numbers], pieces, types=dict.fromkeys(numbers, float))
    print_note(f"{rows:,} rows written to {out}.")


def _cells(piece: Any) -> Any:
    """Return the cells of a piece: bytes, or numbers with NaN for missing values."""
    cells = piece.table.to_float()
    return cells if piece.table.n_numbers or (cells != cells).any() else cells.astype("uint8")


@app.command()
@command
def example(
    name: Annotated[str, typer.Argument(help="baskets or exam (both simulated), votes or zoo.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write; by default NAME.csv.")] = None,
) -> None:
    """Write a small table to try the commands on, as CSV. All four come with the package."""
    import csv
    import io

    from hiddenbits.datasets import example_rows
    from hiddenbits.store import whole_file

    heads, rows = example_rows(name)
    path = Path(f"{name}.csv") if out is None else out
    check_outputs(path, read=[])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
    # the known groups are excluded from the model; the report shows whether it recovers them
    known: dict[str, Any] = {"votes": {"by": "party"}, "zoo": {"drop": "legs", "by": "type"}}.get(name, {})
    origin = "Source: UCI Machine Learning Repository, CC BY 4.0." if known else "The table is simulated."
    next_line = command_line("report" if known else "look", path, **known)
    print_note(f"Example written to {path}. {origin} Next: {next_line}")

"""The commands. Each is a few lines over the public interface; slow packages are imported where they are used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiddenbits.cli import options as given
from hiddenbits.cli.command import Place, command
from hiddenbits.cli.console import LogLevel, as_json, log_to_screen, own_words, say, state, table, tell
from hiddenbits.cli.execution import Verb, fitted, in_pieces, written
from hiddenbits.cli.models import all_families, family, made
from hiddenbits.cli.outputs import check_folder, check_outputs, check_rows_file, write_rows
from hiddenbits.cli.progress import progress
from hiddenbits.cli.tables import Asked, Opened, next_command, opened, origin_of, reading
from hiddenbits.cli.usage import PrintableGroup
from hiddenbits.commands import command as command_line
from hiddenbits.commands import path_shown, shell_word
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

app = typer.Typer(
    name="hiddenbits",
    help="Find the hidden structure behind a table of zeros and ones: survey answers, votes, shopping baskets, test "
    "results. Start with 'hiddenbits look TABLE' and 'hiddenbits report TABLE'.",
    cls=PrintableGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
REPORT = Path("report.html")
Size = Annotated[int | None, typer.Option("--size", "-n", help="Number of classes, dimensions, units or causes.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A parameter of the model, as name=value. Can be repeated.", rich_help_panel="The model"
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from hiddenbits import __version__

        tell(f"hiddenbits {__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option("--log-level", help="Write the log of the fit to standard error.")
    ] = None,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Store the options that apply to every command."""
    state["debug"], state["silent"] = debug, quiet
    log_to_screen(log_level)


@app.command()
@command
def look(
    asked: Asked,
    at: Place,
    recipe_out: Annotated[
        Path | None,
        typer.Option("--write-recipe", help="Write how the table is read to this TOML file, to be changed."),
    ] = None,
    json: given.Json = False,
) -> None:
    """Inspect a table: inferred column types, rows, 1s, missing values, duplicate rows."""
    from hiddenbits import evaluate
    from hiddenbits.tables import look

    check_outputs(recipe_out, read=asked.files)
    with progress(f"Reading {printable(Path(path_shown(asked.path)).name)}"):
        seen_columns = look(asked.path, **reading(asked))
    if recipe_out is not None:
        _write_recipe(recipe_out, seen_columns.recipe(Path(path_shown(asked.path)).name))
    lines = seen_columns.lines()
    if json and seen_columns.table is None:
        as_json({"inferred_types": _types_of(lines), "ambiguous": seen_columns.question})
        return
    if not json and lines:
        table("Columns and their inferred types", ["column", "inferred type", "values", "what happens"], lines)
    if seen_columns.table is None:
        if {"nominal", "ordinal"} & {*_types_of(lines).values()}:  # what most people with a survey want first
            tell(f"Next: latent class analysis models columns of several values as they are: {_classes_of(asked)}")
            tell("\nAll other models need binary columns:")
        tell(own_words(str(seen_columns.question)))
        tell(f"Next, if these suggestions are right: {next_command(asked, seen_columns)}")
        return
    counted = Opened(seen_columns.table).counted().table
    coding = counted.coding
    with at.work("Looking", counted.shape[0]):
        seen = evaluate.describe(counted)
    if json:
        as_json(
            seen.to_dict()
            | {"columns_without_bits": list(coding.excluded if coding else ()), "inferred_types": _types_of(lines)}
        )
        return
    tell(str(seen))
    tell(f"Next: {_classes_of(asked) if seen.has_levels else next_command(asked, seen_columns)}")


def _classes_of(asked: Asked) -> str:
    return asked.command("fit", "classes", out="model.hb")


def _types_of(lines: list[list[str]]) -> dict[str, str]:
    return {line[0]: line[1] for line in lines}


def _write_recipe(path: Path, text: str) -> None:
    from hiddenbits.store import whole_file

    with whole_file(path) as file:
        file.write(text.encode("utf-8"))
    word = shell_word(str(path))
    say(f"Recipe written to {path}. Change what is not right, and give it to other commands with --recipe {word}.")


@app.command()
@command
def models(json: given.Json = False) -> None:
    """List the models and what each is for."""
    if json:
        facts = [(one.word, one.name, one.picture, one.says, one.unit, one.use) for one in all_families()]
        as_json([dict(zip(("word", "estimator", "hidden", "says", "size", "use"), one, strict=True)) for one in facts])
        return
    table(
        "Models, and what each assumes is hidden behind the table",
        ["model", "hidden", "assumption", "good for", "in Python"],
        [[one.word, one.picture, one.says, one.use, one.name] for one in all_families()],
    )


@app.command()
@command
def fit(
    asked: Asked,
    at: Place,
    model: Annotated[str, typer.Argument(help="The model, such as 'classes'. 'hiddenbits models' lists them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write, such as model.hb.")],
    size: Size = None,
    settings: Settings = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Save the fit here after each pass, and resume from it.", rich_help_panel="Running"),
    ] = None,
    seed: given.Seed = 0,
    json: given.Json = False,
) -> None:
    """Fit a model to a table, say what was found, and write the model to a file."""
    estimator = made(model, size, seed, settings or [])
    check_outputs(out, checkpoint, read=asked.files)
    found = opened(asked, types=estimator.get_params().get("column_types"))
    with at.work("Fitting", checkpoint=checkpoint) as bar:
        fitted(estimator, found.table, bar)
    estimator.save(out)
    facts = {
        "model": type(estimator).__name__,
        "file": str(out),
        "passes": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "stop_reason": str(estimator.stop_reason_),
    }
    if json:
        as_json(facts)
    else:
        tell(str(estimator.summary()))
        tell(f"Written to {printable(out)}.")


@app.command()
@command
def compare(
    asked: Asked,
    at: Place,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", help="A model to compare. Can be repeated. Default: all except those listed as left out."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Save finished fits in this folder. A rerun after a crash does not repeat them.")
    ] = None,
    groups: given.Groups = None,
    random_state: given.Seed = 0,
    json: given.Json = False,
) -> None:
    """Compare models: fit each at several sizes and score it on held-out rows."""
    from hiddenbits import evaluate

    families = [family(word).name for word in models] if models else None
    check_folder(folder)
    found = opened(asked).counted()
    labels = found.labels(groups)
    with at.work("Comparing") as bar:
        comparison = evaluate.compare(
            found.table, families, groups=labels, random_state=random_state, folder=folder, progress=bar.at
        )
    if json:
        as_json(
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
        tell(str(comparison))


def _write(path: Path, heads: list[str], pieces: Any, found: Opened | None = None) -> None:
    """Write the results of each row, next to the columns that did not enter, and print how many there are."""
    read_as = None if found is None else found.table.read_as
    _said(path, write_rows(path, heads, pieces, read_as, {} if read_as is None else read_as.types()))


def _said(path: Path, rows: int) -> None:
    say(f"{rows:,} rows written to {path}.")


@app.command()
@command
def score(
    asked: Asked,
    at: Place,
    model: given.Model,
    out: given.Out = None,
    json: given.Json = False,
) -> None:
    """Score a table under a model (log-likelihood, bits per cell, errors), or with --out each row."""
    from hiddenbits import evaluate, load

    if out is not None:
        check_rows_file(out, [*asked.files, model])
    estimator: Any = load(model)
    found = opened(asked, model=estimator)
    if out is not None:
        with at.engine():
            pieces = in_pieces("Scoring", Verb(estimator, "score_samples"), found.table)
            _write(out, ["log_likelihood"], pieces, found)
        return
    measures = {
        "log_likelihood_per_row": evaluate.mean_log_likelihood,
        "bits_per_cell": evaluate.bits_per_cell,
        "leave_one_out_error": evaluate.leave_one_out_error,
    }
    if found.table.coding_of_levels is not None:  # the others are defined for bits
        measures = {"log_likelihood_per_row": evaluate.mean_log_likelihood}
    with at.work("Scoring", len(measures) * found.table.shape[0]):
        figures = {name: measure(estimator, found.table) for name, measure in measures.items()}
    if json:
        as_json({name: vars(figure) for name, figure in figures.items()})
        return
    for name, figure in figures.items():
        tell(f"{name.replace('_', ' ')}: {figure}")


@app.command(name="map")
@command
def map_rows(
    asked: Asked,
    at: Place,
    model: Annotated[Path | None, typer.Argument(help="A model file. Default: fit a two-dimensional map.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="An image (.png, .svg, .pdf), or a table (.csv, .parquet, .npz).")
    ] = Path("map.png"),
    color: Annotated[str | None, typer.Option(help="The column to color the rows by.")] = None,
    seed: given.Seed = 0,
) -> None:
    """Draw a map of the rows of a table, or write their coordinates."""
    from hiddenbits import load

    drawn = out.suffix.lower() in (".png", ".svg", ".pdf")
    if not drawn:
        check_rows_file(out, [*asked.files, model])
    else:
        check_outputs(out, read=[*asked.files, model])
        import matplotlib  # noqa: F401  (fail before any work if it is not installed)
    estimator: Any = load(model) if model else made("logistic", 2, seed, [])
    found = opened(asked, model=estimator)
    if drawn and color is not None and color not in found.beside and color not in found.names:
        raise ValueError(f"There is no column {color!r} to color by.")
    if not model:
        with at.work("Fitting") as bar:
            fitted(estimator, found.table, bar)
    if not drawn:
        heads = [str(name) for name in estimator.get_feature_names_out()]
        with at.engine():
            _write(out, heads, in_pieces("Mapping", Verb(estimator, "transform"), found.table), found)
        return
    with at.work("Drawing the map", found.table.shape[0]):
        _draw(estimator, found, color, out)
    say(f"Map written to {out}.")


def _draw(estimator: BaseEstimator, found: Opened, color: str | None, out: Path) -> None:
    """Draw the map into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from hiddenbits import plots
    from hiddenbits.store import whole_file

    shades = None
    if color is not None and color in found.beside:
        shades = found.texts(color)
    elif color is not None:
        cells = found.table.to_float()[:, found.names.index(color)]
        shades = ["blank" if cell != cell else str(int(cell)) for cell in cells]
    axes: Any = plots.map(estimator, found.table, color=shades, lines=min(12, found.table.shape[1]))
    with whole_file(out) as file:
        axes.figure.savefig(file, dpi=200, format=out.suffix.lower()[1:])


@app.command()
@command
def report(
    asked: Asked,
    at: Place,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = REPORT,
    json: Annotated[Path | None, typer.Option("--json", help="Write the findings to this file, as JSON.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the findings to this file, as Markdown for a mail.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="A column whose groups are compared, such as a party or a region; it enters no model."),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows/--no-rows", help="Whether the file may contain individual rows.")
    ] = True,
    color: Annotated[str | None, typer.Option(help="The column that colors the map when it opens.")] = None,
    curved: Annotated[bool, typer.Option("--curved", help="Draw a curved map in place of a flat one.")] = False,
    groups: given.Groups = None,
    random_state: given.Seed = 0,
) -> None:
    """Write a report about a table: what was found, in one HTML file that works offline."""
    from hiddenbits.exceptions import AmbiguousColumnsError
    from hiddenbits.reporting.entry import report_of
    from hiddenbits.store import whole_file
    from hiddenbits.tables import without_ambiguous

    check_outputs(out, json, markdown, read=asked.files)
    settings: dict[str, Any] = {"by": by, "color": color, "groups": groups}
    made_by = asked.command(
        "report",
        **settings,
        rows=None if rows else False,
        curved=curved or None,
        seed=random_state or None,
        out=None if out == REPORT else out,
        json=json,
        markdown=markdown,
    )
    if by is not None and by not in (*asked.all("id"), *asked.all("drop")) and not asked.all("columns"):
        asked = asked.without([by])
    try:
        found = opened(asked)
    except AmbiguousColumnsError as error:
        found = without_ambiguous(error, lambda more: opened(asked.having("drop", (*asked.all("drop"), *more))))
        asked = asked.without(error.ambiguous)
    settings["groups"] = found.labels(groups)
    origin = origin_of(asked, made_by, groups)
    with at.work("Looking at the table") as bar:
        made = report_of(
            found.table,
            origin,
            **settings,
            rows=rows,
            curved=curved,
            title=Path(origin.table).name,
            seed=random_state,
            tell=bar.at,
        )
    made.save(out)
    for path, text in ((json, made.to_json()), (markdown, made.to_markdown())):
        if path:
            with whole_file(path) as file:
                file.write(text.encode("utf-8"))
    say(f"Report written to {out}. Open it in a browser.")


@app.command()
@command
def complete(
    asked: Asked,
    at: Place,
    model: given.Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")],
    bits: Annotated[bool, typer.Option("--bits", help="Write the more probable bit instead of P(bit = 1).")] = False,
) -> None:
    """Fill the blanks of a table: of bits with P(bit = 1), of other columns with the more probable of their values.

    Observed cells, and columns that did not enter the model, stay as they are. Numbers that are filled in lie within
    the range of those seen.
    """
    from hiddenbits import load
    from hiddenbits.cli.completed import write_completed

    check_rows_file(out, [*asked.files, model])
    estimator: Any = load(model)
    found = opened(asked, model=estimator)
    with at.engine():
        pieces = in_pieces("Completing", Verb(estimator, "complete"), found.table)
        rows, filled = write_completed(out, found, pieces, bits=bits)
    _said(out, rows)
    say(filled)


@app.command()
@command
def sample(
    model: given.Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv, .parquet or .npz.")],
    rows: Annotated[int, typer.Option("--rows", "-r", min=1, help="How many rows to draw.")] = 1000,
    seed: given.Seed = 0,
) -> None:
    """Draw new rows from a model."""
    from hiddenbits import load, run_on

    check_rows_file(out, [model])
    estimator: Any = load(model)
    coding = getattr(estimator, "coding_", None)
    if coding is not None:  # columns, whatever frame the model was fitted to; of NumPy's files, bits
        estimator.coding_ = None if out.suffix.lower() == ".npz" else replace(coding, frame=None)
    with progress("Drawing rows", rows) as bar, run_on(on_progress=bar.rows):
        drawn = estimator.sample(rows, random_state=seed)
    if isinstance(drawn, dict):
        held = {name: {type(cell) for cell in cells if cell is not None} for name, cells in drawn.items()}
        types = {name: kinds.pop() if len(kinds) == 1 else float if kinds else str for name, kinds in held.items()}
        _said(out, write_rows(out, list(drawn), iter([list(drawn.values())]), types=types))
        return
    heads = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(drawn.shape[1])])
    _write(out, [str(name) for name in heads], written(drawn))


@app.command()
@command
def convert(
    asked: Asked,
    at: Place,
    out: Annotated[Path, typer.Argument(help="The file to write: .csv, .parquet or .npz.")],
) -> None:
    """Convert a table to another format, as zeros and ones; blanks stay blank."""
    check_rows_file(out, asked.files)
    found = opened(asked)
    with at.engine():
        _write(out, found.names, in_pieces("Converting", _cells, found.table))


def _cells(piece: Any) -> Any:
    """Return the cells of a piece: bytes, or numbers with NaN where there are blanks."""
    cells = piece.table.to_float()
    return cells if (cells != cells).any() else cells.astype("uint8")


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
    # what is known of the rows is left out of the model, and its groups show whether the model found it
    known: dict[str, Any] = {"votes": {"by": "party"}, "zoo": {"drop": "legs", "by": "type"}}.get(name, {})
    origin = "Source: UCI Machine Learning Repository, CC BY 4.0." if known else "The table is simulated."
    after = command_line("report" if known else "look", path, **known)
    say(f"Example written to {path}. {origin} Next: {after}")

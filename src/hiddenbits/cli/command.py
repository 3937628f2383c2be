"""The options of tables and executors, written once and added to every command that needs them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

from hiddenbits.cli import options as given
from hiddenbits.cli.console import LOOK, printed, sentences, state
from hiddenbits.cli.execution import engine
from hiddenbits.cli.progress import Bar, progress
from hiddenbits.cli.tables import Asked


@dataclass(frozen=True)
class Place:
    """Where a command runs."""

    jobs: int
    address: str | None

    def engine(self) -> AbstractContextManager[None]:
        """Return the context manager that runs the engine there."""
        return engine(self.address, self.jobs)

    @contextmanager
    def work(self, what: str, rows: int | None = None, checkpoint: Path | None = None) -> Iterator[Bar]:
        """Run the engine there inside the ``with`` block, with a bar that counts the rows it processes."""
        with progress(what, rows) as bar, engine(self.address, self.jobs, checkpoint, bar.rows):
            yield bar


READING: dict[str, tuple[Any, Any]] = {
    "path": (given.Table, inspect.Parameter.empty),
    "blank": (given.Blank, "auto"),
    "threshold": (given.Threshold, None),
    "columns": (given.Columns, None),
    "drop": (given.Drop, None),
    "id": (given.Id, None),
    "code": (given.Code, None),
    "missing": (given.Missing, None),
    "column_types": (given.ColumnTypes, None),
    "sample_weight": (given.SampleWeight, None),
    "recipe": (given.Recipe, None),
    "reader": (given.Reader, None),
    "names": (given.Names, None),
    "key": (given.Key, None),
    "header": (given.Header, None),
    "delimiter": (given.Delimiter, None),
    "decimal": (given.Decimal, None),
    "encoding": (given.Encoding, None),
    "sheet": (given.Sheet, None),
    "split": (given.Split, None),
    "row": (given.Row, None),
    "item": (given.Item, None),
    "value": (given.Value, None),
}
LISTS = ("columns", "drop", "id", "code", "missing", "column_types", "split", "reader")
RUNNING: dict[str, tuple[Any, Any]] = {"jobs": (given.Jobs, -1), "engine": (given.Engine, None)}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: `Asked` and `Place` parameters become options, errors become sentences."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    parameters, last = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is Asked:
            first, *others = (_option(*one) for one in READING.items())
            parameters.append(first)
            last += others
        elif hints[name] is Place:
            last += [_option(*one) for one in RUNNING.items()]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(**values: Any) -> None:
        state["quiet"] = state["silent"] or bool(values.get("json"))
        printed["look"] = LOOK
        with sentences(state["debug"]):
            for name, hint in hints.items():
                if hint is Asked:
                    read = {one: values.pop(one) for one in READING}
                    asked = Asked(**read | {one: tuple(read[one] or ()) for one in LISTS})
                    printed["look"] = asked.command("look")
                    values[name] = asked
                elif hint is Place:
                    values[name] = Place(values.pop("jobs"), values.pop("engine"))
            function(**values)

    run.__signature__ = inspect.Signature([*parameters, *last])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, *last]}
    del run.__wrapped__  # otherwise typer would read the hints of the original
    return run


def _option(name: str, option: tuple[Any, Any]) -> inspect.Parameter:
    annotation, default = option
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

"""The options of tables and executors, written once and added to every command that needs them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hiddenbits.cli import options as given
from hiddenbits.cli.console import LOOK, printed, sentences, state
from hiddenbits.cli.execution import engine
from hiddenbits.cli.progress import Bar, progress
from hiddenbits.cli.reading import READING, Reading
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


RUNNING: dict[str, tuple[Any, Any]] = {"jobs": (given.Jobs, -1), "engine": (given.Engine, None)}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: `Asked` and `Place` parameters become options, errors become sentences."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    parameters, last = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is Asked:
            parameters.append(_option("path", given.Table))
            last += [_option(one, _annotation(how), how.default) for one, how in READING.items()]
        elif hints[name] is Place:
            last += [_option(one, *how) for one, how in RUNNING.items()]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(**values: Any) -> None:
        state["quiet"] = state["silent"] or bool(values.get("json"))
        printed["look"] = LOOK
        with sentences(state["debug"]):
            for name, hint in hints.items():
                if hint is Asked:
                    asked = Asked(values.pop("path"), _typed(values))
                    printed["look"] = asked.command("look")
                    values[name] = asked
                elif hint is Place:
                    values[name] = Place(values.pop("jobs"), values.pop("engine"))
            function(**values)

    run.__signature__ = inspect.Signature([*parameters, *last])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, *last]}
    del run.__wrapped__  # otherwise typer would read the hints of the original
    return run


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options that say how the table is read, and return those that were typed."""
    read = {name: values.pop(name) for name in READING}
    read = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
    return {name: value for name, value in read.items() if value not in (READING[name].default, ())}


def _annotation(option: Reading) -> Any:
    return Annotated[option.type, typer.Option(*option.flags, help=option.help, rich_help_panel=option.panel)]


def _option(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

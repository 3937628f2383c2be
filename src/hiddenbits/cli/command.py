"""The options of reading and running, defined once and added to every command that needs them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hiddenbits.cli import options
from hiddenbits.cli.console import LOOK, errors_as_sentences, look_command, state
from hiddenbits.cli.execution import engine
from hiddenbits.cli.progress import Bar, progress
from hiddenbits.cli.reading import OPTION_SPECS, OptionSpec
from hiddenbits.cli.tables import ReadOptions


@dataclass(frozen=True)
class RunOptions:
    """Where a command runs: on threads, or on a dask cluster."""

    n_jobs: int
    address: str | None

    def engine(self) -> AbstractContextManager[None]:
        """Return the context manager that runs the engine with these options."""
        return engine(self.address, self.n_jobs)

    @contextmanager
    def work(self, what: str, rows: int | None = None, checkpoint: Path | None = None) -> Iterator[Bar]:
        """Run the engine inside the ``with`` block, with a bar that counts the rows it processes."""
        with progress(what, rows) as bar, engine(self.address, self.n_jobs, checkpoint, bar.rows):
            yield bar


RUN_OPTION_SPECS: dict[str, tuple[Any, Any]] = {"n_jobs": (options.NJobs, -1), "engine": (options.Engine, None)}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command: parameters of type `ReadOptions` and `RunOptions` become options, errors become sentences."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    parameters, last = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is ReadOptions:
            parameters.append(_parameter("path", options.Table))
            last += [_parameter(option, _annotation(spec), spec.default) for option, spec in OPTION_SPECS.items()]
        elif hints[name] is RunOptions:
            last += [_parameter(option, *spec) for option, spec in RUN_OPTION_SPECS.items()]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(**values: Any) -> None:
        state["quiet"] = state["silent"] or bool(values.get("json"))
        look_command["text"] = LOOK
        with errors_as_sentences(state["debug"]):
            for name, hint in hints.items():
                if hint is ReadOptions:
                    values[name] = ReadOptions(values.pop("path"), _pop_typed(values))
                    look_command["text"] = values[name].command("look")
                elif hint is RunOptions:
                    values[name] = RunOptions(values.pop("n_jobs"), values.pop("engine"))
            function(**values)

    run.__signature__ = inspect.Signature([*parameters, *last])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, *last]}
    del run.__wrapped__  # otherwise typer would read the hints of the original
    return run


def _pop_typed(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of reading from all values, and return those that were typed."""
    typed = {name: values.pop(name) for name in OPTION_SPECS}
    typed = {name: tuple(value) if isinstance(value, list) else value for name, value in typed.items()}
    return {name: value for name, value in typed.items() if value not in (OPTION_SPECS[name].default, ())}


def _annotation(spec: OptionSpec) -> Any:
    return Annotated[spec.type, typer.Option(*spec.flags, help=spec.help, rich_help_panel=spec.panel)]


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

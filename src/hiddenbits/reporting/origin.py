"""Where the table of a report came from, and what to run on it: commands if a command made the report, else Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hiddenbits import evaluate, open_table
from hiddenbits.commands import Name, call, command, path_shown, secrets_note
from hiddenbits.tables import Table

# Options about columns, which a model keeps: commands that take a model file refuse them.
KEPT_BY_MODELS = ("columns", "drop", "recode", "missing", "recipe")
LABELS = Name("groups")
IN_MEMORY = Name("X")
DEFAULTS = {"rows": True, "curved": False, "random_state": 0}  # of `report`; all else is None


@dataclass(frozen=True)
class Origin:
    """Where the table of a report came from.

    Attributes
    ----------
    call : str
        The command or the call that made the report.
    opening : str
        The expression in Python that opens the table.
    open_again : callable
        Opens the table again; raises where that is not possible.
    narrowed : callable
        Returns the same without some columns, from their names and the names of those that remain.
    recoded : callable
        Returns the command or call that reports on the table with another code as 1, from column names and the code.
    table : str or Name
        What the table is called: its path, or a name for what was in memory.
    options : dict or None
        The options of a command that reads the table; None: the report was made in Python.
    groups : str or None
        The column of the labels of rows that are held out together, or in Python their name.
    notes : tuple of str
        What the names in `call` stand for.
    """

    call: str
    opening: str
    open_again: Callable[[], Table]
    narrowed: Callable[[Sequence[str], Sequence[str]], Origin]
    recoded: Callable[[Sequence[str], str], str]
    table: str
    options: Mapping[str, Any] | None = None
    groups: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> str:
        """The expression in Python for the labels of rows that are held out together, given the table as `table`."""
        return repr(LABELS) if self.options is None else f"table.beside[{self.groups!r}]"

    def fit(self, model: str, size: str, random_state: int) -> str:
        """Return what fits a model to the table and writes it to a file."""
        if self.options is not None:
            word = evaluate.known_families()[model].word
            options = {"n_components": size or None, "random_state": random_state or None, **self.options}
            return command("fit", self.table, word, **options, out="model.hb")
        return f"{estimator_line(model, size, random_state)}.fit({self.opening}).save('model.hb')"

    def compare(self, random_state: int) -> str:
        """Return what compares the models on the table."""
        if self.options is not None:
            return command("compare", self.table, **self.options, groups=self.groups, random_state=random_state or None)
        more = {} if self.groups is None else {"groups": LABELS}
        return call("hiddenbits.evaluate.compare", Name(self.opening), random_state=random_state, **more)

    def codes(self) -> str:
        """Return what gives the code of each row under the saved model."""
        return self._with_model("map", "rows.csv", "transform")

    def completed(self) -> str:
        """Return what fills in the missing values of the table by the saved model."""
        return self._with_model("complete", "filled.csv", "complete")

    def _with_model(self, verb: str, out: str, method: str) -> str:
        if self.options is not None:
            of_file = {name: value for name, value in self.options.items() if name not in KEPT_BY_MODELS}
            return command(verb, self.table, "model.hb", **of_file, out=out)
        return call(f"hiddenbits.load('model.hb').{method}", self.table)

    def without(
        self, left: Sequence[str], kept: Sequence[str], names: tuple[str, ...] | None, width: int
    ) -> Origin | None:
        """Return the same without some columns; None if the table cannot be opened so.

        `names` and `width` are those of the table that must come of it.
        """
        narrower = self.narrowed(left, kept)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = narrower.open_again()
        except Exception:  # whatever it is: a stream that has ended, a format whose columns cannot be named
            return None
        return narrower if table.shape[1] == width and table.names == names else None


def estimator_line(model: str, size: str, random_state: int) -> str:
    """Return the line of Python that makes a model, with the settings of the comparison."""
    from hiddenbits.reporting.fits import made

    return "hiddenbits." + " ".join(repr(made(model, size, random_state)).split())


def of_python(X: Any, settings: Mapping[str, Any], options: Mapping[str, Any]) -> Origin:
    """Return the origin of a table that was passed to `report` with some settings, and opened with some options."""
    table = argument(X)
    passed = {name: value for name, value in settings.items() if value is not DEFAULTS.get(name)}
    in_memory = [name for name, value in passed.items() if not isinstance(value, (str, int))]
    report_call = call("hiddenbits.report", table, **passed | {name: Name(name) for name in in_memory})

    def narrowed(left: Sequence[str], _kept: Sequence[str]) -> Origin:
        return of_python(X, settings, {**options, "drop": [*options.get("drop", ()), *left]})

    def recoded(names: Sequence[str], code: str) -> str:
        coded = {**options, "recode": {**options.get("recode", {}), **{name: {Name(code): 1} for name in names}}}
        return call("hiddenbits.report", Name(call("hiddenbits.open_table", table, **coded)))

    return Origin(
        report_call,
        "X" if isinstance(X, Table) else call("hiddenbits.open_table", table, **options),
        partial(open_table, X, **options),
        narrowed,
        recoded,
        table,
        groups=LABELS if settings.get("groups") is not None else None,
        notes=_notes(X, table, in_memory),
    )


def _notes(X: Any, table: Any, in_memory: Sequence[str]) -> tuple[str, ...]:
    """Return what a reader has to put in by hand: what was in memory, and secrets."""
    notes = []
    if table is IN_MEMORY:
        type_name = f"{type(X).__module__.partition('.')[0]}.{type(X).__qualname__}".removeprefix("builtins.")
        notes.append(f"X is the table in memory that was passed ({type_name}).")
    if in_memory:
        notes.append(f"{' and '.join(in_memory)}: in memory, as passed.")
    paths = [] if table is IN_MEMORY else [X] if isinstance(X, (str, os.PathLike)) else X
    return (*notes, *secrets_note(*map(os.fspath, paths)))


def argument(X: Any) -> Any:
    """Return what stands for a table in a line of Python: its path or paths, or the name of what was in memory."""
    if isinstance(X, (str, os.PathLike)):
        return path_shown(os.fspath(X))
    if isinstance(X, (list, tuple)) and X and all(isinstance(one, (str, os.PathLike)) for one in X):
        return [path_shown(os.fspath(one)) for one in X]
    return IN_MEMORY

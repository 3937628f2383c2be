"""The origin of a report's table, and the commands (or calls in Python) that the report suggests to run on it."""

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

# Options about columns are saved with a model: commands that take a model file refuse them.
OPTIONS_IN_MODELS = ("columns", "drop", "recode", "missing", "recipe")
GROUPS = Name("groups")
TABLE_IN_MEMORY = Name("X")
DEFAULTS = {"rows": True, "curved": False, "random_state": 0}  # of `report`; its other defaults are None


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
        Opens the table again; raises if that is not possible.
    narrowed : callable
        Returns the origin without some columns, given their names and the names of the remaining columns.
    recoded : callable
        Returns the command or call that reports on the table with another value as 1, given column names and the value.
    table : str or Name
        Its path, or a name for a table in memory.
    options : dict or None
        The options of the command that read the table; None if the report was made in Python.
    groups : str or None
        The column of labels (rows with the same label are held out together), or in Python the name of the labels.
    notes : tuple of str
        Explanations of the names in `call`.
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
        """The Python expression for the labels of `groups`, given the table as `table`."""
        return repr(GROUPS) if self.options is None else f"table.beside[{self.groups!r}]"

    def fit(self, model: str, size: str, random_state: int) -> str:
        """Return the command or call that fits a model to the table and saves it."""
        if self.options is not None:
            word = evaluate.known_families()[model].word
            options = {"n_components": size or None, "random_state": random_state or None, **self.options}
            return command("fit", self.table, word, **options, out="model.hb")
        return f"{estimator_line(model, size, random_state)}.fit({self.opening}).save('model.hb')"

    def compare(self, random_state: int) -> str:
        """Return the command or call that compares the models on the table."""
        if self.options is not None:
            return command("compare", self.table, **self.options, groups=self.groups, random_state=random_state or None)
        grouped = {} if self.groups is None else {"groups": GROUPS}
        return call("hiddenbits.evaluate.compare", Name(self.opening), random_state=random_state, **grouped)

    def codes(self) -> str:
        """Return the command or call for the latent values of each row under the saved model."""
        return self._with_model("map", "rows.csv", "transform")

    def completed(self) -> str:
        """Return the command or call that imputes the missing values of the table with the saved model."""
        return self._with_model("complete", "filled.csv", "complete")

    def _with_model(self, verb: str, out: str, method: str) -> str:
        if self.options is not None:
            of_file = {name: value for name, value in self.options.items() if name not in OPTIONS_IN_MODELS}
            return command(verb, self.table, "model.hb", **of_file, out=out)
        return call(f"hiddenbits.load('model.hb').{method}", self.table)

    def without(
        self, dropped: Sequence[str], kept: Sequence[str], names: tuple[str, ...] | None, n_columns: int
    ) -> Origin | None:
        """Return the origin without some columns; None if the table cannot be opened without them.

        `names` and `n_columns` are those that the opened table must have.
        """
        narrower = self.narrowed(dropped, kept)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = narrower.open_again()
        except Exception:  # of any kind: a stream that has ended, a format whose columns cannot be named
            return None
        return narrower if table.shape[1] == n_columns and table.names == names else None


def estimator_line(model: str, size: str, random_state: int) -> str:
    """Return the Python expression for an unfitted model with the settings of the comparison."""
    from hiddenbits.reporting.fits import unfitted_model

    return "hiddenbits." + " ".join(repr(unfitted_model(model, size, random_state)).split())


def of_python(X: Any, settings: Mapping[str, Any], options: Mapping[str, Any]) -> Origin:
    """Return the origin of a table that was passed to `report`.

    `settings` are the arguments of `report`, `options` those of `open_table`.
    """
    argument = table_argument(X)
    passed = {name: value for name, value in settings.items() if value is not DEFAULTS.get(name)}
    in_memory = [name for name, value in passed.items() if not isinstance(value, (str, int))]
    report_call = call("hiddenbits.report", argument, **passed | {name: Name(name) for name in in_memory})

    def narrowed(left: Sequence[str], _kept: Sequence[str]) -> Origin:
        return of_python(X, settings, {**options, "drop": [*options.get("drop", ()), *left]})

    def recoded(names: Sequence[str], code: str) -> str:
        coded = {**options, "recode": {**options.get("recode", {}), **{name: {Name(code): 1} for name in names}}}
        return call("hiddenbits.report", Name(call("hiddenbits.open_table", argument, **coded)))

    return Origin(
        report_call,
        "X" if isinstance(X, Table) else call("hiddenbits.open_table", argument, **options),
        partial(open_table, X, **options),
        narrowed,
        recoded,
        argument,
        groups=GROUPS if settings.get("groups") is not None else None,
        notes=_notes(X, argument, in_memory),
    )


def _notes(X: Any, table: Any, in_memory: Sequence[str]) -> tuple[str, ...]:
    """Return notes on what a reader has to fill in: objects in memory, and secrets."""
    notes = []
    if table is TABLE_IN_MEMORY:
        type_name = f"{type(X).__module__.partition('.')[0]}.{type(X).__qualname__}".removeprefix("builtins.")
        notes.append(f"X is the table in memory that was passed ({type_name}).")
    if in_memory:
        notes.append(f"{' and '.join(in_memory)}: in memory, as passed.")
    paths = [] if table is TABLE_IN_MEMORY else [X] if isinstance(X, (str, os.PathLike)) else X
    return (*notes, *secrets_note(*map(os.fspath, paths)))


def table_argument(X: Any) -> Any:
    """Return the table as an argument in Python: its path or paths, or a name for a table in memory."""
    if isinstance(X, (str, os.PathLike)):
        return path_shown(os.fspath(X))
    if isinstance(X, (list, tuple)) and X and all(isinstance(one, (str, os.PathLike)) for one in X):
        return [path_shown(os.fspath(one)) for one in X]
    return TABLE_IN_MEMORY

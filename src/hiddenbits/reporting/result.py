"""What `report` returns: the findings as a frame, as records, as JSON and Markdown, and the page."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits import __version__
from hiddenbits.display import as_frame
from hiddenbits.quoting import json_escaped, printable
from hiddenbits.store import check_target, whole_file

if TYPE_CHECKING:
    from hiddenbits.reporting.findings import Finding, Findings

FRAME_HEIGHT = 900  # pixels of the page in a notebook


@dataclass(frozen=True, eq=False)
class Report:
    """The findings about a table, and the page that shows them: what `hiddenbits.report` returns.

    Printing it shows the findings; a notebook shows the page.

    Attributes
    ----------
    html : str
        The page.
    title : str
        Name of the table.
    found : Findings
        The sentences with which the report begins, and the numbers in them.
    library : {"pandas", "polars", "pyarrow"} or None
        The library of the frame `findings`: that of the table, or if None the first that is installed.

    Examples
    --------
    >>> import hiddenbits
    >>> from hiddenbits.datasets import simulate_mixture
    >>> report = hiddenbits.report(simulate_mixture(60, 5, 2, random_state=0).X, title="Two classes")
    >>> print(report.to_markdown().splitlines()[0])
    # Two classes
    """

    html: str = field(repr=False)
    title: str
    found: Findings
    library: str | None = None

    @property
    def findings(self) -> Any:
        """The findings as a frame with one row for each, of the library of the table, or of an installed one."""
        lines = [_frame_row(finding) for finding in self.found.findings]
        columns = {name: [line[name] for line in lines] for name in _frame_row(None)}
        types = {name: int if name in ("rows", "of_rows") else str for name in columns}
        return as_frame(columns, self.library, if_empty=types)

    def records(self) -> list[dict[str, Any]]:
        """Return the findings as dictionaries, each with the numbers in its sentence.

        Returns
        -------
        records : list of dict
        """
        return [{**_frame_row(finding), "numbers": dict(finding.numbers)} for finding in self.found.findings]

    def to_json(self) -> str:
        """Return the findings as JSON; a number that does not exist is null.

        Returns
        -------
        text : str
        """
        contents = {
            "title": self.title,
            "table": self.found.table,
            "coding": self.found.coding,
            "ones": dict(self.found.ones),
            "picture": self.found.picture,
            "numbers": dict(self.found.numbers),
            "findings": self.records(),
            "next_steps": list(self.found.next_steps),
            "hiddenbits": __version__,
        }
        return json_escaped(json.dumps(_json_value(contents), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"

    def to_markdown(self) -> str:
        """Return the findings as Markdown, for a mail.

        Returns
        -------
        text : str
        """
        opening = [text for text in (self.found.table, self.found.coding, self.found.picture) if text]
        lines = [f"# {_escaped(self.title)}", "", *(line for text in opening for line in (_escaped(text), ""))]
        if self.found.findings:
            lines += ["## Findings", ""]
            lines += [f"{n}. {_list_item(finding)}" for n, finding in enumerate(self.found.findings, 1)] + [""]
        if self.found.next_steps:
            lines += [
                "## Next steps",
                "",
                *(f"- {_escaped_except_code(step)}" for step in self.found.next_steps),
                "",
            ]
        return printable("\n".join(lines), keep="\n")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page: one HTML file that works offline and makes no network requests.

        Parameters
        ----------
        path : path
            The file to write; an existing one is replaced when the new one is complete.

        Returns
        -------
        path : Path
            The file that was written.
        """
        return write_page(self.html, path)

    def __str__(self) -> str:
        sentences = [f"{n}. {finding.sentence}" for n, finding in enumerate(self.found.findings, 1)]
        opening = [text for text in (self.found.table, self.found.coding, self.found.picture) if text]
        return printable("\n".join([self.title, *opening, *sentences]), keep="\n")

    def _repr_html_(self) -> str:
        """Return the page in an iframe, which cannot access the notebook."""
        title = escape(printable(self.title))
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" title="{title}" width="100%" '
            f'height="{FRAME_HEIGHT}" style="border: 0"></iframe>'
        )


def write_page(text: str, path: str | os.PathLike[str]) -> Path:
    """Write a text; an interrupted write leaves no file."""
    target = Path(path)
    check_target(target)
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))
    return target


def _frame_row(finding: Finding | None) -> dict[str, Any]:
    """Return a finding as a row of a frame."""
    names = ("kind", "title", "sentence", "rows", "of_rows", "evidence")
    return {name: getattr(finding, name, None) for name in names}


def _json_value(value: Any) -> Any:
    """Return a value that JSON can hold: numpy numbers become numbers, NaN and infinities None."""
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(one) for one in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _list_item(finding: Finding) -> str:
    """Return a finding as an item of a list."""
    head = f"**{_escaped(finding.title)}.** " if finding.title else ""
    return f"{head}{_escaped(finding.sentence)}"


def _escaped(text: str) -> str:
    """Return a text in which characters that Markdown would interpret are escaped."""
    return re.sub(r"([\\`*\[\]<>&]|(?<!\w)_|_(?!\w))", r"\\\1", re.sub(r"\s+", " ", text))


def _escaped_except_code(text: str) -> str:
    """Escape a text except for the code between backticks, which is to be copied."""
    return "`".join(part if place % 2 else _escaped(part) for place, part in enumerate(text.split("`")))

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

HEIGHT = 900  # pixels of the page in a notebook


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
        What the report begins with: sentences, and the numbers in them.
    library : {"pandas", "polars", "pyarrow"} or None
        The library that the table came in, of which `findings` is a frame; None: the first that is installed.

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
        """The findings as a frame, a line for each: of the library that the table came in, or of one installed."""
        lines = [_line(finding) for finding in self.found.findings]
        columns = {name: [line[name] for line in lines] for name in _line(None)}
        types = {name: int if name in ("rows", "of_rows") else str for name in columns}
        return as_frame(columns, self.library, if_empty=types)

    def records(self) -> list[dict[str, Any]]:
        """Return the findings as dictionaries, each with the numbers in its sentence.

        Returns
        -------
        records : list of dict
        """
        return [{**_line(finding), "numbers": dict(finding.numbers)} for finding in self.found.findings]

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
        return json_escaped(json.dumps(_strict(contents), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"

    def to_markdown(self) -> str:
        """Return the findings as Markdown, for a mail.

        Returns
        -------
        text : str
        """
        opening = [text for text in (self.found.table, self.found.coding, self.found.picture) if text]
        lines = [f"# {_quoted(self.title)}", "", *(line for text in opening for line in (_quoted(text), ""))]
        if self.found.findings:
            lines += ["## Findings", ""]
            lines += [f"{n}. {_item(finding)}" for n, finding in enumerate(self.found.findings, 1)] + [""]
        if self.found.next_steps:
            lines += [
                "## Next steps",
                "",
                *(f"- {_with_code(step)}" for step in self.found.next_steps),
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
        return written(self.html, path)

    def __str__(self) -> str:
        sentences = [f"{n}. {finding.sentence}" for n, finding in enumerate(self.found.findings, 1)]
        opening = [text for text in (self.found.table, self.found.coding, self.found.picture) if text]
        return printable("\n".join([self.title, *opening, *sentences]), keep="\n")

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which cannot reach the notebook."""
        title = escape(printable(self.title))
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" title="{title}" width="100%" '
            f'height="{HEIGHT}" style="border: 0"></iframe>'
        )


def written(text: str, path: str | os.PathLike[str]) -> Path:
    """Write a text; the file appears whole or not at all."""
    target = Path(path)
    check_target(target)
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))
    return target


def _line(finding: Finding | None) -> dict[str, Any]:
    """Return a finding as a row of a frame."""
    names = ("kind", "title", "sentence", "rows", "of_rows", "evidence")
    return {name: getattr(finding, name, None) for name in names}


def _strict(value: Any) -> Any:
    """Return a value as JSON has it: numbers of numpy as numbers, NaN and infinities as null."""
    if isinstance(value, dict):
        return {str(key): _strict(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(one) for one in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _item(finding: Finding) -> str:
    """Return a finding as an item of a list."""
    head = f"**{_quoted(finding.title)}.** " if finding.title else ""
    return f"{head}{_quoted(finding.sentence)}"


def _quoted(text: str) -> str:
    """Return a text in which names of the table are no markup."""
    return re.sub(r"([\\`*\[\]<>&]|(?<!\w)_|_(?!\w))", r"\\\1", re.sub(r"\s+", " ", text))


def _with_code(text: str) -> str:
    """Return the same of a text in which code stands between backticks: code stays as it is, to be copied."""
    return "`".join(part if place % 2 else _quoted(part) for place, part in enumerate(text.split("`")))

"""One click from a model's page to the lines of source that carry the paper's equations.

``equations.toml`` says where each equation is: a file, and a text on its line. The table is put at the end of
the model's page, and every source file named has a page of its own with an anchor for each line. A text that is no
longer found is a warning, and so an error of the build.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.util.osutil import relative_uri

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src" / "hiddenbits"
logger = logging.getLogger(__name__)


@cache
def papers() -> list[dict[str, Any]]:
    """Return the list of papers, each with its equations."""
    with (HERE / "equations.toml").open("rb") as file:
        return list(tomllib.load(file)["paper"])


@cache
def lines_of(name: str) -> list[str]:
    """Return the lines of a model's file."""
    return (SOURCE / name).read_text(encoding="utf-8").splitlines()


def find_line(name: str, text: str) -> int | None:
    """Return the number of the first line that holds a text, counted from 1."""
    return next((number for number, line in enumerate(lines_of(name), 1) if text in line), None)


def source_page(name: str) -> str:
    """Return the page of a model's file."""
    return f"source/{name.removesuffix('.py')}"


def append_table(_app: Any, docname: str, content: list[str]) -> None:
    """Put the table of equations at the end of a model's page, as Markdown."""
    for paper in papers():
        if paper["page"] != docname:
            continue
        rows = [f"| {e['number']} | {e['what']} | {{source-line}}`{e['number']}` |" for e in paper["equation"]]
        opening = f"Equations of {paper['paper']}, and the lines of source that carry them."
        lines = [
            "",
            "",
            "## Where the equations are",
            opening,
            "",
            "| equation | what it says | source |",
            "|---|---|---|",
        ]
        content[0] += "\n".join([*lines, *rows, ""])


class SourceLine(SphinxRole):
    """Link the number of an equation of this page's paper to its line."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link."""
        docname = self.env.docname
        entry = next(e for p in papers() if p["page"] == docname for e in p["equation"] if e["number"] == self.text)
        line = find_line(entry["file"], entry["at"])
        if line is None:
            where = self.get_location()
            logger.warning("equation %s: %r is not in %s", self.text, entry["at"], entry["file"], location=where)
            return [nodes.literal(text=entry["file"])], []
        uri = relative_uri(f"{docname}.html", f"{source_page(entry['file'])}.html") + f"#line-{line}"
        return [nodes.reference("", "", nodes.literal(text=f"{entry['file']}, line {line}"), refuri=uri)], []


def write_sources(_app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make a page of every file that is named."""
    names = sorted({e["file"] for paper in papers() for e in paper["equation"]})
    style = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="line", wrapcode=True)
    for name in names:
        text = highlight("\n".join(lines_of(name)) + "\n", PythonLexer(stripnl=False), style)
        body = f'<h1>hiddenbits/{name}</h1>\n<div class="source-lines">{text}</div>'
        yield source_page(name), {"title": f"hiddenbits/{name}", "body": body, "parents": []}, "page.html"


def setup(app: Any) -> dict[str, bool]:
    """Register the three steps."""
    app.connect("source-read", append_table)
    app.add_role("source-line", SourceLine())
    app.connect("html-collect-pages", write_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

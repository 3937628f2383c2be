"""Pages that may come later, and links that are made for readers of the repository.

A list of pages may name some that are not there yet: a pattern such as ``compare*`` may match no page. And a link to
``../experiments/NAME/README.md`` leads to the page of the site that shows it, or nowhere while there is none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def adapt(app: Any, docname: str, content: list[str]) -> None:
    """Take lines that are only a pattern out of a page, where no Markdown page matches; lead links to the site."""
    folder = Path(app.srcdir, docname).parent

    def kept(line: str) -> bool:
        pattern = re.fullmatch(r"(?P<up>(?:\.\./)*)(?P<name>[\w/]*\*)", line.strip())
        if pattern is None:
            return True
        return any(folder.joinpath(pattern["up"]).resolve().glob(pattern["name"] + ".md"))

    def led(link: re.Match[str]) -> str:
        page = Path(app.srcdir, "experiments", link["name"] + ".md")
        return f"[{link['words']}](/experiments/{link['name']}.md)" if page.exists() else link["words"]

    text = "\n".join(line for line in content[0].split("\n") if kept(line))
    content[0] = re.sub(r"\[(?P<words>[^\]]+)\]\(\.\./experiments/(?P<name>\w+)/README\.md\)", led, text)


def setup(app: Any) -> dict[str, bool]:
    """Register both."""
    app.connect("source-read", adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

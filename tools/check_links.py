"""Check that every link within a built site leads somewhere: pages, anchors, pictures, styles. No network.

``python tools/check_links.py OUT`` exits with 1 if a link is broken, or if a page would fetch something from elsewhere
(a script, a style, a picture): the site is to work offline.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
NAMED_ONLY = {"canonical", "search", "alternate"}  # <link rel> that names an address and fetches nothing


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to, and what can be referred to."""
        found = {name: value for name, value in attrs if value}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "link" and found.get("rel") in NAMED_ONLY:
            return
        for name in ("href", "src"):
            if name in found:
                self.links.append((found[name], (tag, name) in FETCHED))


@cache
def page(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path)


def flaw_of(link: str, fetched: bool, path: Path) -> str | None:
    """Return what is wrong with a link on the page at `path`, or None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return "would be fetched from the network" if fetched and parts.scheme != "data" else None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    # Source pages link back under one module's name, also where a file has objects of several public modules.
    anchor = "" if "_modules" in path.parts else unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in page(target).anchors:
        return "no such anchor"
    return None


def main(arguments: list[str]) -> int:
    """Check the site in the given folder; return the exit status."""
    root = Path(arguments[0]).resolve()
    paths = sorted(path for path in root.rglob("*.html") if "_static" not in path.relative_to(root).parts)
    n_links = broken = 0
    for path in paths:
        for link, fetched in page(path).links:
            n_links += 1
            flaw = flaw_of(link, fetched, path)
            if flaw:
                broken += 1
                print(f"{path.relative_to(root)}: {link}: {flaw}")
    print(f"{n_links} links on {len(paths)} pages, {broken} broken")
    return 1 if broken or not n_links else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

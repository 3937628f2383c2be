"""Addresses as messages may show them: without users, passwords, queries, and tokens in the path.

Tokens in a path are recognized by rules. A part of the path is shown as *** if it follows a part that announces a
secret (``/token/abc/``, ``/key/abc/``), if it is a name=value with such a name, or if it looks random: a UUID, or at
least 16 letters and digits whose words and numbers are no longer than 3.5 characters on average. The suffix of a file's
name is always shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

LEFT_OUT = "?..."
SECRET = "***"  # noqa: S105
ANNOUNCED = (
    "(?:access|api|auth|account|private|secret|session|shared|signing)?[-_]?"
    "(?:keys?|tokens?|secrets?|sig|signatures?|sas|auth|bearer|credentials?|passwords?|passwd|pwd)"
)
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
# A password may contain slashes, as the keys of S3 do; digits and a slash after a colon are a port. In a `Path` two
# slashes have become one.
USER = re.compile(r"(?<=\w\w:/)(/?)([^/?#\s]*|[^/?#:@\s]+:(?!\d+/)\S*)@")
SUFFIX = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}$")  # .csv, .csv.gz


def safe_url(url: str) -> str:
    """Return an address as messages may show it: without user, password, query, and tokens in its path.

    Examples
    --------
    >>> safe_url("https://me:word@example.org/x.csv?signature=abc")
    'https://example.org/x.csv?...'
    >>> safe_url("https://example.org/token/abc/2024/x.csv")
    'https://example.org/token/***/2024/x.csv'
    >>> safe_url("simplecache::s3://bucket/part?.parquet")
    'simplecache::s3://bucket/part?.parquet'
    """
    return "::".join(_safe_link(link) for link in url.split("::"))


def without_user(text: str) -> str:
    """Return a text whose addresses have no users and passwords.

    Examples
    --------
    >>> without_user("no answer from ftp://me:word@example.org/x.csv")
    'no answer from ftp://example.org/x.csv'
    """
    return USER.sub(r"\1", text)


def is_http(url: str) -> bool:
    """Whether the address is an http or https address."""
    return url.lower().startswith(("http://", "https://"))


def has_credentials(url: str) -> bool:
    """Whether an address has a user or a query."""
    short, query = _without_query(url)
    return query or short != url


def secrets_of(url: str) -> Iterator[str]:
    """Yield the hidden parts of an address, as written and decoded: user, password, query, parts of a path."""
    for link in url.split("::"):
        short = _without_query(link)[0]
        user = USER.search(link)
        words = [] if user is None else user[2].split(":", maxsplit=1)
        query = without_user(link).removeprefix(short)
        words += [value.partition("=")[2] or value for value in re.split("[?&;#]", query)]
        yield from {form for word in words if word for form in (word, unquote(word))}
        for part, shown in _parts(short):
            if shown != part:
                stem = part.removesuffix(shown.rpartition(SECRET)[2]).removeprefix(shown.partition(SECRET)[0])
                yield from {stem, unquote(stem)}


def _safe_link(link: str) -> str:
    """Return one link of a chain of addresses without its secrets."""
    path, query = _without_query(link)
    return "/".join(shown for _, shown in _parts(path)) + (LEFT_OUT if query else "")


def _without_query(link: str) -> tuple[str, bool]:
    """Return a link without user and query, and whether it had a query."""
    link = without_user(link)
    # A question mark is a wildcard in most protocols, unless it is followed by name=value.
    query = re.search(r"[?#]" if is_http(link) else r"[?#](?=[^/]*=)", link)
    return (link, False) if query is None else (link[: query.start()], True)


def _parts(link: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a link between its slashes, each with its displayed form."""
    head = 3 if "://" in link else 0  # protocol, nothing, host
    parts = link.split("/")
    for i, part in enumerate(parts):
        announced = i > head and re.fullmatch(ANNOUNCED, parts[i - 1], re.IGNORECASE) is not None
        yield part, part if i < head else _safe_part(part, announced, i == len(parts) - 1)


def _safe_part(part: str, announced: bool, last: bool) -> str:
    """Return the displayed form of one part of a path."""
    named = re.fullmatch(rf"(.*?\b{ANNOUNCED}[=:])[^;&]+(.*)", part, re.IGNORECASE)
    if named:
        return f"{named[1]}{SECRET}{named[2]}"
    suffix = match[0] if last and (match := SUFFIX.search(part)) else ""
    stem = part.removesuffix(suffix)
    if (announced and part and not (last and suffix)) or _looks_random(unquote(stem)):
        return SECRET + suffix
    return part


def _looks_random(text: str) -> bool:
    """Whether a text looks random rather than written: its words and numbers have at most 3.5 characters on average."""
    if UUID.fullmatch(text):
        return True
    pieces = re.split("[-_]", text)
    runs = re.findall(r"[A-Za-z0-9]{16,}", text) + (["".join(pieces)] if len(pieces) <= 4 and len(text) >= 20 else [])
    for run in runs:
        words = re.findall("[A-Z]?[a-z]+|[A-Z]+|[0-9]+", run)
        if run.isalnum() and re.search("[0-9]", run) and len(run) <= 3.5 * len(words):
            return True
    return False

"""What can go wrong on the way to a remote file, in words that give no secret away.

Addresses may hold a user, a password or a signature, and the messages of other libraries repeat addresses and
options. So addresses are shortened, messages are cleaned, and the libraries' own errors are not chained.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hiddenbits.addresses import secrets_of
from hiddenbits.data.errors import TableError
from hiddenbits.quoting import discreet, told


@contextmanager
def reaching(shown: str, url: str, options: Any) -> Iterator[None]:
    """Turn whatever a file system raises into one `TableError` that names the address and the remedy.

    Parameters
    ----------
    shown : str
        The address as it may be shown.
    url, options : str, Any
        The address and the storage options; neither is shown.
    """
    with discreet():
        try:
            yield
        except TableError:
            raise
        except Exception as error:  # every file system has errors of its own; only library calls stand in such a block
            ours = next((link for link in _chain(error) if isinstance(link, TableError)), None)
            if ours is not None:  # raised below the library, which takes whatever fails for a file that is not there
                raise TableError(str(ours)) from None
            # not chained: a secret may stand there in another form than the one that is known
            raise TableError(f"{shown}: {_why(error, lambda link: clean(link, shown, url, options))}") from None


def _why(error: BaseException, clean: Any) -> str:
    """Return what happened and what to do. Some file systems wrap the true error, so the causes are looked at too."""
    links = list(_chain(error))
    names = " ".join(type(link).__name__ for link in links).lower()
    status = next((code for code in map(_status, links) if code is not None), None)
    told = f"{type(error).__name__}: {clean(error)}"
    if any(isinstance(link, ImportError) for link in links):
        return f"a package that this protocol needs is not installed ({told}). Install it and try again."
    if status in (401, 403) or (status is None and _refused(links, names)):
        return (
            "access was refused, or no credentials were found. Give them with storage_options=, under the names that "
            "the protocol's package uses; a signed address may have expired."
        )
    if status in (404, 410):
        return "there is no such file."
    if status == 416:
        return "the file has fewer bytes than the server announced. It was cut short or replaced; open the table again."
    if status is not None:
        return f"the server answered with status {status}. Check the address, or try again later."
    if any(isinstance(link, TimeoutError) for link in links) or "timeout" in names:
        return "no answer came in time. Try again, or allow more time in storage_options=."
    if any(word in names for word in ("payload", "disconnected", "incomplete", "reset", "brokenpipe")):
        return "the connection was lost in the middle of the file. Try again."
    if any(isinstance(link, ConnectionError) for link in links) or "connect" in names or "gaierror" in names:
        last = f"{type(links[-1]).__name__}: {clean(links[-1])}"
        return f"the server cannot be reached ({last}). Check the address and the network."
    if any(isinstance(link, FileNotFoundError) for link in links):
        return "there is no such file."
    return f"cannot be read from there ({told}). Check the address and storage_options=."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from."""
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _refused(links: list[BaseException], names: str) -> bool:
    """Whether access was refused, from the kinds of the errors."""
    return any(isinstance(link, PermissionError) for link in links) or "credential" in names or "auth" in names


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an error of aiohttp, botocore or requests carries."""
    answer = getattr(error, "response", None)
    if isinstance(answer, dict):
        answer = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    code = getattr(error, "status", None) or getattr(answer, "status_code", answer)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def clean(error: object, shown: str, url: str, options: Any) -> str:
    """Return a library's message without what must not be shown of the address and of the storage options."""
    return told(error, shown, secrets=secret_words(url, options))


def secret_words(url: str, options: Any) -> list[str]:
    """Return the texts in an address and its storage options that must not be shown."""
    return [*secrets_of(url), *_words(options)]


def _words(options: Any) -> Iterator[str]:
    """Yield every text within the storage options; any of them may be secret."""
    if isinstance(options, dict):
        options = list(options.values())
    if isinstance(options, (list, tuple, set)):
        for option in options:
            yield from _words(option)
    elif isinstance(options, bytes):
        yield from _words(options.decode("utf-8", "replace"))
    elif isinstance(options, str):
        yield options

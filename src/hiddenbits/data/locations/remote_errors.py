"""Errors of remote files, in messages without secrets.

Addresses may contain a user, a password or a signature, and the messages of other libraries repeat addresses and
options. So addresses are shortened, messages are cleaned, and the libraries' own errors are not chained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hiddenbits.addresses import secrets_of
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import discreet, redacted

LOCAL_COPY = "Put simplecache:: before the address, which makes a local copy, or download the file."
# Messages by HTTP status, or by a word in the class names of the errors; the first match is used.
ADVICE = {
    "importerror": "a package that this protocol needs is not installed ({last}). Install it and try again.",
    "^40[13]$|permission|credential|auth": "access was refused, or no credentials were found. Give them with "
    "storage_options=, under the names that the protocol's package uses; a signed address may have expired.",
    "^412$": "the file has changed since it was opened. Open the table again.",
    "timeout": "no answer came in time. Try again, or allow more time in storage_options=.",
    "payload|disconnected|incomplete|reset|brokenpipe": "the connection was lost in the middle of the file. Try again.",
    "connect|gaierror": "the server cannot be reached ({last}). Check the address and the network.",
    "^(404|410)$|filenotfound": "there is no such file.",
    "^[0-9]+$": "the server answered with status {key}. Check the address, or try again later.",
}


@contextmanager
def reaching(shown: str, secrets: Iterable[str]) -> Iterator[None]:
    """Turn all errors of a file system into a `TableError` that names the address and the remedy.

    Parameters
    ----------
    shown : str
        The address without secrets.
    secrets : iterable of str
        Texts in the address and in the storage options that must not be shown.
    """
    with discreet():
        try:
            yield
        except TableError:
            raise
        except Exception as error:  # file systems raise any error; such blocks contain only library calls
            message = f"{type(error).__name__}: {redacted(error, shown, secrets=secrets)}"
            unknown = f"cannot be read from there ({message}). Check the address and storage_options=."
            # not chained: the error may contain a secret in another form
            raise TableError(f"{shown}: {remote_problem(error, shown, secrets) or unknown}") from None


def remote_problem(error: BaseException, shown: str, secrets: Iterable[str]) -> str | None:
    """Return what went wrong with a remote file and what to do; None for other errors."""
    errors = list(_chain(error))  # some file systems wrap the original error
    if any(isinstance(cause, ValueError) and re.search("range requests|Cannot seek", str(cause)) for cause in errors):
        return f"the server cannot send parts of a file, or does not report its size, which is needed. {LOCAL_COPY}"
    status = next((code for code in map(_status, errors) if code is not None), None)
    key = status or " ".join(base.__name__.lower() for cause in errors for base in type(cause).__mro__)
    last = f"{type(errors[-1]).__name__}: {redacted(errors[-1], shown, secrets=secrets)}"
    return next((advice.format(key=key, last=last) for words, advice in ADVICE.items() if re.search(words, key)), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _status(error: BaseException) -> str | None:
    """Return the HTTP status that an error of aiohttp or requests carries."""
    status = getattr(error, "status", None) or getattr(getattr(error, "response", None), "status_code", None)
    return str(status) if isinstance(status, int) and 400 <= status < 600 else None


def secret_words(url: str, options: Any) -> list[str]:
    """Return texts in an address and its storage options that must not be shown."""
    return [*secrets_of(url), *_words(options)]


def _words(options: Any) -> Iterator[str]:
    """Yield every text within the storage options; any of them may be secret."""
    if isinstance(options, (str, bytes)):
        yield options if isinstance(options, str) else options.decode("utf-8", "replace")
    elif isinstance(options, (dict, list, tuple, set)):
        for option in options.values() if isinstance(options, dict) else options:
            yield from _words(option)

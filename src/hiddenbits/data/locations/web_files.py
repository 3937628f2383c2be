"""Files over HTTP: fsspec's own, with a check of what the server sends. Imported when one is opened."""

from __future__ import annotations

from typing import Any

from fsspec.asyn import sync, sync_wrapper
from fsspec.implementations.http import HTTPFile, HTTPStreamFile

from hiddenbits.data.errors import TableError

STEP = 1 << 20
PLAIN = {"Accept-Encoding": "identity"}


class NoRangesError(ValueError):
    """The server does not send parts of a file."""


class CheckedFile(HTTPFile):  # type: ignore[misc]  # fsspec has no types
    """fsspec's file of byte ranges; that one takes all that a server sends, however little was asked for."""

    place: Any
    tag: str | None = None  # of the first range: later ones must be of the same file

    async def async_fetch_range(self, start: int, end: int) -> bytes:
        """Return the bytes from start to end, or fewer at the end of the file."""
        options = dict(self.kwargs)
        headers = {**options.pop("headers", {}), **PLAIN, "Range": f"bytes={start}-{end - 1}"}
        async with self.session.get(self.fs.encode_url(self.url), headers=headers, **options) as answer:
            answer.raise_for_status()
            _refuse_redirect(self.place, answer)
            ranged = answer.status == 206
            if ranged:
                self._check(answer.headers, start)
            elif start > 0:
                raise NoRangesError
            data = await _take(answer, end - start)
            if len(data) == end - start and (ranged or end == self.size) and await _take(answer, 1):
                raise self.place.sends_more(self.size)
            return data

    _fetch_range = sync_wrapper(async_fetch_range)

    def _check(self, headers: Any, start: int) -> None:
        """Refuse a range that is not the one that was asked for, of the same file."""
        told, tag = headers.get("Content-Range"), headers.get("ETag")
        self.tag = self.tag or tag
        first, _, total = self._parse_content_range(headers)
        if tag != self.tag or (told and (first != start or total not in (None, self.size))):
            raise TableError(
                f"{self.place}: the server did not send the requested bytes (from {start} on, of {self.size}). The "
                "file was replaced, or the server is faulty; open the table again."
            )


class WholeReads(HTTPStreamFile):  # type: ignore[misc]
    """fsspec's stream, each of whose reads is a round trip to another thread: here as many bytes as were asked for."""

    async def _read(self, num: int = -1) -> bytes:
        data = await _take(self.r, num)
        self.loc += len(data)
        return data

    read = sync_wrapper(_read)


def open_web(place: Any, size: int | None) -> Any:
    """Open a file over HTTP: by its ranges, or as one stream where its size is not known."""
    fs, options = place.fs, dict(place.fs.kwargs)
    session = sync(fs.loop, fs.set_session)
    if size is None:
        headers = {**options.pop("headers", {}), **PLAIN}
        stream = WholeReads(fs, place.path, loop=fs.loop, session=session, headers=headers, **options)
        _refuse_redirect(place, stream.r)
        return stream
    # The cache keeps the last piece, as the end of a Parquet file is looked at several times, and reads nothing ahead.
    cache = {"block_size": 1, "cache_type": "readahead"}
    file = CheckedFile(fs, place.path, session, size=size, loop=fs.loop, **cache, **options)
    file.place = place
    return file


def _refuse_redirect(place: Any, answer: Any) -> None:
    if answer.status >= 300:
        raise TableError(f"{place}: the server redirects to another address, and allow_redirects is False.")


async def _take(answer: Any, length: int) -> bytes:
    """Return the next `length` bytes of an answer, or fewer at its end."""
    pieces: list[bytes] = []
    while length > 0 and (piece := await answer.content.read(min(length, STEP))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)

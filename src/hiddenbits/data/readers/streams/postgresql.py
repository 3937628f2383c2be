"""PostgreSQL: the answer to one query, through ADBC, in Arrow's batches.

The address may hold a user and a password: neither is in a message, a repr or a file. The session may only read.
Everything that waits for the server runs in a thread of its own, so that a server that falls silent is an error here.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from hiddenbits.addresses import safe_url
from hiddenbits.data.readers.parquet.files import pyarrow
from hiddenbits.data.readers.remote.secrets import clean
from hiddenbits.data.readers.streams.snapshot import Snapshot
from hiddenbits.data.readers.streams.spill import gather
from hiddenbits.data.table import TableError
from hiddenbits.quoting import told

OWN = ("query", "timeout")  # the options of this reader
# What libpq is told unless the address says otherwise: when to give up a server that is not there, or gone; in seconds,
# the last in milliseconds.
WAITS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
HOUR, GRACE = 3600.0, 20.0  # seconds for a query, and for all else
READY = 2  # batches that wait for being written
END = object()


def run_query(url: str, options: Mapping[str, Any]) -> Snapshot:
    """Return the rows of ``query=``, in memory or, where they are many, in temporary Parquet files.

    Parameters
    ----------
    url : str
        As libpq has it: ``postgresql://user@host:port/database``.
    options : Mapping
        ``query``, and ``timeout``, the most seconds that it may take; an hour by default. Others are the opener's.
    """
    query, timeout = options.get("query"), options.get("timeout", HOUR)
    if not isinstance(query, str) or not query.strip():
        raise TypeError(
            'A database is opened with a query: open_table("postgresql://...", query="select ... order by id").'
        )
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise TypeError(f"timeout={timeout!r}: give the seconds that the query may take, at most a million.")
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError as error:
        raise ImportError("PostgreSQL needs an ADBC driver: pip install 'hiddenbits[lakes]'.") from error
    pyarrow()
    answer = _Answer(lambda: dbapi.connect(_with_waits(url), autocommit=True), url, query, float(timeout))
    try:
        schema, batches = answer.rows()
        names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"Two columns of the query are called {twice!r}. Give each a name with AS.")
        return Snapshot(None, gather(batches, schema, "The query of PostgreSQL", to_disk=bool(set(options) - set(OWN))))
    finally:
        answer.leave()


def plain_types(schema: Any, batches: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    """Return columns of types that ADBC made up as what they are: ``numeric`` as numbers, others as text or bytes."""
    pa = pyarrow()
    types = [_plain(field.type) for field in schema]
    if types == schema.types:
        return schema, batches
    plain = pa.schema([pa.field(name, kind) for name, kind in zip(schema.names, types, strict=True)])

    def turned() -> Iterator[Any]:
        for batch in batches:
            arrays = [getattr(column, "storage", column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays([a.cast(k) for a, k in zip(arrays, types, strict=True)], schema=plain)

    return plain, turned()


def _plain(kind: Any) -> Any:
    """Return the plain type in place of a type of ADBC's own."""
    if not hasattr(kind, "storage_type"):
        return kind
    return pyarrow().float64() if getattr(kind, "type_name", "") == "numeric" else kind.storage_type


class _Answer:
    """What a thread of its own has from the server, batch by batch; nobody waits longer for it than was allowed."""

    def __init__(self, connect: Callable[[], Any], url: str, query: str, timeout: float) -> None:
        self._url, self._timeout, self._shown = url, timeout, safe_url(url)
        self._until = time.monotonic() + timeout + GRACE
        self._ready: queue.Queue[Any] = queue.Queue(READY)
        self._left = threading.Event()
        self._n_rows = 0
        self._step = "connect"
        threading.Thread(target=self._run, args=(connect, query), daemon=True).start()

    def rows(self) -> tuple[Any, Iterator[Any]]:
        """Return (schema, batches)."""
        return plain_types(self._next(), iter(self._next, END))

    def leave(self) -> None:
        """Let the thread end."""
        self._left.set()

    def _next(self) -> Any:
        """Return the next of what the thread has; raise what it ran into."""
        try:
            found = self._ready.get(timeout=max(self._until - time.monotonic(), 0.0))
        except queue.Empty:
            raise TableError(
                f"{self._shown}: no answer from the server after {self._n_rows:,} rows in {self._timeout:g} seconds. "
                "Check the server, or allow more with timeout=."
            ) from None
        if isinstance(found, BaseException):
            raise self._error(found) from None  # its text may hold the address
        self._n_rows += getattr(found, "num_rows", 0)
        return found

    def _error(self, error: BaseException) -> TableError:
        said = str(error).strip().split("Query was:")[0].splitlines()
        text = told(clean(said[0] if said else "", self._shown, self._url, _secrets(self._url)))
        text = f"{type(error).__name__}: {text}"
        if self._step == "connect":
            return TableError(
                f"{self._shown}: the database cannot be reached ({text}). Check the server, and the user and password; "
                "a password may also stand in ~/.pgpass or PGPASSWORD."
            )
        after = f" after {self._n_rows:,} rows" if self._n_rows else ""
        remedy = "Run it again." if after else "Correct it."
        remedy = "Allow more with timeout=." if "statement timeout" in text else remedy
        return TableError(f"{self._shown}: the query failed{after} ({text}). {remedy}")

    # In the thread ---------------------------------------------------------------------------------------------------

    def _run(self, connect: Callable[[], Any], query: str) -> None:
        try:
            with connect() as connection, connection.cursor() as cursor:
                self._step = "query"
                cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
                cursor.execute(f"SET statement_timeout = {max(int(self._timeout * 1000), 1)}")
                cursor.execute(query)
                reader = cursor.fetch_record_batch()
                self._put(reader.schema)
                for batch in reader:
                    if not self._put(batch):
                        return
                self._put(END)
        except Exception as error:  # of whatever library: it is raised where the rows are waited for
            self._put(error)

    def _put(self, item: Any) -> bool:
        """Hand something over; False where nobody waits any more."""
        while not self._left.is_set():
            try:
                self._ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False


def _with_waits(url: str) -> str:
    """Return the address with the waits that it does not set itself."""
    head, _, given = url.partition("?")
    more = [f"{name}={value}" for name, value in WAITS.items() if not re.search(rf"(^|&){name}=", given)]
    return f"{head}?{'&'.join([*([given] if given else []), *more])}"


def _secrets(url: str) -> list[str]:
    """Return the user and the password of an address, and whatever stands in its query, as written and decoded."""
    head, _, given = url.partition("?")
    try:
        user = urlsplit(head).netloc.rpartition("@")[0]
    except ValueError:  # brackets that do not match
        user = head.partition("://")[2].rpartition("@")[0]
    words = [*user.split(":", 1), *(value for _, value in parse_qsl(given))]
    return [form for word in words for form in {word, unquote(word), quote(unquote(word), safe="")}]

"""Rows of a real PostgreSQL server: through a cursor of ADBC's and through an address; and what goes wrong there."""

import os
import re
import signal
import socket
import traceback
import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import BernoulliMixture, SpilledTableWarning, TableError, open_table
from hiddenbits.data.readers.streams import postgresql, spill
from tests.data import test_same_bits
from tests.data.readers import postgres_server
from tests.data.test_same_bits import expected  # noqa: F401  (a fixture)

pytest.importorskip("pyarrow")
pytest.importorskip("adbc_driver_postgresql")
pytestmark = pytest.mark.skipif(
    postgres_server.programs() is None, reason="Debian's package postgresql is not installed"
)

N = 3000
CELLS = np.array(
    [[i * 7919 % 3 == 0, i % 2, i % 5 == 0, np.nan if i % 7 == 0 else i % 11 < 4] for i in range(N)], float
)
QUERY = "select a, b, c, d from answers order by id"
MANY = "select i % 2 as a, i % 3 / 2 as b from (select generate_series(1, 20000000) i) s"  # made as they are read


@pytest.fixture(scope="module")
def server():
    with postgres_server.running() as started:
        started.execute(
            "create table answers (id int, a bool, b smallint, c numeric, d float8)",
            "insert into answers select i, i::bigint * 7919 % 3 = 0, i % 2, (i % 5 = 0)::int, "
            f"case when i % 7 = 0 then null else (i % 11 < 4)::int end from generate_series({N - 1}, 0, -1) i",
        )
        yield started


def fitted(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BernoulliMixture(2, max_iter=3, n_init=1, tol=0, online_passes=1, random_state=0).fit(table)


def assert_same(one, other):
    for name, value in vars(one.params_).items():
        np.testing.assert_array_equal(vars(other.params_)[name], value)


def without_secrets(error):
    """Return what a user would see of an error, after checking that nobody can learn the password from it."""
    seen = "".join(traceback.format_exception(error)) + repr(error)
    for word in (postgres_server.PASSWORD, postgres_server.QUOTED, "wr0ng", postgres_server.USER):
        assert word not in seen
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("spilled", [False, True])
@pytest.mark.parametrize("door", ["cursor", "address"])
def test_the_rows_of_a_query(server, monkeypatch, spilled, door):
    """numeric comes as text through ADBC; of what was spilled nothing but the rows is on disk."""
    if spilled:
        monkeypatch.setattr(spill, "KEEP_BYTES", 100)
    with server.connect() as connection, connection.cursor() as cursor, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if door == "cursor":
            cursor.execute(QUERY)
            table = open_table(cursor)
        else:
            table = open_table(server.url, query=QUERY)
    assert [one.category for one in said] == [SpilledTableWarning] * spilled
    assert table.names == ("a", "b", "c", "d")
    assert table.source.resident is not spilled
    np.testing.assert_array_equal(table.to_float(), CELLS)
    assert_same(fitted(table), fitted(CELLS))
    if spilled:
        for text in (repr(table), str(said[0].message), *(p.read_bytes() for p in table.source.files.places)):
            for word in (postgres_server.PASSWORD, postgres_server.QUOTED, postgres_server.USER):
                assert (word.encode() if isinstance(text, bytes) else word) not in text


def test_a_cursor_can_be_fitted(server, tmp_path):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(QUERY)
        model = fitted(cursor)
    assert_same(model, fitted(CELLS))
    model.save(tmp_path / "m.hb")
    assert postgres_server.PASSWORD.encode() not in (tmp_path / "m.hb").read_bytes()
    assert hiddenbits.load(tmp_path / "m.hb").table_version_ is None


@pytest.mark.parametrize("door", ["cursor", "address", "cursor on disk", "address on disk"])
def test_the_same_table_as_through_every_other_door(server, tmp_path, monkeypatch, expected, door):  # noqa: F811
    query = "select * from same order by who"
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("same", test_same_bits.ARROW, mode="replace")
        connection.commit()
        cursor.execute(query)
        doors = {"cursor": lambda _: cursor, "address": lambda _: open_table(server.url, query=query)}
        monkeypatch.setitem(test_same_bits.DOORS, door, doors[door.split()[0]])
        test_same_bits.test_the_same_table_through_every_door(tmp_path, monkeypatch, expected, door)


def test_options_of_columns_and_of_pairs(server):
    table = open_table(server.url, query="select id, a, b from answers order by id", columns=["b"])
    np.testing.assert_array_equal(table.to_float()[:, 0], CELLS[:, 1])
    query = (
        "select id, 'item ' || i as item from answers, generate_series(0, 1) i where i <= b and id < 10 order by 1, 2"
    )
    table = open_table(server.url, query=query, row="id", item="item")
    np.testing.assert_array_equal(table.to_float(), np.column_stack([np.ones(10), np.arange(10) % 2]))


REFUSED = {
    "password": (("s3cret%3Aw%40rd", "wr0ng-word"), QUERY, "cannot be reached.*password authentication failed.*pgpass"),
    "database": (("/postgres", "/nowhere"), QUERY, "cannot be reached.*does not exist"),
    "option": (("/postgres", "/postgres?wr0ng=wr0ng"), QUERY, "cannot be reached"),
    "column": (("", ""), "select nothing from answers", 'the query failed .*column "nothing" does not exist'),
    "cell": (("", ""), "select 1 / (id - 2000) as a from answers order by id", "the query failed.*division by zero"),
    "write": (("", ""), "delete from answers", "read-only transaction"),
    "no columns": (("", ""), "select from answers", "0 columns"),
    "no rows": (("", ""), "select a from answers where id < 0", "0 rows"),
    "two alike": (("", ""), "select a, a from answers", "Two columns of the query are called 'a'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(server, case):
    change, query, said = REFUSED[case]
    with pytest.raises(TableError) as error:
        open_table(server.url.replace(*change) if change[0] else server.url, query=query)
    assert re.search(said, without_secrets(error.value))
    np.testing.assert_array_equal(
        open_table(server.url, query="select count(*) / 3000 as n from answers").to_float(), 1
    )


def test_what_is_asked_for(server):
    with pytest.raises(TypeError, match="opened with a query") as error:
        open_table(server.url)
    without_secrets(error.value)
    with pytest.raises(TypeError, match="opened with a query") as error:
        BernoulliMixture(2).fit(server.url)
    without_secrets(error.value)
    for timeout in (0, -1, True, "1", float("nan"), float("inf")):
        with pytest.raises(TypeError, match="timeout="):
            open_table(server.url, query=QUERY, timeout=timeout)
    with pytest.raises(TypeError, match="storage_options"):
        open_table(server.url, query=QUERY, storage_options={"password": "x"})


@pytest.mark.slow
def test_no_server_there(monkeypatch):
    with socket.socket() as silent:  # accepts a connection and never says a word
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://keeper:{'wr' + '0ng'}@127.0.0.1:{silent.getsockname()[1]}/x"
        monkeypatch.setitem(postgresql.WAITS, "connect_timeout", 2)
        with pytest.raises(TableError, match=r"cannot be reached.*timeout") as error:
            open_table(url, query=QUERY)
        without_secrets(error.value)
    with pytest.raises(TableError, match=r"cannot be reached.*refused") as error:
        open_table(url.replace("postgresql:", "postgres:"), query=QUERY)
    without_secrets(error.value)


def test_a_slow_query_ends(server):
    with pytest.raises(TableError, match=r"statement timeout.*Allow more with timeout=") as error:
        open_table(server.url, query="select 1 as a from pg_sleep(60)", timeout=0.2)
    without_secrets(error.value)


def stopped(server, monkeypatch, stop):
    """Read very many rows, and do something to the server's process as soon as some were written."""
    monkeypatch.setattr(spill, "KEEP_BYTES", 100)
    flush, calls = spill._Writer._flush, []

    def flushed(writer):
        flush(writer)
        calls.append(writer)
        if len(calls) == 2:
            for pid in server.backends():
                os.kill(pid, stop)

    monkeypatch.setattr(spill._Writer, "_flush", flushed)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("door", ["cursor", "address"])
def test_the_server_stops_half_way(server, monkeypatch, door):
    calls = stopped(server, monkeypatch, signal.SIGTERM)
    with server.connect() as connection, connection.cursor() as cursor:
        if door == "cursor":
            cursor.execute(MANY)
        given, options = (cursor, {}) if door == "cursor" else (server.url, {"query": MANY})
        said = r"failed after [\d,]+ rows \(.*(closed the connection|terminat).*\)\. Run it again\."
        with pytest.raises(TableError, match=said) as error:
            open_table(given, **options)
    without_secrets(error.value)
    assert not calls[1].files[0].exists()  # nothing is left behind


@pytest.mark.slow
def test_a_server_that_falls_silent(server, monkeypatch):
    """It keeps its connection and never answers again."""
    monkeypatch.setattr(postgresql, "GRACE", -27.0)
    calls = stopped(server, monkeypatch, signal.SIGSTOP)
    try:
        with pytest.raises(TableError, match=r"no answer from the server after [\d,]+ rows in 30 seconds") as error:
            open_table(server.url, query=MANY, timeout=30)
    finally:
        for pid in server.backends():
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGCONT)
    without_secrets(error.value)
    assert not any(file.exists() for writer in calls for file in writer.files)

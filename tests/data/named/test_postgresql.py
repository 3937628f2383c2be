"""Rows of a real PostgreSQL server through a cursor of ADBC's, and what goes wrong there."""

import os
import signal
import tempfile
import traceback
import warnings

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data.named import streams
from hiddenbits.exceptions import SpilledTableWarning, TableError
from tests.data import test_same_bits
from tests.data.named import postgres_server
from tests.data.test_same_bits import expected  # noqa: F401  (a fixture)

pq = pytest.importorskip("pyarrow.parquet")
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


def without_secrets(error):
    """Return what a user would see of an error, after checking that nobody can learn the password from it."""
    shown = "".join(traceback.format_exception(error)) + repr(error)
    for word in (postgres_server.PASSWORD, postgres_server.QUOTED, "wr0ng", postgres_server.USER):
        assert word not in shown
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("spilled", [False, True])
def test_the_rows_of_a_query(server, monkeypatch, spilled):
    """numeric comes as text through ADBC; of what was spilled nothing but the rows is on disk."""
    if spilled:
        monkeypatch.setattr(streams, "KEEP_BYTES", 100)
    with server.connect() as connection, connection.cursor() as cursor, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cursor.execute(QUERY)
        table = open_table(cursor)
    assert [warning.category for warning in caught] == [SpilledTableWarning] * spilled
    assert table.names == ("a", "b", "c", "d")
    assert table.source.resident is not spilled
    np.testing.assert_array_equal(table.to_float(), CELLS)
    if spilled:
        for text in (repr(table), str(caught[0].message), *(p.read_bytes() for p in table.source.columns.files.places)):
            for word in (postgres_server.PASSWORD, postgres_server.QUOTED, postgres_server.USER):
                assert (word.encode() if isinstance(text, bytes) else word) not in text


@pytest.mark.parametrize("door", ["cursor", "cursor on disk"])
def test_the_same_table_as_through_every_other_door(server, tmp_path, monkeypatch, expected, door):  # noqa: F811
    query = "select * from same order by who"
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("same", test_same_bits.ARROW, mode="replace")
        connection.commit()
        cursor.execute(query)
        monkeypatch.setitem(test_same_bits.DOORS, door, lambda _: cursor)
        test_same_bits.test_the_same_table_through_every_door(tmp_path, monkeypatch, expected, door)


@pytest.mark.slow
def test_the_server_stops_half_way(server, monkeypatch, tmp_path):
    """As soon as some of very many rows were written; nothing is left behind."""
    write, calls = pq.ParquetWriter.write_table, []

    def written(*arguments, **options):
        write(*arguments, **options)
        calls.append(arguments)
        if len(calls) == 2:
            for pid in server.backends():
                os.kill(pid, signal.SIGTERM)

    monkeypatch.setattr(streams, "KEEP_BYTES", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(pq.ParquetWriter, "write_table", written)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(MANY)
        message = r"failed after [\d,]+ rows \(.*(closed the connection|terminat).*\)\. Run it again\."
        with pytest.raises(TableError, match=message) as error:
            open_table(cursor)
    without_secrets(error.value)
    assert not any(tmp_path.iterdir())

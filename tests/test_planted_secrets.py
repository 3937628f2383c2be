"""Planted secrets and cells: no error, traceback, warning, log record, repr or output shows one of them.

A case is a function of (secret, folder) that does something with a table in which the secret is planted, and returns
what is shown of it. Cells are planted with HIDDENBITS_HIDE_VALUES=1, credentials without it.
"""

from __future__ import annotations

import gzip
import itertools
import logging
import os
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.quoting import message_of
from tests.data.locations.servers import FileServer, S3Server

pytestmark = pytest.mark.timeout(120)

CSV = b"a,b\n0,1\n1,0\n"
LOCAL = {"endpoint_url": "http://127.0.0.1:9", "config_kwargs": {"retries": {"max_attempts": 0}, "connect_timeout": 1}}


def opened(*args, **options):
    """Open a table, read its rows, and return what is shown of it."""
    table = open_table(*args, **options)
    table.to_float()
    return [table, table.source, table.names]


# Credentials -----------------------------------------------------------------------------------------------------

ADDRESSES = {
    "user": "{protocol}://AKIAKEY:{secret}@{host}/x{suffix}",
    "key": "{protocol}://{secret}:password@{host}/x{suffix}",
    "slashes": "{protocol}://AKIAKEY:ab/{secret}@{host}/x{suffix}",
    "alone": "{protocol}://{secret}@{host}/x{suffix}",
    "query": "{protocol}://{host}/x{suffix}?token={secret}",
    "sas": "{protocol}://{host}/x{suffix}?sv=2024-01-01&se=2030&sig={secret}%3D&sp=r",
    "path": "{protocol}://{host}/token/{secret}/x{suffix}",
}
PROTOCOLS = ["s3", "gs", "http", "ftp", "memory", "file", "abfs", "unknown", "simplecache::http", "zip://x.csv::http"]


def address(protocol, form, suffix):
    def act(secret, folder):
        host = {"http": "127.0.0.1:9", "ftp": "127.0.0.1:9"}.get(protocol.rpartition("::")[2], "bucket")
        url = ADDRESSES[form].format(protocol=protocol, secret=secret, host=host, suffix=suffix)
        options = {"storage_options": LOCAL} if protocol == "s3" else {}
        return opened(url, **options)

    return act


def addresses():
    suffixes = itertools.cycle([".csv", ".parquet", ".npy"])
    for protocol in PROTOCOLS:
        for form in ADDRESSES:
            suffix = next(suffixes)
            if (protocol, form) == ("file", "path"):  # local paths are shown
                continue
            yield f"{protocol} {form} {suffix}", address(protocol, form, suffix)


def asked(url, options):
    return lambda secret, folder: opened(url, storage_options=options(secret))


FAULTS = [(403, ".csv"), (404, ".npy"), (500, ".parquet"), ("drop", ".csv"), (None, ".npy"), (None, ".parquet")]
DAMAGED = {"x.csv": b"a,b\n0,7\n1,9\n", "x.npy": b"no array", "x.parquet": b"PAR1 no table PAR1"}


def from_server(fault, suffix, user="", **options):
    """A file that the server does not give, or that is no table; in address and options {secret} stands for it."""

    def act(secret, folder):
        with FileServer(DAMAGED) as server:
            server.fault = fault
            url = f"{server.url.replace('://', f'://{user}')}/x{suffix}" + ("?sig={secret}" if user else "")
            headers = {name: value.format(secret=secret) for name, value in options.items()}
            return opened(url.format(secret=secret), **({"storage_options": {"headers": headers}} if headers else {}))

    return act


def on_s3(key, name):
    def act(secret, folder):
        with S3Server(DAMAGED) as server:
            options = {"key": key or secret, "secret": secret, "token": secret, "endpoint_url": server.url}
            return opened(f"s3://bucket/{name}", storage_options=options)

    return act


def table_with_options(secret, folder):
    with FileServer({"x.csv": CSV}) as server:
        return opened(f"{server.url}/x.csv?sig={secret}", storage_options={"headers": {"X-Key": secret}})


def fit_with_options(secret, folder):
    with FileServer({"x.csv": b"a,b\n" + b"0,1\n1,0\n" * 20}) as server:
        model = LatentClassAnalysis(2, max_iter=30, tol=1e-2, random_state=0).fit(f"{server.url}/x.csv?sig={secret}")
        model.save(folder / "model.hb")
        return [model, model.get_params(), (folder / "model.hb").read_bytes().decode("latin1")]


def stream_that_fails(message):
    """An Arrow stream whose library fails with a secret in its message."""

    def act(secret, folder):
        pa = pytest.importorskip("pyarrow")

        def batches():
            yield pa.record_batch({"a": [0, 1], "b": [1, 0]})
            raise OSError(message.format(secret=secret))

        schema = pa.schema({"a": pa.int64(), "b": pa.int64()})
        return opened(pa.RecordBatchReader.from_batches(schema, batches()))

    return act


def dask_that_fails(message):
    def act(secret, folder):
        dask = pytest.importorskip("dask")
        da = pytest.importorskip("dask.array")

        def chunk():
            try:
                raise KeyError(message.format(secret=secret))  # what it came from must not be shown either
            except KeyError as error:
                raise RuntimeError(message.format(secret=secret)) from error

        return opened(da.from_delayed(dask.delayed(chunk)(), (2, 2), np.uint8))

    return act


def environment(variable):
    """A library that repeats a variable of the environment in its message."""

    def act(secret, folder):
        os.environ[variable] = secret  # the test restores it
        return dask_that_fails("cannot sign in with {secret} here")(secret, folder)

    return act


MESSAGES = {
    "url": "403 for https://me:{secret}@host/x",
    "query": "404: https://host/x.csv?X-Amz-Signature={secret}&x=1",
    "dsn": "no connection (host=db user=me password={secret} port=1)",
    "quoted dsn": "no connection (host='db' password='{secret}')",
    "azure": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={secret}==;EndpointSuffix=x",
    "header": "headers: {{'Authorization': 'Bearer {secret}'}}",
    "json": 'options {{"secret": "{secret}", "key": "k"}}',
    "bucket": 'Invalid bucket name "AKIAKEY:{secret}@bucket"',
    "sas": "SharedAccessSignature={secret};BlobEndpoint=x",
    "variable": "AWS_SECRET_ACCESS_KEY={secret}",
}
VARIABLES = ["AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_CONNECTION_STRING", "HF_TOKEN", "PGPASSWORD", "MY_API_KEY"]


def credentials():
    yield from addresses()
    yield "path of an address", opening(lambda s: Path(f"s3://AKIAKEY:{s}@bucket/x.csv"))
    for protocol, options in {
        "ftp": lambda s: {"password": s, "nonsense": {"token": s}},
        "s3": lambda s: {"key": "k", "secret": s, "client_kwargs": {s: 1}},
        "gs": lambda s: f"password={s}",
    }.items():
        yield f"wrong options of {protocol}", asked(f"{protocol}://127.0.0.1:9/x.csv", options)
    yield "table_with_options", table_with_options
    yield "fit_with_options", fit_with_options
    for fault, suffix in FAULTS:
        yield f"http {fault} {suffix}", from_server(fault, suffix, "me:{secret}@")
        yield f"http header {fault} {suffix}", from_server(fault, suffix, Authorization="Bearer {secret}")
    yield "s3 other key", on_s3(None, "x.csv")
    yield "s3 missing", on_s3("key", "none.csv")
    yield "s3 cells", on_s3("key", "x.csv")
    for name, message in MESSAGES.items():
        yield f"stream {name}", stream_that_fails(message)
        yield f"dask {name}", dask_that_fails(message)
    for variable in VARIABLES:
        yield f"environment {variable}", environment(variable)


# Cells -----------------------------------------------------------------------------------------------------------


def lib(name):
    """Return a module; what needs it is skipped without it."""
    return pytest.importorskip(name)


def opening(make, **options):
    """A table in memory, made of the secret."""
    return lambda secret, folder: opened(make(secret), **options)


def stored(name, write, **options):
    """A file of this name: what `write` is given, a path and the secret, or text in which {secret} stands for it."""

    def act(secret, folder):
        path = folder / name
        if callable(write):
            write(path, secret)
        else:
            data = write.format(secret=secret).encode()
            path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return opened(path, **options)

    return act


def fitted_to(make, weight=None):
    def act(secret, folder):
        given = {} if weight is None else {"sample_weight": weight(secret)}
        return [LatentClassAnalysis(1, max_iter=2, random_state=0).fit(make(secret), **given)]

    return act


def later(X, make, **options):
    """A model of the table X, given a row with the secret."""

    def act(secret, folder):
        table = open_table(lib("pandas").DataFrame(X) if isinstance(X, dict) else X, **options)
        return [LatentClassAnalysis(1, max_iter=50, tol=1e-2).fit(table).score_samples(make(secret))]

    return act


def frame_of(kind, columns, **options):
    """A frame of some library; a column that is a function is made of the secret."""

    def make(secret):
        cells = {name: cell(secret) if callable(cell) else cell for name, cell in columns.items()}
        if kind == "dict":
            return cells
        if kind == "list of dicts":
            return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        if kind == "arrow":
            return lib("pyarrow").table(cells)
        frame = lib(kind.split()[0]).DataFrame(cells)
        if kind == "pandas category":
            frame = frame.astype("category")
        return frame.lazy() if kind == "polars lazy" else frame

    return opening(make, **options)


def write_frame(path, secret):
    """Write a frame as its library does."""
    frame, suffix = lib("pandas").DataFrame({"A": ["0", "1", secret, "maybe"], "B": [0, 1, 1, 0]}), path.suffix
    if suffix in (".xlsx", ".ods"):
        lib("python_calamine")
        lib({".xlsx": "openpyxl", ".ods": "odf"}[suffix])
        frame.to_excel(path, index=False)
    elif suffix in (".sav", ".dta", ".zsav"):
        statistics = lib("pyreadstat")
        {".dta": statistics.write_dta}.get(suffix, statistics.write_sav)(frame, path)
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        {".parquet": frame.to_parquet, ".feather": frame.to_feather}[suffix](path)


def write_array(path, array):
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, x=array)
    elif path.suffix == ".zarr":
        lib("zarr").save_array(str(path), array)
    else:
        with lib("h5py").File(path, "w") as file:
            file["X"] = array


def write_parquet(path, columns):
    lib("pyarrow.parquet").write_table(lib("pyarrow").table(columns), path)


def arrow_cast(secret):
    pa, pc = lib("pyarrow"), lib("pyarrow.compute")

    def batches():
        yield pa.record_batch({"a": [0, 1]})
        yield pa.record_batch({"a": pc.cast(pa.array([secret]), pa.int64())})

    return pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())


def duckdb_cast(secret):
    return lib("duckdb").sql(f"select cast(a as integer) as a, 1 as b from (values ('1'), ('{secret}')) t(a)")


def polars_dates(secret):
    pl = lib("polars")
    return pl.LazyFrame({"a": ["1", secret]}).select(pl.col("a").str.to_datetime("%Y"))


def dask_cast(secret):
    chunk = lib("dask").delayed(lambda: np.array([[secret, "1"]]).astype(float))
    return lib("dask.array").from_delayed(chunk(), (1, 2), float)


def annotated(secret):
    with warnings.catch_warnings(action="ignore"):
        return lib("anndata").AnnData(numbers(secret))


def texts(secret):
    return np.array([["0", secret], ["1", "x"]])


def objects(secret):
    return np.array([[0, secret], [1, 1]], dtype=object)


def numbers(secret):
    return np.array([[0.0, float(secret)], [1.0, 1.0]])


def ragged(secret):
    return [[0, 1], [secret], [1, secret, 1]]


TEXT_CELLS = {
    "csv": stored("x.csv", "a,b\n0,1\n1,{secret}\n1,maybe\n0,1\n"),
    "csv recoded": stored("x.csv", "a,b\n0,{secret}\n1,{secret}\n1,maybe\n0,1\n", recode={"b": {"other": 1}}),
    "csv first line": stored("x.csv", "0,{secret}\n0,1\n1,0\n"),
    "csv ragged": stored("x.csv", "a,b\n0,1\n1,0,{secret}\n"),
    "csv open quote": stored("x.csv", 'a,b\n0,1\n1,"{secret}\n'),
    "csv gzipped": stored("x.csv.gz", "a,b\n0,1\n1,{secret}\n1,maybe\n"),
    "csv no gzip": stored("x.csv", "a,b\n0,1\n1,{secret}\n\x00"),
    "csv long items": stored("x.csv", "r,i\n0,bread\n1,{secret}\n", row="r", item="i", items=["bread"]),
    "csv names": stored("x.csv", "l\nbread {secret}\nmilk\n", column="l", items=["bread", "milk"]),
    "baskets": stored("x.dat", "0 1\n{secret}\n"),
    "baskets of names": stored("x.txt", "bread\nbread {secret}\n", items=["bread"], format="baskets"),
    "jsonl broken": stored("x.jsonl", '{{"a": 0, "b": 1}}\n{{"a": 1, "b": {secret}}}\n'),
    "jsonl nested": stored("x.ndjson", '{{"a": 0, "b": {{"c": "{secret}"}}}}\n'),
    **{
        f"stored {suffix}": stored(f"x{suffix}", write_frame)
        for suffix in (".xlsx", ".ods", ".sav", ".dta", ".zsav", ".parquet", ".feather", ".jsonl")
    },
    **{  # only text, which the library may repeat
        f"damaged {suffix}": stored(f"x{suffix}", "{secret},{secret}\n{{'{secret}': {secret}" * 3)
        for suffix in (".xlsx", ".ods", ".sav", ".dta", ".parquet", ".feather", ".jsonl", ".npy", ".npz", ".h5ad")
    },
    **{
        f"{kind} text": frame_of(kind, {"a": lambda s: ["0", "1", s, "x"], "b": [0, 1, 1, 0]})
        for kind in ("pandas", "pandas category", "polars", "polars lazy", "arrow", "dict", "list of dicts")
    },
    **{
        f"{kind} real": frame_of(kind, {"a": lambda s: ["0.5", "1", s], "b": [0.5, 1.5, 1.0]}, reals=True)
        for kind in ("pandas", "polars", "arrow")
    },
    "pandas bytes": frame_of("pandas", {"a": lambda s: [0, s.encode(), 1], "b": [0, 1, 1]}),
    "pandas lists": frame_of("pandas", {"a": lambda s: [[0], [s], [1]], "b": [0, 1, 1]}),
    "dict ragged": frame_of("dict", {"a": lambda s: [0, 1, s], "b": [0, 1]}),
    "array of text": opening(lambda s: np.array([["0", s], ["1", "x"], ["1", "y"]])),
    "array of objects": opening(objects),
    "array 1d": opening(lambda s: np.array([s, "x"])),
    "array real": opening(objects, reals=True),
    "masked": opening(lambda s: np.ma.array([[0, s], [1, 1]], mask=[[1, 0], [0, 0]], dtype=object)),
    "ragged list": opening(ragged),
    "transactions": opening(lambda s: [{"bread", (s,)}, {"milk"}]),
    "fit 1d": fitted_to(lambda s: np.array([s, "x"])),
    "fit objects": fitted_to(objects),
    "fit list": fitted_to(lambda s: [[0, s], [1, 1]]),
    "fit ragged": fitted_to(ragged),
    "fit weights": fitted_to(lambda s: np.eye(4, dtype=int), lambda s: [1, 1, s, 1]),
    "fit weight table": fitted_to(lambda s: np.eye(4, dtype=int), lambda s: np.array([[s, 1]] * 4)),
    "fit series": fitted_to(lambda s: lib("pandas").Series([0, s, 1])),
    **{
        f"{suffix} text": stored(f"x{suffix}", lambda path, s: write_array(path, texts(s)))
        for suffix in (".npy", ".npz", ".zarr")
    },
    "duckdb cast": opening(duckdb_cast),
    "polars dates": opening(polars_dates),
    "arrow cast": opening(arrow_cast),
    "numpy in dask": opening(dask_cast),
    "parquet of lists": stored(
        "x.parquet", lambda path, s: write_parquet(path, {"l": [["bread", s], ["milk"]]}), items=["bread", "milk"]
    ),
    "parquet of pairs": stored(
        "x.parquet",
        lambda path, s: write_parquet(path, {"r": [0, 1], "i": ["bread", s]}),
        row="r",
        item="i",
        items=["bread"],
    ),
    "unknown category": later(
        {"a": ["x", "y", "z"] * 10, "b": ["u", "v", "w"] * 10},
        lambda s: lib("pandas").DataFrame({"a": [s], "b": ["u"]}),
        recode={"a": "one-hot", "b": "one-hot"},
    ),
    "other value": later(
        {"a": ["yes", "no"] * 15, "b": ["no", "no", "yes"] * 10},
        lambda s: lib("pandas").DataFrame({"a": [s], "b": ["no"]}),
    ),
    "text for bits": later(np.eye(2).repeat(20, 0), lambda s: np.array([[s, "1"]], dtype=object)),
}
NUMBER_CELLS = {
    "array": opening(numbers),
    "array complex": opening(lambda s: numbers(s) * (1 + 1j)),
    "masked numbers": opening(lambda s: np.ma.array(numbers(s), mask=[[1, 0], [0, 0]])),
    "infinite": opening(lambda s: np.array([[np.inf, float(s)], [1.0, 1.0]])),
    "sparse": opening(lambda s: sparse.csr_array(numbers(s))),
    "packed": opening(lambda s: np.full((2, 1), float(s)), packed=True, n_columns=7),
    "fit array": fitted_to(numbers),
    "fit number": fitted_to(lambda s: np.array(float(s))),
    "fit sparse": fitted_to(lambda s: sparse.csr_array(numbers(s))),
    "fit negative weight": fitted_to(lambda s: np.eye(4, dtype=int), lambda s: [1, 1, -float(s), 1]),
    **{
        suffix: stored(f"x{suffix}", lambda path, s: write_array(path, numbers(s)))
        for suffix in (".npy", ".npz", ".zarr", ".h5ad")
    },
    "csv number": stored("x.csv", "a,b\n0,1\n1,{secret}\n1,12\n"),
    "parquet numbers": stored(
        "x.parquet", lambda path, s: write_parquet(path, {"a": [0.0, 1.0, float(s)], "b": [1, 0, 1]})
    ),
    "dask array": opening(lambda s: lib("dask.array").from_array(numbers(s), chunks=(1, 2))),
    "dask frame": opening(
        lambda s: lib("dask.dataframe").from_pandas(lib("pandas").DataFrame(numbers(s)), npartitions=1)
    ),
    "AnnData": opening(annotated),
    "h5ad of AnnData": stored("x.h5ad", lambda path, s: annotated(s).write_h5ad(path)),
    **{
        f"{kind} number": frame_of(kind, {"a": lambda s: [0.0, 1.0, float(s)], "b": [0, 1, 1]})
        for kind in ("pandas", "polars", "arrow", "dict")
    },
}


# The command line ------------------------------------------------------------------------------------------------


def command(*words, content="a,b\n0,1\n1,{secret}\n1,maybe\n0,1\n", name="x.csv"):
    """Run a command on a file, or on an address, and return what it prints; in the words {path} is the file."""

    def act(secret, folder):
        pytest.importorskip("typer")
        from typer.testing import CliRunner

        from hiddenbits.cli.app import app

        path = folder / name
        path.write_text(content.format(secret=secret))
        typed = [word.format(path=path, secret=secret, folder=folder) for word in words]
        done = CliRunner().invoke(app, typed, color=False)
        return [done.stdout, done.stderr, done.exception if isinstance(done.exception, Exception) else None]

    return act


CELLS_PRINTED = {
    "command look": command("look", "{path}"),
    "command look json": command("look", "{path}", "--json"),
    "command fit": command("fit", "{path}", "classes", "--n-components", "1"),
    "command fit report": command("report", "{path}", "-o", "{folder}/r.html"),
    "command convert": command("convert", "{path}", "{folder}/x.parquet"),
    "command first line": command("look", "{path}", content="0,{secret}\n0,1\n1,0\n"),
    "command jsonl": command("look", "{path}", content='{{"a": 1}}\n{{"a": {secret}}}\n', name="x.jsonl"),
    "command parquet": command("look", "{path}", content="{secret}", name="x.parquet"),
}
ASKED = [
    ("look", "user", "http", "127.0.0.1:9"),
    ("look", "slashes", "memory", "bucket"),
    ("look", "sas", "http", "127.0.0.1:9"),
    ("look", "query", "memory", "bucket"),
    ("look", "path", "unknown", "bucket"),
    ("look", "user", "file", "bucket"),
    ("compare", "user", "ftp", "127.0.0.1:9"),
    ("compare", "key", "gs", "bucket"),
]
SECRETS_PRINTED = {
    f"command {verb} {form}": command(
        verb, ADDRESSES[form].format(protocol=protocol, host=host, suffix=".csv", secret="{secret}")
    )
    for verb, form, protocol, host in ASKED
}

OPENS = {
    *("table_with_options", "fit_with_options", "s3 cells", "csv recoded", "csv number", "dask frame"),
    *("jsonl nested", "pandas bytes", "pandas lists"),
}  # tables that open, and show nothing of it
CREDENTIALS = [*credentials(), *SECRETS_PRINTED.items()]
CELLS = [*TEXT_CELLS.items(), *CELLS_PRINTED.items()]
NUMBERS = [*NUMBER_CELLS.items()]


def everything_shown(act, secret, folder, caplog, capfd):
    """Return all that anybody can see of it, and whether it was an error."""
    caplog.set_level(logging.DEBUG, logger="hiddenbits")
    shown, failed = [], False
    with warnings.catch_warnings(record=True, action="always") as warned:
        try:
            shown += act(secret, folder)
        except Exception as error:
            failed = True
            shown += [str(error), message_of(error), "".join(traceback.format_exception(error))]
    shown += [str(warning.message) for warning in warned]
    shown += [caplog.text, *(str(record.args) for record in caplog.records), *capfd.readouterr()]
    return "\n".join(f"{one}\n{one!r}" for one in shown), failed


def assert_hidden(name, act, secret, folder, caplog, capfd):
    text, failed = everything_shown(act, secret, folder, caplog, capfd)
    assert secret not in text, text[max(0, text.index(secret) - 300) :][:600]
    assert failed or name in OPENS or name.startswith("command"), "the case is meant to fail"
    assert len(text) > 20


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path):
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "x")  # which is restored, whatever a case sets
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    for variable in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))


@pytest.mark.parametrize(("name", "act"), CREDENTIALS, ids=[name for name, _ in CREDENTIALS])
def test_no_credential_is_shown(name, act, tmp_path, caplog, capfd, request):
    pytest.importorskip("fsspec")
    if "http" in name or "options" in name:
        pytest.importorskip("aiohttp")
    if "s3" in name:
        pytest.importorskip("s3fs")
    assert_hidden(name, act, "hushSesame77", tmp_path, caplog, capfd)


@pytest.mark.parametrize(("name", "act"), CELLS, ids=[name for name, _ in CELLS])
def test_no_cell_is_shown(name, act, tmp_path, caplog, capfd, monkeypatch):
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    assert_hidden(name, act, "cholera", tmp_path, caplog, capfd)


@pytest.mark.parametrize(("name", "act"), NUMBERS, ids=[name for name, _ in NUMBERS])
def test_no_number_is_shown(name, act, tmp_path, caplog, capfd, monkeypatch):
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    assert_hidden(name, act, "77123.5", tmp_path, caplog, capfd)

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


def path_of_an_address(secret, folder):
    from pathlib import Path

    return opened(Path(f"s3://AKIAKEY:{secret}@bucket/x.csv"))


def wrong_option(secret, folder):
    return opened("ftp://127.0.0.1:9/x.csv", storage_options={"password": secret, "nonsense": {"token": secret}})


def wrong_s3_option(secret, folder):
    return opened("s3://bucket/x.csv", storage_options={"key": "k", "secret": secret, "client_kwargs": {secret: 1}})


def option_that_is_no_dict(secret, folder):
    return opened("s3://bucket/x.csv", storage_options=f"password={secret}")


FAULTS = [(403, ".csv"), (404, ".npy"), (500, ".parquet"), ("drop", ".csv"), (None, ".npy"), (None, ".parquet")]
DAMAGED = {"x.csv": b"a,b\n0,7\n1,9\n", "x.npy": b"no array", "x.parquet": b"PAR1 no table PAR1"}


def in_address(fault, suffix):
    def act(secret, folder):
        with FileServer(DAMAGED) as server:
            server.fault = fault
            return opened(f"{server.url.replace('://', f'://me:{secret}@')}/x{suffix}?sig={secret}")

    return act


def in_header(fault, suffix):
    def act(secret, folder):
        with FileServer(DAMAGED) as server:
            server.fault = fault
            options = {"headers": {"Authorization": f"Bearer {secret}"}}
            return opened(f"{server.url}/x{suffix}", storage_options=options)

    return act


def on_s3(key, name):
    def act(secret, folder):
        with S3Server({"x.csv": b"a,b\n0,7\n1,9\n"}) as server:
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
    for act in (
        *(path_of_an_address, wrong_option, wrong_s3_option, option_that_is_no_dict),
        *(table_with_options, fit_with_options),
    ):
        yield act.__name__, act
    for fault, suffix in FAULTS:
        yield f"http {fault} {suffix}", in_address(fault, suffix)
        yield f"http header {fault} {suffix}", in_header(fault, suffix)
    yield "s3 other key", on_s3(None, "x.csv")
    yield "s3 missing", on_s3("key", "none.csv")
    yield "s3 cells", on_s3("key", "x.csv")
    for name, message in MESSAGES.items():
        yield f"stream {name}", stream_that_fails(message)
        yield f"dask {name}", dask_that_fails(message)
    for variable in VARIABLES:
        yield f"environment {variable}", environment(variable)


# Cells -----------------------------------------------------------------------------------------------------------


def written(name, content, **options):
    """A file with this content, in which {secret} stands for the cell."""

    def act(secret, folder):
        path = folder / name
        data = content.format(secret=secret).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return opened(path, **options)

    return act


def frame_of(kind, columns, **options):
    """A frame of some library; a column that is a function is made of the secret."""

    def act(secret, folder):
        cells = {name: cell(secret) for name, cell in columns.items()}
        if kind == "dict":
            return opened(cells, **options)
        if kind == "list of dicts":
            return opened([dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)], **options)
        if kind == "arrow":
            return opened(pytest.importorskip("pyarrow").table(cells), **options)
        library = pytest.importorskip(kind.split()[0])
        frame = library.DataFrame(cells)
        if kind == "pandas category":
            frame = frame.astype("category")
        if kind == "polars lazy":
            frame = frame.lazy()
        return opened(frame, **options)

    return act


def stored(suffix, **options):
    """A file of a frame, as its library writes it."""

    def act(secret, folder):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"a": ["0", "1", secret, "maybe"], "b": [0, 1, 1, 0]})
        path = folder / f"x{suffix}"
        if suffix in (".xlsx", ".ods"):
            pytest.importorskip("python_calamine")
            pytest.importorskip({".xlsx": "openpyxl", ".ods": "odf"}[suffix])
            frame.to_excel(path, index=False)
        elif suffix in (".sav", ".dta", ".por", ".zsav"):
            statistics = pytest.importorskip("pyreadstat")
            frame.columns = [name.upper() for name in frame.columns]
            {".dta": statistics.write_dta, ".por": statistics.write_por}.get(suffix, statistics.write_sav)(frame, path)
        elif suffix == ".parquet":
            frame.to_parquet(path)
        elif suffix == ".feather":
            frame.to_feather(path)
        else:
            frame.to_json(path, orient="records", lines=True)
        return opened(path, **options)

    return act


def damaged(suffix):
    """A file that ends in the middle, or is only text, whose library may repeat what it holds."""

    def act(secret, folder):
        path = folder / f"x{suffix}"
        path.write_bytes(f"{secret},{secret}\n{{'{secret}': {secret}".encode() * 3)
        return opened(path)

    return act


def array_of(make, **options):
    def act(secret, folder):
        return opened(make(secret), **options)

    return act


def fitted_to(make, **options):
    def act(secret, folder):
        given = {name: value(secret) for name, value in options.items()}
        return [LatentClassAnalysis(1, max_iter=2, random_state=0).fit(make(secret), **given)]

    return act


def saved(suffix, make, **options):
    def act(secret, folder):
        path = folder / f"x{suffix}"
        if suffix == ".npy":
            np.save(path, make(secret))
        elif suffix == ".npz":
            np.savez(path, x=make(secret))
        elif suffix == ".zarr":
            zarr = pytest.importorskip("zarr")
            zarr.save_array(str(path), make(secret))
        else:
            h5py = pytest.importorskip("h5py")
            with h5py.File(path, "w") as file:
                file["X"] = make(secret)
        return opened(path, **options)

    return act


def duckdb_cast(secret, folder):
    duckdb = pytest.importorskip("duckdb")
    return opened(duckdb.sql(f"select cast(a as integer) as a, 1 as b from (values ('1'), ('{secret}')) t(a)"))


def polars_frame_error(secret, folder):
    pl = pytest.importorskip("polars")
    return opened(pl.LazyFrame({"a": ["1", secret]}).select(pl.col("a").str.to_datetime("%Y")))


def arrow_cast(secret, folder):
    pa = pytest.importorskip("pyarrow")
    pc = pytest.importorskip("pyarrow.compute")

    def batches():
        yield pa.record_batch({"a": [0, 1]})
        yield pa.record_batch({"a": pc.cast(pa.array([secret]), pa.int64())})

    return opened(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))


def numpy_float_in_dask(secret, folder):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    return opened(da.from_delayed(dask.delayed(lambda: np.array([[secret, "1"]]).astype(float))(), (1, 2), float))


def dask_cells(secret, folder):
    da = pytest.importorskip("dask.array")
    return opened(da.from_array(np.array([[float(secret), 1.0], [0.0, 1.0]]), chunks=(1, 2)))


def dask_frame_cells(secret, folder):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    return opened(dd.from_pandas(pd.DataFrame({"a": [float(secret), 1.0], "b": [0.0, 1.0]}), npartitions=1))


def annotated(secret, folder):
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return opened(anndata.AnnData(np.array([[float(secret), 1.0], [0.0, 1.0]])))


def annotated_file(secret, folder):
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(np.array([[float(secret), 1.0], [0.0, 1.0]])).write_h5ad(folder / "x.h5ad")
    return opened(folder / "x.h5ad")


def list_parquet(secret, folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"l": [["bread", secret], ["milk"]]}), folder / "x.parquet")
    return opened(folder / "x.parquet", column="l", items=["bread", "milk"])


def pairs_parquet(secret, folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"r": [0, 1], "i": ["bread", secret]}), folder / "x.parquet")
    return opened(folder / "x.parquet", row="r", item="i", items=["bread"])


def numbers_parquet(secret, folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [0.0, 1.0, float(secret)], "b": [1, 0, 1]}), folder / "x.parquet")
    return opened(folder / "x.parquet")


def unknown_category(secret, folder):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": ["x", "y", "z"] * 10, "b": ["u", "v", "w"] * 10})
    model = LatentClassAnalysis(1, max_iter=50, tol=1e-2).fit(open_table(X, code={"a": "one-hot", "b": "one-hot"}))
    return [model.score_samples(pd.DataFrame({"a": [secret], "b": ["u"]}))]


def other_value(secret, folder):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": ["yes", "no"] * 15, "b": ["no", "no", "yes"] * 10})
    model = LatentClassAnalysis(1, max_iter=50, tol=1e-2).fit(X)
    return [model.score_samples(pd.DataFrame({"a": [secret], "b": ["no"]}))]


def text_for_bits(secret, folder):
    X = np.random.default_rng(0).integers(0, 2, (40, 2))
    model = LatentClassAnalysis(1, max_iter=50, tol=1e-2).fit(X)
    return [model.transform(np.array([[secret, "1"]], dtype=object))]


TEXT_CELLS = {
    "csv": written("x.csv", "a,b\n0,1\n1,{secret}\n1,maybe\n0,1\n"),
    "csv recoded": written("x.csv", "a,b\n0,{secret}\n1,{secret}\n1,maybe\n0,1\n", code={"b": {"other": 1}}),
    "csv first line": written("x.csv", "0,{secret}\n0,1\n1,0\n"),
    "csv ragged": written("x.csv", "a,b\n0,1\n1,0,{secret}\n"),
    "csv open quote": written("x.csv", 'a,b\n0,1\n1,"{secret}\n'),
    "csv gzipped": written("x.csv.gz", "a,b\n0,1\n1,{secret}\n1,maybe\n"),
    "csv no gzip": written("x.csv", "a,b\n0,1\n1,{secret}\n\x00"),
    "csv long items": written("x.csv", "r,i\n0,bread\n1,{secret}\n", row="r", item="i", items=["bread"]),
    "csv names": written("x.csv", "l\nbread {secret}\nmilk\n", column="l", items=["bread", "milk"]),
    "baskets": written("x.dat", "0 1\n{secret}\n"),
    "baskets of names": written("x.txt", "bread\nbread {secret}\n", items=["bread"], format="baskets"),
    "jsonl broken": written("x.jsonl", '{{"a": 0, "b": 1}}\n{{"a": 1, "b": {secret}}}\n'),
    "jsonl nested": written("x.ndjson", '{{"a": 0, "b": {{"c": "{secret}"}}}}\n'),
    **{f"stored {suffix}": stored(suffix) for suffix in (".xlsx", ".ods", ".sav", ".dta", ".zsav", ".parquet")},
    **{f"stored {suffix}": stored(suffix) for suffix in (".feather", ".jsonl")},
    **{
        f"damaged {suffix}": damaged(suffix)
        for suffix in (".xlsx", ".ods", ".sav", ".dta", ".parquet", ".feather", ".jsonl", ".npy", ".npz", ".h5ad")
    },
    **{
        f"{kind} text": frame_of(kind, {"a": lambda s: ["0", "1", s, "x"], "b": lambda s: [0, 1, 1, 0]})
        for kind in ("pandas", "pandas category", "polars", "polars lazy", "arrow", "dict", "list of dicts")
    },
    **{
        f"{kind} real": frame_of(kind, {"a": lambda s: ["0.5", "1", s], "b": lambda s: [0.5, 1.5, 1.0]}, reals=True)
        for kind in ("pandas", "polars", "arrow")
    },
    "pandas bytes": frame_of("pandas", {"a": lambda s: [0, s.encode(), 1], "b": lambda s: [0, 1, 1]}),
    "pandas lists": frame_of("pandas", {"a": lambda s: [[0], [s], [1]], "b": lambda s: [0, 1, 1]}),
    "dict ragged": frame_of("dict", {"a": lambda s: [0, 1, s], "b": lambda s: [0, 1]}),
    "array of text": array_of(lambda s: np.array([["0", s], ["1", "x"], ["1", "y"]])),
    "array of objects": array_of(lambda s: np.array([[0, s], [1, 1]], dtype=object)),
    "array 1d": array_of(lambda s: np.array([s, "x"])),
    "array real": array_of(lambda s: np.array([[0.5, s], [1, 1]], dtype=object), reals=True),
    "masked": array_of(lambda s: np.ma.array([[0, s], [1, 1]], mask=[[1, 0], [0, 0]], dtype=object)),
    "ragged list": array_of(lambda s: [[0, 1], [s], [1, s, 1]]),
    "transactions": array_of(lambda s: [{"bread", (s,)}, {"milk"}]),
    "fit 1d": fitted_to(lambda s: np.array([s, "x"])),
    "fit objects": fitted_to(lambda s: np.array([[0, s], [1, 1]], dtype=object)),
    "fit list": fitted_to(lambda s: [[0, s], [1, 1]]),
    "fit ragged": fitted_to(lambda s: [[0, 1], [s], [1, s, 1]]),
    "fit weights": fitted_to(lambda s: np.eye(4, dtype=int), sample_weight=lambda s: [1, 1, s, 1]),
    "fit weight table": fitted_to(lambda s: np.eye(4, dtype=int), sample_weight=lambda s: np.array([[s, 1]] * 4)),
    "fit series": fitted_to(lambda s: pytest.importorskip("pandas").Series([0, s, 1])),
    "npy text": saved(".npy", lambda s: np.array([["0", s], ["1", "x"]])),
    "npz text": saved(".npz", lambda s: np.array([["0", s], ["1", "x"]])),
    "zarr text": saved(".zarr", lambda s: np.array([["0", s], ["1", "x"]])),
    "duckdb cast": duckdb_cast,
    "polars dates": polars_frame_error,
    "arrow cast": arrow_cast,
    "numpy in dask": numpy_float_in_dask,
    "parquet of lists": list_parquet,
    "parquet of pairs": pairs_parquet,
    "unknown category": unknown_category,
    "other value": other_value,
    "text for bits": text_for_bits,
}
NUMBER_CELLS = {
    "array": array_of(lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "array complex": array_of(lambda s: np.array([[0.0, complex(1, float(s))], [1.0, 1.0]])),
    "masked numbers": array_of(lambda s: np.ma.array([[0.0, float(s)], [1.0, 1.0]], mask=[[1, 0], [0, 0]])),
    "infinite": array_of(lambda s: np.array([[np.inf, float(s)], [1.0, 1.0]])),
    "sparse": array_of(lambda s: sparse.csr_array(np.array([[0.0, float(s)], [1.0, 1.0]]))),
    "packed": array_of(lambda s: np.full((2, 1), float(s)), packed=True, n_columns=7),
    "fit array": fitted_to(lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "fit number": fitted_to(lambda s: np.array(float(s))),
    "fit sparse": fitted_to(lambda s: sparse.csr_array(np.array([[0.0, float(s)], [1.0, 1.0]]))),
    "fit negative weight": fitted_to(lambda s: np.eye(4, dtype=int), sample_weight=lambda s: [1, 1, -float(s), 1]),
    "npy": saved(".npy", lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "npz": saved(".npz", lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "zarr": saved(".zarr", lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "h5ad plain": saved(".h5ad", lambda s: np.array([[0.0, float(s)], [1.0, 1.0]])),
    "csv number": written("x.csv", "a,b\n0,1\n1,{secret}\n1,12\n"),
    "parquet numbers": numbers_parquet,
    "dask array": dask_cells,
    "dask frame": dask_frame_cells,
    "AnnData": annotated,
    "h5ad": annotated_file,
    **{
        f"{kind} number": frame_of(kind, {"a": lambda s: [0.0, 1.0, float(s)], "b": lambda s: [0, 1, 1]})
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
        asked = [word.format(path=path, secret=secret, folder=folder) for word in words]
        done = CliRunner().invoke(app, asked, color=False)
        return [done.stdout, done.stderr, done.exception if isinstance(done.exception, Exception) else None]

    return act


CELLS_PRINTED = {
    "command look": command("look", "{path}"),
    "command look json": command("look", "{path}", "--json"),
    "command fit": command("fit", "{path}", "classes", "--size", "1"),
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
    *("table_with_options", "fit_with_options", "s3 cells", "csv recoded", "csv number", "csv auto"),
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

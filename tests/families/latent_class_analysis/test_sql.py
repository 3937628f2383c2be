"""The classes of rows from a database's own computation: DuckDB, PostgreSQL and SQLite, next to `predict_proba`."""

import sqlite3

import numpy as np
import pytest
from scipy.stats import multivariate_normal, poisson

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.data.coding.coded_columns import CodedColumn
from hiddenbits.data.layout import Layout
from hiddenbits.families.latent_class_analysis.sql import posterior_query
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeParams
from tests.data.named import postgres_server

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings(
    "ignore::hiddenbits.exceptions.RecodedColumnsWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

ATOL = 1e-9  # sums of at most a thousand logarithms, each with 17 digits


class DuckDB:
    """A database in memory."""

    def __init__(self):
        self.connection = pytest.importorskip("duckdb").connect()

    def execute(self, *statements):
        for statement in statements:
            self.connection.execute(statement)

    def store(self, name, frame):
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
        self.connection.register("arriving", arrow)
        self.execute(f'create table "{name}" as select * from arriving')

    def query(self, sql):
        return self.connection.execute(sql).fetch_df()

    def close(self):
        self.connection.close()


class SQLite(DuckDB):
    """A database in memory, where booleans are integers."""

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")
        if sqlite3.sqlite_version_info < (3, 35):
            pytest.skip("SQLite before 3.35 has neither exp() nor MATERIALIZED")

    def store(self, name, frame):
        frame.to_sql(name, self.connection, index=False)

    def query(self, sql):
        return pd.read_sql(sql, self.connection)


class PostgreSQL(DuckDB):
    """A server."""

    def __init__(self):
        self.running = postgres_server.running()
        self.connection = self.running.__enter__().connect()

    def execute(self, *statements):
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        self.connection.commit()

    def store(self, name, frame):
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, pa.Table.from_pandas(frame, preserve_index=False))
        self.connection.commit()

    def query(self, sql):
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetch_arrow_table().to_pandas()
        finally:
            self.connection.rollback()

    def close(self):
        self.connection.close()
        self.running.__exit__(None, None, None)


@pytest.fixture(scope="module", params=[DuckDB, SQLite, PostgreSQL], ids=lambda kind: kind.__name__)
def database(request):
    if request.param is PostgreSQL:
        pytest.importorskip("adbc_driver_postgresql")
        if postgres_server.programs() is None:
            pytest.skip("Debian's package postgresql is not installed")
    opened = request.param()
    yield opened
    opened.close()


def posterior(database, sql, id_column="who"):
    """Return the probabilities in the order of the ids, and check the columns of the result."""
    result = database.query(sql)
    assert list(result) == [id_column, *(f"class_{k + 1}" for k in range(result.shape[1] - 1))]
    return result.sort_values(id_column).iloc[:, 1:].to_numpy(float)


def test_gss82(database, real_data):
    """1,202 rows of words, a tenth of the cells missing."""
    frame = pd.read_csv(real_data / "survey" / "gss82.csv")
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    model = LatentClassAnalysis(3, column_types="nominal", prior_strength=0, random_state=0).fit(frame)
    database.store("gss82", frame.assign(who=range(len(frame))))
    wanted = model.predict_proba(frame)
    np.testing.assert_allclose(posterior(database, model.to_sql("gss82", id="who")), wanted, rtol=0, atol=ATOL)
    assert np.ptp(wanted, axis=0).min() > 0.5


def survey(n=300):
    """Two classes; columns of every coding, with values and names that need quotes, and all forms of missing values."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, n)

    def noisy(share=0.25):
        return np.where(rng.random(n) < share, 1 - group, group)

    frame = pd.DataFrame(
        {
            "who": range(n),
            'the "town"': np.array(["Aachen", "L'Isle", "Mr.", "Straße 1.0"], object)[noisy() + 2 * noisy(0.4)],
            "often": np.array(["never", "Rarely", "often", "ALWAYS"], object)[2 * noisy() + noisy()],
            "stars": (1 + 2 * noisy() + rng.integers(0, 3, n)).astype(object),
            "mixed": np.array([1, 2.5, "3 or more"], object)[noisy() + noisy()].astype(str),
            "Smokes": np.array(["no", "Yes"], object)[noisy()],
            "kind": np.array([7, 8, 9], object)[noisy() + noisy()],
            "party": np.array(["a", "b", "c"], object)[noisy() + noisy()],
            "age": (20.5 + 40 * noisy() + rng.integers(0, 9, n)).astype(object),
            "bit": noisy().astype(object),
            "flag": noisy().astype(bool).astype(object),
            "ticked": np.array([None, "x"], object)[noisy()],
        }
    )
    for name in list(frame)[1:-1]:
        frame.loc[rng.random(n) < 0.1, name] = None
    frame.loc[rng.random(n) < 0.1, "stars"] = -99
    frame.loc[rng.random(n) < 0.1, "often"] = "N/A"
    frame.loc[rng.random(n) < 0.1, "Smokes"] = "refused"
    types = {"stars": "Int64", "kind": "Int64", "age": float, "bit": "Int64", "flag": "boolean"}
    return frame.astype(types)


OPTIONS = {
    "id": "who",
    "recode": {
        "Smokes": {"Yes": 1, "no": 0},
        "kind": {7: 1, 8: 0, 9: 0},
        "party": "one-hot",
        "age": "> 45",
        "ticked": {"x": 1, "": 0},
    },
    "missing": {"stars": [-99], "Smokes": ["refused"]},
    "column_types": {'the "town"': "nominal", "mixed": "nominal", "often": "ordinal", "stars": "ordinal"},
}


@pytest.fixture(scope="module")
def surveyed():
    table = open_table(survey(), **OPTIONS)
    assert {c.how for c in table.coding.columns} == {"binary", "values", "one-hot", "above", "nominal", "ordinal"}
    return LatentClassAnalysis(2, random_state=0).fit(table), table


def test_every_coding(database, surveyed):
    model, table = surveyed
    database.store("all rows", survey())
    wanted = model.predict_proba(table)
    sql = model.to_sql("all rows", id=["who"])
    np.testing.assert_allclose(posterior(database, sql), wanted, rtol=0, atol=ATOL)
    assert database.query(f"select count(*) from ({sql}) as rows where class_1 is null").iloc[0, 0] == 0


def test_values_that_the_fit_did_not_have(database, surveyed):
    """Only their rows are NULL."""
    model, _ = surveyed
    frame = survey(12).astype({"stars": "Int64"})
    frame.loc[0, 'the "town"'], frame.loc[1, "stars"], frame.loc[2, "bit"] = "aachen", 6, 2
    frame.loc[3, "often"], frame.loc[4, "Smokes"], frame.loc[5, "kind"] = "NEVER", " yes ", 70
    database.store("later", frame)
    result = posterior(database, model.to_sql("later", id="who"))
    assert np.isnan(result).all(axis=1).tolist() == [k in (0, 1, 2, 5) for k in range(12)]
    known = frame.drop([0, 1, 2, 5])
    np.testing.assert_allclose(result[known["who"]], model.predict_proba(known), rtol=0, atol=ATOL)
    as_missing = posterior_query(
        model._params, model.coding_.columns, ["class_1", "class_2"], "later", "who", unknown="-1"
    )
    frame.loc[0, 'the "town"'], frame.loc[1, "stars"], frame.loc[2, "bit"], frame.loc[5, "kind"] = (
        None,
        None,
        None,
        None,
    )
    np.testing.assert_allclose(posterior(database, as_missing), model.predict_proba(frame), rtol=0, atol=ATOL)


TYPES = ["boolean", "smallint", "integer", "real", "double precision", "decimal(5, 2)", "varchar(5)"]


@pytest.mark.parametrize("wanted_type", TYPES)
def test_bits_of_every_type(database, wanted_type):
    """0 and 1 may be stored as any type; NULL and NaN are missing."""
    rng = np.random.default_rng(0)
    X = (rng.random((60, 3)) < np.array([[0.8], [0.2]])[rng.integers(0, 2, 60)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = LatentClassAnalysis(2, random_state=0).fit(X)
    name = f"of {wanted_type}"
    columns = ", ".join(f"x{j} {wanted_type}" for j in range(3))
    words = {"boolean": ("false", "true"), "varchar(5)": ("'0'", "'1.0'")}.get(wanted_type, ("0", "1"))
    rows = [f"({i}, {', '.join('null' if np.isnan(x) else words[int(x)] for x in row)})" for i, row in enumerate(X)]
    database.execute(
        f'create table "{name}" (who integer, {columns})', f'insert into "{name}" values {", ".join(rows)}'
    )
    if wanted_type in ("real", "double precision") and not isinstance(database, SQLite):
        database.execute(f"update \"{name}\" set x0 = 'nan' where x0 is null")
    sql = model.to_sql(("public" if isinstance(database, PostgreSQL) else "main", name), id="who")
    np.testing.assert_allclose(posterior(database, sql), model.predict_proba(X), rtol=0, atol=ATOL)


def test_a_threshold_without_names(database):
    """Float32: 0.1 is not above 0.1."""
    rng = np.random.default_rng(0)
    X = (np.round(10 * rng.random((50, 3))) / 10).astype(np.float32)
    model = LatentClassAnalysis(2, threshold=0.1, random_state=0).fit(X)
    stored = X.astype(str).astype(float) if isinstance(database, SQLite) else X  # SQLite has no float32
    database.store("numbers", pd.DataFrame(stored, columns=["x0", "x1", "x2"]).assign(who=range(50)))
    np.testing.assert_allclose(
        posterior(database, model.to_sql("numbers", id="who")), model.predict_proba(X), rtol=0, atol=ATOL
    )


@pytest.mark.parametrize("column_types", ["auto", "nominal"])
def test_arrays(database, column_types):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if column_types == "auto" else 4, (200, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = LatentClassAnalysis(3, column_types=column_types, max_iter=5, random_state=0).fit(X)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(4)]).assign(who=range(200))
    database.store(f"array {column_types}", frame)
    sql = model.to_sql(f"array {column_types}", id="who")
    np.testing.assert_allclose(posterior(database, sql), model.predict_proba(X), rtol=0, atol=ATOL)


@pytest.mark.parametrize(("K", "d"), [(1, 4), pytest.param(3, 1100, marks=pytest.mark.full)])
def test_scores_that_exp_cannot_take(database, K, d):
    """Scores below -1,000, and thousands apart; expressions deeper than some databases allow. A class may be alone."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 90)
    X = (rng.random((90, d)) < np.where(rng.random((3, d)) < 0.5, 0.01, 0.99)[labels]).astype(np.int8)
    model = LatentClassAnalysis(K, prior_strength=0.01, random_state=0).fit(X)
    X[:10] = rng.integers(0, 2, (10, d))
    scores = X @ model._params.scores.x_coefs + model._params.scores.offsets
    assert (scores.max(axis=1).min() < -1000 and np.ptp(scores, axis=1).max() > 1000) or K == 1
    database.store(f"wide {K}", pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(who=range(90)))
    sql = model.to_sql(f"wide {K}", id="who")
    np.testing.assert_allclose(posterior(database, sql), model.predict_proba(X), rtol=0, atol=ATOL)


@pytest.mark.parametrize("together", [False, True])
def test_continuous_columns_and_counts(database, together):
    """By scipy's densities. Missing cells: any; of columns together, all of a row, or the row is NULL."""
    rng, n, q, K = np.random.default_rng(0), 80, 3, 2
    probabilities, weights = np.array([[0.2, 0.9]]), np.array([0.4, 0.6])
    roots = rng.normal(size=(K, q, q))
    covariances = np.moveaxis(roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(q), 0, 2)
    if not together:
        covariances = np.einsum("iik->ik", covariances)[:, None, :]
    bits = NodeParams.of(weights, probabilities, np.array([0.5]), Layout((1,)))
    params = MixedParams(
        bits.weights, bits.probabilities, bits.prior_mean, bits.columns,
        centers=np.array([1e6, 0.0, -3.0]), scales=np.array([1.0, 20.0, 0.1]),
        means=rng.normal(size=(q, K)), covariances=covariances, prior_rates=np.ones(2),
        rates=np.array([[2.0, 5.0], [0.5, 0.1]]),
    )  # fmt: skip
    z, x, bit = rng.normal(size=(n, q)), rng.poisson(2.0, (n, 2)).astype(float), rng.integers(0, 2, n).astype(float)
    z[rng.random(z.shape) < (0.0 if together else 0.15)] = np.nan
    z[:5] = np.nan
    x[rng.random(x.shape) < 0.15] = np.nan
    bit[rng.random(n) < 0.15] = np.nan
    frame = pd.DataFrame(
        {f"real{j}": params.centers[j] + params.scales[j] * z[:, j] for j in range(q)}
        | {f"n{j}": x[:, j] for j in range(2)}
        | {"bit": bit, "who": np.arange(n)}
    )
    z = (frame[["real0", "real1", "real2"]].to_numpy() - params.centers) / params.scales  # as rounded by 1e6 + z
    log_p = np.tile(np.log(weights), (n, 1))
    for k in range(K):
        p = probabilities[0, k]
        log_p[:, k] += np.select([bit == 1, bit == 0], [np.log(p), np.log(1 - p)], 0.0)
        log_p[:, k] += np.where(np.isnan(x), 0.0, poisson.logpmf(np.nan_to_num(x), params.rates[:, k])).sum(axis=1)
        covariance = covariances[:, :, k] if together else np.diag(covariances[:, 0, k])
        for i in range(n):
            o = ~np.isnan(z[i])
            if o.any():
                log_p[i, k] += multivariate_normal.logpdf(z[i, o], params.means[o, k], covariance[np.ix_(o, o)])
    wanted = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    if together:
        frame.loc[7, "real1"], wanted[7] = np.nan, np.nan
    frame.loc[8, "n0"], wanted[8] = 1.5, np.nan
    frame.loc[9, "n1"], wanted[9] = -1.0, np.nan
    columns = [CodedColumn("bit"), *(CodedColumn(f"real{j}", "continuous") for j in range(q))]
    columns += [CodedColumn(f"n{j}", "count") for j in range(2)]
    database.store(f"together {together}", frame)
    sql = posterior_query(params, columns, ["class_1", "class_2"], f"together {together}", "who")
    np.testing.assert_allclose(posterior(database, sql), wanted, rtol=0, atol=ATOL)


@pytest.mark.parametrize("covariance_type", ["diag", "full", "tied", "tied_diag"])
def test_a_mixed_table(database, covariance_type):
    """A fit to columns of every type, with missing values; of "full" and "tied", only rows with all numbers or none."""
    rng = np.random.default_rng(2)
    frame = survey(400).drop(columns=["age", "kind", "party", "ticked"])
    group = (frame["stars"].fillna(0) > 3).to_numpy(int)
    frame["income"] = 1e6 + 2 * group + rng.normal(size=400)
    frame["height"] = 170 - 5 * group + 8 * rng.normal(size=400)
    frame["visits"] = rng.poisson(1 + 3 * group).astype(float)
    frame["spent"] = np.where(rng.random(400) < 0.3, 0.0, np.round(20 * rng.gamma(1 + group), 1))  # 0 is a level
    missing = rng.random((400, 2)) < 0.1
    missing[:, 1] = missing[:, 0] if covariance_type in ("full", "tied") else missing[:, 1]
    frame[["income", "height"]] = frame[["income", "height"]].mask(missing)
    frame[["visits", "spent"]] = frame[["visits", "spent"]].mask(rng.random((400, 2)) < 0.1)
    types = {
        'the "town"': "nominal", "mixed": "nominal", "often": "ordinal", "stars": "ordinal", "income": "continuous",
        "height": "continuous", "visits": "count", "spent": "quantiles",
    }  # fmt: skip
    options = {"id": "who", "recode": {"Smokes": {"Yes": 1, "no": 0}}, "missing": OPTIONS["missing"]}
    table = open_table(frame, column_types=types, **options)
    model = LatentClassAnalysis(2, covariance_type=covariance_type, random_state=0).fit(table)
    database.store(f"mixed {covariance_type}", frame)
    sql = model.to_sql(f"mixed {covariance_type}", id="who")
    np.testing.assert_allclose(posterior(database, sql), model.predict_proba(table), rtol=0, atol=ATOL)

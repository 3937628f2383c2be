"""Continuous columns, counts and quantiles: read alike from every format, refused with the row, kept in the coding."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import LatentClassAnalysis, load, open_table
from hiddenbits.exceptions import AmbiguousColumnsError, ExcludedColumnsWarning, TableError

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

TYPES = {"income": "continuous", "visits": "count", "age": "quantiles"}
ROWS = 5000  # more different incomes than are counted in a file


def some_rows(seed=0, n=ROWS):
    """Two classes of rows; ids, incomes with cents, visits, ages, an answer and a city."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "person_id": [f"p{i:05d}" for i in range(n)],
            "income": np.round(rng.normal(30_000 + 20_000 * k, 5_000), 2),
            "visits": rng.poisson(1 + 4 * k),
            "age": rng.integers(18, 90, n),
            "smokes": np.where(rng.random(n) < 0.2 + 0.6 * k, "yes", "no"),
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame["visits"] = frame["visits"].astype("Int64").mask(rng.random(n) < 0.1)
    return frame


@pytest.fixture(scope="module")
def frame():
    return some_rows()


def in_format(frame, form, folder):
    """The same rows as a frame of another library, or as files."""
    paths = {"csv": folder / "rows.csv", "parquet": folder / "rows.parquet", "row groups": folder / "groups.parquet"}
    if form in ("polars", "lazy"):
        opened = pl.from_pandas(frame)
        return opened.lazy() if form == "lazy" else opened
    if form == "arrow":
        return pa.Table.from_pandas(frame, preserve_index=False)
    if form == "dict":
        return {name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame}
    if form == "csv":
        frame.to_csv(paths[form], index=False)
    elif form == "parquet":
        frame.to_parquet(paths[form], index=False)
    elif form == "row groups":
        frame.to_parquet(paths[form], index=False, row_group_size=777)
    elif form == "files":
        for number, start in enumerate(range(0, len(frame), 1300)):
            frame[start : start + 1300].to_parquet(folder / f"part{number}.parquet", index=False)
        return f"{folder}/part*.parquet"
    else:
        return frame
    return paths[form]


FORMS = ("pandas", "polars", "lazy", "arrow", "dict", "csv", "parquet", "row groups", "files")


def fit(X, **options):
    with pytest.warns(ExcludedColumnsWarning, match="'person_id'"):
        table = open_table(X, column_types={**TYPES, "city": "nominal"}, **options)
    return table, LatentClassAnalysis(2, n_init=1, max_iter=5, tol=0.0, random_state=0)


@pytest.fixture(scope="module")
def reference(frame):
    table, model = fit(frame)
    with pytest.warns(ConvergenceWarning):
        model.fit(table)
    return table, model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part_bytes", [None, 20_000])
@pytest.mark.parametrize("form", FORMS)
def test_the_same_bits_from_every_format(form, part_bytes, frame, reference, tmp_path, monkeypatch):
    """Cut points, fits and scores; with cut points from some of the rows, and parts that cross row groups."""
    X = in_format(frame, form, tmp_path)
    table, model = fit(X, **({} if part_bytes is None else {"part_bytes": part_bytes}))
    wanted, of_frame = reference
    assert table.coding.to_plain()["columns"] == wanted.coding.to_plain()["columns"]
    np.testing.assert_array_equal(table.to_float(), wanted.to_float())
    assert table.n_missing == wanted.n_missing == int(frame.isna().sum().sum())
    model.fit(table)
    for name, array in of_frame._params.to_arrays().items():
        np.testing.assert_array_equal(model._params.to_arrays()[name], array)
    np.testing.assert_array_equal(model.score_samples(table), of_frame.score_samples(wanted))
    np.testing.assert_array_equal(model.score_samples(X), of_frame.score_samples(frame))
    monkeypatch.setattr("hiddenbits.data.columns.plan.MAX_QUANTILE_ROWS", 900)
    few, _ = fit(X)
    ages = np.sort(frame["age"].to_numpy()[:: -(-ROWS // 900)])
    assert few.coding.columns[2].cuts == tuple(float(ages[int(np.ceil(k * len(ages) / 5)) - 1]) for k in range(1, 5))


def test_values_are_those_of_the_table(frame, reference):
    table, _ = reference
    numbers = table.numbers()
    np.testing.assert_array_equal(numbers[:, 0], frame["income"])
    np.testing.assert_array_equal(numbers[:, 1], frame["visits"].astype("Float64").to_numpy(float, na_value=np.nan))
    assert [column.how for column in table.coding.columns] == ["continuous", "count", "quantiles", "values", "nominal"]
    assert table.coding.column_names == ("age", "smokes", "city", "income", "visits")


def test_auto_chooses_binary_nominal_ordinal_and_continuous(frame, tmp_path):
    """Counts only by request: visits from 0 to 15 are continuous, up to 10 they look like a rating."""
    rated = frame.assign(rating=np.arange(ROWS) % 11)
    for form in ("pandas", "csv", "parquet"):
        with pytest.warns(ExcludedColumnsWarning, match="'person_id'"):
            table = open_table(in_format(rated, form, tmp_path), column_types="auto")
        assert {column.name: column.how for column in table.coding.columns} == {
            "income": "continuous",
            "visits": "continuous",
            "age": "continuous",
            "smokes": "values",
            "city": "nominal",
            "rating": "ordinal",
        }


def changed(frame, column, cells, form, folder):
    """The rows with some other cells, as text where they are words."""
    values = frame[column].astype(object)
    for row, value in cells.items():
        values[row] = value
    return in_format(frame.assign(**{column: values.infer_objects()}), form, folder)


@pytest.mark.parametrize("form", ["pandas", "csv", "dict"])
def test_words_for_missing_values(form, frame, tmp_path):
    """Known words are asked about, others refused; both may be declared; NA is missing anyway."""
    asked = changed(frame, "income", {7: "refused"}, form, tmp_path)
    with pytest.raises(AmbiguousColumnsError, match=r"'income': 'refused' \(1 cell\) looks like a code"):
        open_table(asked, column_types=TYPES)
    (tmp_path / "words").mkdir()
    words = changed(frame, "income", {7: "plenty", 9: "NA"}, form, tmp_path / "words")
    with pytest.raises(TableError, match=r"column 'income' cannot be of type 'continuous': 'plenty' is not a number\."):
        open_table(words, column_types=TYPES)
    for X, word in ((asked, "refused"), (words, "plenty")):
        with pytest.warns(ExcludedColumnsWarning):
            table = open_table(X, column_types=TYPES, missing=[word], drop=["city"])
        numbers = table.numbers()[:, 0]
        assert np.isnan(numbers[7])
        assert np.isnan(numbers[9]) == (word == "plenty" or np.isnan(frame["income"][9]))
        np.testing.assert_array_equal(numbers[10:], frame["income"][10:])


@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "parquet"])
@pytest.mark.parametrize("column", ["income", "visits"])
def test_codes_for_missing_values(column, form, frame, tmp_path):
    """-99 among incomes and visits is asked about, in files with more values than are counted, too."""
    X = changed(frame, column, dict.fromkeys(range(4000, 4100), -99), form, tmp_path)
    with pytest.raises(AmbiguousColumnsError, match=rf"'{column}': -99 \(100 cells\) looks like a code"):
        open_table(X, column_types=TYPES)
    with pytest.warns(ExcludedColumnsWarning):
        table = open_table(X, column_types=TYPES, missing={column: [-99]}, drop=["city"])
    j = ["income", "visits"].index(column)
    assert np.isnan(table.numbers()[4000:4100, j]).all()
    assert np.isnan(table.numbers()[:, j]).sum() == 100 + frame[column].drop(range(4000, 4100)).isna().sum()
    if column == "income":  # a valid answer
        with pytest.warns(ExcludedColumnsWarning):
            table = open_table(X, column_types=TYPES, missing={column: []}, drop=["city"])
        assert (table.numbers()[4000:4100, j] == -99).all()


@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("visits", -3, r"row 4321, column 'visits': '?-3(\.0)?'? is not a whole number from 0\. Correct the cell"),
        ("visits", 2.5, r"row 4321, column 'visits': '?2\.5'? is not a whole number from 0\. Correct the cell"),
        ("income", np.inf, r"row 4321, column 'income': inf is not a finite number\. Correct the cell or make it"),
        ("income", -1e200, r"row 4321, column 'income': '?-1e\+200'? is not a finite number of at most 1e\+100"),
    ],
)
def test_impossible_numbers(column, value, message, form, frame, tmp_path):
    """The row, the column and what to do; at the opening or at the first pass, also in the rows of a later table."""
    X = changed(frame, column, {4321: value}, form, tmp_path)
    with pytest.raises(TableError, match=message):
        open_table(X, column_types=TYPES, missing={column: []}, drop=["city", "person_id"]).to_float()
    with pytest.warns(ExcludedColumnsWarning):
        model = LatentClassAnalysis(1, column_types=TYPES).fit(frame[:500].drop(columns=["city"]))
    with pytest.raises(TableError, match=rf"row 4321, column '{column}': .* is not a"):
        model.predict(X)


def quantile_levels(values, types="quantiles"):
    table = open_table({"x": values, "b": np.arange(len(values)) % 2}, column_types={"x": types})
    column = table.coding.columns[0]
    return column.cuts, column.ones, table.to_float()[:, :-1]


def test_cut_points_by_hand():
    """Thirty-five numbers in five levels of seven each; the largest number of a level is its cut point."""
    values = np.random.default_rng(0).permutation(np.arange(1, 36))
    cuts, labels, bits = quantile_levels(values)
    assert cuts == (7.0, 14.0, 21.0, 28.0)
    assert labels == ("1 to 7", "8 to 14", "15 to 21", "22 to 28", "29 to 35")
    assert bits.argmax(axis=1).tolist() == [(value - 1) // 7 for value in values]


def test_frequent_values_are_levels():
    """0 is held by 40% of 1,000 rows and 77 by 6%; 5% exactly is not enough. The others are cut among themselves."""
    values = np.concatenate([np.zeros(400), np.full(60, 77.0), np.full(50, 3.0), np.linspace(1.01, 100.9, 490)])
    cuts, labels, bits = quantile_levels(values)
    assert bits[values == 0].argmax(axis=1).max() == 0
    assert (values[bits[:, 0] == 1] == 0).all()
    of_77 = set(bits[values == 77].argmax(axis=1).tolist())
    assert len(of_77) == 1
    assert (values[bits[:, of_77.pop()] == 1] == 77).all()
    assert "0" in labels
    assert "77" in labels
    others = np.sort(values[(values != 0) & (values != 77)])
    wanted = {others[int(np.ceil(share * len(others))) - 1] for share in (0.2, 0.4, 0.6, 0.8)}
    assert wanted < set(cuts)
    assert len(set(cuts)) == len(cuts) == len(labels) - 1
    assert 3.0 not in {float(label) for label in labels if "to" not in label}


def test_few_values_and_none():
    assert quantile_levels([1, 2] * 10)[:2] == ((1.0,), ("1", "2"))
    assert quantile_levels([1, 2, np.nan, 3] * 10)[1] == ("1", "2", "3")
    with pytest.raises(TableError, match="column 'x' cannot be cut at quantiles: it has one value"):
        quantile_levels([4.0] * 10)


def test_cut_points_are_saved_and_applied_to_numbers_beyond(frame, reference, tmp_path):
    """Younger and older people than in the fit belong to the first and last level; -1 may be a code for missing."""
    _, model = reference
    model.save(tmp_path / "model.hb")
    others = some_rows(1, 60).assign(age=np.linspace(-20.5, 150.5, 60))
    loaded = load(tmp_path / "model.hb")
    np.testing.assert_array_equal(loaded.score_samples(others), model.score_samples(others))
    table = open_table(others, recode=loaded)
    cuts = np.quantile(frame["age"], [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
    assert table.coding.columns[2].cuts == tuple(cuts)
    wanted = (others["age"].to_numpy()[:, None] > cuts).sum(axis=1)
    assert table.to_float()[:, :5].argmax(axis=1).tolist() == wanted.tolist()


def test_ids_and_constants_are_excluded(frame):
    constant = frame.drop(columns="city").assign(rate=3.5)
    with pytest.warns(ExcludedColumnsWarning) as caught:
        model = LatentClassAnalysis(2, column_types={"visits": "count"}, n_init=1, random_state=0).fit(constant)
    text = " ".join(str(warning.message) for warning in caught)
    assert "'person_id'" in text
    assert "'rate'" in text
    assert {column.name for column in model.coding_.columns} == {"income", "visits", "age", "smokes"}
    numbered = frame[["income", "visits"]].assign(respondent_id=np.arange(ROWS) + 1001)
    with pytest.warns(ExcludedColumnsWarning, match="'respondent_id'"):
        table = open_table(numbered, column_types="continuous")
    assert table.coding.column_names == ("income", "visits")


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_complete_and_sample_in_the_values_of_the_table(form, frame, reference, tmp_path):
    """Observed cells stay what they are; a missing number is its mean over the classes of the row."""
    _, model = reference
    X = in_format(frame[:300], form, tmp_path)
    completed = model.complete(X)
    assert type(completed) is type(X)
    shown = {name: list(np.asarray(completed[name], object)) for name in frame}
    r = model.predict_proba(X)
    means = {"income": r @ model.means_[:, 0], "visits": r @ model.rates_[:, 0]}
    for name in frame:
        for row, (cell, original) in enumerate(zip(shown[name], frame[name], strict=False)):
            cell = cell.as_py() if hasattr(cell, "as_py") else cell
            if pd.isna(original):
                assert cell == pytest.approx(means[name][row], rel=1e-12)
            else:
                assert cell == original
    sample = model.sample(200, random_state=1)
    levels = {"smokes": {"yes", "no"}, "city": {"Bonn", "Kiel", "Ulm"}}
    assert list(sample) == ["income", "visits", "age", "smokes", "city"]
    assert sample["visits"].dtype.kind == "i"
    assert sample["income"].dtype.kind == "f"
    assert sample["visits"].min() >= 0
    for name, values in levels.items():
        assert set(sample[name]) == values


def test_a_file_is_completed_as_columns(frame, reference, tmp_path):
    _, model = reference
    path = in_format(frame[:50], "csv", tmp_path)
    completed = model.complete(path)
    assert list(completed) == list(frame)
    of_frame = model.complete(frame[:50])
    for name in ("income", "visits"):
        np.testing.assert_allclose(np.array(completed[name], float), np.array(of_frame[name], float), rtol=1e-15)


@pytest.mark.parametrize("covariance_type", ["diag", "full", "tied", "tied_diag"])
def test_tables_parameters_and_criteria(covariance_type, frame, tmp_path):
    """What a user reads: in the units of the table, counted by hand, the same after loading."""
    rows = frame[:400].drop(columns=["person_id", "city", "age"]).assign(height=frame["income"] / 500 + frame.index % 7)
    model = LatentClassAnalysis(
        2, column_types={"visits": "count"}, covariance_type=covariance_type, prior_strength=0, n_init=1, random_state=0
    ).fit(rows)
    # A share; of each class P(smokes), two means, a rate; then variances or covariances of two columns.
    of_spread = {"diag": 2 * 2, "full": 2 * 3, "tied": 3, "tied_diag": 2}[covariance_type]
    assert model.n_parameters_ == 1 + 2 * (1 + 2 + 1) + of_spread
    log_likelihood = model.score_samples(rows).sum()
    assert model.aic(rows) == pytest.approx(2 * model.n_parameters_ - 2 * log_likelihood, abs=1e-8)
    assert model.bic(rows) == pytest.approx(np.log(400) * model.n_parameters_ - 2 * log_likelihood, abs=1e-8)

    # By moments: the mean over the classes is that of the table, weighted by who is observed.
    r = model.predict_proba(rows)
    income = rows["income"].to_numpy()
    observed = ~np.isnan(income)
    of_classes = r[observed].T @ income[observed] / r[observed].sum(axis=0)
    if "diag" in covariance_type:  # with covariances, missing incomes follow from heights
        np.testing.assert_allclose(model.means_[:, 0], of_classes, rtol=1e-4)
        deviations = (income[observed, None] - of_classes) ** 2
        variances = (r[observed] * deviations).sum(axis=0) / r[observed].sum(axis=0)
        if covariance_type == "tied_diag":
            variances = np.full(2, (r[observed] * deviations).sum() / observed.sum())
        np.testing.assert_allclose(model.covariances_[:, 0], variances, rtol=1e-3)

    tables = model.summary().tables
    spreads = "variances" if "diag" in covariance_type else "covariances"
    assert set(tables) == {"classes", "profiles", "means", spreads, "rates"}
    means = tables["means"]
    assert list(means["column"]) == ["income", "height"]
    np.testing.assert_array_equal(np.array([means["class_1"], means["class_2"]]), model.means_)
    assert list(tables["rates"]["column"]) == ["visits"]
    np.testing.assert_array_equal(np.array([tables["rates"][f"class_{k}"] for k in (1, 2)]), model.rates_)
    if spreads == "covariances":
        table = tables["covariances"]
        assert list(zip(table["column"], table["with"], strict=True)) == [
            ("income", "income"),
            ("height", "income"),
            ("height", "height"),
        ]
        wanted = model.covariances_[:, [0, 1, 1], [0, 0, 1]]
        np.testing.assert_array_equal(np.array([table["class_1"], table["class_2"]]), wanted)
    else:
        np.testing.assert_array_equal(
            np.array([tables["variances"]["class_1"], tables["variances"]["class_2"]]), model.covariances_
        )
    model.save(tmp_path / "model.hb")
    loaded = load(tmp_path / "model.hb")
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.score_samples(rows), model.score_samples(rows))
    pd.testing.assert_frame_equal(loaded.complete(rows), model.complete(rows))
    pd.testing.assert_frame_equal(loaded.sample(5), model.sample(5))


def test_independent_columns_are_counted(frame):
    """The same as one class: P(smokes), two of income, one of visits."""
    from hiddenbits import IndependentColumns

    rows = frame[:400][["income", "visits", "smokes"]]
    one = IndependentColumns(column_types={"visits": "count"}, prior_strength=0).fit(rows)
    other = LatentClassAnalysis(1, column_types={"visits": "count"}, prior_strength=0).fit(rows)
    assert one.n_parameters_ == other.n_parameters_ == 4
    assert one.bic(rows) == pytest.approx(other.bic(rows))

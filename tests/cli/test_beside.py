"""Metadata columns stay with the rows, own values come back, and files are read as the options specify."""

import csv

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
import numpy as np

from tests.cli.test_commands import run

FLAGS = ["--id", "person", "--drop", "town", "--drop", "age", "--recode", "color:one-hot"]
OTHERS = ["person", "town", "age"]


@pytest.fixture
def people(tmp_path):
    """Answers with an id, ages, towns, and missing values in every column of answers."""
    path, rng = tmp_path / "people.csv", np.random.default_rng(0)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["age", "smokes", "rated", "person", "color", "town", "bit"])
        for i in range(60):
            yes = rng.random(3) < (0.9 if i % 2 else 0.1)
            cells = ["yes" if yes[0] else "no", 1 + yes[1], ["red", "green"][i // 2 % 2] if i % 2 else "blue"]
            cells = ["" if i in (3 + j, 20) else cell for j, cell in enumerate(cells)]
            bit = "" if i in (7, 20) else int(yes[2])
            lines.writerow([f"{18.25 + i * 1000 / 7:.6f}", *cells[:2], f"p{i:03d}", cells[2], f"Town {i}", bit])
    return path


@pytest.fixture
def model(people, tmp_path):
    run("fit", people, "classes", "-n", 2, *FLAGS, "-o", tmp_path / "m.hb", "--n-jobs", 1)
    return tmp_path / "m.hb"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", ["score", "map"])
def test_results_have_the_other_columns_as_they_were(people, model, tmp_path, command):
    run(command, people, model, "-o", tmp_path / "out.csv")
    before, after = rows_of(people), rows_of(tmp_path / "out.csv")
    assert list(after[0])[:3] == ["person", "age", "town"]
    assert [[row[name] for name in OTHERS] for row in after] == [[row[name] for name in OTHERS] for row in before]


@pytest.mark.parametrize("bits", [False, True])
def test_completed_rows_are_the_file_with_missing_values_imputed(people, model, tmp_path, bits):
    run("complete", people, model, "-o", tmp_path / "out.csv", *(["--bits"] if bits else []))
    before, after = rows_of(people), rows_of(tmp_path / "out.csv")
    assert list(after[0]) == list(before[0])
    own = {"smokes": {"yes", "no"}, "rated": {"1", "2"}, "color": {"red", "green", "blue"}}
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        assert all(old[name] in ("", new[name]) for name in old)
        assert all(new[name] in values for name, values in own.items())
        assert not bits or new["bit"] in ("0", "1")
        if i != 20 and old["color"] == "":  # an even row is blue; no bit of its color is above one half by chance
            assert new["color"] == ("blue" if i % 2 == 0 else new["color"])


def test_parquet_keeps_types(people, model, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    run("complete", people, model, "-o", tmp_path / "out.parquet")
    completed = pq.read_table(tmp_path / "out.parquet")
    types = {field.name: str(field.type) for field in completed.schema}
    assert types == {
        "age": "double",
        "smokes": "string",
        "rated": "int64",
        "person": "string",
        "color": "string",
        "town": "string",
        "bit": "double",
    }
    assert completed["age"].to_pylist() == [float(row["age"]) for row in rows_of(people)]
    run("score", people, model, "-o", tmp_path / "s.parquet")
    assert str(pq.read_schema(tmp_path / "s.parquet").field("age").type) == "double"


def test_a_model_of_binary_columns_infers_no_other_coding(tmp_path):
    plain, more, words = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv"
    plain.write_text("q1,q2\n" + "0,1\n1,0\n1,1\n" * 8)
    more.write_text("who,q2,q1\nann,1,0\nbob,,1\n")
    words.write_text("who,q2,q1\nann,yes,0\nbob,no,1\n")
    run("fit", plain, "classes", "-n", 1, "-o", tmp_path / "m.hb", "--n-jobs", 1)
    run("score", more, tmp_path / "m.hb", "-o", tmp_path / "out.csv")
    assert [row["who"] for row in rows_of(tmp_path / "out.csv")] == ["ann", "bob"]
    output = run("score", words, tmp_path / "m.hb", code=1).stderr
    assert "column 'q2' has values other than 0, 1 and missing, but the model was fitted to 0/1 data" in " ".join(
        output.split()
    )


def test_options_of_the_file_format(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe|q1\n1,5|0\n2,5|1\n7,5|1\n".encode("cp1252"))
    words = ["--delimiter", "|", "--decimal", ",", "--encoding", "cp1252", "--header"]
    output = run("look", path, *words, "--recode", "größe:>2").stdout
    assert "größe" in output
    assert "1 above 2" in output
    path.write_text("a\tb\n0\t1\n1\t1\n1\t0\n")
    run("convert", path, tmp_path / "o.csv", "--delimiter", "tab", "--header")
    assert list(rows_of(tmp_path / "o.csv")[0]) == ["a", "b"]
    path.write_text("0,1\n1,1\n0,0\n")
    run("convert", path, tmp_path / "o.csv", "--no-header")
    assert len(rows_of(tmp_path / "o.csv")) == 3
    path.write_text("who,codes\nann,E11;I10\nbob,I10\ncy,\n")
    run("convert", path, tmp_path / "o.csv", "--split", "codes:;", "--id", "who")
    assert [*rows_of(tmp_path / "o.csv")[0].values()] == ["1", "1"]
    pytest.importorskip("pyarrow")
    path.write_text("order,product\n1,tea\n1,jam\n2,tea\n")
    run("convert", path, tmp_path / "o.csv", "--row", "order", "--item", "product")
    assert list(rows_of(tmp_path / "o.csv")[0]) == ["jam", "tea"]
    output = run("look", path, "--sheet", "A", code=1).stderr
    assert "--sheet is not an option of the csv reader" in output


def test_the_options_of_a_message_work(tmp_path):
    """Columns as survey programs name them, with colons, quotes and brackets, and values that have them too."""
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["Q1: do you smoke?", "it's [2]", "q3", "bit"])
        for i in range(40):
            lines.writerow([["often: daily", "rarely", "x, y"][i % 3], [0, 1, -99][i % 3], 1 + i % 5, i % 2])
    output = " ".join(run("look", path).stdout.split())
    assert r"--recode 'Q1: do you smoke?:often\: daily=1'" in output
    assert "--missing -99" in output
    words = [
        "--recode",
        r"Q1: do you smoke?:often\: daily=1",
        "--missing",
        "-99",
        "--recode",
        "q3:4=1",
        "--recode",
        "q3:5=1",
    ]
    shown = run("look", path, *words).stdout
    assert "'often: daily' = 1" in shown
    assert "you decide" not in shown

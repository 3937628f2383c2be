"""Tables that come along: they need no folder, and the command line writes them."""

import csv
import hashlib
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.datasets import (
    example_rows,
    load_baskets,
    load_carcinoma,
    load_exam,
    load_gss82,
    load_lsat,
    load_votes,
    load_zoo,
)
from hiddenbits.datasets.bundled import PRODUCTS, SHARES

pytestmark = pytest.mark.core


def test_simulated_tables_need_no_folder(monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    baskets, exam = load_baskets(), load_exam()
    assert (baskets.shape, baskets.names) == ((1000, 12), tuple(PRODUCTS))
    # the shares of a product are within four standard errors of those of the mixture
    share = np.array(list(PRODUCTS.values())) @ SHARES / 10
    error = np.sqrt(share * (1 - share) / 1000)
    assert (np.abs(baskets.to_float().mean(axis=0) - share) < 4 * error).all()
    right = np.nanmean(exam.to_float(), axis=0)
    assert right[0] > 0.8 > 0.2 > right[-1]  # from the easiest question to the hardest
    blank = np.isnan(exam.to_float())
    assert 0 < blank.sum() < 500
    assert (np.diff(blank.astype(int), axis=1) >= 0).all()  # what was not reached is at the end
    np.testing.assert_array_equal(load_exam().to_float(), exam.to_float())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_votes_need_no_folder(monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    votes = load_votes()
    assert votes.X.shape == (435, 16)
    assert len(votes.names) == 16
    assert {party: int((votes.party == party).sum()) for party in set(votes.party)} == {
        "democrat": 267,
        "republican": 168,
    }
    assert np.isnan(votes.X).sum() == 392


def test_votes_turned_back_are_the_source_byte_for_byte():
    votes = load_votes()
    cells = [["?" if np.isnan(cell) else "ny"[int(cell)] for cell in row] for row in votes.X]
    text = "".join(",".join([party, *row]) + "\n" for party, row in zip(votes.party, cells, strict=True))
    # of house-votes-84.data in UCI's archive
    assert sha256(text.encode()) == "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e"


def test_zoo_needs_no_folder(monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    zoo = load_zoo()
    assert (zoo.X.shape, zoo.X.dtype, len(zoo.names)) == ((101, 15), np.uint8, 15)
    assert set(zoo.X.ravel().tolist()) == {0, 1}
    counts = {kind: int((zoo.type == kind).sum()) for kind in dict.fromkeys(zoo.type.tolist())}
    assert counts == {  # those of the source's own description
        "mammal": 41,
        "fish": 13,
        "bird": 20,
        "mollusc and others": 10,
        "insect": 8,
        "amphibian": 4,
        "reptile": 5,
    }
    assert set(zoo.legs.tolist()) == {0, 2, 4, 5, 6, 8}
    frogs = (zoo.type == "amphibian") & (zoo.X[:, zoo.names.index("tail")] == 0)
    assert zoo.X[frogs, zoo.names.index("venomous")].tolist() == [0, 1, 0]  # two frogs, one venomous, and a toad


def test_votes_and_zoo_are_those_of_the_folder(real_data):
    """Which come from elsewhere: the same rows in the same order."""
    table = open_table(real_data / "votes" / "house84.csv")
    assert load_votes().names == table.names
    np.testing.assert_array_equal(load_votes().X, table.to_float())
    zoo = load_zoo()
    with (real_data / "tables" / "zoo.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["legs"]) for row in rows] == zoo.legs.tolist()
    assert [row["type"].replace("mollusc.et.al", "mollusc and others") for row in rows] == zoo.type.tolist()
    assert [[row[name] == "TRUE" for name in zoo.names] for row in rows] == (zoo.X == 1).tolist()


@pytest.mark.parametrize(
    ("load", "name", "distinct", "respondents"),
    [(load_carcinoma, "carcinoma", 20, 118), (load_gss82, "gss82", 33, 1202), (load_lsat, "lsat", 30, 1000)],
)
def test_counted_rows_are_those_of_the_folder(real_data, load, name, distinct, respondents):
    found = load()
    rows = list(zip(*found.X.values(), strict=True))
    with (real_data / "survey" / f"{name}.csv").open(newline="") as file:
        heads, *theirs = csv.reader(file)
    heads = [name.lower().replace(" ", "_") if name.startswith("Item") else name for name in heads]
    assert (list(found.X), len(set(rows)), found.sample_weight.sum()) == (heads, distinct, respondents)
    counted = dict(zip((tuple(map(str, row)) for row in rows), found.sample_weight.tolist(), strict=True))
    assert counted == Counter(map(tuple, theirs))


def test_the_files_are_small_unchanged_and_come_with_their_license():
    """In continuous integration the package is that of the wheel."""
    folder = files("hiddenbits.datasets") / "files"
    found = {file.name: file.read_bytes() for file in folder.iterdir()}
    license_text = found.pop("LICENSE-DATA.md").decode()
    for word in (
        "10.24432/C5C01P",
        "10.24432/C5R59V",
        "https://creativecommons.org/licenses/by/4.0/",
        "Forsyth",
        *found,
    ):
        assert word in license_text
    assert {name: sha256(data) for name, data in found.items()} == {
        "carcinoma.csv": "856bd01d5ec7907fcc27526c4b1644a4e2503be0335accab04464fa007591dc8",
        "gss82.csv": "68d240ae026b7a50123a446fe7d8a1d5e27da34cdebda955eb6785ed4306c9b5",
        "lsat.csv": "1535a112908efa0efdbc204091e91b8b50485c54238614f239fe4ad2ff437d25",
        "votes.csv": "d43eadfbd4f6f5f43fb07ff6edcd5b3eb7cbbd47a27c21bb9fe1adc8992b1bec",
        "zoo.csv": "b0f88acb12608135d0b01d957a07d8ce25943d7722b2ebe6af66b1f92b8c17c4",
    }
    assert sum(map(len, found.values())) < 200_000


def test_examples(monkeypatch):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    for name, table in (("baskets", load_baskets()), ("exam", load_exam())):
        heads, rows = example_rows(name)
        assert tuple(heads) == table.names
        assert [["" if np.isnan(c) else str(int(c)) for c in row] for row in table.to_float()] == rows
    heads, rows = example_rows("votes")
    assert (heads[0], len(rows), {cell for row in rows for cell in row[1:]}) == ("party", 435, {"y", "n", ""})
    heads, rows = example_rows("zoo")
    assert (heads[12], heads[-1]) == ("legs", "type")
    assert [row[-1] for row in rows] == load_zoo().type.tolist()
    with pytest.raises(ValueError, match=r"no example 'cats'.*baskets, exam, votes, zoo"):
        example_rows("cats")


@pytest.mark.parametrize(
    ("load", "known"),
    [
        (load_baskets, []),
        (load_exam, []),
        (load_votes, ["party"]),
        (load_zoo, ["legs", "type"]),
        (load_carcinoma, ["count"]),
        (load_gss82, ["count"]),
    ],
)
def test_tables_come_as_frames(load, known):
    pytest.importorskip("pandas")
    plain, found = load(), load(as_frame=True)
    assert [*found.data, *known] == list(found.frame)
    assert all(found[name] is not None and found.frame[name].equals(found[name]) for name in known)
    if isinstance(getattr(plain, "X", None), dict):
        assert found.data.to_dict("list") == plain.X
    else:
        cells = plain.X if hasattr(plain, "X") else plain.to_float()
        np.testing.assert_array_equal(found.data.to_numpy(float), cells)
        assert tuple(found.data) == plain.names

"""Names, cells and foreign messages in errors: nothing acts on a terminal, no more of a cell than promised is shown."""

import pickle
import time
import traceback
import unicodedata

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, load, open_table
from hiddenbits.exceptions import FileError, TableError
from hiddenbits.quoting import CELL_LENGTH, discreet, message_of, name_of, printable, quoted, redacted, without_secrets
from tests.test_planted_secrets import NUMBER_CELLS, TEXT_CELLS

pytestmark = pytest.mark.core

EVIL = "a\x1b[31m\nb\r\x9b2J\u202egnp\u2028\u200f\x7f"
SECRET = "diagnosis:" + "".join(chr(ord("a") + i % 26) for i in range(200))


def acts(text, keep=""):
    """Return the characters of a text that a terminal would obey or hide."""
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp", "Cs") and one not in keep}


def test_every_character_is_shown_or_escaped():
    every = "".join(map(chr, range(0x30000))) + chr(0xE0001) + "\ud800"
    shown = printable(every)
    assert acts(shown) == {"\u200c", "\u200d"}  # joiners, which Persian and emoji are spelled with
    shown.encode()  # a terminal takes bytes: lone surrogates have none
    letters = "é ß 漢字 ✓ עברית العربية \u00a0 = \\x1b"
    assert printable(letters) == letters
    assert printable(printable(EVIL)) == printable(EVIL)
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"
    assert (name_of(""), name_of("\n"), name_of("q1")) == ("''", "\\n", "q1")


def test_no_more_than_twenty_characters_of_a_cell():
    assert quoted(SECRET) == repr(SECRET[:CELL_LENGTH] + "...")
    assert quoted(10**5000) == "a number that is too long to print"
    assert len(quoted(10.0**300 / 3)) <= CELL_LENGTH + 3
    assert quoted(b"\x1b" * 50).count("x1b") <= 5


def test_foreign_messages_keep_paths_and_cut_cells(monkeypatch):
    message = f"could not convert string to float: '{SECRET}' in '/a/folder/with/a/long/name/x.csv'"
    said = redacted(message, "/a/folder/with/a/long/name/x.csv")
    assert SECRET[:CELL_LENGTH] in said
    assert SECRET[: CELL_LENGTH + 1] not in said
    assert "/a/folder/with/a/long/name/x.csv" in said
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    assert "diagnosis" not in redacted(message)
    assert "denied" in redacted(PermissionError(13, "Permission denied"))  # the system's own words hold no cell


def test_messages_without_secrets_stay_as_they_are():
    for text in (
        "Protocol not known: nope",
        "Column 'key' of 12:30 was read by me@host, see https://host:80/a@b/x.csv and s3://bucket/part?.parquet",
        "unexpected keyword argument 'delimiter'",
        "C:/data/me@home/x.csv: KeyError: 'a'",
    ):
        assert without_secrets(text) == text


def test_long_messages_take_no_time():
    for text in ("a-" * 10**6, "." * 10**6, "k:" * 10**6, "password=" * 10**5):
        begun = time.perf_counter()
        assert len(redacted(text + " token=hush")) <= 200
        assert time.perf_counter() - begun < 2.0


def raised_by(act):
    """Return the error that a discreet block lets out, and all that its traceback prints but for lines of code."""
    try:
        with discreet():
            act()
    except Exception as error:
        lines = traceback.format_exception(error)
        return error, "".join(line for line in lines if not line.startswith("  "))


def of_numpy():
    np.array(["hush"]).astype(float)


def of_ours():
    open_table(np.eye(2), nonsense=1)


def chained():
    try:
        try:
            float("hush")
        except ValueError as error:
            raise KeyError("harmless") from error
    except KeyError as error:
        raise TableError("the table is damaged") from error


def keyed():
    raise UnicodeDecodeError("utf-8", b"hush", 0, 1, "password=hush")


def test_errors_that_hide_nothing_pass():
    error, text = raised_by(of_numpy)
    assert "hush" in str(error)
    error, text = raised_by(chained)
    assert "float: 'hush'" in text
    assert "harmless" in text


def test_discreet_blocks_hide_values_and_keep_our_messages(monkeypatch):
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    error, text = raised_by(of_numpy)
    assert (type(error), str(error)) == (ValueError, "message hidden")
    assert "hush" not in text
    error, text = raised_by(of_ours)  # raised here, and so in our words
    assert type(error) is TypeError
    assert "nonsense" in str(error)
    error, text = raised_by(chained)
    assert str(error) == "the table is damaged"
    assert error.__context__ is None  # which a worker would send along
    assert "hush" not in text
    assert "harmless" not in text  # nor what lies in between


def test_discreet_blocks_hide_secrets_and_keep_the_class():
    error, text = raised_by(keyed)
    assert type(error) is UnicodeError  # the nearest class that can be made of a text
    assert "password=***" in str(error)
    assert "hush" not in text
    assert message_of(KeyError("token=hush")) == "'token=***'"


CELLS = ["csv", "csv first line", "baskets", "parquet of lists", "parquet of pairs", "array of objects", "fit list"]
CELLS += ["pandas text", "array real", "unknown category", "parquet numbers"]
NUMBER = "1.2345678901234567890123"


@pytest.mark.parametrize("name", CELLS)
def test_errors_quote_little_of_a_cell_or_nothing(name, tmp_path, monkeypatch):
    act, cell = (NUMBER_CELLS[name], NUMBER) if "number" in name else (TEXT_CELLS[name], SECRET)
    with pytest.raises(TableError) as caught:
        act(cell, tmp_path)
    said = str(caught.value)
    assert cell[:6] in said, said  # a part of it, so that it can be found
    assert cell[: CELL_LENGTH + 1] not in said
    monkeypatch.setenv("HIDDENBITS_HIDE_VALUES", "1")
    with pytest.raises(TableError) as caught:
        act(cell, tmp_path)
    chain, error = [], caught.value
    while error is not None:  # what a traceback prints
        chain.append(str(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert cell[:6] not in " ".join(chain), chain
    assert "hidden" in chain[0]


def test_the_package_own_errors_are_printable(tmp_path):
    folder = tmp_path / EVIL
    folder.mkdir()
    path = folder / "x.csv"
    path.write_text("a,b\n0,2\n1,1\n1,0\n")
    with pytest.raises(TableError) as caught:
        open_table(path)
    message = str(caught.value)
    for start in ("- ", "To ", "LatentClassAnalysis ", "With "):
        message = message.replace(f"\n{start}", "")
    assert not acts(message)
    assert "'b': ordinal values 0, 1, 2" in str(caught.value)
    assert str(caught.value).count(printable(path)) == 1  # named once, though two places name it
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # as from a worker
    (folder / "m.hb").write_bytes(b"no model")
    with pytest.raises(FileError) as caught:
        load(folder / "m.hb")
    assert not acts(str(caught.value))


def test_names_in_errors_of_scikit_learn_are_printable():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).integers(0, 2, (20, 2))
    model = LatentClassAnalysis(2, max_iter=5, tol=1.0).fit(pd.DataFrame(X, columns=["a", EVIL]))
    with pytest.raises(ValueError, match="feature names should match") as caught:
        model.transform(pd.DataFrame(X, columns=["a", "b" + EVIL]))
    assert not acts(str(caught.value), keep="\n")
    assert f"- {printable(EVIL)}\n" in str(caught.value)
    assert f"- b{printable(EVIL)}\n" in str(caught.value)


def test_names_in_texts_about_a_table_are_printable():
    from hiddenbits import NoisyOrNetwork, evaluate

    names = [EVIL, "", "c"]
    X = (np.random.default_rng(0).random((40, 3)) < [0.5, 0.6, 0.0]).astype(int)
    X[:, 2] = X[:, 0] = 0
    told_of = evaluate.describe(open_table(X, names=names)).describe()
    assert not acts(told_of, keep="\n")
    assert f"the same in every row: {printable(EVIL)}, c" in told_of
    model = NoisyOrNetwork(1, max_iter=2, tol=1.0, random_state=0)
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    model.fit(open_table(X, names=names))
    assert not acts("".join([*model.describe(), *model.explain(open_table(X[:3], names=names))]))

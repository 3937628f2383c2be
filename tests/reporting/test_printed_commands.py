"""Every command that a report prints runs as printed, and fits the model that the report describes.

A shell cuts each command into words; most are then run in this process, some by the shell itself. `pytest -s` lists
them.
"""

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the cli extra is not installed")
from typer.testing import CliRunner

import hiddenbits
from hiddenbits import load, open_table
from hiddenbits.cli.app import app
from hiddenbits.commands import call, command
from tests.reporting.reading import Page

pd = pytest.importorskip("pandas")
ROWS, ITEMS = 120, 6
CHOSEN = ["IndependentColumns", "LatentClassAnalysis", "ClippedPCA"]  # quick to fit
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # about columns that are left out, and how 1 was guessed


def answers(seed=0):
    """Three classes of rows that differ in six yes/no columns, as numbers with missing values."""
    rng = np.random.default_rng([seed, 5])
    profiles = np.repeat(np.eye(3), 2, axis=1) * 0.8 + 0.1
    X = (rng.random((ROWS, ITEMS)) < profiles[rng.integers(0, 3, ROWS)]).astype(float)
    X[rng.random(X.shape) < 0.04] = np.nan
    return X


def frame(zero="0", one="1", blank="", **more):
    """Return the answers as a frame of text, next to other columns."""
    X = answers()
    cells = np.where(np.isnan(X), blank, np.where(X == 1.0, one, zero))
    return pd.DataFrame({f"q{j}": cells[:, j] for j in range(ITEMS)} | more)


def csv(path, table, **options):
    table.to_csv(path, index=False, **options)


def numbered(table):
    return table.apply(pd.to_numeric, errors="coerce")


def sav(path):
    pytest.importorskip("pyreadstat").write_sav(
        numbered(frame("2", "1", "9")),
        str(path),
        variable_value_labels={f"q{j}": {1: "yes", 2: "no", 9: "no answer"} for j in range(ITEMS)},
        missing_ranges={f"q{j}": [9] for j in range(ITEMS)},
    )


def sheets(path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"read": ["me"]}).to_excel(book, sheet_name="About", index=False)
        numbered(frame()).to_excel(book, sheet_name="Answers of 2024", index=False)


def parquet(path):
    pytest.importorskip("pyarrow")
    numbered(frame(party=["a", "b"] * (ROWS // 2))).to_parquet(path)


def recipe(path):
    csv(path, frame("nein", "ja", note=["x"] * ROWS, mood=list("12345") * (ROWS // 5)), header=False)
    Path("names.txt").write_text("\n".join([*(f"q{j}" for j in range(ITEMS)), "note", "mood"]))
    Path("our recipe.toml").write_text('drop = ["note", "mood"]\n[recode."q0"]\nja = 1\nnein = 0\n')


def titled(path):
    text = frame("nein", "ja", age=[f"{20 + i % 50},5" for i in range(ROWS)]).to_csv(index=False, sep=";")
    path.write_text(f"Eine Umfrage\n{text}")


TURNS = ["red", "green", "blue"] * (ROWS // 3)
LABELS = [f"person {i // 2}" for i in range(ROWS)]
MOOD = list("12345") * (ROWS // 5)


@dataclass
class Case:
    """A file, what writes it, the options of the report, and whether the models use every column of it."""

    path: str
    write: object
    options: list = field(default_factory=list)
    every_column: bool = True


CASES = {
    "codes": Case(
        "t.csv",
        lambda path: csv(path, frame("never", "often", color=TURNS, age=[20 + i % 50 for i in range(ROWS)])),
        ["--recode", "q*:often=1", "--recode", "color:one-hot", "--recode", "age:>40"],
    ),
    "codes for missing": Case(
        "t.csv",
        lambda path: csv(path, frame(blank="-99", q9=["0", "1", "9"] * 40)),
        ["--missing=-99", "--missing", "q9:9"],
    ),
    "semicolons": Case("t.csv", titled, ["--delimiter", ";", "--decimal", ",", "--reader", "skip_top=1"]),
    "a sheet": Case("t.xlsx", sheets, ["--sheet", "Answers of 2024"]),
    "parquet": Case("t.parquet", parquet, ["--columns", "q*"]),
    "a name": Case(
        '-it\'s `a` "täble"  of\u00a0$HOME.csv',
        lambda path: csv(path, frame(**{"-x  y": ["1", "0"] * 60, "`z`'s": ["1"] * ROWS})),
        ["--drop=-x  y"],
    ),
    "groups": Case(
        "t.csv",
        lambda path: csv(path, frame(party=["a", "b", "a"] * 40, person=LABELS, same=["1"] * ROWS)),
        ["--columns", "q*", "--columns", "same", "--by", "party", "--groups", "person", "--random-state", "3"],
    ),
    "words": Case("sub folder/t.csv", lambda path: csv(path, frame("nein", "ja", name=LABELS)), ["--id", "name"]),
    "labels": Case("t.sav", sav),
    "left out": Case("t.tsv", lambda path: csv(path, frame("no", "yes", mood=MOOD), sep="\t"), ["--no-rows"]),
    "recipe": Case("t.csv", recipe, ["--recipe", "our recipe.toml", "--names", "names.txt", "--no-header"]),
    "threshold": Case("t.csv", lambda path: csv(path, frame("1.5", "4")), ["--threshold", "2", "--empty", "missing"]),
    "an array": Case("t.npz", lambda path: np.savez(path, np.c_[answers(), np.ones(ROWS)]), [], every_column=False),
}


@pytest.fixture
def quick(monkeypatch):
    """Compare models that are quick to fit, and start each fit as often as on large tables."""
    from hiddenbits.evaluate import same_models

    monkeypatch.setattr(same_models, "FAMILIES", [one for one in same_models.FAMILIES if one.name in CHOSEN])
    monkeypatch.setattr("hiddenbits.families._base.estimator.SMALL_TABLE_FLOPS", 0)


@pytest.fixture
def own_models(monkeypatch):
    """The models that the report itself fits, by class and size."""
    from hiddenbits.reporting import fits

    made, original = {}, fits.fitted

    def fitted(estimator, cells):
        model, note = original(estimator, cells)
        made[type(model).__name__, str(getattr(model, "n_components", ""))] = model
        return model, note

    monkeypatch.setattr(fits, "fitted", fitted)
    return made


def words_of(line):
    """Return the words that a shell makes of a command."""
    cut = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    return [os.fsdecode(word) for word in cut.stdout.split(b"\0")[:-1]]


def run(line):
    """Run a command as a shell would, in this process."""
    print("$", line)
    program, *words = words_of(line)
    assert program == "hiddenbits"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    return done


TRICKY = [
    "it's", 'say "no"', "$HOME", "`id`", "a\\b", "two  spaces ", "\t\n\r", "täble", "a\u202eb", "!x", "-n", "", "~", "*"
]  # fmt: skip


@pytest.mark.parametrize("word", TRICKY)
def test_words_are_the_same_behind_a_shell(word):
    printed = command("fit", word, drop=[word])
    assert printed.isprintable()
    assert "`" not in printed
    assert "  " not in printed
    path = f"./{word}" if word.startswith("-") else word
    dropped = [f"--drop={word}"] if word.startswith("-") else ["--drop", word]
    assert words_of(printed) == ["hiddenbits", "fit", path, *dropped]
    assert eval(call("str", word)) == word
    assert "`" not in call("str", word)


def in_html(text):
    """Return every command of a page: those of "What to do next", and the one that made the report."""
    steps = re.findall(r"<code>(hiddenbits .*?)</code>", text, re.DOTALL)
    return [unescape(re.sub(r"<[^>]*>", "", step)) for step in steps]


def in_ticks(text):
    """Return every command between backticks, as a mail or a program shows them."""
    return [code for code in re.findall(r"`([^`]*)`", text) if code.startswith("hiddenbits ")]


def same_model(one, other):
    """Whether two models are of one class and size, with the same parameters to 1e-9."""
    assert type(one) is type(other)
    numbers = other._params.to_arrays()
    for name, values in one._params.to_arrays().items():
        np.testing.assert_allclose(values, numbers[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_printed_command_runs_and_fits_the_model_of_the_report(name, tmp_path, monkeypatch, quick, own_models):
    case = CASES[name]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / case.path
    path.parent.mkdir(exist_ok=True)
    case.write(path)
    table = f"./{case.path}" if case.path.startswith("-") else case.path
    outs = ["--out", "the report.html", "--json", "r.json", "--markdown", "r.md"]
    done = CliRunner().invoke(app, ["report", table, *case.options, *outs])
    assert done.exit_code == 0, done.output
    page, mail, read = (Path(one).read_text(encoding="utf-8") for one in ("the report.html", "r.md", "r.json"))
    found = json.loads(read)
    commands = in_html(page)
    steps, (again, fill, repeat) = commands[:-3], commands[-3:]
    assert steps == in_ticks(mail) == in_ticks("\n".join(found["next_steps"]))
    assert (again, fill) == (steps[0], steps[-1])  # in the section about missing values
    assert [step.split()[1] for step in steps if "compare" not in step] == ["fit", "map", "complete"]
    fit, *others = steps
    own = own_models[found["numbers"]["chosen"], found["numbers"]["chosen size"]]

    run(fit)
    model = load("model.hb")
    model_and_size = f"{found['numbers']['chosen']}({found['numbers']['chosen size']})"
    assert f"{type(model).__name__}({model.n_components})" == model_and_size
    if case.every_column:
        assert "fitted to" not in found["next_steps"][0]
        same_model(model, own)
    else:
        assert "fitted to all 7 columns (the report used 6)" in found["next_steps"][0]
    for step in others:
        done = run(step)
        if step.split()[1] == "compare":
            assert f"{model_and_size} is the simplest of them" in done.stdout
    assert len(pd.read_csv("rows.csv")) == ROWS
    completed = pd.read_csv("filled.csv")
    assert len(completed) == ROWS
    assert not completed[[one for one in completed if re.fullmatch(r"q[0-5]|x[0-5]", one)]].isna().any(axis=None)

    run(repeat)
    assert (Path("r.md").read_text(encoding="utf-8"), Path("r.json").read_text(encoding="utf-8")) == (mail, read)
    lines = Page(page).all("details", id="how")[0][1]
    names = {}
    exec(lines[lines.index("import ") : lines.index("Versions")], names)
    line = f"hiddenbits.{model!r}".replace("\n", "")
    assert f"{line}.fit(table)" in unescape(page)
    same_model(eval(f"{line}.fit(table)", names), own)


@pytest.mark.slow
def test_a_shell_runs_what_is_printed(tmp_path, monkeypatch, own_models):
    """As a reader does: the commands are copied from the mail into a shell, which finds the program on its path."""
    from hiddenbits.evaluate import same_models

    monkeypatch.setattr(same_models, "FAMILIES", [one for one in same_models.FAMILIES if one.name in CHOSEN[:2]])
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / "hiddenbits"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hiddenbits "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    case = CASES["a name"]
    case.write(tmp_path / case.path)
    done = CliRunner().invoke(app, ["report", f"./{case.path}", *case.options, "--markdown", "r.md"])
    assert done.exit_code == 0, done.output
    steps = in_ticks(Path("r.md").read_text(encoding="utf-8"))
    for step in steps:
        print("$", step)
        environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-c", step], check=True, env=environment, timeout=200)
    same_model(load("model.hb"), own_models["LatentClassAnalysis", "3"])
    assert len(pd.read_csv("rows.csv")) == len(pd.read_csv("filled.csv")) == ROWS


def lines_of(text):
    """Return every call in Python between backticks."""
    return [code for code in re.findall(r"`([^`]*)`", text) if code.startswith("hiddenbits.")]


def in_memory(kind):
    table = numbered(frame(same=["1"] * ROWS, party=["a", "b"] * (ROWS // 2)))
    table["party"] = ["a", "b"] * (ROWS // 2)
    if kind == "path":
        table.to_csv("it's `here`.csv", index=False)
        return "it's `here`.csv"
    return open_table(table, drop="party") if kind == "Table" else table


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frame", "path", "Table"])
def test_calls_in_python_run_as_they_are_printed(kind, tmp_path, monkeypatch, quick, own_models):
    monkeypatch.chdir(tmp_path)
    X = in_memory(kind)
    names = {"X": X, "hiddenbits": hiddenbits, "groups": [1, 2, 3] * 40}
    made = hiddenbits.report(X, by="party", groups=names["groups"], random_state=2)
    fit, codes, *others = lines_of(made.to_markdown())
    assert fit in unescape(re.sub(r"</?span[^>]*>", "", made.html))
    for line in (fit, codes, *others):
        print(">>>", line)
        result = eval(line, names)
        if "compare" in line:
            assert (result.best, result.size) == (made.found.numbers["chosen"], made.found.numbers["chosen size"])
        elif line != fit:
            assert len(pd.DataFrame(result)) == ROWS
    if kind == "Table":  # which is open, so that the constant column cannot be left out
        assert "fitted to all 7 columns (the report used 6)" in made.found.next_steps[0]
    else:
        same_model(load("model.hb"), own_models[made.found.numbers["chosen"], made.found.numbers["chosen size"]])
    section = Page(made.html).all("details", id="how")[0][1]
    again = re.search(r"This call made the report: (hiddenbits\.report\(.*?\)) ", section)[1]
    assert ("X is the table in memory" in section) == (kind != "path")
    assert "groups: in memory" in section
    assert eval(again, names).to_json() == made.to_json()
    exec(section[section.index("import ") : section.index("Versions")], names)
    np.testing.assert_array_equal(names["table"], np.asarray(answers()))


def test_secrets_of_an_address_are_not_printed():
    from hiddenbits.cli.tables import ReadOptions, origin_of

    read_options = ReadOptions("https://me:word@example.org/t.csv?signature=abc", {"delimiter": ";"})
    origin = origin_of(read_options, read_options.command("report"), None)
    assert origin.fit("LatentClassAnalysis", "2", 0).startswith(
        "hiddenbits fit 'https://example.org/t.csv?...' classes "
    )
    assert origin.opening == "hiddenbits.open_table('https://example.org/t.csv?...', delimiter=';')"
    assert "without its secrets" in origin.notes[0]
    assert not re.search("word|abc", "".join((origin.call, origin.compare(0), origin.codes(), origin.completed())))

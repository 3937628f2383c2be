"""The command that `look` names at its end works."""

import shlex
import subprocess

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from hiddenbits import open_table
from tests.cli.test_commands import run

ROWS = 24
SURVEY = {
    "person": [f"p{i:02d}" for i in range(ROWS)],
    "q1": ["ja", "nein", "ja", "ja"] * 6,
    "q2": [1, 0, 0, 1, 1, 0] * 4,
    "q3": [0, 1, -99] * 8,
}


def written(folder, columns):
    path = folder / "t.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]))
    return path


def next_of(path, *flags):
    last = run("look", path, *flags).stdout.splitlines()[-1]
    assert last.startswith("Next")
    return shlex.split(last.partition("hiddenbits ")[2])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["q1", "q2"], ["report"]),
        (["person", "q1", "q2", "q3"], ["report", "--missing", "q3:-99"]),
        (["q1", "q2", "mood"], ["report", "--recode", "mood:3=1", "mood:4=1"]),
        (["q1", "q3", "mood"], ["report", "--missing", "q3:-99", "--recode", "mood:4=1"]),
        (["q1", "q2", "box"], ["report", "--recode", "box:x=1", "box:=0"]),
        (["q1", "q2", "codes"], ["report", "--split", "codes:;"]),
    ],
)
def test_next_command(tmp_path, columns, words):
    every = SURVEY | {"mood": [1, 2, 3, 4] * 6, "box": ["x", ""] * 12, "codes": ["E11;I10", "I10", "J45"] * 8}
    path = written(tmp_path, {name: every[name] for name in columns})
    command = next_of(path)
    assert set(words) <= set(command)
    assert next_of(path, *command[2:])[:2] == command[:2]  # a report takes its time; it reads what `look` reads
    assert "need" not in run("look", *command[1:]).stdout


def test_next_command_quotes_for_a_shell_and_messages_name_the_table(tmp_path):
    every = {**SURVEY, "-my mood's": [1, 2, 3, 4] * 6, "codes": ["E11;I10", "I10", "J45"] * 8}
    path = written(tmp_path, every).rename(tmp_path / "my `täble`.csv")
    shown = run("look", path, "--drop", "-my mood's", "--id", "person").stdout.splitlines()[-1]
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {shown.partition(': ')[2]}"], capture_output=True, check=True
    )
    command = [word.decode() for word in words.stdout.split(b"\0")[:-1]]
    options = ["--id", "person", "--missing", "q3:-99", "--split", "codes:;"]
    assert command == ["hiddenbits", "report", str(path), "--drop=-my mood's", *options]
    assert "need" not in run("look", *command[2:]).stdout
    many = written(tmp_path, {f"c{i}": [f"{i}x", f"{i}y", f"{i}z"] * 8 for i in range(25)})
    assert (
        f"`hiddenbits look {many} --threshold 0.5 --write-recipe recipe.toml`"
        in run("look", many, "--threshold", "0.5").stdout
    )


def test_next_command_for_pairs(tmp_path):
    pytest.importorskip("pyarrow")
    path = written(tmp_path, {"order_id": [1, 1, 2, 3, 3, 4], "product": ["milk", "tea", "tea", "milk", "jam", "tea"]})
    command = next_of(path)
    assert command[2:] == ["--row", "order_id", "--item", "product"]
    assert "4 rows" in run("look", *command[1:]).stdout
    assert open_table(path, row="order_id", item="product").shape == (4, 3)


def test_options_of_the_reader(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("A survey\na;b\n0;1\n1;1\n0;0\nTotal;2\n")
    refused = run("look", path, code=1).stderr
    assert "--reader skip_top=1" in refused
    flags = ["--reader", "skip_top=1", "--reader", "skip_end=1", "--delimiter", ";"]
    assert "3 rows" in run("look", path, *flags).stdout
    assert "there is no option 'color'" in run("look", path, "--reader", "color=1", code=1).stderr
